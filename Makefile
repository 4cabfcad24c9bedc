# Everything works from a fresh clone with Python 3.11 or later, make and a package index.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One BLAS thread per process: on a busy machine more of them only wait for each other.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help learn demo test soak gpu lint release clean
.DEFAULT_GOAL := help

help:
	@echo "make learn    for yourself: copy the lab to my-lab/ and check it on every save"
	@echo "make demo     grade the bundled sample submissions and write build/demo/"
	@echo "make test     lint, types, and the tests of this repository (at most 15 minutes on two cores)"
	@echo "make soak     what takes longer: long agreement runs, kills, fuzzing at full length"
	@echo "make gpu      what needs a CUDA device; prints its figures"
	@echo "make lint     ruff and mypy only"
	@echo "make release  rebuild assignments/, solutions/, source/*.ipynb and release/ from the masters"

$(STAMP): constraints.txt pyproject.toml assignments/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This needs Python 3.11 or later; $(PYTHON) is older or missing. Try: make test PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	  echo "$(PYTHON) came without the venv module. On Debian or Ubuntu: install python3-venv." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e ./assignments -e ".[dev]"
	@# Now, and by all cores: the sandbox may not write what it compiles, and would do it again each time.
	@$(BIN)/python -m compileall -q -j 0 $(VENV) > /dev/null || true  # some packages bring files that are no Python
	@touch $(STAMP)

# Only the student package is needed; a .venv with everything in it will do as well.
learn:
	@test -x $(BIN)/attnlab || { echo "Installing the student package; PyTorch is large, so this takes a few minutes …"; \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ./assignments; }
	@test -d my-lab || { mkdir my-lab && cp assignments/lab07/*.py my-lab/; }
	@echo "Your copy of the lab is in my-lab/. Open attention_lab.py in your editor, and keep this window beside it."
	$(BIN)/attnlab check my-lab --watch

demo: $(STAMP)
	@rm -rf build/demo && mkdir -p build/demo
	@$(BIN)/python -m tests.samples.build build/demo/submissions
	@$(BIN)/python -c 'import secrets; print(secrets.token_hex(32))' > build/demo/course_seed.txt
	$(BIN)/autograder grade build/demo/submissions --assignment lab07 --out build/demo --course-seed build/demo/course_seed.txt
	@echo "Open build/demo/index.html in a browser: the class. From there, each submission's feedback page."

# A file of tests stays in one process, so that what it prepares once is prepared once. In their own order: the files
# with the fewest tests, which would come last, are those that take longest.
test: lint
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

soak: $(STAMP)
	$(ONE_THREAD) $(BIN)/python -m pytest -m soak --timeout 7200

gpu: $(STAMP)
	$(ONE_THREAD) $(BIN)/python -m pytest -m gpu -s tests/gpu

lint: $(STAMP)
	$(BIN)/python -m ruff check
	$(BIN)/python -m mypy --num-workers 2

release: $(STAMP)
	$(ONE_THREAD) $(BIN)/autograder release lab07
	$(ONE_THREAD) $(BIN)/autograder release lab02

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache $(VENV)
