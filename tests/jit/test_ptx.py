"""GPU code: PTX of stages from interleaved code, assembled by NVIDIA's assembler where it is installed."""

import ctypes
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cardan.collision.capsule import capsule_capsule
from cardan.dynamics.bias import rne_with_tendons
from cardan.dynamics.inertia import crb_with_tendons
from cardan.dynamics.kinematics import kinematics
from cardan.jit import jit_enabled
from cardan.jit.driver.loader import ctypes_function, load_assembly
from cardan.jit.front.stage import DOUBLE, INTERLEAVED, SINGLE, WORLD_COUNT, WORLD_INDEX, Form, entry_of
from cardan.jit.target import gpu_kernels as moving
from cardan.jit.target import ptx as target
from cardan.jit.target.ptx import ARCHITECTURES, KERNEL, Code, PtxError, assemble, find_libdevice, find_ptxas, ptx

ROOT = Path(__file__).resolve().parents[2]


def library():
    """The file of libdevice, or None."""
    try:
        return find_libdevice()
    except PtxError:
        return None


needs_jit = pytest.mark.skipif(not jit_enabled, reason="about native code")
needs_libdevice = pytest.mark.skipif(library() is None, reason="libdevice is not installed (wheel nvidia-nvvm)")
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (wheel nvidia-cuda-nvcc)")


def code(function, precision):
    from cardan.jit.front.compile import linked_module

    entry = entry_of(function)
    return Code(entry.symbol, linked_module(entry, Form(INTERLEAVED, precision)))


@needs_jit
@needs_libdevice
@needs_ptxas
@pytest.mark.parametrize("precision", [DOUBLE, SINGLE])
@pytest.mark.parametrize(
    ("function", "extra"), [(kinematics, 0), (crb_with_tendons, 0), (rne_with_tendons, 0), (capsule_capsule, 2)]
)
def test_stages_assemble(function, extra, precision):
    source = ptx(code(function, precision), extra=extra)
    assert source.count(f".visible .entry {KERNEL}(") == 1
    assert bool(re.search(r"\.f64\b", source)) == (precision == DOUBLE)
    for architecture in ARCHITECTURES:
        usage = assemble(source, architecture)
        assert 16 < usage.registers <= 255
        assert usage.spills < 256
        assert usage.stack < 4096


@needs_jit
@needs_libdevice
@needs_ptxas
def test_huge_stages_hold_no_addresses_and_ask_for_their_thread_again(monkeypatch):
    own = code(capsule_capsule, SINGLE)
    slots, elements = (len(re.findall(rf"{tag}.*!invariant.load", own.text)) for tag in ("load i64", "load (?!i64)"))
    assert slots and elements
    freed = target._holding_no_slots(own.text)
    assert not re.search(r"load i64.*!invariant.load", freed)
    assert len(re.findall(r"load .*!invariant.load", freed)) == elements
    before = ptx(own, extra=2)
    assert "begin inline asm" not in before
    monkeypatch.setattr(target, "HUGE", 0)
    source = ptx(own, extra=2)
    for register in ("%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x"):
        assert source.count(register) > before.count(register) > 0
    assert not re.search(r"\.f64\b", source)
    assert assemble(source, ARCHITECTURES[-1]).spills == 0


TEXT = """
target triple = "x86_64-unknown-linux-gnu"
target datalayout = "e-m:e-i64:64"
declare double @sin(double)
declare double @llvm.exp.f64(double)
declare i64 @cardan_world()
declare i64 @cardan_nworld()
declare i64 @cardan_call(i64, i64, i64, i64, i64)
define i64 @f(i64 %m, i64 %d{parameters}) "target-cpu"="znver3" {{
  %p = inttoptr i64 %d to double*
  %n = call i64 @cardan_nworld()
  %w = call i64 @cardan_world()
  %at = add i64 %w, %n
  %q = getelementptr double, double* %p, i64 %at
  %x = load double, double* %q
  {body}
  store double %y, double* %q
  ret i64 %r
}}
"""


def small(body, symbol="f", parameters="", called=()):
    text = TEXT.format(body=body, parameters=parameters).replace("@f(", f"@{symbol}(")
    return Code(symbol, text, called)


@needs_libdevice
def test_a_thread_runs_a_world_that_is_at_the_stage():
    source = ptx(small("%y = call double @sin(double %x)\n %r = add i64 0, 0"))
    assert ".target sm_80" in source
    body = source[source.index(KERNEL) :]
    assert {"%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x"} <= set(re.findall(r"%\w+\.x", body))
    assert "__nv_sin" not in re.findall(r"\.extern .*", source)


