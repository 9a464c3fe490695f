# Two commands matter: `make demo` and `make test`. Both make the environment first, in .venv: with uv if it is there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 60
SHELL := /bin/bash

UV := $(shell command -v uv)
PIN := --constraint constraints.txt --editable
ifdef UV
VENV_COMMAND = $(UV) venv --quiet --seed --allow-existing --python "$(PYTHON)" $(VENV)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python $(PIN)
HAS_VENV = test -x $(BIN)/python
else
VENV_COMMAND = "$(PYTHON)" -m venv $(VENV)
# pip would compile all modules, for a fifth of its time: Python compiles those that are imported
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(PIN)
# an environment whose making was interrupted has no pip
HAS_VENV = $(BIN)/python -m pip --version >/dev/null 2>&1
endif

# tests wait for services and programs: with a worker for each core, a fifth of the time would be unused, and a fifth with
# three more for slow tests; each file's tests mostly stay on one worker, which keeps the services that they share
# what failed runs once more, alone: a test that waits for other processes may be late beside five others; the fifth that
# fails again ends it
tests = $(BIN)/python -m pytest --dist worksteal -n $(shell "$(PYTHON)" -c 'import os; print((os.cpu_count() or 1) + $(1))') \
	-m $(2) || { [ $$? = 1 ] && echo "What failed, once more and alone:" && \
	$(BIN)/python -m pytest -m $(2) --last-failed --last-failed-no-failures none --maxfail 5 -rp; }
# without bytecode each worker compiles the program and all tests again: 22 seconds of processor time
unexport PYTHONDONTWRITEBYTECODE

# what `make load` runs: the tests that wait for other processes most; pictures wait no longer than the others
PICTURES := tests/tui/test_pictures.py tests/tui/test_state_pictures.py tests/tui/test_admin_pictures.py
LOADED := tests/tui tests/journeys tests/engine $(addprefix --ignore=,$(PICTURES))

.PHONY: help env demo test test-all needs lint types check quick load matrix fuzz kills stale agree first scale soak engines forecast edits attack mutants audit pictures crash release screenshots sample snapshots docs reference clean

help:  ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

env: $(VENV)/.made  ## the environment, in .venv

$(VENV)/.made: pyproject.toml constraints.txt
	@$(HAS_VENV) || $(VENV_COMMAND)
	$(INSTALL) '.[dev]'
	@touch $(VENV)/.demo $@

# a part of what `env` installs, in the same place
$(VENV)/.demo: pyproject.toml constraints.txt
	@echo "Installing the packages of the demo in $(VENV), once: $(if $(UV),15 to 30 seconds with uv,about a minute) …"
	@$(HAS_VENV) || $(VENV_COMMAND)
	@$(INSTALL) '.[serve]'
	@touch $@

demo: $(VENV)/.demo  ## the sample workspace, in the app
	@$(BIN)/presscheck demo

lint: env  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: env  ## types, strict
	$(BIN)/pyrefly check --summary=none

check: env  ## the tests of `make test` alone
	$(call tests,1,'not slow')

needs:  ## the programs that tests need and that are missing here
	@"$(PYTHON)" -m tests.needs

test: needs env lint types check  ## before each commit: style, types, and every test that is not slow

test-all: needs env  ## the slow tests: pictures, PostgreSQL, long seeds, whole journeys; CI runs it after `make test`
	$(call tests,4,slow)

quick: env  ## the tests of the packages that changed since main
	@$(BIN)/python -m tests.quick

load: env  ## the tests that wait most, three times beside two busy loops: at most half an hour
	@$(BIN)/python -m tests.load $(LOADED)

matrix:  ## the suite on every Python of this machine, with an environment for each in .matrix
	@"$(PYTHON)" -m tests.matrix

fuzz: env  ## calls made up from the service's description, many of each: takes half an hour
	PRESSCHECK_CASES=100 $(BIN)/python -m pytest -n 2 --dist worksteal tests/service/test_schemathesis.py
	PRESSCHECK_CASES=20 $(BIN)/python -m pytest -n 2 --dist worksteal tests/service/test_hostile_requests.py -k garbage

kills: env  ## the service killed a hundred times on each engine while it writes, a crowd at work, PostgreSQL restarted
	PRESSCHECK_CASES=100 $(BIN)/python -m pytest -n 2 --dist worksteal tests/service/test_kills.py
	PRESSCHECK_CASES=10 $(BIN)/python -m pytest -n 2 --dist worksteal tests/service/test_concurrent_users.py
	PRESSCHECK_CASES=5 $(BIN)/python -m pytest tests/service/test_faults.py -k restart

