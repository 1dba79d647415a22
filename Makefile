# The commands a newcomer needs. Each sets up what it uses; `make demo PYTHON=python3.12` takes another Python.
PYTHON ?= python3
VENV := .venv/bin

.PHONY: demo test lint bench clean

demo:  ## everything in the foreground, with a first comparison of PostgreSQL 16 and 18
	@$(PYTHON) -m bootstrap venv
	@$(VENV)/python -m bootstrap demo

test:  ## all tests, on real servers; make test ARGS="-k matrix -x"
	@$(PYTHON) -m bootstrap system --dev
	@$(PYTHON) -m bootstrap venv --dev
	@$(VENV)/python -m bootstrap services -- $(VENV)/python -m pytest $(ARGS)

lint:  ## style, types, import directions
	@$(PYTHON) -m bootstrap venv --dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	TEITEN_DEBUG=1 $(VENV)/mypy .
	$(VENV)/lint-imports

bench:  ## Teiten against its limits, as ratios of one run; best on an idle machine
	@$(PYTHON) -m bootstrap system --dev
	@$(PYTHON) -m bootstrap venv --dev
	@$(VENV)/python -m bootstrap services -- $(VENV)/python -m bench $(ARGS)

clean:  ## stops what runs and removes the state folder
	@$(PYTHON) -m bootstrap clean
