"""One row of a table of fields: the single description from which everything else is made.

A structure (the model, the data) is a list of rows. A row names a field, gives its element type, its shape in terms of
sizes, and says in a few words what it holds. NumPy views, native views, allocation, copy, save, named access, stubs and
the reference page are all derived from these rows (docs/architecture.md, "One table of fields").
"""

from __future__ import annotations

from typing import NamedTuple

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
        shape: dimensions: numbers, names of sizes (``"nbody"``) or products (``"nmocap*3"``); ``()`` is a scalar. The
            first dimension ``"any"`` says that the array is made elsewhere and attached.
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
        """Whether the field is a single number kept inside the slot table."""
        return not self.shape

    @property
    def is_attached(self) -> bool:
        """Whether the array is made elsewhere and attached to the structure."""
        return bool(self.shape) and self.shape[0] == "any"

    @property
    def inner(self) -> tuple[int | str, ...]:
        """Dimensions after the first."""
        return self.shape[1:]


def dimension(dim: int | str, sizes: dict[str, int]) -> int:
    """Value of one dimension: a number, the name of a size, or a product of both (``"nmocap*3"``)."""
    if isinstance(dim, int):
        return dim
    value = 1
    for factor in dim.split("*"):
        value *= int(factor) if factor.isdigit() else sizes[factor]
    return value
