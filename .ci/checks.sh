# The checks, for `.ci/run` and `make check`: source this, call the stages, end with `report`.
# Every stage runs under a time limit; a stage that fails is noted and the next ones still run.

failed=()

stage() { # stage NAME SECONDS COMMAND...
    local name=$1 seconds=$2 began=$SECONDS status=0
    shift 2
    printf '\n=== %s\n' "$name"
    timeout --kill-after=10 "$seconds" "$@" </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        failed+=("$name (exit $status)")
        printf '=== %s FAILED with exit %s after %ss' "$name" "$status" $((SECONDS - began))
        [ "$status" -eq 124 ] && printf ', its limit'
        printf '\n'
    else
        printf '=== %s passed after %ss\n' "$name" $((SECONDS - began))
    fi
}

# The README's commands stand between these comments and the fences below them.
readme_command() { # readme_command NAME
    sed -n "/<!-- command: $1 -->/,/^\`\`\`\$/p" README.md | sed '1d;/^```/d'
}

static_checks() { # static_checks BIN
    stage "lint" 120 "$1/ruff" check .
    stage "format" 120 "$1/ruff" format --check .
    stage "types" 600 "$1/mypy"
    stage "import contracts" 120 "$1/lint-imports" --no-cache
    stage "generated pages" 120 "$1/python" docs/generate.py --check
}

# Those of other libraries run in environments of their own, by `.ci/integrations`.
# pytest's exit 5, no test selected, is a failure here: each of these has tests.
long_tests() { # long_tests BIN
    stage "slow tests" 900 "$1/pytest" -n 2 --dist worksteal -m slow
    stage "integration tests" 900 "$1/pytest" -m integration --ignore=tests/integrations
}

wheel_check() { # wheel_check BIN SCRATCH
    stage "wheel: build" 240 "$1/python" -m build --wheel --outdir "$2/dist"
    stage "wheel: environment" 60 "$1/python" -m venv "$2/venv"
    stage "wheel: install without extras" 240 "$2/venv/bin/pip" install -q --no-cache-dir "$2"/dist/*.whl
    cp .ci/wheel_smoke.py "$2/"
    stage "wheel: smoke test" 180 env -C "$2" venv/bin/python wheel_smoke.py
}

# The site stands in an environment of its own, without the package: docstrings are read, not imported. (With `-q`
# mkdocs counts no warning, and `--strict` has nothing to refuse.)
site_check() { # site_check BIN SCRATCH
    "$1/python" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' \
        >"$2/site.txt"
    stage "site: environment" 60 "$1/python" -m venv "$2/site"
    stage "site: install" 240 "$2/site/bin/pip" install -q -r "$2/site.txt"
    stage "site: strict build" 240 env NO_MKDOCS_2_WARNING=1 "$2/site/bin/mkdocs" build --strict --site-dir "$2/html"
}

# Every declared bound at once, and the newest of all; `.ci/versions` has the combinations between.
versions_check() {
    stage "versions: lowest and newest" 420 .ci/versions --quick lowest newest
}

report() {
    if [ ${#failed[@]} -gt 0 ]; then
        printf '\nFAILED after %ss:\n' "$SECONDS"
        printf '  %s\n' "${failed[@]}"
        exit 1
    fi
    printf '\nAll stages passed after %ss.\n' "$SECONDS"
}
