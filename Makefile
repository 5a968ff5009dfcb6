# Development commands. BIN is the folder of the environment's programs; by default the README's .venv.
BIN ?= .venv/bin
SHELL := /bin/bash

.PHONY: check lint test slow integration integrations wheel docs site versions format clean

# What .ci/run runs, without making the environment.
check:
	@. .ci/checks.sh; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	static_checks $(BIN); stage "tests" 1200 $(BIN)/pytest -n 2; long_tests $(BIN); wheel_check $(BIN) "$$scratch"; \
	site_check $(BIN) "$$scratch"; versions_check; report

# The quick half: seconds.
lint:
	@. .ci/checks.sh; static_checks $(BIN); report

test:
	$(BIN)/pytest -n 2

slow:
	$(BIN)/pytest -n 2 --dist worksteal -m slow

integration:
	$(BIN)/pytest -m integration --ignore=tests/integrations

# Other libraries, each in an environment of its own; the table of docs/integrations.md is made of what is recorded.
integrations:
	.ci/integrations --record
	$(BIN)/python docs/generate.py

wheel:
	@. .ci/checks.sh; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; wheel_check $(BIN) "$$scratch"; report

docs:
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/table_picture.py
	$(BIN)/python -m training.plots curves docs/data/curves_four_point.json --out docs/curves_four_point.png
	$(BIN)/python -m training.plots bids docs/data/bids.json --out docs/bids.png
	$(BIN)/python -m training.plots crosstable benchmarks/results/four_point.json --out docs/ladder_four_point.png
	$(BIN)/python -m training.plots crosstable benchmarks/results/schmier.json --out docs/ladder_schmier.png

# The site, in an environment of its own; the strict build that CI runs. To write: `mkdocs serve` with the extra `docs`.
site:
	@. .ci/checks.sh; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; site_check $(BIN) "$$scratch"; \
	rm -rf build/site && mkdir -p build && cp -r "$$scratch/html" build/site; report

# All combinations of versions, into the table of docs/compatibility.md: a quarter of an hour.
versions:
	.ci/versions --record
	$(BIN)/python docs/generate.py

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find smear_env -name '*.nb[ci]' -delete
