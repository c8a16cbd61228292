"""Interleaved code on this processor: stages run in one world after the other.

So code for graphics processors runs without one. Two words of memory, to which every object file refers, contain the
world that runs and the number of worlds. Functions in tables of the model have numbers, from 1, and are called through
a switch (`cardan.jit.target.gpu_kernels.switch`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import derived_key, fingerprint
from cardan.jit.driver.loader import Engine
from cardan.jit.front.stage import WORLD_COUNT, WORLD_INDEX, Entry, Form, entry_of
from cardan.jit.target.gpu_kernels import switch
from cardan.jit.target.processor import assemble, target_machine

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
    """Add the definitions of the world's number and the number of worlds to an interleaved module."""
    module.link_in(llvm.parse_assembly(_READERS))
    for function in module.functions:
        if function.name in (WORLD_INDEX, WORLD_COUNT):
            function.linkage = llvm.Linkage.internal
    return module


def entry_in(function: Callable[..., Any], exact: bool) -> Entry:
    """Return the entry of a function; if `exact`, to the rounding of the interpreter in any case."""
    entry = entry_of(function)
    return replace(entry, exact=exact or entry.exact)


def lane_object(entry: Entry, form: Form) -> bytes:
    """Return the object file of an entry, from the disk cache or compiled now."""
    key = derived_key([fingerprint(entry, form)], "lanes", __file__)
    with disk.compile_lock(entry.name, key):
        stored = disk.read(entry.name, key)
        if stored is None:
            from cardan.jit.front.compile import emit, link_entry

            module = link_entry(entry, form)
            code = emit(entry.name, with_lane(module) if form.is_interleaved else module, target_machine())
            stored = entry.symbol, code
            disk.write(entry.name, key, *stored)
    return stored[1]


class LaneCode:
    """Native code of a program's stages and of the functions in its tables.

    Args:
        stages: stages in order; one may occur several times.
        table: functions by number, the first is number 1.
        form: form of native code. If it is interleaved, `run` runs the stages; otherwise they are called at
            `addresses`.
        exact: whether everything is compiled to the rounding of the interpreter.

    Attributes:
        addresses: addresses of the stages.
        table: addresses of the functions in the tables.
    """

    def __init__(
        self, stages: Sequence[Callable[..., Any]], table: Sequence[Callable[..., Any]], form: Form, exact: bool = False
    ) -> None:
        entries = {function: entry_in(function, exact) for function in (*stages, *table)}
        self._engine = Engine()
        glue = LANE_WORDS + switch([entries[function].symbol for function in table])
        for code in (*(lane_object(entry, form) for entry in entries.values()), assemble(glue)):
            self._engine.add(code)
        self._lane = np.ctypeslib.as_array((ctypes.c_int64 * 2).from_address(self._engine.address(LANE)))
        self.addresses = [self._engine.address(entries[stage].symbol) for stage in stages]
        self.table = [self._engine.address(entries[function].symbol) for function in table]
        word = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
        self._stages = [word(address) for address in self.addresses]

    def __len__(self) -> int:
        return len(self._stages)

    def run(self, k: int, worlds: Sequence[int], nworld: int, m: int, d: int) -> dict[int, int]:
        """Run stage `k` in some worlds of `nworld`; `m` and `d` are addresses of slot tables.

        Returns:
            Statuses other than 0, by world.
        """
        stopped = {}
        for world in worlds:
            self._lane[:] = world, nworld
            status = self._stages[k](m, d)
            if status:
                stopped[world] = status
        return stopped
