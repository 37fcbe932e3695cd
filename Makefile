# Needs Python 3.11 or newer and make; everything else is installed into .venv, from lock files
# with hashes. `make up` starts the product, `make demo` shows a run in the terminal.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help up demo test lint format lock bench clean

help:
	@echo "make up      serve http://$(HOST):$(PORT) (PORT=, HOST=, SWARMUI_HOME=)"
	@echo "make demo    the example run, drawn in the terminal"
	@echo "make test    every test, against PostgreSQL, Redis and Chromium (ARGS=…)"
	@echo "make lint    ruff, mypy and the import contracts"
	@echo "make bench   overhead per node, and the page with 10,000 nodes"
	@echo "make lock    rewrite the lock files from pyproject.toml"
	@echo "make clean   remove .venv and what tools left (not SWARMUI_HOME)"

up: $(VENV)/.ready
	@exec $(BIN)/swarmui up --host $(HOST) --port $(PORT)

demo: $(VENV)/.ready
	@$(BIN)/swarmui migrate --verbosity 0
	@exec $(BIN)/swarmui run examples/notes/spec.yaml --watch

# Twice: on PostgreSQL, and what concerns the database again on SQLite, the embedded default.
test: $(VENV)/.ready-dev
	$(BIN)/pytest $(ARGS)
	$(if $(ARGS),,TEST_DATABASE_URL=sqlite: $(BIN)/pytest -m database tests/swarmui)

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.ready-dev
	$(BIN)/python -m bench.node_overhead
	$(BIN)/python -m bench.tree_page

COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --quiet $(ARGS)
lock: $(VENV)/.ready-dev
	$(COMPILE) pyproject.toml --output-file requirements.lock
	$(COMPILE) pyproject.toml --extra dev --output-file requirements-dev.lock
	printf 'setuptools>=77\nuv\n' | $(COMPILE) - --no-annotate --output-file requirements-build.lock

clean:
	rm -rf $(VENV) staticfiles build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment --------------------------------------------------------------------------
# uv installs in seconds what takes pip a minute; where uv cannot be had, or cannot reach what pip
# is set up to reach, pip does it. Both take only what the lock files' hashes allow.

UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --system-certs
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
define INSTALL
	@$(UV) --require-hashes -r $(1) 2>/dev/null || $(PIP) --require-hashes -r $(1)
	@$(UV) --no-deps --no-build-isolation --editable . 2>/dev/null || \
	$(PIP) --no-deps --no-build-isolation --editable . 2>/dev/null || \
	$(PIP) --no-deps --editable .
endef

$(VENV)/.ready: requirements.lock pyproject.toml $(VENV)/.tools
	@echo "swarmui: installing what requirements.lock names (once, about half a minute)"
	$(call INSTALL,requirements.lock)
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock pyproject.toml $(VENV)/.tools
	@echo "swarmui: installing what requirements-dev.lock names (once, about half a minute)"
	$(call INSTALL,requirements-dev.lock)
	@touch $@ $(VENV)/.ready

$(VENV)/.tools: requirements-build.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "swarmui: Python 3.11 or newer is needed, and '$(PYTHON)' is:" \
	"$$($(PYTHON) --version 2>&1 | head -n 1). Name another one: make PYTHON=python3.12 up" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	echo "swarmui: this Python lacks its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "swarmui: making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --only-binary :all: --require-hashes -r requirements-build.lock || echo "swarmui: going on with pip alone"
	@touch $@
