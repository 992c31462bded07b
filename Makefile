# Two commands do all the set-up: `make train` and `make test`. Both need Python 3.11, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: train test lint docs bench interop zoo mutants stress clean help
.DEFAULT_GOAL := help

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

train: $(INSTALLED)  ## train PPO on Yum for about three minutes and show how it plays
	$(BIN)/python train.py --config configs/yum.toml

test: $(INSTALLED) lint  ## the whole test suite, with the linters
	$(BIN)/python -m pytest -n 2 --dist worksteal -rs

lint: $(INSTALLED)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p build/typing/fivedice
	@for name in envs agents configs; do ln -sfn ../../../$$name build/typing/fivedice/$$name; done
	@for name in __init__ __main__; do ln -sfn ../../../package/$$name.py build/typing/fivedice/$$name.py; done
	MYPYPATH=build/typing $(BIN)/mypy -p fivedice

docs: $(INSTALLED)  ## the documentation as HTML in build/docs; warnings are errors
	$(BIN)/pip install -qq --disable-pip-version-check -r requirements-docs.txt
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	@echo "Open build/docs/index.html"

bench: $(INSTALLED)  ## the speed ratios of benchmarks/ (installs their peers first)
	$(BIN)/pip install -qq --disable-pip-version-check -r requirements-bench.txt
	$(BIN)/python -m benchmarks

# Each program of examples/ runs in the environment that its first word names: their versions exclude each other.
PROGRAMS := $(basename $(notdir $(wildcard examples/*.py)))
FRAMEWORK = $(firstword $(subst _, ,$*))

interop: $(PROGRAMS:%=interop-%)  ## run the programs of examples/ (installs their frameworks, several GB)

interop-%: examples/%.py
	$(MAKE) build/interop/$(FRAMEWORK)/.installed
	cd build/interop && $(FRAMEWORK)/bin/python ../../$<

build/interop/%/.installed: examples/requirements/%.txt pyproject.toml setup.py
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install -qq --disable-pip-version-check -r $<
	$(@D)/bin/pip install -qq --disable-pip-version-check --no-deps --editable .
	@touch $@

.PRECIOUS: build/interop/%/.installed

zoo: $(INSTALLED)  ## train the agents that come with the package, or those in AGENTS (ten minutes for all)
	$(BIN)/python -m fivedice.agents.training.pretrain $(AGENTS)

mutants: $(INSTALLED)  ## plant the faults of tests/mutants one by one: do the tests notice? (an hour or more)
	$(BIN)/python tests/mutants/plant.py

stress: $(INSTALLED)  ## random decisions, malformed files, killed processes and edited rules in large numbers (hours; see docs/reliability.md)
	$(BIN)/python tests/stress/decisions.py
	$(BIN)/python tests/stress/fuzz.py
	$(BIN)/python tests/stress/kill.py
	$(BIN)/python tests/stress/edits.py

clean:  ## remove what the other commands made, except runs/
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The exact versions in requirements.txt were tested together; pyproject.toml states the lower bounds.
$(INSTALLED): requirements.txt pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -qq --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
