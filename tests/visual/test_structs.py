"""The structures of the abstract scene: members, types, defaults and behaviour of the reference's."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from models import model_path

import cardan

NAMES = ("MjvCamera", "MjvFigure", "MjvGLCamera", "MjvGeom", "MjvLight", "MjvOption", "MjvPerturb", "MjvScene")
CLASSES = (*NAMES, "MjrContext")


def members(record: object) -> list[str]:
    """Public members that hold data."""
    return [name for name in dir(record) if not name.startswith("_") and not callable(getattr(record, name))]


def newer(name: str) -> set[str]:
    """Members that 3.1.6 does not have."""
    return {row.name for row in getattr(getattr(cardan, name), "table", ()) if row.since}


@pytest.mark.parametrize("name", CLASSES)
def test_members_are_those_of_the_reference(name: str) -> None:
    record = getattr(cardan, name)()
    assert sorted(set(record.names()) - newer(name)) == members(getattr(mujoco, name)())


@pytest.mark.parametrize("name", NAMES)
def test_types_and_defaults(name: str) -> None:
    expected, found = getattr(mujoco, name)(), getattr(cardan, name)()
    for member in found.names():
        if member in newer(name):
            continue
        if member in ("lights", "camera", "geoms"):
            assert len(getattr(found, member)) == len(getattr(expected, member))
            continue
        left, right = getattr(expected, member), getattr(found, member)
        assert type(left) is type(right), member
        if isinstance(left, np.ndarray):
            assert (left.dtype, left.shape) == (right.dtype, right.shape), member
            if left.dtype.kind == "f":
                np.testing.assert_allclose(right, left, rtol=1e-6, err_msg=member)
                continue
        np.testing.assert_array_equal(left, right, member)


def test_rectangles() -> None:
    assert cardan.MjrRect(1, 2, 3, 4) == cardan.MjrRect(left=1, bottom=2, width=3, height=4)
    assert repr(cardan.MjrRect(1, 2, 3, 4)) == repr(mujoco.MjrRect(1, 2, 3, 4))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("MjvScene", "MjvFigure")])
def test_text(name: str) -> None:
    skipped = tuple(f"  {member}: " for member in newer(name))
    ours = [line for line in repr(getattr(cardan, name)()).splitlines() if not line.startswith(skipped)]
    assert ours == repr(getattr(mujoco, name)()).splitlines()


def test_copies_stand_alone() -> None:
    geom = cardan.MjvGeom()
    geom.label, geom.pos = "here", [1, 2, 3]
    for other in (copy.copy(geom), copy.deepcopy(geom)):
        assert other == geom
        other.pos[0] = 5
        assert other != geom and geom.pos[0] == 1


def test_bad_values() -> None:
    geom = cardan.MjvGeom()
    with pytest.raises(ValueError, match="cannot exceed 99: got length 200"):
        geom.label = "x" * 200
    with pytest.raises(ValueError, match="broadcast"):
        geom.pos = [1, 2]
    with pytest.raises(TypeError, match="type should be an integer"):
        geom.type = "sphere"
    with pytest.raises(AttributeError, match="foo"):
        geom.foo = 1
    assert geom == cardan.MjvGeom()


def test_subclasses_take_attributes() -> None:
    class Camera(cardan.MjvCamera):
        def __init__(self) -> None:
            super().__init__()
            self.azimuth = 10
            self.speed = 2.0

    camera = Camera()
    assert (camera.azimuth, camera.speed, camera.distance) == (10.0, 2.0, 2.0)


def test_a_scene_has_room_for_what_a_model_has() -> None:
    rm = mujoco.MjModel.from_xml_path(str(model_path("humanoid")))
    m = cardan.MjModel.from_xml_path(str(model_path("humanoid")))
    expected, found = mujoco.MjvScene(rm, 7), cardan.MjvScene(m, maxgeom=7)
    assert (found.maxgeom, len(found.geoms), found.geomorder.shape) == (7, 7, (7,))
    for name in ("skinvert", "flexface", "flexvertadr"):
        assert getattr(found, name).shape == getattr(expected, name).shape
    found.geoms[3].size = [1, 2, 3]
    assert found.geom_values["size"][3].tolist() == [1, 2, 3]
    other = copy.copy(found)
    other.geoms[3].size[0] = 9
    assert found.geoms[3].size[0] == 1 and other != found


def test_wrong_arguments_of_a_scene() -> None:
    m = cardan.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(TypeError, match="a model and the number"):
        cardan.MjvScene(m)
    with pytest.raises(ValueError, match="negative"):
        cardan.MjvScene(m, -1)


def test_parts_of_a_scene_in_derived_classes() -> None:
    class Scene(cardan.MjvScene):
        @property
        def geoms(self) -> tuple[cardan.MjvGeom, ...]:
            return super().geoms[: super().ngeom]

    scene = Scene(cardan.MjModel.from_xml_string("<mujoco/>"), 5)
    scene.ngeom = 2
    assert len(scene.geoms) == 2 and len(cardan.MjvScene(cardan.MjModel.from_xml_string("<mujoco/>"), 5).geoms) == 5
    with pytest.raises(AttributeError, match="geoms"):
        cardan.MjvScene().geoms = ()  # type: ignore[misc]


def test_points_of_figures() -> None:
    """A line of a figure has 1000 points in a process with compat 3.1, and 1001 with 4.0."""
    assert cardan.MjvFigure().linedata.shape == (100, 2000)
    code = "import cardan; print(cardan.MjvFigure().linedata.shape, cardan.mjMAXLINEPNT)"
    environment = {**os.environ, "CARDAN_COMPAT": "4.0"}
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert result.stdout == "(100, 2002) 1001\n"
