"""Tables of fields: the single description of a structure, from which all other definitions are derived.

A structure (the model, the data) is described by a list of rows, one for each field. A row contains the field's name,
its element type, its shape in terms of sizes, and its meaning in a few words. NumPy views, native views, allocation,
copy, save, named access, stubs and the reference page are all derived from these rows (docs/architecture.md, "One table
of fields").
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from typing import ClassVar, NamedTuple

import numpy as np

DTYPES: dict[str, np.dtype] = {
    "f8": np.dtype(np.float64),
    "f4": np.dtype(np.float32),
    "i8": np.dtype(np.int64),
    "u8": np.dtype(np.uint64),
    "i4": np.dtype(np.int32),
    "u1": np.dtype(np.uint8),
    "char": np.dtype(np.int8),
}


class Field(NamedTuple):
    """One field of a structure.

    Attributes:
        name: field name; a dot separates a group from its member (``opt.timestep``, ``contact.dist``).
        dtype: element type, a key of `DTYPES` (``char`` is text kept as bytes).
        shape: dimensions: numbers, names of sizes (``"nbody"``) or products (``"nmocap*3"``); ``()`` is a scalar. If
            the first dimension is ``"any"``, the array is allocated elsewhere and attached.
        doc: meaning and unit, in a few words.
        stage: for fields of the data, the stage that writes the field.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    doc: str = ""
    stage: str = ""

    @property
    def numpy_dtype(self) -> np.dtype:
        """Element type as a NumPy dtype."""
        return DTYPES[self.dtype]

    @property
    def is_scalar(self) -> bool:
        """Whether the field is a single number, which is stored in the slot table."""
        return not self.shape

    @property
    def is_attached(self) -> bool:
        """Whether the array is allocated elsewhere and attached to the structure."""
        return bool(self.shape) and self.shape[0] == "any"

    @property
    def inner(self) -> tuple[int | str, ...]:
        """Dimensions after the first."""
        return self.shape[1:]


def dimension(dim: int | str, sizes: dict[str, int]) -> int:
    """Return the value of a dimension: a number, the name of a size, or a product of such factors (``"nmocap*3"``)."""
    if isinstance(dim, int):
        return dim
    value = 1
    for factor in dim.split("*"):
        value *= int(factor) if factor.isdigit() else sizes[factor]
    return value


WORDS = 3
"""Number of 64-bit words of a slot: address, length and second dimension of an array; a scalar uses only the first."""


class Struct:
    """Description of a structure: fields, their slots, and groups of fields.

    Args:
        name: name of the structure, such as ``Model`` or ``Data``, by which the compiler of stages finds it.
        fields: rows in slot order. Append new rows at the end, so that compiled stages remain valid.
        readonly: whether stages may only read the structure.
        registered: whether kernels can refer to the structure by its name.
    """

    registry: ClassVar[dict[str, Struct]] = {}

    def __init__(self, name: str, fields: Iterable[Field], *, readonly: bool, registered: bool = True) -> None:
        self.name = name
        self.fields: tuple[Field, ...] = tuple(fields)
        self.readonly = readonly
        self.slot: dict[str, int] = {field.name: i for i, field in enumerate(self.fields)}
        self.by_name: dict[str, Field] = {field.name: field for field in self.fields}
        if len(self.slot) != len(self.fields):
            raise ValueError(f"structure {name}: a field name stands twice")
        prefixes: dict[str, None] = {}
        for field in self.fields:
            parts = field.name.split(".")
            for depth in range(1, len(parts)):
                prefixes[".".join(parts[:depth]) + "."] = None
        self.prefixes: tuple[str, ...] = tuple(prefixes)
        self._members: dict[str, list[Field]] = {}
        if registered:
            Struct.registry[name] = self

    @cached_property
    def words_of(self) -> dict[str, tuple[int, np.dtype]]:
        """Offset of each array's slot in the slot table (bytes), and element type of the array."""
        return {field.name: (8 * WORDS * slot, field.numpy_dtype) for slot, field in enumerate(self.fields)}

    @cached_property
    def is_attached(self) -> bool:
        """Whether all arrays of the structure are allocated elsewhere and attached."""
        return all(field.is_scalar or field.is_attached for field in self.fields)

    @cached_property
    def single(self) -> Struct:
        """This structure with real numbers in single precision (``f4`` for ``f8``); all fields keep their slots."""
        fields = [field._replace(dtype="f4") if field.dtype == "f8" else field for field in self.fields]
        return Struct(self.name, fields, readonly=self.readonly, registered=False)

    def members(self, prefix: str) -> list[Field]:
        """Return the fields directly in the group `prefix` (``"opt."``; ``""`` is the top level)."""
        if prefix not in self._members:
            n = len(prefix)
            self._members[prefix] = [f for f in self.fields if f.name.startswith(prefix) and "." not in f.name[n:]]
        return self._members[prefix]


_REGISTERING = "cardan.model.tables"


def structures() -> dict[str, Struct]:
    """Return the structures that stages see, by name. The module that describes them is imported first."""
    if "Model" not in Struct.registry:
        import_module(_REGISTERING)
    return Struct.registry
