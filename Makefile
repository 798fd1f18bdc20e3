# Everything a maintainer does, from a fresh clone with Python 3.11+, git and make.
# The environment lives in .venv; installing is skipped while its stamp is newer than what it is
# made from. `make help` reads the text behind `##`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SDK    := .venv-sdk
CLIENTS ?= $(CURDIR)/$(VENV)/clients

export PIP_DISABLE_PIP_VERSION_CHECK = 1

PINNED    = pip install --quiet --constraint constraints.txt
INSTALL   = $(BIN)/python -m $(PINNED)
BASE      := $(VENV)/.stamp-base
APP       := $(VENV)/.stamp-app
DEV       := $(VENV)/.stamp-dev
OFFICIAL  := $(SDK)/.stamp-sdk
BROWSER   := $(VENV)/.stamp-browser
RECIPE    := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help app test check lint test-sdk test-client bench fuzz docs clean

help: ## show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

app: $(APP) ## install the program and open the web app, on demo data if you have no sessions
	@$(BIN)/recollect serve --demo-if-empty

test: $(DEV) $(BROWSER) lint ## all that must hold: lint, types, layers and every test
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

check: $(DEV) lint ## the fast part of `make test`, for the inner loop: no slow tests
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m 'not slow'

lint: $(DEV) ## the part of `make test` that reads the code without running it
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test-sdk: $(OFFICIAL) ## compare our reader with the official one; installs 420 MB into .venv-sdk
	$(SDK)/bin/python -m pytest -m sdk tests/sdk

test-client: $(DEV) $(BROWSER) ## try all of it with the real client, offline; installs 500 MB with npm
	RECOLLECT_CLIENTS='$(CLIENTS)' $(BIN)/python -m tests.client.versions
	RECOLLECT_CLIENTS='$(CLIENTS)' $(BIN)/python -m pytest -m client tests/client

bench: $(DEV) $(BROWSER) ## measure reading, opening, listing and starting on this machine
	$(BIN)/python -m benchmarks.reader
	$(BIN)/python -m benchmarks.library
	$(BIN)/python -m benchmarks.index
	$(BIN)/python -m benchmarks.follow
	$(BIN)/python -m benchmarks.cli
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.web

fuzz: $(DEV) ## feed a million broken lines to the reader, a million hostile strings to the terminal
	$(BIN)/python -m fuzz.lines --lines 1000000
	$(BIN)/python -m fuzz.terminal --strings 1000000

# Pictures of pages need a Chromium; without one they stay as they are.
docs: $(DEV) ## write the generated pages, pictures, schemas and manuals; run every example
	$(BIN)/python -m tools.generate_docs
	$(BIN)/python -m tools.generate_schemas
	$(BIN)/python -m tools.generate_captures
	RECOLLECT_UPDATE_SCREENSHOTS=1 $(BIN)/python -m pytest -q tests/web/browser/test_screenshots.py
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

$(BROWSER): $(BASE) tools/install_browser.sh
	sh tools/install_browser.sh
	@touch $@

$(OFFICIAL): $(SDK)/.stamp-base $(RECIPE)
	$(SDK)/bin/python -m $(PINNED) --editable '.[sdk]'
	@touch $@
