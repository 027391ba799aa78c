# Everything starts from a bare clone and Python 3.11: the targets make .venv, install pinned versions, and do the job.
# `make` alone lists them.
PYTHON  ?= python3
WORKERS ?= 2
PORT    ?= 8000
BIN     := .venv/bin
CODE    := nbs tests tools docs setup.py
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# One stamp for each set of extras; a stamp older than these files means: install again.
PINS    := settings.ini setup.py constraints.txt
STAMP   := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-matrix check notebooks docs serve bench experiments export wheel clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP)-data  ## install, then test two samples of real digits
	$(BIN)/kpw-nb demo

test: $(STAMP)-$(if $(CI),docs,dev)  ## run every notebook and all checks (of the site too, after make docs); SLOW=1 adds the slow cells
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(SLOW),--slow)

test-matrix:  ## a smoke test in empty environments: each Python that is found, oldest and newest requirements
	$(PYTHON) tools/matrix.py

check: $(STAMP)-dev  ## the inner loop: lint, types, one quick test a module, notebooks that differ from main
	$(BIN)/ruff format --check --quiet $(CODE)
	$(BIN)/ruff check --quiet $(CODE)
	$(BIN)/python -m mypy -p kpw_nb
	$(BIN)/python -m pytest -n $(WORKERS) --quick

notebooks: $(STAMP)-dev  ## re-execute notebooks in place; NB=theory/09_descent takes one, SLOW=1 the slow cells too
	$(BIN)/nbdev_export
	$(BIN)/python tools/execute.py $(if $(SLOW),--slow) $(NB)
	$(BIN)/python tools/readme.py

export: $(STAMP)-dev  ## format and clean the notebooks, then write kpw_nb/ and README.md from them
	$(BIN)/ruff format --quiet $(CODE)
	$(BIN)/nbdev_clean
	$(BIN)/nbdev_export
	$(BIN)/python tools/readme.py

docs: $(STAMP)-docs  ## build the site into docs/_site; any warning is an error
	$(BIN)/python docs/build.py

serve: docs  ## build the site and serve it on localhost (PORT=8000)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory docs/_site $(PORT)

bench: $(STAMP)-dev  ## time us and the libraries side by side
	$(BIN)/python -m kpw_nb.study.bench

EXPERIMENTS := gaussian mixture_dimension mixture_200 mixture_size mnist mnist_cv projected_dimension regularisation comparison sizes sizes_large
experiments: $(STAMP)-dev  ## run the paper's experiments (hours; a rerun resumes); NAME=gaussian takes one, QUICK=1 a few repetitions
	@for name in $(or $(NAME),$(EXPERIMENTS)); do $(BIN)/kpw-nb reproduce $$name --workers $(WORKERS) $(if $(QUICK),--quick) || exit; done

wheel: $(STAMP)-dev  ## build dist/*.tar.gz and from it dist/*.whl, and check both
	rm -rf build dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*

clean:  ## remove what was built, .venv included
	rm -rf .venv docs/_site docs/_nb build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
	    f"kpw_nb needs Python 3.11 or later, but $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv .venv

$(STAMP)-data: $(PINS) | $(BIN)/python
	$(PIP) -e ".[data]"
	@touch $@

$(STAMP)-dev: $(PINS) | $(BIN)/python
	$(PIP) -e ".[dev]"
	@touch $@ $(STAMP)-data

$(STAMP)-docs: $(PINS) | $(BIN)/python
	$(PIP) -e ".[dev,docs]"
	@touch $@ $(STAMP)-dev $(STAMP)-data
