"""Defaults, geoms that programs make, connectors: beside the reference."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from visual.scenes_compared import filled

import cardan

CLASSES = {"Camera": "MjvCamera", "Perturb": "MjvPerturb", "Option": "MjvOption", "Figure": "MjvFigure"}


@pytest.mark.parametrize("name", CLASSES)
def test_defaults(name: str) -> None:
    kind = getattr(cardan, CLASSES[name])
    record = kind()
    record.values[...] = np.frombuffer(bytes([1]) * record.values.nbytes, record.values.dtype)[0]
    getattr(cardan, f"mjv_default{name}")(record)
    assert record == kind()


def test_default_free_camera() -> None:
    text = (
        '<mujoco><visual><global azimuth="20" elevation="-10"/></visual><statistic center="1 2 3" extent="4"/></mujoco>'
    )
    cameras = []
    for package in (mujoco, cardan):
        camera = filled(package.MjvCamera(), {"fixedcamid": 3, "distance": 9})
        package.mjv_defaultFreeCamera(package.MjModel.from_xml_string(text), camera)
        cameras.append(camera)
    assert_same(*cameras)


def assert_same(left: Any, right: Any) -> None:
    for row in (row for row in right.table if row.since is None):
        if row.dtype.startswith("S"):
            assert getattr(left, row.name) == getattr(right, row.name)
        else:
            np.testing.assert_allclose(getattr(right, row.name), getattr(left, row.name), rtol=1e-6, atol=1e-6)


TAKEN = {"label": "x", "segid": 7, "objid": 3, "objtype": 4, "category": 1, "dataid": 4, "texid": 2, "texuniform": 1}
TAKEN |= {"emission": 0.9, "reflectance": 0.3, "camdist": 3, "modelrbound": 2, "transparent": 1, "texrepeat": 5}


@pytest.mark.parametrize("kind", [*range(9), *range(100, 109)])
def test_init_geom(kind: int) -> None:
    geoms = []
    for package in (mujoco, cardan):
        geom = filled(package.MjvGeom(), TAKEN)
        package.mjv_initGeom(
            geom, kind, np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.arange(9.0), np.full(4, 0.3, np.float32)
        )
        geoms.append(geom)
    assert_same(*geoms)


ENDS = [((1, 2, 3), (2, 4, 6)), ((1, 1, 1), (1, 1, 1)), ((1, 1, 1), (1, 1, -1)), ((0, 0, 0), (1, 0, 0))]


@pytest.mark.parametrize("kind", [3, 5, 100, 101, 102, 103])
@pytest.mark.parametrize("ends", ENDS)
def test_connectors(kind: int, ends: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    geoms = []
    start, stop = (np.array(end, float) for end in ends)
    for package in (mujoco, cardan):
        geom, other = package.MjvGeom(), package.MjvGeom()
        package.mjv_connector(geom, kind, 0.1, start, stop)
        package.mjv_makeConnector(other, kind, 0.1, *start, *stop)
        if package is cardan:
            assert_same(other, geom)
        geoms.append(geom)
    assert_same(*geoms)


def test_what_connects_nothing() -> None:
    with pytest.raises(cardan.FatalError, match="invalid geom type 2"):
        cardan.mjv_connector(cardan.MjvGeom(), 2, 0.1, [0, 0, 0], [1, 0, 0])
    with pytest.raises(TypeError, match="size should be"):
        cardan.mjv_initGeom(cardan.MjvGeom(), 2, [1, 2], np.zeros(3), np.eye(3).ravel(), np.ones(4))
