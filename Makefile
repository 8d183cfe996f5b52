# All commands of the project. They need git, make and Python 3.11 or newer, write nothing outside this
# folder, and build the locked environment when it is missing or out of date.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env demo test test-deep test-all pytest-all test-bytes test-spark test-next-duckdb fuzz soak crash-matrix mutant-lines silent-losses mutants static format-check lint types contracts docs-check pytest golden browser-test pictures format docs docs-site container-test \
        bench-decode bench-reports bench-ingest bench-nights bench-watch bench-metrics bench-coverage bench-worlds bench-periods bench-experiment bench-publish bench-spark bench-python bench-start bench-dashboard bench-readers bench-extras compare structure build sbom audit lock clean distclean

# A name on PATH proves nothing: a version manager's shim may lead nowhere, and Debian splits venv off.
# So every candidate is started. `make env PYTHON=...` chooses another one.
PYTHON_FITS := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	"$$p" -c '$(PYTHON_FITS)' >/dev/null 2>&1 && echo "$$p" && break; done)

BIN := .venv/bin
PY := $(BIN)/python
UV := .uv/bin/uv
SOURCES := schemas parsers pipelines sample-data app

# The interpreter found above is the one to use, company certificates count, nothing is kept in $HOME.
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS ?= true
export UV_CACHE_DIR ?= $(CURDIR)/.uv/cache
# The tests start many programs: without compiled files each of them would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE
# `uv` does not read pip's settings: hand on a company mirror.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

help: ## list the targets (what `make` alone does)
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: .venv/ready ## build the locked environment, if it is not up to date

demo: env ## load sample-data and print the headline metrics
	$(BIN)/zscope demo

# The type checker uses one processor: the tests run beside it.
test: env ## the static checks and the tests, side by side
	$(MAKE) --no-print-directory --jobs=2 static pytest

# Hypothesis marks the property tests: they run here again, with more examples.
test-deep: env ## the tests that take long: many examples, kills, full disks, several writers
	$(BIN)/pytest -m "(deep or hypothesis) and not browser and not spark" --hypothesis-profile=many --no-loadscope-reorder \
	  --numprocesses auto --dist loadfile $(ARGS)

# Each part in processes of its own: what pages and stores leave in the memory of one would slow down the next.
test-all: env ## what make test and make test-deep run, each test once
	$(MAKE) --no-print-directory --jobs=2 static pytest-all

WHOLE = $(BIN)/pytest -m "not browser and not bytes and not spark" --hypothesis-profile=many --no-loadscope-reorder \
  --numprocesses auto --dist loadfile

pytest-all: env ## all tests but those of browser, Spark and single bytes; test-all has the static checks, too
	failed=0; $(WHOLE) tests/app || failed=1; $(WHOLE) tests/pipelines || failed=1; \
	$(WHOLE) --ignore=tests/app --ignore=tests/pipelines || failed=1; exit $$failed

test-bytes: env ## every single-byte fault in small dumps and reports; takes 20 minutes or more
	$(BIN)/pytest -m bytes --numprocesses auto --dist worksteal $(ARGS)

test-spark: .venv-spark/ready ## the tests on a cluster of Spark, with Java 17 and an environment of their own
	.venv-spark/bin/pytest -m spark tests/spark $(ARGS)

# What DuckDB decides. Validation is not among it: its dialect does not allow DuckDB 2.
OF_DUCKDB = tests/pipelines/store tests/pipelines/stored_steps tests/pipelines/metrics tests/pipelines/ingest tests/app/python

test-next-duckdb: .venv-duckdb2/ready ## tests of store, metrics and Python with DuckDB 2; tests/duckdb2.toml lists which fail
	.venv-duckdb2/bin/pytest --no-loadscope-reorder --numprocesses auto --dist loadfile \
	  -W "ignore:Arrow output on a DB-API:UserWarning" $(or $(ARGS),$(OF_DUCKDB))

