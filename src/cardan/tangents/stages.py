"""Tangents of stages, ready to call. They are made on first use and stored in the disk cache.

The cache stores three results for a stage. The first is its scalar form, which only Numba can make, and which wheels
contain. The second is the set of fields whose tangents the stage reads and writes, for given active fields. The third
is the object code of its tangents, for given active fields and number of directions.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import derived_key, fingerprint
from cardan.jit.cache.packaged import is_of_package, packaged_scalar_form
from cardan.jit.cache.progress import CompileProgress
from cardan.jit.driver.loader import Address, load_objects
from cardan.jit.front.stage import Abi, Entry, entry_of
from cardan.jit.memory.fields import Struct, structures
from cardan.jit.target.processor import target_machine
from cardan.tangents.activity import Analysis
from cardan.tangents.scalar import Scalar, TransformError, read_scalar, scalar_text
from cardan.tangents.tangent import Tangent
from cardan.threads import Locked


@dataclass(frozen=True, slots=True)
class Access:
    """Names of the fields that a stage's tangents read and write, such as ``d.qpos`` or ``m.body_mass``.

    Attributes:
        reads: active fields whose tangents are read.
        writes: active fields whose tangents are written, including fields that only become active in the stage.
    """

    reads: frozenset[str]
    writes: frozenset[str]


def _kept(entry: Entry, kind: str, what: str, make: Callable[[], bytes]) -> bytes:
    """Return a result derived from an entry: read it from the cache, or call `make` and store its result."""
    name, key = f"{entry.name}.{kind}", derived_key([fingerprint(entry)], what, __file__)
    stored = disk.read(name, key)
    if stored is None:
        with disk.compile_lock(name, key):
            stored = disk.read(name, key)
            if stored is None:
                stored = "", make()
                disk.write(name, key, *stored)
    return stored[1]


def _structs(entry: Entry) -> tuple[Struct, Struct]:
    if not isinstance(entry.abi, Abi):
        raise TransformError(f"{entry.name} is a function of the interface, not a stage")
    first, second = (structures()[name] for name in entry.abi.structs)
    return first, second


def _make_scalar(entry: Entry) -> bytes:
    from cardan.jit.front.compile import link_entry

    with CompileProgress(1) as progress:
        progress.compiling(entry.name)
        return zlib.compress(scalar_text(entry.symbol, link_entry(entry, as_text=True)).encode())


_INITIALIZES = re.compile(r"initializes\(\([^%]*?\)\) ")
"""Attribute of the result pointer of a stage without branches. It is removed, because the parser would mistake its
comma for the end of the parameter."""


def scalar_form(entry: Entry) -> bytes:
    """Return the scalar form of a stage, compressed: from the package, from the disk cache, or made now."""
    packaged = packaged_scalar_form(entry.name) if is_of_package(entry.function) else None
    return packaged or _kept(entry, "scalar", "", lambda: _make_scalar(entry))


@lru_cache(maxsize=256)
def _read(entry: Entry) -> tuple[Scalar, Analysis]:
    text = zlib.decompress(scalar_form(entry)).decode()
    text = _INITIALIZES.sub("", text)
    try:
        scalar = read_scalar(text)
        return scalar, Analysis(scalar, _structs(entry))
    except TransformError as error:
        raise TransformError(f"{entry.name}: {error}") from None


def _as_json(names: Collection[str]) -> str:
    return json.dumps(sorted(names))


@lru_cache(maxsize=1024)
def touched(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the floating-point fields that a stage may read or write, for any model.

    Raises:
        TransformError: the stage has an instruction without a rule.
    """
    entry = entry_of(function)
    return frozenset(json.loads(_kept(entry, "touched", "", lambda: _as_json(_read(entry)[1].touched()).encode())))


