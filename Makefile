# Company Brain. `make up` and `make test` do their own set-up; everything lands in .venv and .brain of this checkout.

.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
REFEREES := tools/node/node_modules/.ready
MEMBERS := $(wildcard libs/*/src services/*/src) cli/src

.PHONY: help up down status check format test test-fast test-system test-large conformance bench lock generate clean

help: ## Show what there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

$(READY): requirements.lock tools/members.py
	@sh tools/venv.sh $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: -r requirements.lock
	@$(PY) tools/members.py $(MEMBERS)
	@touch $@

up: $(READY) ## Start a brain with a sample company in it, and say where it is
	@$(VENV)/bin/brain up --detach
	@$(VENV)/bin/brain welcome

down: ## Stop the brain; its data stays
	@test ! -x $(VENV)/bin/brain || $(VENV)/bin/brain down

status: $(READY) ## Show which services are ready
	@$(VENV)/bin/brain status

check: $(READY) ## Format, lint, types, architecture, and the rules of the house
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports pyproject.toml
	$(PY) tools/render_inventory.py --check
	$(VENV)/bin/pytest tests/house

format: $(READY) ## Format the code and mend what can be mended by itself
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

test: $(READY) $(REFEREES) ## Run every test but the large ones
	$(VENV)/bin/pytest -m "not large and not conformance"

test-fast: $(READY) ## Run what needs no whole brain
	$(VENV)/bin/pytest -m "not large and not system and not conformance"

test-system: $(READY) $(REFEREES) ## Run the stories with all six services
	$(VENV)/bin/pytest -m "system and not large"

test-large: $(READY) ## Run the tests at size: many minutes
	$(VENV)/bin/pytest -m large

$(REFEREES): tools/node/package-lock.json tools/node/.npmrc
	@cd tools/node && npm ci --silent
	@touch $@

conformance: $(READY) $(REFEREES) ## Run the protocol's official suites against the dispatcher and a whole gateway (needs npm)
	$(VENV)/bin/pytest services/gateway/tests/test_conformance.py

bench: $(READY) ## Measure, print a table, and write docs/benchmarks.md
	PYTHONPATH=tools:tests $(PY) -m bench

generate: $(READY) ## Write anew what is made from the code: schemas, golden examples, tables of documents
	$(PY) tools/generate.py
	$(PY) tools/render_inventory.py

lock: $(READY) ## Resolve requirements.in into requirements.lock, and each image's share of it (needs uv)
	PATH=$(VENV)/bin:$$PATH uv pip compile --quiet requirements.in --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		--no-emit-index-url --no-emit-find-links --output-file requirements.lock
	PATH=$(VENV)/bin:$$PATH $(PY) tools/render_locks.py

clean: down ## Stop the brain and remove what was installed, .cache and its data in .brain
	rm -rf $(VENV) .cache .brain tools/node/node_modules