fuzz: .venv-fuzz/ready ## coverage-guided fuzzing: make fuzz ENTRY=smf MINUTES=30; default: all entries, one minute each
	.venv-fuzz/bin/python -m tests.fuzz.guided $(ENTRY) --minutes $(or $(MINUTES),1) $(ARGS)

soak: env ## randomized stress test of the store: make soak MINUTES=120
	$(PY) -m tests.soak.run --minutes $(or $(MINUTES),5) $(ARGS)

crash-matrix: env ## kill commands at each call that changes files, let power and disk fail; ARGS="watch --not-done 9"
	$(PY) -m tests.crash.matrix $(ARGS)

mutant-lines: env ## prove that tests of make test notice single wrong lines of the sources; ARGS="gap" chooses some
	$(PY) -m tests.mutants.single_lines $(ARGS)

silent-losses: env ## count the faults of texts that lose rows silently, by family; ARGS="--all --silent --of policy"
	$(PY) -m tests.parsers.text.faults.silent_losses $(ARGS)

mutants: env ## replace operators in the SQL of metrics: a case must notice each; ARGS="--seed 2 --number 20 --of finding"
	$(PY) -m tests.mutants.sql_operators $(ARGS)

static: ## the five checks below, one after the other
	@$(MAKE) --no-print-directory --jobs=1 format-check lint types contracts docs-check

format-check: env ## is the code formatted?
	$(BIN)/ruff format --check

lint: env ## ruff's rules
	$(BIN)/ruff check

types: env ## mypy, strict, over sources and tests
	$(BIN)/mypy

contracts: env ## who may import whom
	$(BIN)/lint-imports --no-logo

docs-check: env ## are rendered files up to date, and can every page of the reference be rendered?
	$(PY) -m zscope.app.docs --check

pytest: env ## tests and doctests; ARGS="-k name -x" to choose
	$(BIN)/pytest --no-loadscope-reorder --numprocesses auto --dist loadfile $(ARGS)

golden: env ## write the golden files of what commands show on terminals again
	ZSCOPE_GOLDEN=write $(BIN)/pytest -n 0 -m "deep or not deep" tests/app/cli/store/test_screens.py tests/app/cli/report/test_answer_screen.py \
	  tests/app/cli/program/test_screens_of_changes.py $(ARGS)

browser-test: env ## a real browser over the dashboard; needs Chromium. Pictures: build/screenshots
	$(BIN)/pytest -m browser tests/app/dashboard/browser --numprocesses auto --dist worksteal $(ARGS)

pictures: env ## take the pictures of the documents again, in docs/images; needs Chromium
	ZSCOPE_PICTURES=write $(BIN)/pytest -m browser tests/app/dashboard/browser/test_pictures.py $(ARGS)

format: env ## format the code and apply the safe fixes
	$(BIN)/ruff check --fix-only --exit-zero
	$(BIN)/ruff format

docs: env ## write the rendered files under version control again
	$(PY) -m zscope.app.docs

docs-site: env .venv-docs/ready ## documents and reference as a static site in build/site; a dead link is an error
	$(PY) -m zscope.app.docs --site build/pages
	.venv-docs/bin/zensical build --clean --strict

container-test: build ## build the image of the Containerfile and run it; needs root, buildah and debootstrap
	$(PY) .ci/try_container.py

bench-decode: env ## measure the decoder
	$(PY) benchmarks/decode.py

bench-reports: env ## measure the reading of reports
	$(PY) benchmarks/reports.py

bench-python: env ## measure the ways from a dump to polars and DuckDB
	$(PY) benchmarks/python.py

bench-start: env ## measure short commands from start to end
	$(PY) benchmarks/start.py

bench-ingest: env ## measure the way from the dump to the store
	$(PY) benchmarks/ingest.py

bench-nights: env ## measure what one more night costs in a store of years
	$(PY) benchmarks/nights.py

