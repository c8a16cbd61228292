"""The same checks with JIT off, where every index is checked: on small models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardan.jit import jit_enabled

TESTS = Path(__file__).resolve().parents[1]


def test_stages_run_in_the_interpreter() -> None:
    if not jit_enabled:
        return
    pytest.importorskip("mujoco")  # the checks compare with the reference
    files = [str(TESTS / "parity" / "test_smooth.py"), str(TESTS / "dynamics" / "test_kernels.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files]
    environment = os.environ | {"CARDAN_JIT": "0"}
    done = subprocess.run(
        command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