def test_a_world_stops_where_it_asks_and_goes_on_there():
    """The kernel around a stage, on this processor; the stage returns what stands in the data, and counts its runs."""
    text = f"""
@world = global i64 0
@models = global [2 x i64] [i64 1000, i64 10]
define i64 @{WORLD_INDEX}() {{
  %w = load i64, ptr @world
  ret i64 %w
}}
define i64 @{WORLD_COUNT}() {{
  ret i64 4
}}
define void @run(i64 %d, i64 %stage, i64 %following, ptr %rows, i64 %w) {{
  store i64 %w, ptr @world
  call void @{KERNEL}(ptr @models, i64 %d, i64 %stage, i64 %following, ptr %rows)
  ret void
}}
define i64 @asks(i64 %m, i64 %d) {{
  %w = load i64, ptr @world
  %model_at = mul i64 %w, 10
  %model = add i64 %model_at, 1000
  %is_own = icmp eq i64 %m, %model
  br i1 %is_own, label %own, label %other
other:
  ret i64 99
own:
  %data = inttoptr i64 %d to ptr
  %request_at = getelementptr i64, ptr %data, i64 %w
  %request = load i64, ptr %request_at
  %later = add i64 %w, 4
  %runs_at = getelementptr i64, ptr %data, i64 %later
  %runs = load i64, ptr %runs_at
  %more = add i64 %runs, 1
  store i64 %more, ptr %runs_at
  ret i64 %request
}}
"""
    kernel = moving.kernel_text(["asks"]).replace('declare i64 @"asks"(i64, i64)', "")
    run = ctypes_function(load_assembly("run", text + kernel), None, *[ctypes.c_int64] * 5)
    requests, runs = data = np.array([[0, 7, 0, 0], [0, 0, 0, 0]])
    words = np.zeros(13, np.int64)  # three rows, and the flag
    at, status, left = rows = words[:12].reshape(3, 4)
    left[:] = 2, 2, 0, 1

    def step():
        for stage, following in ((0, 1), (1, 0)):
            for world in range(4):
                run(data.ctypes.data, stage, following, rows.ctypes.data, world)

    step()
    assert (runs == [2, 1, 0, 2]).all()  # world 1 asked at the first stage, world 2 has nothing to do
    assert (at == 0).all() and (status == [0, 7, 0, 0]).all() and (left == [1, 2, 0, 0]).all()
    assert words[12] == 1
    step()
    assert (runs == [4, 1, 0, 2]).all()  # one that asked waits
    requests[1], status[1] = 0, 0
    step()
    step()
    step()
    assert (runs == [4, 5, 0, 2]).all()
    assert not left.any()


@needs_libdevice
@needs_ptxas
def test_stages_that_are_launched_together_assemble():
    first = small("%y = fadd double %x, 777.0\n %r = add i64 0, 0", "first")
    second = small("%y = fmul double %x, 555.0\n %r = add i64 0, 0", "second")
    source = ptx(first, second)
    assert source.count(f".visible .entry {KERNEL}(") == 1
    assert "0d4088480000000000" in source and "0d4081580000000000" in source
    assert assemble(source, "sm_90").registers < 64


@needs_ptxas
@pytest.mark.parametrize("itemsize", moving.ITEM_SIZES)
def test_the_kernel_that_copies_assembles(itemsize):
    source = target.ptx_of_text(moving.move_text(itemsize))
    for architecture in ARCHITECTURES:
        usage = assemble(source, architecture)
        assert usage.registers <= 64
        assert usage.stack == usage.spills == 0


@needs_libdevice
def test_later_architectures_are_named_in_the_code():
    assert ".target sm_90" in ptx(small("%y = fadd double %x, %x\n %r = add i64 0, 0"), architecture="sm_90")


@needs_libdevice
def test_intrinsics_of_the_library_are_replaced():
    source = ptx(small("%y = call double @llvm.exp.f64(double %x)\n %r = add i64 0, 0"))
    assert "ex2" in source or "fma.rn.f64" in source


@needs_libdevice
def test_numbers_of_functions_count_from_one_at_each_depth():
    call = "%y = fadd double %x, 1.0\n %r = call i64 @cardan_call(i64 {n}, i64 %m, i64 %d, i64 5, i64 6)"
    two = ", i64 %a, i64 %b"
    leaf = small("%y = fadd double %x, 777.0\n %r = add i64 %a, 40", "leaf", two)
    middle = small(call.format(n=1), "middle", two, (leaf,))
    other = small("%y = fadd double %x, 2.0\n %r = add i64 0, 9", "other", two)
    source = ptx(small(call.format(n=2), called=(other, middle)))
    assert "0d4088480000000000" in source  # 777: the leaf is reached
    assert "0d4000000000000000" not in source  # 2: the other function isn't
    missing = ptx(small(call.format(n=3), called=(other, middle)))
    assert re.search(r"st\.global\.b64 .*, -2;", missing)  # COLLIDER_MISSING


@needs_libdevice
def test_what_the_gpu_does_not_have_is_named():
    with pytest.raises(PtxError, match="calls puts"):
        text = small("%y = fadd double %x, 1.0\n %r = call i64 @puts(i64 %m)").text
        ptx(Code("f", text + "\ndeclare i64 @puts(i64)\n"))


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cuda.pathfinder", None)
    with pytest.raises(PtxError, match=r"pip install 'cardan\[cuda\]'"):
        find_libdevice()
    assert find_ptxas() is None
    with pytest.raises(PtxError, match="nvidia-cuda-nvcc"):
        assemble("", "sm_90")


@needs_ptxas
def test_code_that_does_not_assemble_is_an_error():
    with pytest.raises(PtxError, match="ptxas refuses the code for sm_90"):
        assemble(".version 7.8\n.target sm_90\nnonsense", "sm_90")


def test_all_functions_of_the_library_have_a_name_there():
    from cardan.jit.front.compile import MATH_LIBRARY

    assert {"sincos", "memset", "memcpy", "memmove"} == MATH_LIBRARY - target.LIBRARY  # made by optimisers only


def test_the_table_of_all_stages_keeps_the_bars():
    """Results of `python -m benchmarks gpu_code`."""
    rows = json.loads((ROOT / "benchmarks/results/gpu_code.json").read_text())["rows"]
    assert len(rows) > 100
    for name, row in rows.items():
        assert row[SINGLE]["doubles"] == 0, name
        for precision in (DOUBLE, SINGLE):
            for architecture in ARCHITECTURES:
                usage = row[precision][architecture]
                assert usage["registers"] <= 255, name
                assert usage["stack"] < 4096, name
                assert usage["spills"] < 256, name
