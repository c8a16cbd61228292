"""Native code between Python objects and a script that a model has ready (`cardan.jit.binding.ready`)."""

from __future__ import annotations

from typing import Any

from cardan.jit.binding import glue
from cardan.jit.binding.arguments import ANY, CallAbi, target
from cardan.jit.transform.run import RUN_SCRIPT

SYMBOL = "jacobian"
PARAMETERS = ("m", "d", "A", "B", "C", "D")

# (words of the model, data, arguments) -> 0, or 1 where the careful way should be gone
_RUN_READY = """
declare i64 @run_script(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define i64 @jacobian(i64 %words, i64 %d, i64 %arguments) noinline {
  %w = inttoptr i64 %words to ptr
  %m = load i64, ptr %w
  %place = getelementptr i8, ptr %w, i64 PLACE
  %frame_word = load i64, ptr %place
  %there = icmp ne i64 %frame_word, 0
  br i1 %there, label %found, label %careful
found:
  %f = inttoptr i64 %frame_word to ptr
  %version_at = getelementptr i64, ptr %place, i64 1
  %version = load i64, ptr %version_at
  %f13 = getelementptr i64, ptr %f, i64 13
  %current_word = load i64, ptr %f13
  %current_at = inttoptr i64 %current_word to ptr
  %current = load i64, ptr %current_at
  %f6 = getelementptr i64, ptr %f, i64 6
  %own = load i64, ptr %f6
  %f14 = getelementptr i64, ptr %f, i64 14
  %nx = load i64, ptr %f14
  %f15 = getelementptr i64, ptr %f, i64 15
  %nu = load i64, ptr %f15
  %a = inttoptr i64 %arguments to ptr
  %a3 = getelementptr i64, ptr %a, i64 3
  %A = load i64, ptr %a3
  %a4 = getelementptr i64, ptr %a, i64 4
  %A_rows = load i64, ptr %a4
  %a5 = getelementptr i64, ptr %a, i64 5
  %A_columns = load i64, ptr %a5
  %a6 = getelementptr i64, ptr %a, i64 6
  %B = load i64, ptr %a6
  %a7 = getelementptr i64, ptr %a, i64 7
  %B_rows = load i64, ptr %a7
  %a8 = getelementptr i64, ptr %a, i64 8
  %B_columns = load i64, ptr %a8
  %a9 = getelementptr i64, ptr %a, i64 9
  %C = load i64, ptr %a9
  %a12 = getelementptr i64, ptr %a, i64 12
  %D = load i64, ptr %a12
  %is_version = icmp eq i64 %version, %current
  %is_own = icmp eq i64 %own, %m
  %has_A = icmp ne i64 %A, 0
  %fits_rows = icmp eq i64 %A_rows, %nx
  %fits_columns = icmp eq i64 %A_columns, %nx
  %no_B = icmp eq i64 %B, 0
  %no_controls = icmp eq i64 %nu, 0
  %needs_no_B = and i1 %no_B, %no_controls
  %has_B = icmp ne i64 %B, 0
  %B_fits_rows = icmp eq i64 %B_rows, %nx
  %B_fits_columns = icmp eq i64 %B_columns, %nu
  %B_fits = and i1 %B_fits_rows, %B_fits_columns
  %B_given = and i1 %has_B, %B_fits
  %B_good = or i1 %needs_no_B, %B_given
  %CD = or i64 %C, %D
  %no_CD = icmp eq i64 %CD, 0
  %g1 = and i1 %is_version, %is_own
  %g2 = and i1 %has_A, %fits_rows
  %g3 = and i1 %fits_columns, %B_good
  %g4 = and i1 %g1, %g2
  %g5 = and i1 %g3, %no_CD
  %good = and i1 %g4, %g5
  br i1 %good, label %ready, label %careful
ready:
  %f16 = getelementptr i64, ptr %f, i64 16
  %copies = load i64, ptr %f16
  %f1 = getelementptr i64, ptr %f, i64 1
  store i64 %copies, ptr %f1
  %f2 = getelementptr i64, ptr %f, i64 2
  store i64 %d, ptr %f2
  %f4 = getelementptr i64, ptr %f, i64 4
  store i64 1, ptr %f4
  %f8 = getelementptr i64, ptr %f, i64 8
  store i64 0, ptr %f8
  %f17 = getelementptr i64, ptr %f, i64 17
  %column_word = load i64, ptr %f17
  %column = inttoptr i64 %column_word to ptr
  store i64 0, ptr %column
  %f18 = getelementptr i64, ptr %f, i64 18
  %first_word = load i64, ptr %f18
  %first = inttoptr i64 %first_word to ptr
  store i64 0, ptr %first
  %f19 = getelementptr i64, ptr %f, i64 19
  %end_word = load i64, ptr %f19
  %end = inttoptr i64 %end_word to ptr
  %width = add i64 %nx, %nu
  store i64 %width, ptr %end
  %status = call i64 @run_script(ptr %f)
  %done = icmp eq i64 %status, 0
  br i1 %done, label %results, label %stopped
stopped:
  store i64 0, ptr %place
  br label %careful
results:
  %f20 = getelementptr i64, ptr %f, i64 20
  %matrix_word = load i64, ptr %f20
  %A_bytes = shl i64 %nx, 3
  %B_bytes = shl i64 %nu, 3
  br label %rows
rows:
  %row = phi i64 [ 0, %results ], [ %row_next, %row_done ]
  %inside = icmp slt i64 %row, %nx
  br i1 %inside, label %copy, label %finished
copy:
  %at = mul i64 %row, %width
  %at_bytes = shl i64 %at, 3
  %source_word = add i64 %matrix_word, %at_bytes
  %source = inttoptr i64 %source_word to ptr
  %A_at = mul i64 %row, %A_bytes
  %A_word = add i64 %A, %A_at
  %A_row = inttoptr i64 %A_word to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %A_row, ptr %source, i64 %A_bytes, i1 false)
  br i1 %no_B, label %row_done, label %copy_B
copy_B:
  %B_source_word = add i64 %source_word, %A_bytes
  %B_source = inttoptr i64 %B_source_word to ptr
  %B_at = mul i64 %row, %B_bytes
  %B_word = add i64 %B, %B_at
  %B_row = inttoptr i64 %B_word to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %B_row, ptr %B_source, i64 %B_bytes, i1 false)
  br label %row_done
row_done:
  %row_next = add i64 %row, 1
  br label %rows
finished:
  ret i64 0
careful:
  ret i64 1
}
"""


class _ReadyGlue(glue._KernelGlue):
    """The function around `_RUN_READY`, which gets the words of the model in place of its address."""

    def _objects(self, things: list[Any]) -> None:
        super()._objects(things)
        self.addresses["Model"] = self.words_of(things[0])


def ready_glue(place: int) -> tuple[str, ...]:
    """LLVM assembly of the function ``SYMBOL + CALL``: modules to link.

    Args:
        place: byte of the words of a model where that of a ready script is.
    """
    matrix = target(ANY, ANY, optional=True)
    abi = CallAbi(SYMBOL, PARAMETERS, tuple((name, matrix) for name in PARAMETERS[2:]), refuses=True)
    return str(_ReadyGlue(SYMBOL, abi).module), _RUN_READY.replace("PLACE", str(place)), RUN_SCRIPT
