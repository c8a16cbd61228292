"""Users' own jitted functions in native code, and from Python, in either order: neither sees code made for the other.

What they do may raise: an index of a tuple, a division by zero, ``raise``. Each order runs in a process of its own,
since a mistake here jumps to places where no code is.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from cardan.jit import jit_enabled

pytest.importorskip("numba")
pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")

PROGRAM = """
import ctypes, sys
from numba import njit
import cardan
from cardan.jit import collider, kernel, stage
from cardan.jit.driver.loader import ctypes_function, load_object
from cardan.jit.front import native
from cardan.jit.front.compile import KernelError, compile_entry
from cardan.jit.front.stage import entry_of

@kernel
def pick(w, i):
    return w[i]

@kernel
def doubled(x):
    return 2.0 * x

@njit
def indexes_in_a_kernel(i):
    return pick((3, 5, 7), i)

@njit
def indexes(i):
    w = (3, 5, 7)
    return w[i]

@njit
def indexes_inside(i):
    return pick((3, 5, 7), min(max(i, 0), 2)) + pick((1, 2), i % 2)

@njit
def raises(i):
    if i > 5:
        raise ValueError("too large")
    return 2 * i

@njit
def raises_below(i):
    return raises(i) + 1

@njit
def divides(i):
    return 12 // i

@njit(error_model="python")
def divides_as_python(i):
    return 12 // i

@njit(fastmath=True)
def calls_kernels(i):
    return int(doubled(float(i))) + max(1, i)

@njit
def calls_itself(i):
    return 1 if i <= 0 else 2 * calls_itself(i - 1)

FUNCTIONS = (
    *(indexes_in_a_kernel, indexes, indexes_inside, raises, raises_below, divides, divides_as_python, calls_kernels),
    calls_itself,
)

def natively(function):
    def measure(m, d, geom1, geom2):
        return function(geom1) + int(doubled(1.0)) - 2

    measure.__qualname__ = f"measure_{function.__name__}"
    try:
        made = load_object(*compile_entry(entry_of(collider(measure))))
    except KernelError as error:
        return str(error).partition(",")[0].partition(": ")[2]
    return ctypes_function(made, *[ctypes.c_int64] * 5)(0, 0, 1, 0)

def from_python(function):
    found = []
    for i in (1, 9, 0):
        try:
            found.append(function(i))
        except Exception as error:
            found.append(type(error).__name__)
    return found

for function in FUNCTIONS:
    for step in sys.argv[1]:
        print(function.__name__, (natively if step == "n" else from_python)(function), flush=True)

def installs(function):
    @kernel
    def control(m, d):
        d.ctrl[0] = function(int(d.time))
    try:
        cardan.set_mjcb_control(control)
        return "installed"
    except KernelError as error:
        return str(error).partition(",")[0].partition(": ")[2]

print(installs(indexes_inside), installs(raises), from_python(indexes_inside))
"""

REFUSED_INDEX, REFUSED_VALUE = "it may raise IndexError", "it may raise ValueError"
EXPECTED = {
    "indexes_in_a_kernel": (REFUSED_INDEX, [5, "IndexError", 3]),
    "indexes": (REFUSED_INDEX, [5, "IndexError", 3]),
    "indexes_inside": (7, [7, 9, 4]),
    "raises": (REFUSED_VALUE, [2, "ValueError", 0]),
    "raises_below": (REFUSED_VALUE, [3, "ValueError", 1]),
    "divides": (12, [12, 1, "ZeroDivisionError"]),
    "divides_as_python": ("it may raise ZeroDivisionError", [12, 1, "ZeroDivisionError"]),
    "calls_kernels": (3, [3, 27, 1]),
    "calls_itself": (2, [2, 512, 1]),
}


@pytest.mark.parametrize("order", ["npn", "pnp"])
def test_native_code_and_python_in_either_order(order):
    """n: natively, p: from Python."""
    result = subprocess.run([sys.executable, "-c", PROGRAM, order], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    lines = [f"{name} {found['np'.index(step)]}" for name, found in EXPECTED.items() for step in order]
    last = f"installed {REFUSED_VALUE} {EXPECTED['indexes_inside'][1]}"
    assert result.stdout.splitlines() == [*lines, last]
