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

# words of a segment: table, its length, shadows of model and data, their distances from block to block, blocks
RUN_SCRIPT = (
    _RUN_BLOCKS
    + """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define i64 @run_script(ptr %frame) {
entry:
  %list_at = getelementptr i64, ptr %frame, i64 0
  %list_word = load i64, ptr %list_at
  %list = inttoptr i64 %list_word to ptr
  %copies_at = getelementptr i64, ptr %frame, i64 1
  %copies = load i64, ptr %copies_at
  %source_at = getelementptr i64, ptr %frame, i64 2
  %source = load i64, ptr %source_at
  %segments_at = getelementptr i64, ptr %frame, i64 3
  %segments_word = load i64, ptr %segments_at
  %segments = inttoptr i64 %segments_word to ptr
  %first_at = getelementptr i64, ptr %frame, i64 4
  %first = load i64, ptr %first_at
  %n_at = getelementptr i64, ptr %frame, i64 5
  %n = load i64, ptr %n_at
  %m_at = getelementptr i64, ptr %frame, i64 6
  %m = load i64, ptr %m_at
  %d_at = getelementptr i64, ptr %frame, i64 7
  %d = load i64, ptr %d_at
  %left_at = getelementptr i64, ptr %frame, i64 8
  br label %copying
copying:
  %c = phi i64 [ 0, %entry ], [ %c_next, %copied ]
  %uncopied = icmp slt i64 %c, %copies
  br i1 %uncopied, label %copy, label %running
copy:
  %c2 = shl i64 %c, 1
  %offset_at = getelementptr i64, ptr %list, i64 %c2
  %offset = load i64, ptr %offset_at
  %item_at = getelementptr i64, ptr %offset_at, i64 1
  %item = load i64, ptr %item_at
  %own_slot = add i64 %d, %offset
  %own = inttoptr i64 %own_slot to ptr
  %other_slot = add i64 %source, %offset
  %other = inttoptr i64 %other_slot to ptr
  %own_word = load i64, ptr %own
  %other_word = load i64, ptr %other
  %scalar = icmp eq i64 %item, 0
  br i1 %scalar, label %copy_word, label %copy_array
copy_word:
  store i64 %other_word, ptr %own
  br label %copied
copy_array:
  %length_at = getelementptr i64, ptr %other, i64 1
  %length = load i64, ptr %length_at
  %columns_at = getelementptr i64, ptr %other, i64 2
  %columns = load i64, ptr %columns_at
  %numbers = mul i64 %length, %columns
  %bytes = mul i64 %numbers, %item
  %target = inttoptr i64 %own_word to ptr
  %origin = inttoptr i64 %other_word to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %origin, i64 %bytes, i1 false)
  br label %copied
copied:
  %c_next = add i64 %c, 1
  br label %copying
running:
  %s = phi i64 [ %first, %copying ], [ %s_next, %next ], [ 1, %once_more ], [ 0, %again ]
  %more = icmp slt i64 %s, %n
  br i1 %more, label %segment, label %finished
segment:
  %s7 = mul i64 %s, 7
  %a0 = getelementptr i64, ptr %segments, i64 %s7
  %a1 = getelementptr i64, ptr %a0, i64 1
  %a2 = getelementptr i64, ptr %a0, i64 2
  %a3 = getelementptr i64, ptr %a0, i64 3
  %a4 = getelementptr i64, ptr %a0, i64 4
  %a5 = getelementptr i64, ptr %a0, i64 5
  %a6 = getelementptr i64, ptr %a0, i64 6
  %table_word = load i64, ptr %a0
  %table = inttoptr i64 %table_word to ptr
  %count = load i64, ptr %a1
  %tm = load i64, ptr %a2
  %td = load i64, ptr %a3
  %step_m = load i64, ptr %a4
  %step_d = load i64, ptr %a5
  %blocks = load i64, ptr %a6
  %status = call i64 @run_blocks(
    ptr %table, i64 %count, i64 %m, i64 %d, i64 %tm, i64 %td, i64 %step_m, i64 %step_d, i64 %blocks
  )
  switch i64 %status, label %stopped [ i64 0, label %next i64 -21, label %clearing i64 -22, label %clearing ]
clearing:
  %again_too = icmp eq i64 %status, -22
  %list2_word_at = select i1 %again_too, i64 11, i64 9
  %list2_at = getelementptr i64, ptr %frame, i64 %list2_word_at
  %list2_word = load i64, ptr %list2_at
  %list2 = inttoptr i64 %list2_word to ptr
  %n2_at = getelementptr i64, ptr %list2_at, i64 1
  %n2 = load i64, ptr %n2_at
  br label %clear_next
clear_next:
  %e = phi i64 [ 0, %clearing ], [ %e_next, %clear_one ]
  %uncleared = icmp slt i64 %e, %n2
  br i1 %uncleared, label %clear_one, label %cleared
clear_one:
  %e2 = shl i64 %e, 1
  %array_at = getelementptr i64, ptr %list2, i64 %e2
  %array_word = load i64, ptr %array_at
  %size_at = getelementptr i64, ptr %array_at, i64 1
  %size = load i64, ptr %size_at
  %array = inttoptr i64 %array_word to ptr
  call void @llvm.memset.p0.i64(ptr %array, i8 0, i64 %size, i1 false)
  %e_next = add i64 %e, 1
  br label %clear_next
next:
  %s_next = add i64 %s, 1
  br label %running
stopped:
  store i64 %s, ptr %first_at
  ret i64 %status
cleared:
  br i1 %again_too, label %once_more, label %next
once_more:
  br label %running
again:
  br label %running
finished:
  %left = load i64, ptr %left_at
  %left_next = sub i64 %left, 1
  store i64 %left_next, ptr %left_at
  %repeat = icmp sgt i64 %left_next, 0
  br i1 %repeat, label %again, label %done
done:
  ret i64 0
}
"""
)


"""LLVM assembly of the function ``run_script`` (`script_runner`)."""
SCRIPT_CLEARS, SCRIPT_BEGINS_AGAIN = -21, -22
"""Statuses of a stage that let a script clear what its first list names, and go on with the next segment; clear what
its second list names, and begin again with the second segment."""
SCRIPT_SECOND = 1


@cache
def block_runner() -> Any:
    """Run a table of stages and tangents of stages once a block; returns 0, or the status of the one that stopped.

    Arguments: address and length of the table; addresses of the slot tables of model and data; addresses of those of
    their shadows for the first block, and their distances to those of the next; number of blocks.
    """
    word = ctypes.c_int64
    return ctypes_function(load_assembly("run_blocks", _RUN_BLOCKS), word, *([word] * 9))


@cache
def script_runner() -> Any:
    """Copy fields of one data to another, then run segments, each a table of stages that runs some times.

    The argument is the address of thirteen words: address and number of the fields to copy, two words each (distance of
    the field's slot from the first one; bytes of a number, 0 for a scalar); address of the slot table to copy from;
    address of the segments (seven words each: table and its length, and what else `block_runner` takes from the shadows
    on); number of the first segment to run, which becomes that of a segment that stops; number of segments; model and
    data; how often to run the segments, from the second time on all of them, which is counted down; addresses and
    lengths of two lists of arrays (address, bytes), cleared when a segment returns `SCRIPT_CLEARS` or
    `SCRIPT_BEGINS_AGAIN`. Returns 0, or the status of the stage that stopped.
    """
    word = ctypes.c_int64
    return ctypes_function(load_assembly("run_script", RUN_SCRIPT), word, word)
