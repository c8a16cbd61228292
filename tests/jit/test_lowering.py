"""Kernels are lowered without the paths of errors; what could raise after all is refused."""

from __future__ import annotations

import gc

import pytest

import cardan
from cardan.jit import collider, jit_enabled, kernel
from cardan.jit.driver.loader import ctypes_function, load_object
from cardan.jit.front.stage import entry_of

pytest.importorskip("numba")
pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")


@kernel
def sign(x):
    if x < 0:
        return -1
    return 1 if x > 0 else 0


@kernel
def power_of_two(n):
    """A kernel that calls itself."""
    return 1 if n <= 0 else 2 * power_of_two(n - 1)


@collider
def counts(m, d, geom1, geom2):
    weights = (3, 5, 7)
    total = 0
    for i in range(3):
        total += weights[i] * sign(geom1 + i)
    return total + max(geom1, geom2) + power_of_two(geom2)


@collider
def adds_signs(m, d, geom1, geom2):
    return sign(geom1) + sign(geom2)


@collider
def looks_anywhere(m, d, geom1, geom2):
    weights = (3, 5, 7)
    return weights[geom1]


@collider
def raises_an_error(m, d, geom1, geom2):
    if geom1 == geom2:
        raise ValueError("equal")
    return 0


@kernel
def with_a_function_inside(x):
    def doubled(y):
        return 2.0 * y

    return doubled(x) + 1.0


@collider
def measure(m, d, geom1, geom2):
    d.time = with_a_function_inside(float(geom1)) + max(geom1, geom2)
    return 0


def _module(function):
    from cardan.jit.front.compile import link_entry

    return link_entry(entry_of(function))


def test_native_code_counts_as_python_does():
    import ctypes

    from cardan.jit.front.compile import compile_entry

    word = ctypes.c_int64
    native = ctypes_function(load_object(*compile_entry(entry_of(counts))), word, word, word, word, word)
    for one in range(-4, 3):
        for two in range(5):
            assert native(0, 0, one, two) == counts(None, None, one, two)


def test_kernels_look_for_no_errors_of_kernels():
    """Beside the outermost wrapper, no function looks at what another returned."""
    text = str(_module(adds_signs))
    outermost = entry_of(adds_signs).symbol
    kernels = [part for part in text.split("\ndefine ")[1:] if outermost not in part.partition("(")[0]]
    bodies = [part.partition("\n}")[0] for part in kernels]
    assert sum("call i32" in body for body in bodies) == 2
    assert not any("icmp eq i32" in body or "excinfo" in body.partition("{")[2] for body in bodies)


def test_a_tuple_is_indexed_where_that_is_certain_to_be_inside():
    from cardan.jit.front.compile import KernelError, compile_entry

    symbol, code = compile_entry(entry_of(counts))
    assert symbol.encode() in code
    with pytest.raises(KernelError, match=r"not a pure kernel.*raise IndexError"):
        compile_entry(entry_of(looks_anywhere))


def test_a_kernel_that_raises_is_refused_by_the_name_of_the_error():
    from cardan.jit.front.compile import KernelError, compile_entry

    with pytest.raises(KernelError, match="raise ValueError"):
        compile_entry(entry_of(raises_an_error))


def test_searches_of_the_optimiser_are_as_long_as_before_afterwards(monkeypatch):
    import llvmlite.binding as llvm

    from cardan.jit.front import compile as front

    seen = []
    monkeypatch.setattr(llvm, "set_option", lambda name, option: seen.append(option))
    with front._shorter_searches():
        pass
    assert seen[len(seen) // 2 :] == ["-memdep-block-number-limit=200", "-memdep-block-scan-limit=100"]


def test_numba_is_left_as_it_was_and_functions_inside_are_compiled():
    from numba.core import base
    from numba.core.callconv import CPUCallConv
    from numba.core.codegen import JITCodeLibrary
    from numba.core.cpu import CPUContext

    from cardan.jit.front.compile import compile_entry

    thresholds = gc.get_threshold()
    places = [(base, "user_function"), (CPUCallConv, "return_user_exc"), (CPUCallConv, "return_status_propagate")]
    places += [(CPUContext, "get_executable"), (CPUCallConv, "return_dynamic_user_exc")]
    places += [(JITCodeLibrary, "_optimize_functions"), (JITCodeLibrary, "add_ir_module")]
    before = [getattr(place, name) for place, name in places]
    symbol, code = compile_entry(entry_of(measure))
    assert symbol.encode() in code
    assert [getattr(place, name) for place, name in places] == before
    assert gc.get_threshold() == thresholds


def test_functions_of_the_interface_are_compiled():
    """The code that calls their kernels is made from text, outside of any module."""
    from cardan.jit.binding.functions import Binding, KernelBinding
    from cardan.jit.front.compile import compile_entry

    assert cardan.mju_dot3
    compiled = (
        binding.entry for binding in (*Binding.all.values(), *Binding.hidden) if isinstance(binding, KernelBinding)
    )
    symbol, code = compile_entry(next(entry for entry in compiled if entry.name.endswith("mju_dot3")))
    assert symbol.encode() in code
