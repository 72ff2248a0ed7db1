# Every target sets up what it needs in .venv and does nothing twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml hatch_build.py $(shell find stan -type f)
INTERPRETERS ?= $(wildcard $(HOME)/.pyenv/versions/3.1[123].*/bin/python)

# Larger public data sets, where they lie beside the checkout; without them their tests skip.
export RELIABAYES_DATA ?= $(abspath ../shared/data)
export RELIABAYES_INTERPRETERS = $(INTERPRETERS)

.PHONY: demo test quick lint packaging notebooks browser docs posteriors sanitize calibrate bench wheel clean

demo: $(VENV)/installed
	@mkdir -p demo
	$(BIN)/reliabayes demo --report demo/report.html

test: $(VENV)/developed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

quick: $(VENV)/developed
	$(BIN)/python -m pytest --quick --numprocesses 2 --dist loadfile

lint: $(VENV)/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src tests hatch_build.py benchmarks

packaging: $(VENV)/developed
	$(BIN)/python -m pytest -m packaging

notebooks: $(VENV)/developed
	$(BIN)/python -m pytest -m notebooks

browser: $(VENV)/developed
	$(BIN)/python -m pytest -m browser

docs: $(VENV)/documented
	$(BIN)/python -m pytest -m docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

posteriors: $(VENV)/developed
	$(BIN)/python -m pytest -m posteriors

sanitize: $(VENV)/developed
	RELIABAYES_SANITIZE=1 UBSAN_OPTIONS=halt_on_error=1 \
		$(BIN)/python -m pytest tests/inference/test_runner.py tests/likelihoods/test_item_mixture.py

calibrate: $(VENV)/developed
	$(BIN)/python -m pytest -m calibration

bench: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks.gaussian_icc
	$(BIN)/python -m benchmarks.annotation
	$(BIN)/python -m benchmarks.reliability

wheel: $(VENV)/bin/python
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist demo site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "reliabayes needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python $(SOURCES)
	@echo 'Compiling the Stan programs: a few minutes the first time, seconds later.' >&2
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/developed: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/installed $@

$(VENV)/documented: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	touch $@
