"""Stock shapes against the reference's plugins: attributes, boxes, distances, gradients. Level: compile."""

from __future__ import annotations

import numpy as np
import pytest
import reference_shapes as theirs

from cardan.plugins import PLUGINS

POINTS = 400
CASES = [
    ("mujoco.sdf.bolt", {}),
    ("mujoco.sdf.bolt", {"radius": "0.2"}),
    ("mujoco.sdf.bowl", {}),
    ("mujoco.sdf.bowl", {"height": "0.1", "radius": "0.5", "thickness": "0.05"}),
    ("mujoco.sdf.gear", {}),
    ("mujoco.sdf.gear", {"alpha": "1.3", "teeth": "10"}),
    ("mujoco.sdf.gear", {"diameter": "2", "teeth": "18", "thickness": "0.1", "innerdiameter": "1"}),
    ("mujoco.sdf.gear", {"teeth": "150"}),
    ("mujoco.sdf.nut", {}),
    ("mujoco.sdf.nut", {"radius": "0.2"}),
    ("mujoco.sdf.torus", {}),
    ("mujoco.sdf.torus", {"radius1": "1", "radius2": "0.1"}),
]


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_attributes_are_those_of_the_reference(name: str) -> None:
    assert list(PLUGINS[name].attributes) == theirs.attribute_names(name)


@pytest.mark.parametrize(("name", "config"), CASES)
def test_distance_in_and_around_the_box(name: str, config: dict[str, str]) -> None:
    shape, expected = PLUGINS[name].shape, theirs.attributes(name, config)
    values = shape.values(config)
    assert values[: len(expected)] == pytest.approx(expected, abs=1e-15)
    box = theirs.box(name, expected)
    assert shape.aabb(values) == pytest.approx(box, abs=1e-15)
    distance = theirs.static_distance(name, expected)
    for point in np.random.default_rng(0).uniform(box[:3] - 1.3 * box[3:], box[:3] + 1.3 * box[3:], (POINTS, 3)):
        assert shape.distance(tuple(point), values) == pytest.approx(distance(point), abs=1e-12)
