# make reproduce   install into .venv and run the whole workflow on the default config
# make test        everything the continuous integration runs
# make lock        renew requirements.lock from pyproject.toml

PYTHON ?= python3
CORES ?= 2
BIN := .venv/bin
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: reproduce test lint unit bench lock clean

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('Python 3.11 or newer is needed: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

reproduce: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --quiet rules

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

unit: .venv/installed
	$(BIN)/pytest -n $(CORES)

test: lint unit

bench: .venv/installed
	$(BIN)/python tests/bench/bench.py

lock: .venv/installed
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --extra dev --no-header --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --strip-extras --no-annotate --output-file requirements.lock pyproject.toml

clean:
	rm -rf .venv .snakemake .mypy_cache .ruff_cache .pytest_cache
