"""Inverse kinematics with JIT off, where every index is checked."""

import os
import subprocess
import sys
from pathlib import Path

from cardan.jit import jit_enabled

TESTS = Path(__file__).resolve().parents[1]
SELECTION = "residuals or excludes or elbows or looks or two_geoms or first_step or exclude"


def test_kernels_run_in_the_interpreter():
    if not jit_enabled:
        return
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n0", "-k", SELECTION]
    done = subprocess.run(
        [*command, str(TESTS / "ik")], env=os.environ | {"CARDAN_JIT": "0"}, cwd=TESTS.parent, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
