"""GPU kernels (in CUDA's sense) as LLVM assembly: kernels around stages, and kernels that copy strided arrays.

The kernel around stages is described in `cardan.jit.target.ptx`. The copying kernel handles all copies except those of
whole blocks: each thread copies one element. Arrays have three dimensions. The first dimension is the world, and varies
fastest over the threads, because the worlds of a field are adjacent in memory. For target and source, a list of rows
may select the worlds.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.jit.front.stage import CALL, COLLIDER_MISSING, WORLD_COUNT, WORLD_INDEX

KERNEL = "cardan_kernel"
"""Name of the kernel in a module."""

WORLD = f"""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define i64 @{WORLD_COUNT}() alwaysinline {{
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %count = mul nuw nsw i32 %size, %blocks
  %wide = zext i32 %count to i64
  ret i64 %wide
}}
"""

INDEX = f"""
define i64 @{WORLD_INDEX}() alwaysinline {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul nuw nsw i32 %block, %size
  %world = add nuw nsw i32 %before, %thread
  %wide = zext i32 %world to i64
  ret i64 %wide
}}
"""

INDEX_OF_MANY = f"""
define i64 @{WORLD_INDEX}() alwaysinline {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %own = zext i32 %thread to i64
  %step = zext i32 %size to i64
  %first = zext i32 %block to i64
  %before = mul nuw nsw i64 %first, %step
  %wide = add nuw nsw i64 %before, %own
  ret i64 %wide
}}
"""
"""Definition of `WORLD_INDEX` for launches with one thread per element, where the index may exceed 2^31."""

_BODY = """
define internal void @cardan_body_{k}(ptr %models, i64 %d, i64 %stage, i64 %following, ptr %rows{parameters}) {{
entry:
  %world = call i64 @{index}()
  %count = call i64 @{count}()
  %second = add i64 %world, %count
  %third = add i64 %second, %count
  %at_place = getelementptr i64, ptr %rows, i64 %world
  %status_place = getelementptr i64, ptr %rows, i64 %second
  %left_place = getelementptr i64, ptr %rows, i64 %third
  %at = load i64, ptr %at_place
  %here = icmp eq i64 %at, %stage
  br i1 %here, label %reached, label %done
reached:
  %before = load i64, ptr %status_place
  %free = icmp eq i64 %before, 0
  %left = load i64, ptr %left_place
  %more = icmp sgt i64 %left, 0
  %runs = and i1 %free, %more
  br i1 %runs, label %run, label %done
run:
  %first = load i64, ptr %models
  %stride_place = getelementptr i64, ptr %models, i64 1
  %stride = load i64, ptr %stride_place
  %distance = mul i64 %stride, %world
  %m = add i64 %first, %distance
  %result = call i64 @"{symbol}"(i64 %m, i64 %d{parameters})
  %good = icmp eq i64 %result, 0
  br i1 %good, label %next, label %stopped
next:
  store i64 %following, ptr %at_place
  %last = icmp eq i64 %following, 0
  %one = zext i1 %last to i64
  %after = sub i64 %left, %one
  store i64 %after, ptr %left_place
  br label %done
stopped:
  store i64 %result, ptr %status_place
  %rows_size = mul i64 %count, 3
  %flag_place = getelementptr i64, ptr %rows, i64 %rows_size
  store i64 1, ptr %flag_place
  br label %done
done:
  ret void
}}
"""


def kernel_text(symbols: Sequence[str], extra: int = 0, convention: str = "") -> str:
    """Write the kernel that calls the functions of stages; `symbols` are the names of these functions.

    Each function takes `extra` more integers. With an empty calling `convention`, the kernel is an ordinary function.
    """
    words = ", ".join(["i64"] * (2 + extra))
    more = "".join(f", i64 %x{k}" for k in range(extra))
    names = {"index": WORLD_INDEX, "count": WORLD_COUNT, "parameters": more}
    declared = dict.fromkeys(f'declare i64 @"{symbol}"({words})' for symbol in symbols)
    bodies = [_BODY.format(symbol=symbol, k=k, **names) for k, symbol in enumerate(symbols)]
    calls = []
    for k in range(len(symbols)):
        last = k == len(symbols) - 1
        calls += [f"  %stage{k} = add i64 %stage, {k}", f"  %next{k} = add i64 %stage, {k + 1}"]
        following = "%following" if last else f"%next{k}"
        calls.append(
            f"  call void @cardan_body_{k}(ptr %models, i64 %d, i64 %stage{k}, i64 {following}, ptr %rows{more})"
        )
    head = f"define {convention}void @{KERNEL}(ptr %models, i64 %d, i64 %stage, i64 %following, ptr %rows{more}) {{"
    return "\n".join([*declared, *bodies, head, *calls, "  ret void", "}"])


def switch(functions: Sequence[str], name: str = CALL) -> str:
    """Write a function that calls one of several functions by its number.

    Args:
        functions: names of the functions, which are defined elsewhere: (model, data, two integers) -> int64. They are
            numbered from 1; an empty name is skipped.
        name: name of the new function: (number, model, data, two integers) -> int64. For a number without a function,
            the new function returns `COLLIDER_MISSING`.

    Returns:
        LLVM assembly.
    """
    numbered = [(k, f) for k, f in enumerate(functions, start=1) if f]
    cases = " ".join(f"i64 {k}, label %case{k}" for k, _ in numbered)
    blocks = [
        f'case{k}:\n  %r{k} = call i64 @"{f}"(i64 %m, i64 %d, i64 %a, i64 %b)\n  ret i64 %r{k}' for k, f in numbered
    ]
    return "\n".join(
        [
            *(f'declare i64 @"{f}"(i64, i64, i64, i64)' for _, f in numbered),
            f"define i64 @{name}(i64 %number, i64 %m, i64 %d, i64 %a, i64 %b) noinline {{",
            f"  switch i64 %number, label %missing [ {cases} ]",
            f"missing:\n  ret i64 {COLLIDER_MISSING}",
            *blocks,
            "}\n",
        ]
    )


ITEM_SIZES = (1, 4, 8)
"""Sizes of elements, in bytes, for which there is a kernel."""
PARAMETERS = ("target", "source", "value", "target_ids", "source_ids", *("n0", "n1", "n2"))
PARAMETERS += ("t0", "t1", "t2", "s0", "s1", "s2")
"""Parameters of the copying kernel, all of them 64-bit words: addresses of target and source (source 0: set all
elements to `value`); addresses of lists of rows (0: rows 0, 1, ...); number of elements along each dimension; distance
in bytes between neighbouring elements along each dimension, in target and source."""

_TEXT = """
declare i64 @{index}()
define {convention}void @{kernel}({parameters}) {{
entry:
  %thread = call i64 @{index}()
  %n12 = mul i64 %n1, %n2
  %n = mul i64 %n0, %n12
  %inside = icmp slt i64 %thread, %n
  br i1 %inside, label %work, label %done
work:
  %i0 = urem i64 %thread, %n0
  %rest = udiv i64 %thread, %n0
  %i1 = urem i64 %rest, %n1
  %i2 = udiv i64 %rest, %n1
  %has_target_ids = icmp ne i64 %target_ids, 0
  br i1 %has_target_ids, label %listed, label %target_row
listed:
  %target_list = inttoptr i64 %target_ids to ptr
  %target_id_at = getelementptr i64, ptr %target_list, i64 %i0
  %target_id = load i64, ptr %target_id_at
  br label %target_row
target_row:
  %tr = phi i64 [ %i0, %work ], [ %target_id, %listed ]
  %ta = mul i64 %tr, %t0
  %tb = mul i64 %i1, %t1
  %tc = mul i64 %i2, %t2
  %td = add i64 %ta, %tb
  %te = add i64 %td, %tc
  %tf = add i64 %target, %te
  %target_at = inttoptr i64 %tf to ptr
  %has_source = icmp ne i64 %source, 0
  br i1 %has_source, label %from_array, label %from_value
from_value:
  %small = {from_word}
  store i{bits} %small, ptr %target_at
  br label %done
from_array:
  %has_source_ids = icmp ne i64 %source_ids, 0
  br i1 %has_source_ids, label %source_listed, label %source_row
source_listed:
  %source_list = inttoptr i64 %source_ids to ptr
  %source_id_at = getelementptr i64, ptr %source_list, i64 %i0
  %source_id = load i64, ptr %source_id_at
  br label %source_row
source_row:
  %sr = phi i64 [ %i0, %from_array ], [ %source_id, %source_listed ]
  %sa = mul i64 %sr, %s0
  %sb = mul i64 %i1, %s1
  %sc = mul i64 %i2, %s2
  %sd = add i64 %sa, %sb
  %se = add i64 %sd, %sc
  %sf = add i64 %source, %se
  %source_at = inttoptr i64 %sf to ptr
  %element = load i{bits}, ptr %source_at
  store i{bits} %element, ptr %target_at
  br label %done
done:
  ret void
}}
"""


def move_text(itemsize: int, convention: str = "ptx_kernel ") -> str:
    """Write the copying kernel for elements of `itemsize` bytes, as LLVM assembly."""
    bits = 8 * itemsize
    return _TEXT.format(
        index=WORLD_INDEX,
        kernel=KERNEL,
        convention=convention,
        bits=bits,
        from_word="add i64 %value, 0" if bits == 64 else f"trunc i64 %value to i{bits}",
        parameters=", ".join(f"i64 %{name}" for name in PARAMETERS),
    )
