"""Each stage is compiled once, by whichever process comes to it first, and the others find it in the cache."""

from __future__ import annotations

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.front.form import HERE, Form
from cardan.jit.front.stage import Entry


def compile_into_cache(entry: Entry, form: Form = HERE) -> tuple[str, bytes]:
    """Symbol and object code of a stage; it is compiled unless another process has done it meanwhile."""
    key = fingerprint(entry, form)
    with disk.compile_lock(entry.name, key):
        return disk.read(entry.name, key) or _compiled(entry, form, key)


def compile_if_free(entry: Entry, form: Form = HERE) -> tuple[str, bytes] | None:
    """The same, but None at once if another process is at it."""
    key = fingerprint(entry, form)
    with disk.compile_lock(entry.name, key, wait=False) as free:
        return (disk.read(entry.name, key) or _compiled(entry, form, key)) if free else None


def _compiled(entry: Entry, form: Form, key: str) -> tuple[str, bytes]:
    from cardan.jit.front.compile import compile_entry

    made = compile_entry(entry, form)
    disk.write(entry.name, key, *made)
    return made
