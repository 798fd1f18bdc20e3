# Development commands; needs Python 3.11+, git and make.
# The environment is in .venv; installation is skipped while its stamp file is up to date.
# `make help` prints the text after `##`.

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
.PHONY: help app test check lint compile test-sdk test-client bench fuzz docs clean

help: ## show this help
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

app: $(APP) ## install Recollect and open the web app, with sample sessions if you have none
	@$(BIN)/recollect serve --demo-if-empty

# More than there are cores: tests also wait for browsers and servers.
WORKERS = $$(($$($(BIN)/python -c 'import os; print(os.cpu_count())') + 2))
# In the order of tests/slow_files.py instead of the files with most tests first.
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test: $(DEV) $(BROWSER) lint compile ## run lint, type checks, import contracts and all tests
	$(PYTEST)

check: $(DEV) lint compile ## like `make test`, without slow tests
	$(PYTEST) -m 'not slow'

# Tests start the program hundreds of times; with PYTHONDONTWRITEBYTECODE each start would compile it.
compile: $(DEV)
	@$(BIN)/python -m compileall -q src tests/guard

lint: $(DEV) ## run linters, type checks and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	sh tools/check_scripts.sh $(VENV)/node

test-sdk: $(OFFICIAL) ## compare with the official reader; installs 420 MB into .venv-sdk
	$(SDK)/bin/python -m pytest -m sdk tests/sdk

test-client: $(DEV) $(BROWSER) ## test with real Claude Code clients, offline; installs 500 MB with npm
	RECOLLECT_CLIENTS='$(CLIENTS)' $(BIN)/python -m tests.client.versions
	RECOLLECT_CLIENTS='$(CLIENTS)' $(BIN)/python -m pytest -m client tests/client

BENCHMARKS = reader library index follow cli search relevance redact masking web conversing \
             archive export versions

bench: $(DEV) $(BROWSER) ## run the benchmarks; fails if one misses a goal
	@missed=; for each in $(BENCHMARKS); do \
	  echo "$(BIN)/python -m benchmarks.$$each"; \
	  $(BIN)/python -m benchmarks.$$each || missed="$$missed $$each"; \
	done; \
	if [ -n "$$missed" ]; then echo "Goals missed by:$$missed" >&2; exit 1; fi

fuzz: $(DEV) ## fuzz the reader, the terminal output, the index and the archive
	$(BIN)/python -m fuzz.lines --lines 1000000
	$(BIN)/python -m fuzz.terminal --strings 1000000
	$(BIN)/python -m fuzz.damage --flips 2000 --pages 200
	$(BIN)/python -m fuzz.archive_kills --kills 500
	$(BIN)/python -m fuzz.archive_kills --kills 200 --during encrypt
	$(BIN)/python -m fuzz.archive_kills --kills 100 --during forget

# Screenshots need Chromium; without it they are not updated.
docs: $(DEV) ## generate docs, images, schemas and man pages; test all examples
	$(BIN)/python -m tools.generate_docs
	$(BIN)/python -m tools.generate_schemas
	$(BIN)/python -m tools.generate_captures
	RECOLLECT_UPDATE_SCREENSHOTS=1 $(BIN)/python -m pytest -q tests/web/browser/test_screenshots.py
	$(BIN)/python -m pytest -q tests/docs tests/library/test_guide.py

clean: ## remove environments and caches
	rm -rf $(VENV) $(SDK) build dist
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks fuzz tools -name __pycache__ -type d -prune -exec rm -rf {} +

# All environments are created the same way.
%/.stamp-base:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'Recollect needs Python 3.11 or newer, and $(PYTHON) is older or missing.' \
	       'Specify another one: make PYTHON=python3.12 …' >&2; exit 1; }
	@$(PYTHON) -m venv $(@D) || { \
	  echo 'Could not create $(@D). On Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }
	@touch $@

$(APP): $(BASE) $(RECIPE)
	$(INSTALL) --editable .
	@touch $@

# The development install includes the plain one.
$(DEV): $(BASE) $(RECIPE)
	$(INSTALL) --editable '.[dev]'
	@touch $(APP) $@

$(BROWSER): $(BASE) tools/install_browser.sh
	sh tools/install_browser.sh
	@touch $@

$(OFFICIAL): $(SDK)/.stamp-base $(RECIPE)
	$(SDK)/bin/python -m $(PINNED) --editable '.[sdk]'
	@touch $@
