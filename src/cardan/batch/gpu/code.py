"""Kernels of launches: from stages to PTX, from the disk cache where they were made before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import derived_key, fingerprint
from cardan.jit.front.stage import CALL, Entry, Form, entry_of
from cardan.jit.target.ptx import NOTHING, Code, ptx

Functions = Sequence[Callable[..., Any]]


def launch_name(stages: Functions) -> str:
    """Name of a launch, for messages and in the cache."""
    first = entry_of(stages[0]).name
    return first if len(stages) == 1 else f"{first}.and_{len(stages) - 1}_more"


def gpu_source(stages: Functions, form: Form, called: Functions) -> str:
    """The PTX of a launch, from the cache or made now.

    Args:
        stages: the stages that it runs, one after the other.
        form: of the code.
        called: the functions that stages call by number, from 1 on.

    Raises:
        PtxError: a stage can't become GPU code, or there is no mathematical library for GPUs.
    """
    entries, others = [entry_of(stage) for stage in stages], [entry_of(function) for function in called]
    keys = [fingerprint(entry, form) for entry in (*entries, *others)]
    key = derived_key(keys, str(len(entries)), __file__)
    name = f"ptx.{launch_name(stages)}"
    stored = disk.read(name, key)
    if stored is not None:
        return stored[1].decode()
    source = ptx(*codes(entries, form, others))
    disk.write(name, key, entries[0].symbol, source.encode())
    return source


def codes(entries: Sequence[Entry], form: Form, called: Sequence[Entry]) -> list[Code]:
    """Linked modules of stages, with those of the functions that they call by number.

    Such functions call others themselves, by the same numbers: those of signed distances evaluate shapes so. What is
    called at the second depth calls no more.
    """
    from cardan.jit.front.compile import linked_module

    texts = [linked_module(entry, form) for entry in entries]
    below: tuple[Code, ...] = ()
    if any(f"@{CALL}(" in text for text in texts):
        modules = [(entry.symbol, linked_module(entry, form)) for entry in called]
        leaves = tuple(NOTHING if f"@{CALL}(" in text else Code(symbol, text) for symbol, text in modules)
        below = tuple(Code(symbol, text, leaves if f"@{CALL}(" in text else ()) for symbol, text in modules)
    return [Code(entry.symbol, text, below) for entry, text in zip(entries, texts, strict=True)]
