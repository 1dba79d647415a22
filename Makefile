# The commands a newcomer needs. Each sets up what it uses; `make demo PYTHON=python3.12` takes another Python.
PYTHON ?= python3
VENV := .venv/bin
# Over how many processes the tests are spread; ARGS and WHICH are pytest's own words and marks (CONTRIBUTING.md).
PROCESSES ?= 3
WHICH ?=
WAREHOUSE ?= grown
TRIALS ?= 5000

LOCK := $(VENV)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --emit-build-options \
        --generate-hashes --no-annotate --custom-compile-command "make lock"

.PHONY: demo test test-slow test-all tests soak lint lock messages demo-check deploy-check bench look clean

demo:  ## everything in the foreground, with a first comparison of PostgreSQL 16 and 18
	@$(PYTHON) -m bootstrap venv
	@$(VENV)/python -m bootstrap demo

test:  ## what a change needs: the quick tests, and of the slow ones a smoke test of every kind and journey
	@$(MAKE) --no-print-directory tests WHICH="smoke or not slow"

test-slow:  ## the rest: live trials, browser, bootstrap
	@$(MAKE) --no-print-directory tests WHICH="slow and not smoke"

test-all: test test-slow  ## both

tests:  ## any of them: make tests WHICH=slow ARGS="-k pgpool -x"
	@$(PYTHON) -m bootstrap system --dev
	@$(PYTHON) -m bootstrap venv --dev
	@$(VENV)/python -m bootstrap services -- $(VENV)/python -m pytest -n $(PROCESSES) -m "$(WHICH)" $(ARGS)

soak:  ## thousands of short trials while things fail at random, some hours: make soak TRIALS=5000
	@$(MAKE) --no-print-directory tests WHICH=soak PROCESSES=0 ARGS="--soak $(TRIALS) -s -o faulthandler_timeout=0"

lint:  ## style, security rules, types, import directions, containers
	@$(PYTHON) -m bootstrap venv --dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/bandit -q -c pyproject.toml -r results workers webapp bootstrap manage.py
	$(VENV)/djangofmt --check templates
	TEITEN_DEBUG=1 $(VENV)/mypy .
	$(VENV)/lint-imports
	$(VENV)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml
	$(VENV)/compose-lint --quiet --skip-suppressed --strict-config --fail-on low --no-env --no-merge-overrides docker-compose.yml
	$(VENV)/hadolint --ignore DL3008 Dockerfile deploy/agent/Dockerfile

lock:  ## requirements*.lock anew from requirements*.txt; ARGS=--upgrade takes newer versions of what those do not name
	@$(PYTHON) -m bootstrap venv --dev
	$(LOCK) $(ARGS) requirements-dev.txt --output-file requirements-dev.lock
	$(LOCK) --constraints requirements-dev.lock requirements-demo.txt --output-file requirements-demo.lock
	$(LOCK) --constraints requirements-dev.lock requirements.txt --output-file requirements.lock

messages:  ## brings locale/ and the kinds' up to date with the texts of code and templates; then translate what is empty
	@$(PYTHON) -m bootstrap system --dev
	@$(PYTHON) -m bootstrap venv --dev
	@TEITEN_DEBUG=1 $(VENV)/python manage.py makemessages --locale ja --no-wrap --add-location file --no-obsolete \
	  --ignore tests --ignore bench --ignore docs --ignore bootstrap

look:  ## pages of a made-up warehouse, to look at: make look WAREHOUSE=grown (tests/warehouses.py has their names)
	@$(PYTHON) -m bootstrap venv --dev
	@$(VENV)/python -m bootstrap services -- $(VENV)/python -m tests.look $(WAREHOUSE)

demo-check:  ## make demo with a small plan, started, measured and stopped by Ctrl-C; it must leave no process
	@$(PYTHON) -m bootstrap demo-check
	@$(PYTHON) -m bootstrap leftover || { echo "The processes above were left behind."; exit 1; }

deploy-check:  ## as root: the images' steps in chroots, docker-compose.yml brought up in them, a trial on its example agent
	@$(PYTHON) -m bootstrap system --dev
	@$(PYTHON) -m bootstrap venv --dev
	@$(VENV)/python -m tests.deployment $(ARGS)

bench:  ## Teiten against its limits, as ratios of one run; best on an idle machine
	@$(PYTHON) -m bootstrap system --dev
	@$(PYTHON) -m bootstrap venv --dev
	@$(VENV)/python -m bootstrap services -- $(VENV)/python -m bench $(ARGS)

clean:  ## stops what runs and removes the state folder
	@$(PYTHON) -m bootstrap clean
