# One vocabulary for people, pre-commit and CI. Every target makes the environment it needs.

PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin

.PHONY: help run test test-slow test-lowest test-dist dist results bench fuzz check format lint types types-page layers coverage clean

help:
	@echo "make run          NLDD on yeast: the demonstration, then all methods compared in a report"
	@echo "make test         all tests but the slow ones"
	@echo "make test-slow    the long doses: published numbers, kills, fuzz, simulations; minutes"
	@echo "make test-lowest  all tests on the oldest supported dependencies"
	@echo "make dist         sdist, wheel and bill of materials in dist/, the same bytes for the same commit"
	@echo "make test-dist    the wheel in clean environments, without extras and with each of them; minutes"
	@echo "make results      tables of docs/results.md from the records in results/"
	@echo "make bench        speed and memory, side by side with others; writes docs/performance.md"
	@echo "make fuzz         damaged files of all kinds, led by coverage, SECONDS=60 for each kind"
	@echo "make types-page   types of the review page's scripts; needs Node"
	@echo "make check        format, lint, types, layers, tests with branch coverage"

run: $(VENV)/.installed
	$(BIN)/nldd demo
	$(BIN)/nldd benchmark --protocol quick --datasets yeast --out nldd-demo
	$(BIN)/nldd report nldd-demo

# One test process per core already: BLAS threads on top of that would only get in the way.
# A file stays together, because what its tests share (a fit, a page, a browser) is made only once.
PYTEST := -m pytest -n auto --dist loadfile -m "not slow"
# Once more with kernels that check every index, which would otherwise read beyond their arrays.
CHECKED := $(addprefix tests/,search estimators io coding)
test test-slow test-lowest coverage: export OPENBLAS_NUM_THREADS = 1

test: $(VENV)/.installed
	$(BIN)/python $(PYTEST)

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow tests
	NUMBA_BOUNDSCHECK=1 $(BIN)/python $(PYTEST) $(CHECKED)

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python $(PYTEST)

# The pinned tools of the environment build, so that the bytes are the same everywhere.
dist: $(VENV)/.installed
	$(BIN)/python release/make_dist.py

test-dist: export OPENBLAS_NUM_THREADS = 1
test-dist: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow tests/dist

results: $(VENV)/.installed
	$(BIN)/python results/page.py

# Each program answers one question and writes its results; the page is made of what is there.
bench: $(VENV)/.installed
	$(BIN)/python benchmarks/run.py

SECONDS ?= 60
fuzz: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python tests/fuzz.py $(SECONDS)

check: format lint types layers coverage

format: $(VENV)/.installed
	$(BIN)/ruff format --check .

lint: $(VENV)/.installed
	$(BIN)/ruff check .

types: $(VENV)/.installed
	$(BIN)/mypy

# The scripts of the review page, whose types are in their comments; only where Node is.
types-page:
	npx --yes -p typescript@5.9.3 tsc -p tests/review/tsconfig.json

layers: $(VENV)/.installed
	$(BIN)/lint-imports

coverage: $(VENV)/.installed
	$(BIN)/python $(PYTEST) --cov --cov-report=term --cov-fail-under=95

# Pinned versions, so that a clean checkout is the same everywhere; see docs/dependencies.md.
$(VENV)/.installed: pyproject.toml constraints/newest.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints/newest.txt --editable ".[dev]"
	touch $@

$(LOWEST)/.installed: pyproject.toml constraints/lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints/lowest.txt --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis nldd-demo nldd-survey
