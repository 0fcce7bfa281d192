# Everything here works from a fresh clone with Python 3.11+ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test quick browser test-slow test-oldest test-python coverage faults fuzz mutants bench \
	paper-smoke lint hooks docs wheel-check release-check requirements clean

# No test tools: what the report needs and no more.
demo: $(VENV)/.installed-report
	$(BIN)/python -m immigrate.demo

# Tests that share a cluster are a group, which one of the processes runs.
test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist loadgroup

# What a change is likeliest to break, in a minute of two cores: layers, sizes and roads, recorded
# answers, and the packages by themselves. Kernels that changed are compiled first, which takes
# a minute more.
QUICK := tests/test_imports.py tests/test_budget.py tests/test_same_answers.py \
	tests/test_persistence.py tests/test_private_names.py tests/test_tuned_numbers.py \
	tests/core tests/kinds tests/outcomes tests/table tests/solvers tests/additive \
	tests/interactions tests/margin tests/estimators/test_golden.py

quick: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --maxfail 5 $(QUICK)

# The pages of the report in Chromium: apt-get install chromium chromium-driver.
browser: $(VENV)/.installed-browser
	$(BIN)/python -m pytest tests/browser

test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m slow

# The lower bounds of pyproject.toml. Compiled code of other versions stays where it is.
test-oldest: .venv-oldest/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/compiled OMP_NUM_THREADS=1 \
		.venv-oldest/bin/python -m pytest -n auto --dist loadgroup

# Another Python, by default the one called python3.12 and so on: make test-python VERSION=3.12
test-python: .venv-$(VERSION)/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-$(VERSION)/compiled OMP_NUM_THREADS=1 \
		.venv-$(VERSION)/bin/python -m pytest -n auto --dist loadgroup

# Which lines the tests reach, as pages in build/coverage. Compiled functions run outside its sight.
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist loadgroup --cov=immigrate --cov-report=term \
		--cov-report=html:build/coverage --cov-report=xml:build/coverage/coverage.xml

# More than 200 faults, ten minutes: full disk, no memory, Ctrl-C, damaged cache, kill -9.
faults: $(VENV)/.installed-test
	$(BIN)/python -m harness.faults

# Drawn problems, every estimator: a quarter of an hour on two cores. One of them again: --number.
fuzz: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m harness.fuzz --problems 5500

# Errors planted in the library, one at a time: half an hour of one core. One of them again: --number.
mutants: $(VENV)/.installed-test
	nice $(BIN)/python -m harness.mutants --most 400

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/speed/bench_pass.py

# Offline: the data sets that need no folder, 1 repeat of 3 folds, all methods but EBM, which takes
# as long as the others together.
SMOKE_METHODS := SV1 SV2 LAS DT NBC RBF 1NN 3NN LMN REL RFF SIM LFE LDA SOD HIN IM4 IGT IGT+ IGL \
	ADB RF XGB BIM BIM+ MAJ

paper-smoke: $(VENV)/.installed-paper
	rm -rf build/paper-smoke
	$(BIN)/python -m paper run --sets MON WIN SYN --repeats 1 --folds 3 --time-limit 60 \
		--methods $(SMOKE_METHODS) --results build/paper-smoke
	$(BIN)/python -m paper tables --results build/paper-smoke
	$(BIN)/python -m paper figures --seeds 3 --results build/paper-smoke

# The site, in build/docs: open build/docs/index.html. No network; a warning is an error.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -d build/docs-cache docs build/docs
	$(BIN)/python docs/check_links.py build/docs

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What pre-commit does before each commit, on all files: `.venv/bin/pre-commit install`.
hooks: $(VENV)/.installed-dev
	$(BIN)/pre-commit run --all-files --show-diff-on-failure

# Wheel and sdist in build/dist; the wheel installed in an empty environment elsewhere, and tried.
wheel-check:
	$(PYTHON) scripts/wheel_check.py

# All that must hold before a release. Nothing is tagged and nothing is sent anywhere.
release-check: $(VENV)/.installed-dev
	$(BIN)/python scripts/release.py

# The files in requirements/ again, from pyproject.toml and from what the index has today.
requirements: $(BIN)/python
	$(BIN)/python requirements/make.py oldest test

clean:
	rm -rf $(VENV) .venv-oldest .venv-3.*

# One stamp file per set of extras: a second run finds it newer than
# pyproject.toml and installs nothing.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo 'Installing into $(VENV): a minute the first time.'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

.venv-oldest/.installed: requirements/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint requirements/oldest.txt --editable '.[test]'
	touch $@

.venv-3.%/.installed: requirements/test.txt
	$(or $(INTERPRETER),python3.$*) -m venv .venv-3.$*
	.venv-3.$*/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint requirements/test.txt --editable '.[test]'
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
