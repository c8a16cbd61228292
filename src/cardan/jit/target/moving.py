"""The kernel that moves elements between arrays of any strides: what a GPU's copies of whole blocks can't do.

A thread moves an element. Arrays have three dimensions, of which the first is that of the worlds: it runs fastest over
the threads, since the worlds of a field stand side by side. Each side may have a list of the rows that are meant.
"""

from __future__ import annotations

from cardan.jit.front.form import WORLD_INDEX
from cardan.jit.target.ptx import KERNEL

ITEM_SIZES = (1, 4, 8)
"""Sizes of elements, in bytes, for which there is a kernel."""
PARAMETERS = ("target", "source", "value", "target_ids", "source_ids", *("n0", "n1", "n2"))
PARAMETERS += ("t0", "t1", "t2", "s0", "s1", "s2")
"""What the kernel takes, 64-bit words all: addresses (source 0: every element becomes `value`; ids 0: rows 0, 1, ...),
the number of elements along each dimension, the bytes from one to the next in target and source."""

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
    """The module of the kernel for elements of a size, as text (LLVM assembly)."""
    bits = 8 * itemsize
    return _TEXT.format(
        index=WORLD_INDEX,
        kernel=KERNEL,
        convention=convention,
        bits=bits,
        from_word="add i64 %value, 0" if bits == 64 else f"trunc i64 %value to i{bits}",
        parameters=", ".join(f"i64 %{name}" for name in PARAMETERS),
    )
