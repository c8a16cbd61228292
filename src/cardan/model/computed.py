"""Attributes of MjModel and MjData that are computed when they are read (see `fields_derived`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.struct import StructMemory
from cardan.model.fields_derived import BOOLEAN, CONSTANT, MISSING, View, constant


def read_only(value: Any) -> Any:
    """Return a value; if it is an array, make it read-only, because writing to a copy would have no effect."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def shown_dtype(m: Any, field: Field) -> np.dtype:
    """Return the element type of a field of a model or its data as programs see it (see `shown_array`)."""
    return np.dtype(bool) if field.name in BOOLEAN and m.is_4_0 else field.numpy_dtype


def shown_array(memory: StructMemory, name: str) -> np.ndarray:
    """Return an array of a model or data as programs see it: bytes of truth are of the type bool with compat 4.0."""
    array = memory.arrays[name]
    return array.view(bool) if name in BOOLEAN and memory.sizes["is_4_0"] else array


class WithoutMemory(np.ndarray):
    """Array of a model that remembers no contacts, in which contacts can't stick: it can't be written."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Raise ValueError: the attribute would have no effect."""
        raise ValueError(
            "this model has no memory for contacts, so they can't stick or lag: set stick or lagged of a geom or pair, "
            'or <size nstick="...">, before the model is compiled'
        )


def without_memory(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array whose errors name the memory of contacts as the reason."""
    return read_only(array.view(WithoutMemory))


def no_field(owner: str, name: str) -> AttributeError:
    """Make the error for a missing attribute; if MuJoCo 4.0 has it, the message names the missing feature."""
    feature = next((feature for pattern, feature in MISSING.items() if re.fullmatch(pattern, name)), None)
    if feature is None:
        return AttributeError(f"{owner!r} object has no attribute {name!r}")
    return AttributeError(f"{owner}.{name} is not supported yet ({feature}); docs/status.md lists what is")


def views_of(struct: Struct, rows: Iterable[View], constants: bool = False) -> list[View]:
    """Return the rows for fields that a structure does not have; with ``constants``, also those of `CONSTANT`."""
    fixed = [View(f, constant(f, int(value))) for value, fields in CONSTANT.items() for f in fields if constants]
    return [row for row in (*rows, *fixed) if row.field.name not in struct.by_name]


def add_views(cls: Any, struct: Struct, rows: Iterable[View], constants: bool = False) -> dict[str, Callable[..., Any]]:
    """Add a property for each computed field to a class. Return the functions of rows that replace other fields."""
    of_model = cls.__name__ == "MjModel"
    for row in views_of(struct, rows, constants):
        setattr(cls, row.field.name, _property(row, of_model))
    return {row.field.name: row.compute for row in rows if row.of_4_0}


def _property(row: View, of_model: bool) -> property:
    compute = row.compute
    if of_model:
        return property(lambda m: read_only(compute(m)), doc=row.field.doc)
    return property(lambda d: read_only(compute(d.model, d)), doc=row.field.doc)
