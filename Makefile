# Each target sets up what it needs: a fresh machine with Python (3.11 or newer) and make is enough.

# the reference that the tests compare with exists for Python 3.11 and 3.12; any later Python runs all the rest
PYTHON ?= $(shell for p in python3 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null && echo "$$p" && exit; \
	done; echo python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --no-input
WORKERS ?= 2
# a wide set of models, for comparisons and benchmarks
MODELS ?= ../shared/models

.PHONY: demo later test test-models test-interpreted wheel test-wheel test-pythons clients clients-later bench docs lint venv models

demo: venv
	@mkdir -p build
	$(BIN)/cardan simulate examples/humanoid.xml --duration 5 --out build/traj.npz --plot build/energy.png

test: venv models later
	$(BIN)/python -m pytest -q -n $(WORKERS) tests

# all that is compared with the reference file by file, with a wide set of models
test-models: venv later
	$(BIN)/python -m pytest -q -n $(WORKERS) --models "$(MODELS)" tests

# models from packages of the registry, once; what can't be had is skipped by the tests, which say so
models: venv
	@$(BIN)/python tests/model_packages.py

# MuJoCo 4.0.0 in an environment of its own; without it, the tests that compare with it are skipped, which say so
later: venv .venv-later/.installed

.venv-later/.installed: tests/later_requirements.txt
	@.venv-later/bin/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv .venv-later
	@.venv-later/bin/python -m pip --disable-pip-version-check --quiet --no-input install --requirement $< \
		&& touch $@ || echo "mujoco 4.0.0 can't be installed; the tests that need it are skipped"

# a share of the comparisons with the kernels in the interpreter, where every index is checked
test-interpreted: venv models
	CARDAN_JIT=0 $(BIN)/python -m pytest -q -n $(WORKERS) --each 4 tests/parity

# the sdist, the pure wheel, and one a platform with all kernels compiled; objects are kept in build/kernels
wheel: venv
	$(BIN)/python -m wheels --jobs $(WORKERS)

# all packages for this machine in fresh environments, with those that pip downloads; all models of the tests in all settings
test-wheel: venv models
	$(BIN)/python -m wheels --platform here --jobs $(WORKERS)
	CARDAN_FULL_TESTS=1 $(BIN)/python -m pytest -q -n $(WORKERS) tests/packages

# a share of the tests on the oldest and the newest Python of this machine, the former with the oldest packages
test-pythons:
	WORKERS=$(WORKERS) .ci/pythons

# programs of other packages on both engines, and the table docs/clients.md
clients: .venv-clients/.installed
	PYTHONPATH=src:tests .venv-clients/bin/python -m clients.table

.venv-clients/.installed: tests/clients/requirements.txt
	@.venv-clients/bin/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv .venv-clients
	@.venv-clients/bin/python -m pip --disable-pip-version-check --quiet --no-input install --no-deps -r $<
	@touch $@

# newest versions of other packages on MuJoCo 4.0 and on Cardan, and the table docs/clients-later.md
clients-later: .venv-later-clients/.installed
	PYTHONPATH=src:tests .venv-later-clients/bin/python -m clients.later_programs

.venv-later-clients/.installed: tests/clients/requirements-later.txt
	@.venv-later-clients/bin/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv .venv-later-clients
	@.venv-later-clients/bin/python -m pip --disable-pip-version-check --quiet --no-input install --no-deps -r $<
	@touch $@

# without the wide set of models only some run
bench: venv
	CARDAN_MODELS="$(abspath $(MODELS))" $(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.pages

# pages and stubs made from the tables of fields, the language and the benchmarks' results
docs: venv
	$(BIN)/python -m cardan.model.stubs
	$(BIN)/python -m cardan.mjcf.docs > build.md && mv build.md docs/mjcf.md
	$(BIN)/python -m benchmarks.pages

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

venv: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cardan needs Python 3.11 or newer: make PYTHON=...")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "creating $(VENV)"; "$(PYTHON)" -m venv $(VENV); }
	@echo "installing the pinned packages"
	@$(PIP) install --requirement requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
