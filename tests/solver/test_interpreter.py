"""The solver's tests on small models with JIT off, where every index is checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardan.jit import jit_enabled

TESTS = Path(__file__).resolve().parents[1]
SELECTION = "elliptic-dense-3 or pyramidal-sparse-4 or no_constraints or statistics or not_a_number or no_iterations"


def test_solver_runs_in_the_interpreter() -> None:
    if not jit_enabled:
        return
    pytest.importorskip("mujoco")  # the checks compare with the reference
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", SELECTION]
    files = [str(TESTS / "solver" / name) for name in ("test_newton.py", "test_solvers.py")]
    environment = os.environ | {"CARDAN_JIT": "0"}
    done = subprocess.run(
        [*command, *files], env=environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
