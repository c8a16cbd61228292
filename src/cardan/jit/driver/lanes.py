"""Interleaved code on this processor: stages run in one world after the other.

It is how code that is meant for graphics processors is run without one. The functions that stand in tables of the model
have numbers, from 1 (`cardan.jit.target.lanes.call_by_number`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import derived_key, fingerprint
from cardan.jit.driver.llvm import Engine
from cardan.jit.driver.loader import target_machine
from cardan.jit.front.form import Form
from cardan.jit.front.stage import Entry, entry_of
from cardan.jit.target.lanes import LANE, LANE_WORDS, call_by_number, with_lane
from cardan.jit.target.processor import assemble


def entry_in(function: Callable[..., Any], exact: bool) -> Entry:
    """The entry of a function; `exact`: to the rounding of the interpreter, whatever it says itself."""
    entry = entry_of(function)
    return replace(entry, exact=exact or entry.exact)


def lane_object(entry: Entry, form: Form) -> bytes:
    """The object file of an entry: from the disk cache, or compiled now."""
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
        stages: stages in order; one may stand there several times.
        table: functions by number, the first is number 1.
        form: what is made of them. In an interleaved one, `run` runs them; else, they are called at `addresses`.
        exact: whether all is compiled to the rounding of the interpreter.

    Attributes:
        addresses: of the stages.
        table: addresses of the functions in the tables.
    """

    def __init__(
        self, stages: Sequence[Callable[..., Any]], table: Sequence[Callable[..., Any]], form: Form, exact: bool = False
    ) -> None:
        entries = {function: entry_in(function, exact) for function in (*stages, *table)}
        self._engine = Engine()
        glue = LANE_WORDS + call_by_number([entries[function].symbol for function in table])
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
