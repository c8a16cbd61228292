"""Numbers of a model as a tree holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.model.tables import MODEL


def plain(value: Any) -> Any:
    """A field's value as the tree holds it: numbers, or tuples of them.

    Single-precision numbers become the double with the same shortest text.
    """
    array = np.asarray(value)
    if array.dtype == np.float32:
        array = np.array([float(str(item)) for item in array.ravel()]).reshape(array.shape)
    found = array.tolist()
    return tuple(found) if isinstance(found, list) else found


def statistics(m: Any) -> dict[str, Any]:
    """The statistics of a model, as the canonical tree compares them."""
    memory = m._memory
    return {
        field.name.removeprefix("stat."): (
            memory.scalars[field.name].item() if field.is_scalar else plain(memory.arrays[field.name])
        )
        for field in MODEL.members("stat.")
    }
