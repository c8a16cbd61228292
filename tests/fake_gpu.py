"""A fake of CUDA's driver whose launches run: stages and copies, in all worlds one after the other, on this processor.

What a launch runs is what a GPU's thread runs: the stages' interleaved code (object files, from the disk cache), the
text of the kernel around it, the text of the kernel that copies.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
from lane_code import LANE, LANE_WORDS, entry_in, lane_object
from tests.jit.fake_cuda import FakeDriver

from cardan.batch.gpu import back_end, program, transfers
from cardan.jit.driver import cuda
from cardan.jit.driver.loader import Engine
from cardan.jit.front.stage import WORLD_COUNT, WORLD_INDEX
from cardan.jit.target.gpu_kernels import KERNEL, PARAMETERS, kernel_text, move_text, switch
from cardan.jit.target.processor import assemble

STAGE_WORDS = 5
READERS = f"""
define i64 @{WORLD_INDEX}() alwaysinline {{
  %w = load i64, ptr @{LANE}
  ret i64 %w
}}
define i64 @{WORLD_COUNT}() alwaysinline {{
  %at = getelementptr i64, ptr @{LANE}, i64 1
  %n = load i64, ptr %at
  ret i64 %n
}}
"""


def grid_text(nword: int, kinds: tuple[str, ...]) -> str:
    """A function that calls the kernel for every thread of a launch."""
    words = ", ".join(f"i64 %a{k}" for k in range(nword))
    casts = "".join(f"  %p{k} = inttoptr i64 %a{k} to ptr\n" for k, kind in enumerate(kinds) if kind == "ptr")
    given = ", ".join(f"{kind} %{'p' if kind == 'ptr' else 'a'}{k}" for k, kind in enumerate(kinds))
    return f"""
define void @cardan_fake_grid(i64 %count, {words}) {{
entry:
{casts}  %at = getelementptr i64, ptr @{LANE}, i64 1
  store i64 %count, ptr %at
  br label %loop
loop:
  %w = phi i64 [ 0, %entry ], [ %next, %loop ]
  store i64 %w, ptr @{LANE}
  call void @{KERNEL}({given})
  %next = add i64 %w, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def _function(engine: Engine, nword: int):
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * (nword + 1))
    function = kind(engine.address("cardan_fake_grid"))
    return function, engine


@cache
def move_grid(itemsize: int):
    """The copying kernel on this processor."""
    engine = Engine()
    text = move_text(itemsize, "").replace(f"declare i64 @{WORLD_INDEX}()", "")
    engine.add(assemble(LANE_WORDS + READERS + text + grid_text(len(PARAMETERS), ("i64",) * len(PARAMETERS))))
    return _function(engine, len(PARAMETERS))


@cache
def stage_grid(stages, form, called):
    """The kernel of a launch on this processor."""
    entries = {f: entry_in(f, exact=True) for f in (*stages, *called)}  # tests of the layout compile the same
    engine = Engine()
    for entry in {e.symbol: e for e in entries.values()}.values():
        engine.add(lane_object(entry, form))
    text = LANE_WORDS + READERS + switch([entries[f].symbol for f in called])
    text += "\n" + kernel_text([entries[f].symbol for f in stages])
    engine.add(assemble(text + grid_text(STAGE_WORDS, ("ptr", "i64", "i64", "i64", "ptr"))))
    return _function(engine, STAGE_WORDS)


class Lanes(FakeDriver):
    """A driver whose launches run."""

    def __init__(self, **kwargs):
        super().__init__(run=self.launch, **kwargs)
        self.sources = {}

    def source(self, stages, form, called):
        """What stands for the PTX of stages: launches may have one name and differ."""
        number = self.sources.setdefault((tuple(stages), form, tuple(called)), len(self.sources))
        return f"// {number}\n.visible .entry {KERNEL}(\n)"

    def all_sources(self, launches, form, called):
        return enumerate(self.source(stages, form, called) for stages in launches)

    def cuLinkAddData(self, state, kind, data, size, name, count, options, values):
        first = data.split(b"\n", 1)[0].removeprefix(b"// ")
        return super().cuLinkAddData(state, kind, data, size, first, count, options, values)

    def launch(self, name, blocks, threads, words):
        if name.startswith("move_"):
            run, _ = move_grid(int(name.removeprefix("move_")))
        else:
            run, _ = stage_grid(*list(self.sources)[int(name)])
        run(blocks * threads, *words)

    def install(self, monkeypatch):
        """Make this the driver of the process; nothing that stands for machine code is kept on disk."""
        from types import SimpleNamespace

        nothing = SimpleNamespace(read=lambda name, key: None, write=lambda *stored: None)
        monkeypatch.setattr(cuda, "disk", nothing)
        monkeypatch.setattr(cuda, "driver_interface", lambda: self)
        monkeypatch.setattr(back_end, "is_cached", lambda stages, form, called: True)
        monkeypatch.setattr(program, "gpu_sources", self.all_sources)
        move = "// move_{}\n.visible .entry " + KERNEL + "(\n)"
        monkeypatch.setattr(transfers, "move_source", move.format)
        return self


def host(array) -> np.ndarray:
    """A NumPy copy."""
    return np.asarray(array)


@contextmanager
def lent(monkeypatch, **options) -> Iterator[Lanes]:
    """The fake in the driver's place; at the end nothing may be left on it."""
    driver = Lanes(**options).install(monkeypatch)
    yield driver
    gc.collect()
    assert driver.left() == {}
    assert driver.contexts == []
