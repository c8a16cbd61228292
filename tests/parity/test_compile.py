"""Parity, level 1 (compile): every numeric field of the model, and every name, from the same XML, to 1e-9 relative.

Not compared: ``narena`` and ``nbuffer``, which describe memory that is laid out differently here; two colours that the
reference's binding cannot show.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from models import SHARED_MODELS
from reference import UNREADABLE

from cardan.api.loading import load_path
from cardan.model.tables import MODEL

TOLERANCE = 1e-9
# added masses of ellipsoids: exact here, by numerical quadrature in the reference
LOOSER = {"geom_fluid": 1e-6}
OTHER_MEMORY = ("narena", "nbuffer")

OWN_MODELS = sorted((Path(__file__).resolve().parents[1] / "models").glob("*.xml"))
REAL_MODELS = [
    SHARED_MODELS / "mujoco" / name
    for name in ("humanoid/humanoid.xml", "humanoid/22_humanoids.xml", "humanoid100/humanoid100.xml")
]


def field_value(model: object, dotted: str) -> object:
    """Value of a field by its dotted name."""
    for part in dotted.split("."):
        model = getattr(model, part)
    return model


def difference(name: str, expected: np.ndarray, found: np.ndarray) -> float:
    """Largest difference relative to the value (bounding boxes: relative to the largest box), at least to 1."""
    if not expected.size:
        return 0.0
    scale = np.max(np.abs(expected)) if name == "bvh_aabb" else np.abs(expected)
    return float(np.max(np.abs(expected - found) / np.maximum(1.0, scale)))


@pytest.mark.parametrize("path", REAL_MODELS + OWN_MODELS, ids=lambda path: path.stem)
def test_fields(path: Path) -> None:
    expected = mujoco.MjModel.from_xml_path(str(path))
    found = load_path(str(path))
    for field in MODEL.fields:
        if field.is_attached or field.name in OTHER_MEMORY or field.name in UNREADABLE:
            continue
        left, right = field_value(expected, field.name), field_value(found, field.name)
        if isinstance(left, bytes):
            assert left == right, field.name
            continue
        left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
        assert left.size == right.size, field.name
        worst = difference(field.name, left.ravel(), right.ravel())
        assert worst <= LOOSER.get(field.name, TOLERANCE), f"{field.name}: {worst:g}"


def test_enough_models() -> None:
    assert len(OWN_MODELS) >= 20
