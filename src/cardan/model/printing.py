"""Models and data as text, for reading and comparison. The text contains all fields in the order of the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from cardan.constants import mjNISLAND, mjNSOLVER
from cardan.jit.memory.fields import Field
from cardan.model.named import NAME_FIELDS, read_names
from cardan.model.tables import DATA, MODEL, SIZE_NAMES

if TYPE_CHECKING:
    from cardan.jit.memory.struct import StructMemory
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

DEFAULT_FORMAT = "% -9.2g"
_FORMAT = re.compile(r"%[-+ #0]*\d{0,2}(\.\d{1,2})?[fgGeE]")
_INDENT = "  "
_COLUMN = 22
_FOLD = 10
# for images, only the length is printed
_NOT_LISTED = ("tex_rgb",)
_TITLES = {str(MODEL.by_name[name].shape[0]): kind for kind, name in NAME_FIELDS.items()} | {"nv": "dof", "nbvh": "bvh"}


def check_format(float_format: str | bytes) -> str:
    """Check that a format is a printf format for one float, and return it as a string.

    Raises:
        ValueError: the format is something else.
    """
    if isinstance(float_format, bytes):
        float_format = float_format.decode(errors="replace")
    if not _FORMAT.fullmatch(float_format):
        raise ValueError(f"{float_format!r} is not a format of one float, such as '% -9.2g' (one of f, g, G, e, E)")
    return float_format


def model_text(m: MjModel, float_format: str = DEFAULT_FORMAT) -> str:
    """Return a complete model as text: nonzero sizes, options, statistics, then one element after the other."""
    style = check_format(float_format)
    memory = m._memory
    lines = [f"model name            {m.names.partition(bytes(1))[0].decode()}", ""]
    lines += [_entry(name, str(memory.sizes[name])) for name in SIZE_NAMES if memory.sizes[name]]
    fields = [field for field in MODEL.fields if not field.is_attached and field.name not in SIZE_NAMES]
    for prefix in MODEL.prefixes:
        members = list(MODEL.members(prefix)) if prefix else []
        if members:
            lines += ["", prefix.rstrip(".").upper()]
            lines += [_entry(f.name.removeprefix(prefix), _value(memory, f, None, style)) for f in members]
    arrays = [field for field in fields if not field.is_scalar and "." not in field.name]
    for size, group in groupby(arrays, key=lambda field: str(field.shape[0])):
        lines += _elements(m, size, list(group), style)
    return "\n".join([*lines, ""])


def data_text(m: MjModel, d: MjData, float_format: str = DEFAULT_FORMAT) -> str:
    """Return complete data as text: scalars, then all non-empty arrays, with one row of the array in each line."""
    style = check_format(float_format)
    memory = d._memory
    fields = [field for field in DATA.fields if not field.is_attached and not field.name.startswith("work.")]
    lines = [_entry(f.name, _value(memory, f, None, style)) for f in fields if f.is_scalar]
    for field in fields:
        if not field.is_scalar:
            lines += _table(field.name, _in_use(d, field), style)
    return "\n".join([*lines, ""])


def _in_use(d: MjData, field: Field) -> np.ndarray:
    """Return the part of an array that is in use.

    Arrays of contacts, constraint rows and solver iterations may have unused rows.
    """
    if field.name.startswith("solver."):
        islands = d._memory.arrays[field.name].reshape(mjNISLAND, mjNSOLVER)
        return np.concatenate([island[:count] for island, count in zip(islands, d.solver_niter, strict=True)])
    public = d
    for part in field.name.split("."):
        public = getattr(public, part, None)
    array = d._memory.arrays[field.name]
    return public if isinstance(public, np.ndarray) and public.dtype == array.dtype else array


def _entry(name: str, text: str) -> str:
    return f"{name:<{_COLUMN}}{text}".rstrip()


def _value(memory: StructMemory, field: Field, number: int | None, style: str) -> str:
    """Format the value of a field, or only of its row `number`, on one line."""
    array = memory.scalars[field.name] if field.is_scalar else memory.arrays[field.name]
    return _numbers(array if number is None else array[number], style)


def _numbers(array: np.ndarray, style: str) -> str:
    flat = np.ravel(array)
    return " ".join([style % value for value in flat.tolist()] if flat.dtype.kind == "f" else map(str, flat.tolist()))


def _elements(m: MjModel, size: str, fields: list[Field], style: str) -> Iterator[str]:
    """Yield lines of text for the fields with first dimension `size`: element by element, or array by array.

    Arrays are listed one by one if the dimension does not count a kind of element.
    """
    count = m._memory.sizes.get(size, 0)
    kind = _TITLES.get(size)
    if kind is None or size == "nq":
        for field in fields:
            yield from _table(field.name, m._memory.arrays[field.name], style)
        return
    names = read_names(m, kind) if kind in NAME_FIELDS else [""] * count
    for number in range(count):
        yield from ("", f"{kind.upper()} {number}:")
        if names[number]:
            yield _INDENT + _entry("name", names[number])
        for field in fields:
            yield _INDENT + _entry(field.name, _value(m._memory, field, number, style))


def _table(name: str, array: np.ndarray, style: str) -> Iterable[str]:
    """Return the lines of text for an array: one line per row; long vectors are wrapped.

    Arrays of characters are shown as bytes. For the arrays in `_NOT_LISTED`, only the length is shown.
    """
    if not array.size:
        return []
    title = ["", name.upper()]
    if name in _NOT_LISTED:
        return [*title, f"{_INDENT}({array.size} numbers)"]
    if array.dtype == np.int8:
        return [*title, _INDENT + repr(array.tobytes())]
    rows = array.reshape(len(array), -1) if array.ndim > 1 else np.split(array, range(_FOLD, len(array), _FOLD))
    return [*title, *(_INDENT + _numbers(row, style) for row in rows)]
