"""A program in many worlds: one native call walks a list of worlds, each with its own program, model and data.

The list has two words a world: the addresses of the program's block (`Program.block_address`) and of the words that the
driver runs a data with (place in the program, addresses of model and data). A world whose stage returns a status other
than 0 stops the walk; the caller answers and goes on with the next world.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from cardan.jit.driver.program import DRIVER

_RUN_WORLDS = """
define i64 @run_worlds(i64* %entries, i64 %count, i64 %repeat, i64* %at) {
entry:
  %first = load i64, i64* %at
  br label %loop
loop:
  %w = phi i64 [ %first, %entry ], [ %next, %good ]
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
  %next = add i64 %w, 1
  br label %loop
stopped:
  store i64 %w, i64* %at
  ret i64 %status
finished:
  store i64 %count, i64* %at
  ret i64 0
}
"""


@cache
def _native() -> Any:
    from cardan.jit.driver.loader import ctypes_function, load_assembly

    word, pointer = ctypes.c_int64, ctypes.c_void_p
    address = load_assembly("run_worlds", DRIVER + _RUN_WORLDS)
    return ctypes_function(address, word, pointer, word, word, pointer)


def run_worlds(entries: np.ndarray, repeat: int, at: np.ndarray) -> int:
    """Run each world's program `repeat` times, from world `at[0]` of the list on, without the GIL.

    Args:
        entries: the list (nworld, 2) int64, in C order.
        repeat: repetitions of each program.
        at: int64 (1,): the world to start with; where the walk stopped, or the number of worlds, is written to it.

    Returns:
        0, or the status with which the world `at[0]` stopped.
    """
    return _native()(entries.ctypes.data, len(entries), repeat, at.ctypes.data)
