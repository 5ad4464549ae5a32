# All set-up is done here: a virtual environment beside this file, with pinned versions.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# More than there are cores: many tests wait for a process or for a clock.
WORKERS ?= 3
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Python compiles what it needs at its first use; pip would compile all, which takes a minute.
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -q --no-compile
# To collect all other files takes half a minute; tests/conftest.py sees that none is left out.
SLOW = $(shell grep -rlE 'mark\.slow\b' tests --include='test_*.py')

.PHONY: help demo demo-rollout test test-slow test-vllm check fix bench simulations mutants fuzz-api pins docs clean

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "denv needs Python 3.11 or newer; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.lab: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e '.[lab]'
	@touch $@

$(VENV)/.durable: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e '.[lab,durable]'
	@touch $@ $(VENV)/.lab

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e '.[lab,dev,docs,durable,alarms,deepseek,export,imports,postgres,tracing]'
	@touch $@ $(VENV)/.lab $(VENV)/.durable

demo: $(VENV)/.lab    ## the main job on real servers: a faithful stage passes, a damaged one fails
	$(BIN)/denv parity demo

demo-rollout: $(VENV)/.durable    ## a good release is promoted, two bad ones are rolled back with an alarm
	$(BIN)/denv rollout demo

test: $(VENV)/.dev    ## the tests, real servers included, but those of test-slow
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/.dev    ## processes killed at every step, long proofs, each page in a browser
	$(PYTEST) -m "slow and not simulation" $(SLOW)

test-vllm: $(VENV)/.dev    ## gates and tokens between real vLLM and llama.cpp (2.5 GB, opt-in)
	DENV_VLLM=$${DENV_VLLM:-1} $(BIN)/pytest -s -v tests/vllm

check: $(VENV)/.dev    ## lint, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/.dev    ## what can be mended without thought
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev    ## ratios against a bare loop on the same stub, and against a peer
	$(PIP) -e '.[lab,dev,bench]'
	$(BIN)/python -m benchmarks.overhead --inspect

simulations: $(VENV)/.dev    ## how often every rule errs: the tables of docs/statistics.md
	$(BIN)/python -m simulations
	$(BIN)/pytest -n auto -m simulation

mutants: $(VENV)/.dev    ## do the tests notice small faults in what decides? (half an hour)
	$(PIP) -e '.[lab,dev,mutants]'
	HYPOTHESIS_PROFILE=mutants $(BIN)/mutmut run --max-children 2
	$(BIN)/mutmut results
	$(BIN)/python scripts/mutants.py

fuzz-api: $(VENV)/.dev    ## ten minutes of made-up requests against the API of a real denv serve
	$(BIN)/python -m scripts.fuzz_api

pins: $(VENV)/.dev    ## renew constraints.txt
	$(PIP) pip-tools
	$(BIN)/pip-compile -q --upgrade --all-extras --strip-extras --build-deps-for=editable \
	  --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
	  -o constraints.txt pyproject.toml
	@sed -i '1i # Pinned versions of everything that is installed; renewed by `make pins`.' constraints.txt

docs: $(VENV)/.dev    ## the pages as a site that needs no network, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:            ## remove what the targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis mutants site
