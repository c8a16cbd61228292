"""Running tangents of stages, block after block of directions, natively and without the GIL."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from cardan.jit.driver.loader import ctypes_function, load_assembly

# a stage without tangents ignores the last two arguments
_RUN_BLOCKS = """
define i64 @run_blocks(ptr %table, i64 %count, i64 %m, i64 %d, i64 %tm, i64 %td, i64 %step_m, i64 %step_d, i64 %n) {
entry:
  br label %outer
outer:
  %b = phi i64 [ 0, %entry ], [ %b_next, %outer_next ]
  %bm = phi i64 [ %tm, %entry ], [ %bm_next, %outer_next ]
  %bd = phi i64 [ %td, %entry ], [ %bd_next, %outer_next ]
  %more = icmp slt i64 %b, %n
  br i1 %more, label %inner, label %finished
inner:
  %k = phi i64 [ 0, %outer ], [ %k_next, %inner_next ]
  %inside = icmp slt i64 %k, %count
  br i1 %inside, label %call, label %outer_next
call:
  %slot = getelementptr i64, ptr %table, i64 %k
  %address = load i64, ptr %slot
  %stage = inttoptr i64 %address to ptr
  %status = call i64 %stage(i64 %m, i64 %d, i64 %bm, i64 %bd)
  %good = icmp eq i64 %status, 0
  br i1 %good, label %inner_next, label %stopped
inner_next:
  %k_next = add i64 %k, 1
  br label %inner
outer_next:
  %b_next = add i64 %b, 1
  %bm_next = add i64 %bm, %step_m
  %bd_next = add i64 %bd, %step_d
  br label %outer
stopped:
  ret i64 %status
finished:
  ret i64 0
}
"""


@cache
def block_runner() -> Any:
    """Run a table of stages and tangents of stages once a block; returns 0, or the status of the one that stopped.

    Arguments: address and length of the table; addresses of the slot tables of model and data; addresses of those of
    their shadows for the first block, and their distances to those of the next; number of blocks.
    """
    word = ctypes.c_int64
    return ctypes_function(load_assembly("run_blocks", _RUN_BLOCKS), word, *([word] * 9))
