# Two commands matter: `make run` and `make test`. Both set up everything they need first.
# LIGHT=1 leaves out the second dense path (torch): smaller, quicker to install.

PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 8501
LIGHT  ?=

BIN   := $(VENV)/bin
KIND  := $(if $(LIGHT),light,full)
READY := $(VENV)/.ready-$(KIND)

.PHONY: run test check format screenshots browser samples messages clean

run: $(READY)
	@$(BIN)/streamlit run streamlit_app.py \
	    --server.address 127.0.0.1 --server.port $(PORT) \
	    --server.allowedHosts localhost --server.allowedHosts 127.0.0.1

test:
	@$(MAKE) --no-print-directory -j2 browser $(VENV)/.ready-dev
	@$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: $(VENV)/.ready-dev
	$(BIN)/python -m docs.screenshots

samples: $(VENV)/.ready-dev
	$(BIN)/python data/samples/typeset.py

# After a sentence of the app has changed: brings ui/locales up to date and names what is missing.
messages: $(VENV)/.ready-dev
	$(BIN)/python -m ui.messages

# The browser tests drive a real Chromium; where none can be had they are skipped, and say so.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk; \
	else echo "No Chromium here: the browser tests will be skipped (install chromium to run them)."; fi

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Lectern needs Python 3.11 or newer; name one with PYTHON=python3.12 make run"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready-full: requirements.txt constraints.txt | $(BIN)/python
	@echo "Setting up: some minutes and 3 GB, once. (make run LIGHT=1 needs a third of it.)"
	$(BIN)/pip install -q --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.ready-light: requirements.txt constraints.txt | $(BIN)/python
	sed '/^# >>> second dense path/,/^# <<< second dense path/d' requirements.txt > .requirements-light.txt
	$(BIN)/pip install -q --disable-pip-version-check -r .requirements-light.txt
	@rm -f .requirements-light.txt && touch $@

$(VENV)/.ready-dev: requirements-dev.txt requirements.txt constraints.txt | $(BIN)/python
	$(BIN)/pip install -q --no-compile --disable-pip-version-check -r requirements-dev.txt
	@touch $@ $(VENV)/.ready-full

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