stale: env  ## 100,000 reads beside writers in two processes: none is older than what was acknowledged
	PRESSCHECK_CASES=250 $(BIN)/python -m pytest -s -o timeout=3600 -o log_cli=true -o log_cli_level=WARNING tests/service/test_answer_cache.py

agree: env  ## 10,000 mixed calls to two processes on one PostgreSQL and one bucket: each shows what the other wrote
	PRESSCHECK_CASES=100 $(BIN)/python -m pytest -s -o timeout=7200 -o log_cli=true -o log_cli_level=WARNING tests/service/test_agreement.py

first: env  ## `make demo` in a copy of this folder, with pip and with uv, and a wheel with uvx: seconds to the inbox
	@$(BIN)/python -m benchmarks.first_demo

scale: env  ## two workers of the service against one, on both engines; needs wrk
	$(BIN)/python -m benchmarks.scale

soak: env  ## a service under mixed load for MINUTES=60: fails on an error, if its memory grows, or if its loop stalls
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

engines: env  ## the tests of the service, each on SQLite and on PostgreSQL, the long ones too
	PRESSCHECK_BOTH_ENGINES=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/service

forecast: env  ## the forecast of conflicts against what the service then says, 500 times
	PRESSCHECK_CASES=500 $(BIN)/python -m pytest -s -o timeout=900 tests/engine/test_forecast.py

edits: env  ## random edits of pages and trees, 200 of each repository of documentation: diffs, merges, what is saved and moved
	PRESSCHECK_CASES=25 $(BIN)/python -m pytest -n 2 --dist worksteal -o timeout=900 \
		tests/documents/test_diff_on_documentation.py \
		tests/documents/test_diff_invariants.py \
		tests/documents/test_merge_text.py \
		tests/documents/test_merge_revisions.py \
		tests/engine/test_rearrange.py \
		tests/tui/test_random_edits.py

attack: env  ## every hostile request of the tests, on both database engines: at most ten minutes
	@$(BIN)/python -m tests.attack
	PRESSCHECK_KINDS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal tests/cli/test_hostile_service.py \
		tests/cli/test_broken_environment.py tests/cli/test_environment_matrix.py tests/cli/test_operation_verbs.py \
		tests/rules/test_patterns.py

mutants: env $(VENV)/.mutants  ## small faults planted in permissions, writes, merges and sanitizing: takes an hour; ALL=1 plants each
	@$(BIN)/python -m tests.mutants $(MUTATED)

$(VENV)/.mutants: pyproject.toml constraints.txt
	$(INSTALL) '.[mutants]'
	@touch $@

audit: env $(VENV)/.audit  ## known vulnerabilities of the pinned packages, with pip-audit; needs the network
	@$(BIN)/python -m tests.audit

$(VENV)/.audit: pyproject.toml constraints.txt
	$(INSTALL) '.[audit]'
	@touch $@

pictures: env  ## every picture in every size and theme; `make test-all` compares each in one of them
	PRESSCHECK_LOOKS=all $(BIN)/python -m pytest -n 2 --dist worksteal $(PICTURES)

crash: env  ## the whole crash grid: every kill, fault and kind of write; takes its time
	$(BIN)/python -m tests.crash
	PRESSCHECK_CASES=1 $(BIN)/python -m pytest tests/engine/test_checkout_kills.py

release: env $(VENV)/.release  ## build the release twice, compare and check it, and print the tag to set
	@$(BIN)/python -m tests.release

$(VENV)/.release: pyproject.toml constraints.txt
	$(INSTALL) '.[release]'
	@touch $@

screenshots: env  ## screenshots/*.svg, from the running app
	$(BIN)/python tests/screenshots.py

sample: env  ## the rows of the sample workspace, from its source
	@$(BIN)/python -m tests.prepared_sample

snapshots: env  ## the pictures that the tests compare with: look at each that changed
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PICTURES) --snapshot-update

docs: env  ## the site of the manual, in site/; a warning is an error
	$(BIN)/properdocs build --strict

reference: env  ## what is made from the program: parts of the manual, the man page, completion scripts, licences
	$(BIN)/python -m tests.manual
	$(BIN)/python -m tests.licences

clean:  ## throw the environment away
	rm -rf $(VENV) .matrix .pytest_cache .ruff_cache dist site
