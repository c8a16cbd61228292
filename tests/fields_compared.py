"""Two models field by field: own ones, or one of them the reference's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from reference import UNREADABLE

from cardan.model.tables import MODEL

TOLERANCE = 1e-9
# the reference lays out its memory by itself
MEMORY = ("narena", "nbuffer")


def field_value(model: Any, dotted: str) -> Any:
    """Value of a field by its dotted name."""
    for part in dotted.split("."):
        model = getattr(model, part)
    return model


def lacks(model: Any, dotted: str) -> bool:
    """Whether a model of the reference does not have a field, since a later version has brought it."""
    for part in dotted.split("."):
        if not hasattr(model, part):
            return True
        model = getattr(model, part)
    return False


def difference(name: str, expected: np.ndarray, found: np.ndarray) -> float:
    """Largest difference relative to the value (bounding boxes: relative to the largest box), at least to 1."""
    if not expected.size:
        return 0.0
    scale = np.max(np.abs(expected)) if name == "bvh_aabb" else np.abs(expected)
    apart = np.where(expected == found, 0.0, np.abs(expected - found))  # infinity equals itself
    return float(np.max(apart / np.maximum(1.0, scale)))


def differences(
    expected: Any, found: Any, skipped: Collection[str] = MEMORY, looser: Mapping[str, float] | None = None
) -> list[str]:
    """Fields in which two models differ by more than 1e-9 (or the bound of the field in `looser`), by how much."""
    different = []
    for field in MODEL.fields:
        if field.is_attached or field.name in UNREADABLE or field.name in skipped or lacks(expected, field.name):
            continue
        left, right = field_value(expected, field.name), field_value(found, field.name)
        if isinstance(left, bytes):
            if left != right:
                different.append(field.name)
            continue
        left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
        if left.shape != right.shape:
            different.append(f"{field.name}: {left.shape} and {right.shape}")
        elif not (worst := difference(field.name, left, right)) <= (looser or {}).get(field.name, TOLERANCE):
            different.append(f"{field.name}: {worst:.3g}")
    return different
