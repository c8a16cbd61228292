"""Attributes of MjModel and MjData that are computed when they are read (see `fields_derived`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from cardan.jit.memory.fields import DTYPES, Field, Struct
from cardan.jit.memory.struct import StructMemory
from cardan.model.fields_derived import BOOLEAN, CONSTANT, MISSING, OF_FLEXES, View, constant
from cardan.model.renumbered import live, settled


def read_only(value: Any) -> Any:
    """Return a value; if it is an array, make it read-only, because writing to a copy would have no effect.

    The result is a view, except if the array is read-only already: programs tell by that which arrays have no memory.
    """
    if isinstance(value, np.ndarray) and value.flags.writeable:
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


NO_MEMORY = (
    "this model has no memory for contacts, so they can't stick or lag: set stick or lagged of a geom or pair, or "
    '<size nstick="...">, before the model is compiled'
)


class WithoutMemory(np.ndarray):
    """Array of a model that remembers no contacts, in which contacts can't stick: it can't be written."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Raise ValueError: the attribute would have no effect."""
        raise ValueError(NO_MEMORY)


def without_memory(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array whose errors name the memory of contacts as the reason."""
    return read_only(array.view(WithoutMemory))


def empty_field(m: Any, name: str) -> np.ndarray | int | None:
    """Return a missing field of flexes for a model without flexes: an empty array, or the size 0. Otherwise None."""
    if name not in OF_FLEXES or m._memory.sizes["nflex"]:
        return None
    if name.startswith("n"):
        return 0
    dtype, shape = OF_FLEXES[name]
    return np.zeros((0, *shape), bool if dtype == "u1" else DTYPES[dtype])


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


def size_names(struct: Struct, rows: Iterable[View]) -> tuple[str, ...]:
    """Return the names of all sizes of a model: of its integers that start with "n", stored and computed."""
    fields = [*struct.fields, *(row.field for row in views_of(struct, rows, constants=True))]
    return tuple(f.name for f in fields if f.is_scalar and f.dtype == "i8" and f.name.startswith("n"))


def add_views(cls: Any, struct: Struct, rows: Iterable[View], constants: bool = False) -> dict[str, Callable[..., Any]]:
    """Add a property for each computed field to a class. Return the functions of rows that replace other fields."""
    of_model = cls.__name__ == "MjModel"
    for row in views_of(struct, rows, constants):
        setattr(cls, row.field.name, _property(row, of_model))
    return {row.field.name: _shown(row, of_model) for row in rows if row.of_4_0}


def _unchanged(row: View, m: Any, d: Any, values: Any) -> None:
    """Raise ValueError if `values` of a computed field of data differ from those that it has."""
    own = np.asarray(row.compute(m, d))
    if not np.array_equal(values, own, equal_nan=own.dtype.kind == "f"):
        raise ValueError(f"{row.field.name} follows from other fields: it can't be set to other values")


def _shown(row: View, of_model: bool) -> Callable[..., Any]:
    """Return the function that computes a row as programs see it.

    Arrays of models are read-only. Computed arrays of data without `View.back` can be set to their own values, as
    programs do that copy all fields.
    """
    compute, name = row.compute, row.field.name
    if of_model or row.field.is_scalar:
        return lambda *owners: read_only(compute(*owners))
    back = row.back or partial(_unchanged, row)

    def get(m: Any, d: Any) -> np.ndarray:
        values = compute(m, d)
        if not values.flags.writeable:
            return values  # it replaces memory that is not allocated
        owner = ref(d)  # a weak reference, because the data keeps the array
        return live(d, name, values, partial(_put_back, back, m, owner), partial(_present, compute, m, owner))

    return get


def _present(compute: Callable[..., np.ndarray], m: Any, d: Any) -> np.ndarray | None:
    owner = d()
    return None if owner is None else compute(m, owner)


def _put_back(back: Callable[..., None], m: Any, d: Any, values: np.ndarray) -> None:
    owner = d()
    if owner is not None:
        back(m, owner, values)


def _property(row: View, of_model: bool) -> property:
    shown = _shown(row, of_model)
    if of_model:
        return property(shown, doc=row.field.doc)

    def put(d: Any, value: Any) -> None:
        value = settled(value)
        if row.field.is_scalar:
            _unchanged(row, d.model, d, value)
        else:
            shown(d.model, d)[...] = value

    return property(lambda d: shown(d.model, d), put, doc=row.field.doc)
