"""Native drivers of many worlds, of tangents of stages, and of scripts. They run without the GIL.

Threads that run many worlds share a list of worlds and a counter, which holds the index of the next world. Each world
has two words in the list: the address of the program's block (`Program.block_address`), and the address of the words of
a run (position in the program, addresses of model and data). If a stage of a world returns a status other than 0, the
thread stops; the caller handles the request and continues.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from cardan.jit.driver.loader import ctypes_function, load_assembly
from cardan.jit.driver.program import PAUSED, driver_module

SCRIPT_CLEARS, SCRIPT_BEGINS_AGAIN = -21, -22
"""Statuses of a stage that control a script. `SCRIPT_CLEARS` clears the arrays of the script's first list and continues
with the next segment. `SCRIPT_BEGINS_AGAIN` clears the arrays of the second list and continues with the second
segment."""
SCRIPT_SECOND = 1


def script_module() -> Any:
    """Write the LLVM module of `block_runner` and `script_runner`: the functions ``run_blocks`` and ``run_script``."""
    from cardan.jit.target.writer import Writer, new_module

    module = new_module("script")
    w = Writer(module, "run_blocks", 9)
    run_blocks, b = w.function, w.builder
    table, count, m, d, tm, td, step_m, step_d, blocks = w.arguments
    with w.loop(blocks) as number:
        shadows = [b.add(first, b.mul(number, step)) for first, step in ((tm, step_m), (td, step_d))]
        with w.loop(count) as k:  # a stage without tangents ignores the last two arguments
            w.return_unless_zero(w.call(w.load(w.row(table, k)), m, d, *shadows))
    b.ret(w.constant(0))

    w = Writer(module, "run_script", 1)
    (frame,), b = w.arguments, w.builder
    fields, copies, source, segments, first, count, m, d = (w.load(frame, 8 * k) for k in range(8))
    with w.loop(copies) as k:
        row = w.row(fields, k, 2)
        offset, size = w.load(row), w.load(row, 8)
        own, other = b.add(d, offset), b.add(source, offset)
        with b.if_else(w.equal(size, w.constant(0))) as (is_scalar, is_array):
            with is_scalar:
                w.store(own, w.load(other))
            with is_array:
                numbers = b.mul(w.load(other, 8), w.load(other, 16))
                w.copy(w.load(own), w.load(other), b.mul(numbers, size))
    segment = w.variable(first)
    start = w.function.append_basic_block("start")
    b.branch(start)
    b.position_at_end(start)
    with w.loop_while(lambda: b.icmp_signed("<", b.load(segment), count)):
        number = b.load(segment)
        row = w.row(segments, number, 7)
        table, length, *shadows = (w.load(row, 8 * k) for k in range(7))
        status = b.call(run_blocks, [table, length, m, d, *shadows])
        again = w.equal(status, w.constant(SCRIPT_BEGINS_AGAIN))
        clears = b.or_(again, w.equal(status, w.constant(SCRIPT_CLEARS)))
        with b.if_else(clears) as (clear, go_on):
            with clear:
                arrays = b.add(frame, b.select(again, w.constant(88), w.constant(72)))
                with w.loop(w.load(arrays, 8)) as k:
                    row = w.row(w.load(arrays), k, 2)
                    w.clear(w.load(row), w.load(row, 8))
            with go_on:
                w.return_unless_zero(status, b.add(frame, w.constant(32)), number)
        b.store(b.select(again, w.constant(SCRIPT_SECOND), b.add(number, w.constant(1))), segment)
    left = b.sub(w.load(frame, 64), w.constant(1))
    w.store(b.add(frame, w.constant(64)), left)
    with b.if_then(b.icmp_signed(">", left, w.constant(0))):
        b.store(w.constant(0), segment)
        b.branch(start)
    b.ret(w.constant(0))
    return module


@cache
def _code() -> str:
    """Return `script_module` as LLVM assembly."""
    return str(script_module())


@cache
def block_runner() -> Any:
    """Return a native function that runs a table of stages and tangents of stages, once for each block of directions.

    The arguments of this function are: address and length of the table; addresses of the slot tables of model and data;
    addresses of the slot tables of their shadows (which hold tangents) for the first block; for both shadows, the
    distance from one block to the next; number of blocks. It returns 0, or the status of the stage that stopped.
    """
    word = ctypes.c_int64
    return ctypes_function(load_assembly("run_blocks", _code()), word, *([word] * 9))


@cache
def script_runner() -> Any:
    """Return a native function that copies fields from one data to another, then runs segments (tables of stages).

    Its argument is the address of thirteen words:

    - address and number of the fields to copy, two words each (distance of the field's slot from the first slot; bytes
      per element, 0 for a scalar);
    - address of the slot table to copy from;
    - address of the segments (seven words each: the arguments of `block_runner` except model and data);
    - index of the first segment to run, which becomes the index of a segment that stops; number of segments;
    - model and data;
    - number of runs of the segments, which is counted down; all runs except the first start at segment 0;
    - addresses and lengths of two lists of arrays (address, bytes), cleared when a segment returns `SCRIPT_CLEARS` or
      `SCRIPT_BEGINS_AGAIN`.

    It returns 0, or the status of the stage that stopped.
    """
    word = ctypes.c_int64
    return ctypes_function(load_assembly("run_script", _code()), word, word)


NO_WORLD = -1
"""Value of `stopped` if no world stopped, because the call has run `most` worlds."""


def _worlds_module() -> Any:
    """Write the driver's module with the function ``run_worlds(entries, count, repeat, counter, most, stopped_at)``."""
    from cardan.jit.target.writer import WORD, Writer

    module = driver_module()
    w = Writer(module, "run_worlds", 6)
    b, one = w.builder, w.constant(1)
    entries, count, repeat, counter, most, stopped_at = w.arguments
    with w.loop(most):
        number = b.atomic_rmw("add", b.inttoptr(counter, WORD.as_pointer()), one, "seq_cst")
        w.return_if(b.icmp_signed(">=", number, count), w.constant(0))
        row = w.row(entries, number, 2)
        status = b.call(module.get_global("run_block"), [w.load(row), w.load(row, 8), repeat])
        w.return_unless_zero(status, stopped_at, number)
    w.store(stopped_at, w.constant(NO_WORLD))
    b.ret(w.constant(PAUSED))
    return module


