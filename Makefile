# Development commands. BIN is the folder of the environment's programs; by default the README's .venv.
BIN ?= .venv/bin
SHELL := /bin/bash

.PHONY: check lint test slow integration integrations wheel docs format clean

# What .ci/run runs, without making the environment.
check:
	@. .ci/checks.sh; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	static_checks $(BIN); stage "tests" 1200 $(BIN)/pytest; long_tests $(BIN); wheel_check $(BIN) "$$scratch"; report

# The quick half: seconds.
lint:
	@. .ci/checks.sh; static_checks $(BIN); report

test:
	$(BIN)/pytest

slow:
	$(BIN)/pytest -m slow

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

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find smear_env -name '*.nb[ci]' -delete
