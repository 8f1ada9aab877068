# `make demo` and `make test` need Python 3.10 or later and make; everything else is installed into .venv, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module to bytecode when it is first imported; pip would compile all modules of all packages. Where
# Python may not keep bytecode, each of the many processes that tests start compiles all that it imports again.
unexport PYTHONDONTWRITEBYTECODE
PIP := -m pip install --no-compile --disable-pip-version-check
SUM := $(shell cksum pyproject.toml | cut -d' ' -f1)
# what playing needs, and what developing needs beside it
PLAY_STAMP := $(VENV)/installed-to-play-$(SUM)
STAMP := $(VENV)/installed-for-$(SUM)
SLOW_STAMP := $(VENV)/installed-for-slow-tests-$(SUM)
WASM_STAMP := $(VENV)/installed-for-wasm-$(SUM)

# what depends on other people's versions
OLDEST_TESTS := tests/test_conformance.py tests/test_aec.py tests/test_agents.py tests/test_layers.py tests/test_vector.py \
	tests/test_single.py tests/render/test_modes.py \
	tests/render/test_films.py tests/render/test_pictures.py

TEXT_LIBRARIES := textarena verifiers
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
WITH_TORCH := notebooks/07_train_and_evaluate.ipynb

# compiled kernels are invisible to coverage: these run them as plain Python too
KERNEL_TESTS := $(wildcard tests/*/test_rulings.py) tests/curio/test_endings.py tests/curio/test_setup.py \
	tests/trinim/test_resign.py tests/test_game_texts.py tests/search/test_results.py

.PHONY: demo environments test test-slow test-nojit test-oldest test-libraries test-training test-training-notebook test-rllib test-text-libraries coverage docs pages pictures notebooks screenshots wasm play lint format clean

demo: $(PLAY_STAMP)  ## a match of each game, a tournament
	@$(BIN)/python -m pbm_agents.cli.demo

test: $(STAMP)  ## all tests but the slow ones, on two processes
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q

test-slow: $(STAMP) $(SLOW_STAMP)  ## the slow ones, with Ray if there is one for this Python, JupyterLab, and a reader of Croissant
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q -m slow
	$(BIN)/python -m pytest -n 2 -q --nbmake $(filter-out $(WITH_TORCH),$(NOTEBOOKS))

test-nojit: $(STAMP)  ## the rules as plain Python
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -q -m smallest

test-oldest: $(VENV)-oldest/installed  ## the oldest supported versions, in an environment of their own
	$(VENV)-oldest/bin/python -m pytest -n 2 --dist loadgroup -q $(OLDEST_TESTS)

test-libraries: test-training test-training-notebook test-rllib  ## the programs that train with RL libraries

test-training: $(VENV)-libraries/installed
	$(VENV)-libraries/bin/python -m pytest -n 2 --dist loadgroup -q -m libraries tests/training tests/test_docs.py tests/cli

test-training-notebook: $(VENV)-libraries/installed
	$(VENV)-libraries/bin/python -m pytest -q --nbmake $(WITH_TORCH)

test-rllib: $(VENV)-rllib/installed
	$(VENV)-rllib/bin/python -m pytest -q -m libraries tests/training/test_rllib.py tests/training/test_docstrings.py
	$(VENV)-rllib/bin/python -m pytest -q -m libraries tests/training/test_trainer_ray.py  # Ray keeps a process's first home

test-text-libraries: $(TEXT_LIBRARIES:%=$(VENV)-%/installed)  ## games in words inside other people's libraries
	for library in $(TEXT_LIBRARIES); do \
		PATH=$(CURDIR)/$(VENV)-$$library/bin:$$PATH $(VENV)-$$library/bin/python -m pytest -q -m libraries \
			tests/text/libraries/test_$$library.py || exit 1; \
	done

coverage: $(STAMP)  ## which lines the fast tests run, kernels included; the pages are in build/coverage/html
	mkdir -p build/coverage
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q --cov --cov-report=
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -q -m smallest --cov --cov-append --cov-report=
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -q $(KERNEL_TESTS) --cov --cov-append --cov-report=
	$(BIN)/python -m coverage html -q
	$(BIN)/python -m coverage report

pages: $(STAMP)  ## write the generated parts of the documentation anew
	$(BIN)/python docs/pages.py

pictures: $(STAMP)  ## draw the pictures and films of the documentation anew
	$(BIN)/python docs/pictures.py

docs: $(STAMP)  ## check that generated parts are current; the site, in docs/_build/html; warnings are errors
	$(BIN)/python docs/pages.py --check
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs docs/_build/html

screenshots: $(STAMP)  ## of the board page, in docs/_static/screenshots; needs a Chromium
	$(BIN)/python -m tests.board.screens

notebooks: $(STAMP) $(VENV)-libraries/installed  ## run them anew, and keep what they show
	$(BIN)/python notebooks/execute.py $(filter-out $(WITH_TORCH),$(NOTEBOOKS))
	$(VENV)-libraries/bin/python notebooks/execute.py $(WITH_TORCH)

wasm: $(WASM_STAMP)  ## the games' kernels as WebAssembly, in build/wasm; browser/check.py plays recorded games again
	$(BIN)/python browser/build.py

play: wasm  ## the page on which the games are played without a server, in build/site/play; `make docs` puts it on its pages
	$(BIN)/python browser/play.py

lint: $(STAMP)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-libraries $(VENV)-rllib $(TEXT_LIBRARIES:%=$(VENV)-%) .mypy_cache .ruff_cache .pytest_cache .hypothesis build docs/_build

$(PLAY_STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "pbm_envs needs Python 3.10 or later: make PYTHON=python3.12 ...")'
	@echo "Installing pbm_envs into $(VENV), once: an environment, which takes some seconds, then what pip names"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP) -e ".[cli]"
	@rm -f $(VENV)/installed-*
	@touch $@

$(STAMP): $(PLAY_STAMP)
	@echo "Installing what the tests need into $(VENV), once"
	@$(BIN)/python $(PIP) -e ".[dev]"
	@touch $@

$(SLOW_STAMP): $(STAMP)
	-$(BIN)/python $(PIP) -e ".[ray]" "jupyterlab>=4" "mlcroissant>=1"
	-$(BIN)/python $(PIP) -e ".[wasm]"
	touch $@

$(WASM_STAMP): $(PLAY_STAMP)
	$(BIN)/python $(PIP) -e ".[wasm]"
	touch $@

# all that is not the environment of this folder: needs no processor for long, but the network
environments: $(VENV)-oldest/installed $(VENV)-libraries/installed $(VENV)-rllib/installed $(TEXT_LIBRARIES:%=$(VENV)-%/installed)

$(VENV)-oldest/installed: oldest.txt pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) -c $< -e ".[test]"
	touch $@

# verifiers starts its programs by uv
$(TEXT_LIBRARIES:%=$(VENV)-%/installed): pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) uv pytest pytest-xdist hypothesis -e ".[$(@D:$(VENV)-%=%)]"
	touch $@

# libraries whose versions clash have an environment each
$(VENV)-libraries/installed: notebooks/training/requirements.txt pyproject.toml
$(VENV)-rllib/installed: notebooks/training/requirements-rllib.txt pyproject.toml
$(VENV)-libraries/installed $(VENV)-rllib/installed:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) -r $< -e ".[test]"
	touch $@
