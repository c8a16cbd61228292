"""PTX of stages, from the cache folder, or compiled by this process and its helpers (`cardan.jit.cache.helper`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import derived_key, fingerprint
from cardan.jit.front.stage import CALL, Entry, Form, entry_of
from cardan.jit.target.ptx import NOTHING, Code, ptx

Functions = Sequence[Callable[..., Any]]


def launch_name(stages: Functions) -> str:
    """Return the name of a launch of some stages, for messages and for the cache."""
    first = entry_of(stages[0]).name
    return first if len(stages) == 1 else f"{first}.and_{len(stages) - 1}_more"


def _place(stages: Functions, form: Form, called: Functions) -> tuple[str, str]:
    """Return name and key of the cached PTX of a launch."""
    entries = [entry_of(function) for function in (*stages, *called)]
    keys = [fingerprint(entry, form) for entry in entries]
    return f"ptx.{launch_name(stages)}", derived_key(keys, str(len(stages)), __file__)


def is_cached(stages: Functions, form: Form, called: Functions) -> bool:
    """Return whether the cache folder holds the PTX of a launch."""
    return disk.holds(*_place(stages, form, called))


def gpu_source(stages: Functions, form: Form, called: Functions, wait: bool = True) -> str | None:
    """Return the PTX of a launch from the cache, or compile it. Stages call the functions `called` by number, from 1.

    If another process is compiling it, wait for that process if `wait` is set; otherwise return None.

    Raises:
        PtxError: a stage can't be compiled for GPUs, or the mathematical library for GPUs is missing.
    """
    name, key = _place(stages, form, called)
    stored = disk.read(name, key)
    if stored is not None:
        return stored[1].decode()
    with disk.compile_lock(name, key, wait) as free:
        stored = disk.read(name, key) if free else None
        if not free or stored is not None:
            return stored[1].decode() if stored else None
        source = ptx(*codes([entry_of(stage) for stage in stages], form, [entry_of(function) for function in called]))
        disk.write(name, key, entry_of(stages[0]).symbol, source.encode())
        return source


def codes(entries: Sequence[Entry], form: Form, called: Sequence[Entry]) -> list[Code]:
    """Return the linked modules of stages, each with the modules of the functions that it may call by number.

    A function called by number may itself call functions by number: signed-distance functions evaluate shapes in this
    way. The functions at this second level must not call any functions by number.

    Args:
        entries: the stages.
        form: form of the code: layout, precision and target.
        called: the functions, in the order of their numbers.
    """
    from cardan.jit.front.compile import linked_module

    texts = [linked_module(entry, form) for entry in entries]
    below: tuple[Code, ...] = ()
    if any(f"@{CALL}(" in text for text in texts):
        modules = [(entry.symbol, linked_module(entry, form)) for entry in called]
        leaves = tuple(NOTHING if f"@{CALL}(" in text else Code(symbol, text) for symbol, text in modules)
        below = tuple(Code(symbol, text, leaves if f"@{CALL}(" in text else ()) for symbol, text in modules)
    return [Code(entry.symbol, text, below) for entry, text in zip(entries, texts, strict=True)]
