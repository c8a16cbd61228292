"""User code that shares parts with stages: Numba keeps them for all callers, and stages leave them unfinished."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cardan.jit import jit_enabled

PROGRAM = """
from numba import njit
from cardan.jit import collider, kernel
from cardan.jit.front.compile import compile_entry
from cardan.jit.front.lowering import dispatcher_of
from cardan.jit.front.stage import entry_of
import cardan

@kernel
def longest(p):
    return max(abs(p[0]), abs(p[1]), abs(p[2]))

@kernel
def widened(p):
    return 2.0 * longest(p) + max(p)

@collider
def measure(m, d, geom1, geom2):
    d.time = widened((d.qpos[0], d.qpos[1], d.qpos[2]))
    return 0

compile_entry(entry_of(measure))
other = dispatcher_of(widened)

@njit
def of_the_user(p):
    return other(p) + max(p)

print(of_the_user((1.0, -5.0, 2.0)))
"""


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_user_code_after_stages() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert result.stdout == "14.0\n", result.stderr[-2000:]
