"""A program in many worlds: one native call walks a list of worlds, each with its own program, model and data.

The list has two words a world: the addresses of the program's block (`Program.block_address`) and of the words that the
driver runs a data with (place in the program, addresses of model and data). Threads that walk the same list share a
counter, from which each takes world after world. A world whose stage returns a status other than 0 stops the walk; the
caller answers and walks on.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from cardan.jit.driver.program import DRIVER, PAUSED

NO_WORLD = -1
"""In place of the number of the world that stopped: a walk that has run as many worlds as it may."""

_RUN_WORLDS = f"""
define i64 @run_worlds(i64* %entries, i64 %count, i64 %repeat, i64* %counter, i64 %most, i64* %stopped_at) {{
entry:
  br label %loop
loop:
  %done = phi i64 [ 0, %entry ], [ %next, %good ]
  %may = icmp slt i64 %done, %most
  br i1 %may, label %take, label %enough
take:
  %w = atomicrmw add i64* %counter, i64 1 seq_cst
  %more = icmp slt i64 %w, %count
  br i1 %more, label %world, label %finished
world:
  %base = mul i64 %w, 2
  %row = getelementptr i64, i64* %entries, i64 %base
  %block_word = load i64, i64* %row
  %block = inttoptr i64 %block_word to i64*
  %call_at = getelementptr i64, i64* %row, i64 1
  %call_word = load i64, i64* %call_at
  %call = inttoptr i64 %call_word to i64*
  %status = call i64 @run_block(i64* %block, i64* %call, i64 %repeat)
  %is_good = icmp eq i64 %status, 0
  br i1 %is_good, label %good, label %stopped
good:
  %next = add i64 %done, 1
  br label %loop
stopped:
  store i64 %w, i64* %stopped_at
  ret i64 %status
enough:
  store i64 {NO_WORLD}, i64* %stopped_at
  ret i64 {PAUSED}
finished:
  ret i64 0
}}
"""


@cache
def _native() -> tuple[Any, Any]:
    from cardan.jit.driver.loader import Address, ctypes_function, load_symbols
    from cardan.jit.target.processor import assemble

    word, pointer = ctypes.c_int64, ctypes.c_void_p
    keep, (walk, resume) = load_symbols(assemble(DRIVER + _RUN_WORLDS), "run_worlds", "resume_block")
    return (
        ctypes_function(Address(walk, keep), word, pointer, word, word, pointer, word, pointer),
        ctypes_function(Address(resume, keep), word, word, word, word),
    )


def run_worlds(entries: np.ndarray, repeat: int, counter: ctypes.c_int64, most: int, stopped: ctypes.c_int64) -> int:
    """Run the program of world after world `repeat` times, without the GIL.

    Args:
        entries: the list (nworld, 2) int64, in C order.
        repeat: repetitions of each program.
        counter: number of the next world, counted up natively; a large number stops all walks.
        most: number of worlds after which the walk stops.
        stopped: the world that stopped is written to it, or `NO_WORLD`.

    Returns:
        0: no worlds are left; `PAUSED` with `NO_WORLD`: `most` worlds were run; or the status with which a world
        stopped, which may be `PAUSED`, too.
    """
    address = ctypes.addressof
    return _native()[0](entries.ctypes.data, len(entries), repeat, address(counter), most, address(stopped))


def resume_world(entry: np.ndarray, repeat: int) -> int:
    """Go on with a world of the list that has stopped; returns the next status, or 0.

    Args:
        entry: the two words of the world.
        repeat: repetitions in all.
    """
    return _native()[1](*entry.tolist(), repeat)