@lru_cache(maxsize=1024)
def written(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the floating-point fields that a stage may write, for any model."""
    entry = entry_of(function)
    return frozenset(json.loads(_kept(entry, "written", "", lambda: _as_json(_read(entry)[1].stored()).encode())))


@lru_cache(maxsize=4096)
def access(function: Callable[..., Any], active: frozenset[str]) -> Access:
    """Return the fields whose tangents a stage reads and writes, if the fields `active` have tangents at its start."""
    entry = entry_of(function)
    active &= touched(function)

    def make() -> bytes:
        found = _read(entry)[1].activity(active)
        return json.dumps([sorted(n for n in names if n[0] != "%") for names in (found.reads, found.writes)]).encode()

    reads, writes = json.loads(_kept(entry, "access", _as_json(active), make))
    return Access(frozenset(reads), frozenset(writes))


@lru_cache(maxsize=4096)
def needed(function: Callable[..., Any], active: frozenset[str], keep: frozenset[str]) -> frozenset[str]:
    """Return the active fields of `keep`, and the fields whose tangents a stage needs to compute theirs.

    `active` are the fields that have tangents before the stage.
    """
    entry = entry_of(function)
    active &= touched(function)

    def make() -> bytes:
        analysis = _read(entry)[1]
        return _as_json(analysis.needed(analysis.activity(active), keep)).encode()

    return frozenset(json.loads(_kept(entry, "needed", f"{_as_json(active)} {_as_json(keep)}", make)))


Variant = tuple[Callable[..., Any], frozenset[str], frozenset[str]]
"""Key of compiled tangents: a stage, or another entry of (m, d, ...); the fields that may have a tangent before the
stage (all others are constants); the fields whose tangents are read afterwards."""
_LOADED: dict[tuple[Variant, int], Address] = {}
_LOADING = Locked()


def _own_part(function: Callable[..., Any], active: frozenset[str], keep: frozenset[str]) -> Variant:
    """Return a variant without fields that have no effect on the stage, so that equal code has equal keys."""
    written_ones = access(function, active).writes
    active &= touched(function)
    return function, active, (keep | needed(function, active, keep & written_ones)) & written_ones


def _tangent_object(variant: Variant, lanes: int) -> tuple[str, bytes]:
    """Return symbol and object code of the tangents of a variant that `_own_part` returned."""
    function, active, keep = variant
    entry = entry_of(function)

    def make() -> bytes:
        import llvmlite.binding as llvm

        from cardan.jit.front.compile import emit

        scalar, analysis = _read(entry)
        try:
            text = Tangent(scalar, analysis, analysis.activity(active), keep, lanes).text(entry.symbol)
        except TransformError as error:
            raise TransformError(f"{entry.name}: {error}") from None
        module, machine = llvm.parse_assembly(text), target_machine()
        module.triple, module.data_layout = machine.triple, str(machine.target_data)  # the text may be from elsewhere
        module.verify()
        return emit(entry.name, module, machine)

    return entry.symbol, _kept(entry, "tangent", f"{_as_json(active)} {_as_json(keep)} {lanes}", make)


def tangent_addresses(variants: Sequence[Variant], lanes: int) -> list[Address]:
    """Load native code that computes stages and their tangents.

    All code that is not yet loaded is loaded together, so that consecutive stages share pages of memory. If each stage
    began at the same offset of a page, all stages would compete for the same lines of the first-level cache.

    Args:
        variants: the stages, in the order in which they run.
        lanes: number of directions.

    Returns:
        For each variant, the address of a function of (m, d, further arguments, shadow of m, shadow of d), all 64-bit
        words. The shadows are addresses of slot tables like those of m and d; their arrays have `lanes` numbers for
        each number.

    Raises:
        TransformError: a stage has an instruction without a rule.
        KernelError: a stage must be compiled, but Numba is missing or fails.
    """
    keys = [(_own_part(*variant), lanes) for variant in variants]
    with _LOADING.lock:
        missing = [key for key in dict.fromkeys(keys) if key not in _LOADED]
        found = load_objects([_tangent_object(*key) for key in missing])
        _LOADED.update(zip(missing, found, strict=True))
        return [_LOADED[key] for key in keys]
