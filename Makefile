# Everything here works from a fresh clone with Python 3.11+ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-slow fuzz bench paper-smoke lint docs clean

demo: $(VENV)/.installed-test
	$(BIN)/python -m immigrate.demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m slow

# Drawn problems, every estimator: a quarter of an hour on two cores. One of them again: --number.
fuzz: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m harness.fuzz --problems 5500

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/bench_pass.py

# Offline: the data sets that need no folder, all methods, 1 repeat of 3 folds.
paper-smoke: $(VENV)/.installed-paper
	rm -rf build/paper-smoke
	$(BIN)/python -m paper run --sets MON WIN SYN --repeats 1 --folds 3 --time-limit 60 \
		--results build/paper-smoke
	$(BIN)/python -m paper tables --results build/paper-smoke
	$(BIN)/python -m paper figures --seeds 3 --results build/paper-smoke

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV)

# One stamp file per set of extras: a second run finds it newer than
# pyproject.toml and installs nothing.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
