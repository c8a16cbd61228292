"""Numbers of a model in the form in which a tree holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.model import internals
from cardan.model.tables import MODEL


def plain(value: Any) -> Any:
    """Convert a field's value to numbers, or tuples of numbers.

    Single-precision numbers become the double with the same shortest text.
    """
    array = np.asarray(value)
    if array.dtype == np.float32:
        array = np.array([float(str(item)) for item in array.ravel()]).reshape(array.shape)
    found = array.tolist()
    return tuple(found) if isinstance(found, list) else found


def statistics(m: Any) -> dict[str, Any]:
    """Return the statistics of a model in the form that the canonical tree compares."""
    memory = internals.memory(m)
    return {
        field.name.removeprefix("stat."): (
            memory.scalars[field.name].item() if field.is_scalar else plain(memory.arrays[field.name])
        )
        for field in MODEL.members("stat.")
    }