bench-watch: env ## measure 288 loads of five minutes, one after the other
	$(PY) benchmarks/watch.py

bench-metrics: env ## measure the metrics over millions of connections
	$(PY) benchmarks/metrics.py

bench-coverage: env ## measure how often the estimate of the TLS CPU cost contains the truth
	$(PY) benchmarks/coverage.py

bench-worlds: env ## measure the same from the dump to the metric, with worlds on disk
	$(PY) benchmarks/worlds.py

bench-periods: env ## measure how often a comparison of periods sees a change that there is, or is not
	$(PY) benchmarks/periods.py

bench-experiment: env ## measure how often the result of an experiment contains the truth
	$(PY) benchmarks/estimate/experiment_days.py

bench-publish: env ## measure the publication of Iceberg tables after each load
	$(PY) benchmarks/publish.py

bench-spark: .venv-spark/ready ## measure Spark's data source on a cluster of two executors; needs Java 17
	.venv-spark/bin/python benchmarks/spark.py $(ARGS)

bench-dashboard: env ## measure the dashboard in a real browser; needs Chromium
	$(PY) benchmarks/dashboard.py

bench-extras: build ## measure the size of each extra
	$(PY) benchmarks/extras.py

bench-readers: env ## measure the dashboard with 30 readers at once during loads
	$(PY) benchmarks/readers.py

structure: env ## size and structure of the project in numbers, beside an earlier checkout: make structure BEFORE=../old
	$(PY) benchmarks/structure.py $(if $(BEFORE),--before $(BEFORE))

compare: env ## compare the results of another checkout with this one: make compare BEFORE=../old
	$(PY) benchmarks/compare_versions.py $(BEFORE) . $(COMPARE_FLAGS)

build: env ## wheel and sdist in dist/
	rm -rf dist
	$(BIN)/hatchling build -d dist -t sdist -t wheel