@cache
def _native() -> tuple[Any, Any]:
    from cardan.jit.driver.loader import Address, ctypes_function, load_symbols
    from cardan.jit.target.processor import assemble

    word, pointer = ctypes.c_int64, ctypes.c_void_p
    keep, (walk, resume) = load_symbols(assemble(str(_worlds_module())), "run_worlds", "resume_block")
    return (
        ctypes_function(Address(walk, keep), word, pointer, word, word, pointer, word, pointer),
        ctypes_function(Address(resume, keep), word, word, word, word),
    )


def run_worlds(entries: np.ndarray, repeat: int, counter: ctypes.c_int64, most: int, stopped: ctypes.c_int64) -> int:
    """Run the programs of the worlds in a list, each `repeat` times, without the GIL.

    Args:
        entries: the list of worlds (nworld, 2) int64, in C order.
        repeat: repetitions of each program.
        counter: index of the next world, which native code increments; a large number stops all threads.
        most: number of worlds after which this call returns.
        stopped: receives the index of the world that stopped, or `NO_WORLD`.

    Returns:
        0 if no worlds are left. If `most` worlds were run: `PAUSED`, with `NO_WORLD` in `stopped`. If a world stopped:
        its status, which may also be `PAUSED`.
    """
    address = ctypes.addressof
    return _native()[0](entries.ctypes.data, len(entries), repeat, address(counter), most, address(stopped))


def resume_world(entry: np.ndarray, repeat: int) -> int:
    """Continue a world of the list that has stopped; return 0, or the status with which it stopped again.

    Args:
        entry: the two words of the world.
        repeat: total number of repetitions.
    """
    return _native()[1](*entry.tolist(), repeat)
