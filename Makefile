# Everything sets itself up: a virtual environment in .venv, made again when pyproject.toml changes.
PYTHON ?= python3
RUN := .venv/bin
READY := .venv/.ready

.PHONY: help setup quickstart test check lint style format docs check-studies check-long check-extras bench clean

help:  ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## make .venv and install into it

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "recombine needs Python 3.11 or later; set PYTHON, as in: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python $(PYTHON) .venv && uv pip install --quiet --python $(RUN)/python -e '.[dev]'; \
	else \
		$(PYTHON) -m venv .venv && $(RUN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $(READY)

quickstart: setup  ## run the first study and write its report
	$(RUN)/recombine run supports

# Types are checked beside the tests: pyright takes one core for most of a minute, in which the other would wait.
TYPES = if command -v node >/dev/null 2>&1; then $(RUN)/pyright; \
	else echo "types are not checked: pyright needs node, which is not installed"; fi

test: style  ## style, types and the tests of the code: some minutes on two cores
	@said=$$(mktemp); { $(TYPES); } >$$said 2>&1 & types=$$!; \
	$(RUN)/pytest -q -n 2 --dist worksteal -m "not long and not studies and not slow" --hypothesis-profile same-everywhere; tests=$$?; \
	wait $$types; types=$$?; cat $$said; rm -f $$said; exit $$(( tests ? tests : types ))

lint: style  ## style and types
	@$(TYPES)

style: setup
	$(RUN)/ruff check src tests docs
	$(RUN)/ruff format --check --quiet src tests docs/*.py

format: setup  ## put the code in shape
	$(RUN)/ruff check --fix src tests docs
	$(RUN)/ruff format src tests docs/*.py

docs: setup  ## build the docs site; a warning is an error
	$(RUN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "site: docs/_build/index.html"

check: setup  ## the slow kinds: every world and net, pages in a browser, faults, S3, every block of the docs and the README
	$(RUN)/pytest -q -n 2 --dist worksteal -m "slow and not long and not studies" --hypothesis-profile same-everywhere

check-studies: setup  ## every study at smoke scale, and in its control worlds
	$(RUN)/pytest -q -n 2 --dist worksteal -m studies

check-long: setup  ## the checks that take minutes
	$(RUN)/pytest -q -m long

EXTRAS := '.[torch,transformers,pretrained,ray]'
RIVALS := sliceline==0.3.0 pysubgroup==0.9.0 divexplorer==0.2.6 interpret-core==0.7.8 scikit-learn==1.9.1
check-extras: setup  ## install torch, transformers, Ray and rivals too; run tests of adapters, of a cluster, and the rivals
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(RUN)/python -e $(EXTRAS); \
	else $(RUN)/python -m pip install --quiet --disable-pip-version-check -e $(EXTRAS); fi
	$(RUN)/pytest -q tests/adapters tests/docs/test_readme.py tests/docs/test_docs.py tests/docs/test_docstrings.py tests/lab/driver/test_ray*.py tests/bench/test_torch_nets.py
	@test -d .venv/rivals || $(RUN)/python -m venv .venv/rivals  # these want an older numpy than we do
	.venv/rivals/bin/python -m pip install --quiet --disable-pip-version-check $(RIVALS)
	$(RUN)/python docs/rivals/rivals.py .venv/rivals/bin/python

bench: setup  ## speed on one core, as ratios
	$(RUN)/recombine bench

clean:  ## remove what make made
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis docs/_build
