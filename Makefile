# Everything a maintainer does, from a fresh clone with Python 3.11+, git and make.
# The environment lives in .venv; installing is skipped while its stamp is newer than what it is
# made from. `make help` reads the text behind `##`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SDK    := .venv-sdk

export PIP_DISABLE_PIP_VERSION_CHECK = 1

PINNED    = pip install --quiet --constraint constraints.txt
INSTALL   = $(BIN)/python -m $(PINNED)
BASE      := $(VENV)/.stamp-base
APP       := $(VENV)/.stamp-app
DEV       := $(VENV)/.stamp-dev
OFFICIAL  := $(SDK)/.stamp-sdk
RECIPE    := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help app test check lint test-sdk bench fuzz docs clean

help: ## show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

app: $(APP) ## install the program and show it at work on the bundled demo data
	@echo 'The web app is not here yet; this is `recollect doctor` on the bundled demo data.'
	@$(BIN)/recollect doctor --demo

test: $(DEV) lint ## all that must hold: lint, types, layers and every test
	$(BIN)/python -m pytest

check: $(DEV) lint ## the fast part of `make test`, for the inner loop: no slow tests
	$(BIN)/python -m pytest -m 'not slow'

lint: $(DEV) ## the part of `make test` that reads the code without running it
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test-sdk: $(OFFICIAL) ## compare our reader with the official one; installs 420 MB into .venv-sdk
	$(SDK)/bin/python -m pytest -m sdk tests/sdk

bench: $(DEV) ## measure reading, opening and listing on this machine
	$(BIN)/python -m benchmarks.reader
	$(BIN)/python -m benchmarks.library

fuzz: $(DEV) ## feed a million broken lines to the reader
	$(BIN)/python -m fuzz.lines --lines 1000000

docs: $(DEV) ## run every example in the documentation
	$(BIN)/python -m pytest -q tests/docs tests/library/test_guide.py

clean: ## remove the environments and every cache
	rm -rf $(VENV) $(SDK) build dist
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks fuzz tools -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments are all made alike.
%/.stamp-base:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'Recollect needs Python 3.11 or newer, and $(PYTHON) is older or missing.' \
	       'Name another one: make PYTHON=python3.12 …' >&2; exit 1; }
	@$(PYTHON) -m venv $(@D) || { \
	  echo 'Could not make $(@D). On Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }
	@touch $@

$(APP): $(BASE) $(RECIPE)
	$(INSTALL) --editable .
	@touch $@

# The development install holds all of the plain one, so it counts for both.
$(DEV): $(BASE) $(RECIPE)
	$(INSTALL) --editable '.[dev]'
	@touch $(APP) $@

$(OFFICIAL): $(SDK)/.stamp-base $(RECIPE)
	$(SDK)/bin/python -m $(PINNED) --editable '.[sdk]'
	@touch $@
