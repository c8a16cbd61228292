"""Interleaved code on this processor: what it refers to, defined so that worlds run one after the other.

The world that runs and the number of worlds stand in two words of memory, which every object file refers to. Functions
of tables are called through a switch over their numbers, as on a graphics processor.
"""

from __future__ import annotations

from collections.abc import Sequence

import llvmlite.binding as llvm

from cardan.jit.front.form import CALL, WORLD_COUNT, WORLD_INDEX
from cardan.jit.front.stage import COLLIDER_MISSING

LANE = "cardan_lane"
"""The two words: the world that runs, the number of worlds."""

_READERS = f"""
@{LANE} = external global [2 x i64]
define linkonce_odr i64 @{WORLD_INDEX}() alwaysinline nounwind memory(read) {{
  %word = load i64, ptr @{LANE}, !invariant.load !0
  ret i64 %word
}}
define linkonce_odr i64 @{WORLD_COUNT}() alwaysinline nounwind memory(read) {{
  %at = getelementptr i64, ptr @{LANE}, i64 1
  %word = load i64, ptr %at, !invariant.load !0
  ret i64 %word
}}
!0 = !{{}}
"""
LANE_WORDS = f"@{LANE} = global [2 x i64] zeroinitializer, align 16\n"
"""The module that defines the words."""


def with_lane(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """An interleaved module with definitions of the numbers of worlds that it asks for."""
    module.link_in(llvm.parse_assembly(_READERS))
    for function in module.functions:
        if function.name in (WORLD_INDEX, WORLD_COUNT):
            function.linkage = llvm.Linkage.internal
    return module


def call_by_number(symbols: Sequence[str]) -> str:
    """The module of `CALL`: a switch over the functions of a program's tables, numbered from 1.

    Args:
        symbols: names of the functions (model, data, two integers) -> int64, which are defined elsewhere.

    Returns:
        LLVM assembly; a number that stands for no function gives `COLLIDER_MISSING`, as on GPUs.
    """
    words = ", ".join(["i64"] * 4)
    declared = [f'declare i64 @"{symbol}"({words})' for symbol in symbols]
    cases = " ".join(f"i64 {k}, label %case{k}" for k in range(1, len(symbols) + 1))
    blocks = [
        f'case{k}:\n  %r{k} = tail call i64 @"{symbol}"(i64 %m, i64 %d, i64 %i, i64 %j)\n  ret i64 %r{k}'
        for k, symbol in enumerate(symbols, 1)
    ]
    head = f"define i64 @{CALL}(i64 %number, i64 %m, i64 %d, i64 %i, i64 %j) {{"
    return "\n".join(
        [
            *declared,
            head,
            f"  switch i64 %number, label %none [ {cases} ]",
            f"none:\n  ret i64 {COLLIDER_MISSING}",
            *blocks,
            "}",
        ]
    )