# What a user installs: the wheel and the locked runtime dependencies, with their licenses.
sbom: build .venv-release/ready ## a bill of materials of the wheel, in the format CycloneDX, in dist/
	$(UV) venv --quiet --clear --python .uv/bin/python build/sbom
	$(UV) pip sync --quiet --python build/sbom/bin/python --require-hashes requirements/runtime.txt
	$(UV) pip install --quiet --python build/sbom/bin/python --no-deps dist/*.whl
	.venv-release/bin/cyclonedx-py environment build/sbom/bin/python --pyproject pyproject.toml \
	  --output-reproducible --of JSON -o "$$(ls dist/*.whl).cdx.json"

# It asks a public list of advisories. A package that the list does not know is an error, too: it was not audited.
audit: .venv-release/ready ## compare the locked dependencies with published advisories
	for lock in runtime dashboard container docs build; do \
	  .venv-release/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r requirements/$$lock.txt || exit 1; done

# Pins stay as they are unless asked: `make lock LOCK_FLAGS=--upgrade`.
LOCK = $(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	--custom-compile-command 'make lock' $(LOCK_FLAGS)

lock: .uv/ready ## write requirements/*.txt again from pyproject.toml
	$(LOCK) pyproject.toml -o requirements/runtime.txt
	$(LOCK) pyproject.toml --extra dashboard -c requirements/runtime.txt -o requirements/dashboard.txt
	$(LOCK) pyproject.toml --group test --extra quality --extra dashboard --extra otlp -c requirements/runtime.txt \
	  -c requirements/dashboard.txt -o requirements/test.txt
	$(LOCK) pyproject.toml --group test --extra quality --extra dashboard --extra otlp --extra spark -c requirements/test.txt \
	  -o requirements/spark.txt
	$(LOCK) pyproject.toml --group test --extra quality --extra dashboard --extra otlp --group fuzz -c requirements/test.txt \
	  -o requirements/fuzz.txt
	$(LOCK) pyproject.toml --extra dashboard --extra quality --extra iceberg --extra otlp -c requirements/test.txt -o requirements/container.txt
	$(LOCK) --group duckdb2 -o requirements/duckdb2.txt
	$(LOCK) --group docs -c requirements/test.txt -o requirements/docs.txt
	$(LOCK) --group release -c requirements/test.txt -o requirements/release.txt
	$(LOCK) --group build -c requirements/test.txt -o requirements/build.txt
	$(LOCK) --group bootstrap -o requirements/bootstrap.txt

clean: ## remove what was built and all caches
	rm -rf build dist zscope-demo-store .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find $(SOURCES) tests -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## the same, and the environments
	rm -rf .venv .venv-docs .venv-spark .venv-duckdb2 .venv-fuzz .venv-release .uv

# Debian refuses a system-wide `pip install`, so uv gets a small environment of its own.
.uv/ready: requirements/bootstrap.txt
	@"$(PYTHON)" -c '$(PYTHON_FITS)' 2>/dev/null || { \
	  echo "zscope needs Python 3.11 or newer with the venv module (Debian, Ubuntu: python3-venv);" \
	       "none found. Name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir \
	  --require-hashes -r requirements/bootstrap.txt
	@touch $@

# From scratch each time: takes a second from the cache and leaves nothing of the old state behind.
# zscope itself is linked, not copied, with the locked build tools.
.venv/ready: .uv/ready pyproject.toml requirements/test.txt requirements/build.txt
	$(UV) venv --quiet --clear --prompt zscope --python .uv/bin/python .venv
	$(UV) pip sync --quiet --python $(PY) --require-hashes requirements/test.txt requirements/build.txt
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

# Spark is 500 MB, so it has an environment of its own: that of the tests and pyspark.
.venv-spark/ready: .uv/ready pyproject.toml requirements/spark.txt requirements/build.txt
	$(UV) venv --quiet --clear --prompt zscope-spark --python .uv/bin/python .venv-spark
	$(UV) pip sync --quiet --python .venv-spark/bin/python --require-hashes requirements/spark.txt requirements/build.txt
	$(UV) pip install --quiet --python .venv-spark/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

# The dialect that validation needs refuses DuckDB 2, so no resolver would put the two together.
.venv-duckdb2/ready: .uv/ready pyproject.toml requirements/test.txt requirements/build.txt requirements/duckdb2.txt
	$(UV) venv --quiet --clear --prompt zscope-duckdb2 --python .uv/bin/python .venv-duckdb2
	$(UV) pip sync --quiet --python .venv-duckdb2/bin/python --require-hashes requirements/test.txt requirements/build.txt
	$(UV) pip install --quiet --python .venv-duckdb2/bin/python --no-deps --no-build-isolation --editable .
	$(UV) pip install --quiet --python .venv-duckdb2/bin/python --no-deps --require-hashes -r requirements/duckdb2.txt
	@touch $@

# Atheris has versions for some versions of Python only.
.venv-fuzz/ready: .uv/ready pyproject.toml requirements/fuzz.txt requirements/build.txt
	$(UV) venv --quiet --clear --prompt zscope-fuzz --python .uv/bin/python .venv-fuzz
	$(UV) pip sync --quiet --python .venv-fuzz/bin/python --require-hashes requirements/fuzz.txt requirements/build.txt
	$(UV) pip install --quiet --python .venv-fuzz/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv-release/ready: .uv/ready requirements/release.txt
	$(UV) venv --quiet --clear --prompt zscope-release --python .uv/bin/python .venv-release
	$(UV) pip sync --quiet --python .venv-release/bin/python --require-hashes requirements/release.txt
	@touch $@

# The generator of the site shares no package with zscope, and no test needs it.
.venv-docs/ready: .uv/ready requirements/docs.txt
	$(UV) venv --quiet --clear --prompt zscope-docs --python .uv/bin/python .venv-docs
	$(UV) pip sync --quiet --python .venv-docs/bin/python --require-hashes requirements/docs.txt
	@touch $@
