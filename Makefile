# Each target sets up what it needs; the second time it finds it there.
#   make demo     the whole product on synthetic evidence, in the browser
#   make test     all tests
#   make test-fast  tests for work in progress: no browser, PostgreSQL, LaTeX, kills or slow files, few examples of each property
#   make campaign 20,000 random sequences each of acts on rounds, questionnaires and interviews, every count recounted;
#                 a thousand kills of a writing process, on both databases, and of one that takes answers;
#                 interrupted, it goes on with the sequences that have not run (remove .campaign to start again)
#   make attack   attacks on the desk, each bounded in time; ends with 1 if one succeeds
#   make check    ruff, mypy, import-linter
#   make docs     the reference of the command line, from the commands
#   make screenshots  the pictures of the README, from a demo study
#   make bench    side by side with peers, ratios in one run

PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
ATTACK_ARGS ?=
SCREENSHOT_ARGS ?=
RECOUNTS := tests/coding/test_recounts.py tests/surveys/test_changing_questionnaires.py \
	tests/interviews/test_counts_match_records.py

# Tests start hundreds of Python processes, which read compiled modules even where the environment says to write none.
test test-fast: export PYTHONDONTWRITEBYTECODE :=
test test-fast: export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/pycache

.PHONY: demo test test-fast campaign attack check format docs screenshots bench clean help

help:
	@sed -n 's/^#   //p' Makefile

$(VENV)/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or newer is needed: install it and try again" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: this Python cannot make virtual environments: install python3-venv and try again" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@# A test oracle that asks for old releases of what it imports, and works with new ones.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps irrCAC==0.4.4
	@touch $@

demo: $(VENV)/ready
	$(BIN)/quaestor demo $(DEMO_ARGS)

test: $(VENV)/ready-dev
	$(BIN)/python -m tests.support.install
	$(BIN)/python -m pytest -n 2 --dist loadfile $(TEST_ARGS)

test-fast: $(VENV)/ready-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --fast $(TEST_ARGS)

campaign: $(VENV)/ready-dev
	$(BIN)/python -m tests.support.install postgresql
	QUAESTOR_SEQUENCES=20000 QUAESTOR_CAMPAIGN=$(abspath .campaign) $(BIN)/python -m pytest -n 2 $(RECOUNTS)
	$(BIN)/python -m tests.campaigns.kill_writers
	$(BIN)/python -m tests.campaigns.kill_respondents
	rm -rf .campaign

attack: $(VENV)/ready-dev
	$(BIN)/python -m tests.support.install postgresql
	$(BIN)/python -m tests.campaigns.attack $(ATTACK_ARGS)

check: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.check_class_names

format: $(VENV)/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/ready-dev
	$(BIN)/python docs/make_reference.py

screenshots: $(VENV)/ready-dev
	$(BIN)/python -m tests.support.install chromium
	$(BIN)/python -m docs.make_screenshots $(SCREENSHOT_ARGS)

bench: $(VENV)/ready-dev
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache demo-study .bench .campaign build dist
