"""From geoms to instances: triangles in the browser stand where the geoms are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cardan
from cardan.view.instances import GEOM, ModelSurfaces, Unit, instances_of, lines_of, quaternions, unit_surfaces
from cardan.view.nodes import Painter

UNITS = unit_surfaces()
SIZE = np.array([0.3, 0.2, 0.7])
POS = np.array([1.0, -2.0, 3.0])
# the extents of shapes in their own frames, from the lowest to the highest corner
EXTENTS = {
    "SPHERE": ([-0.3] * 3, [0.3] * 3),
    "ELLIPSOID": (-SIZE, SIZE),
    "CAPSULE": ([-0.3, -0.3, -0.5], [0.3, 0.3, 0.5]),
    "CYLINDER": ([-0.3, -0.3, -0.2], [0.3, 0.3, 0.2]),
    "BOX": (-SIZE, SIZE),
    "ARROW": ([-0.525, -0.35, 0.0], [0.525, 0.35, 0.35]),
    "ARROW1": ([-0.3, -0.2, 0.0], [0.3, 0.2, 0.35]),
    "ARROW2": ([-0.525, -0.35, -0.35], [0.525, 0.35, 0.35]),
    "TRIANGLE": ([0.0, 0.0, 0.0], [0.3, 0.2, 0.0]),
}


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    quat, mat = np.zeros(4), np.zeros(9)
    cardan.mju_axisAngle2Quat(quat, axis, angle)
    cardan.mju_quat2Mat(mat, quat)
    return mat.reshape(3, 3)


def geom(kind: str, mat: np.ndarray) -> np.ndarray:
    """One geom of a scene."""
    scene = cardan.MjvScene(cardan.MjModel.from_xml_string("<mujoco/>"), 1)
    cardan.mjv_initGeom(scene.geoms[0], GEOM[kind], SIZE, POS, mat.ravel(), np.array([0.1, 0.5, 0.9, 1.0]))
    return scene.geom_values[:1].copy()


def corners(geoms: np.ndarray) -> np.ndarray:
    """All vertices of all instances, world frame."""
    found = []
    for (_, number, _), batch in instances_of(geoms).items():
        vert = UNITS[Unit(number)].vert
        for pos, mat, scale in zip(batch.pos, batch.mat, batch.scale, strict=True):
            found.append(pos + (vert * scale) @ mat.T)
    return np.concatenate(found)


@pytest.mark.parametrize("kind", EXTENTS)
def test_shape_is_where_the_geom_is(kind: str) -> None:
    mat = turn(np.array([0.6, 0.0, 0.8]), 0.7)
    local = (corners(geom(kind, mat)) - POS) @ mat
    low, high = EXTENTS[kind]
    assert local.min(0) == pytest.approx(low, abs=0.01)
    assert local.max(0) == pytest.approx(high, abs=0.01)


@pytest.mark.parametrize("unit", [unit for unit in Unit if unit not in (Unit.PLANE, Unit.TRIANGLE, Unit.TUBE)])
def test_faces_look_outwards(unit: Unit) -> None:
    vert, face = UNITS[unit].vert, UNITS[unit].face
    a, b, c = (vert[face[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", np.cross(a, b), c)) / 6.0
    full = {Unit.SPHERE: 4.19, Unit.CYLINDER: 6.28, Unit.BOX: 8.0, Unit.CONE: 1.05}[unit]
    assert volume == pytest.approx(full, rel=0.06)


@given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 1e-3))
def test_quaternions_of_matrices(numbers: tuple[float, ...]) -> None:
    quat = np.array(numbers) / np.linalg.norm(numbers)
    mat = np.zeros(9)
    cardan.mju_quat2Mat(mat, quat)
    found = quaternions(mat.reshape(1, 3, 3))[0]
    assert abs(float(found @ quat)) == pytest.approx(1.0, abs=1e-9)


def test_lines_go_along_z() -> None:
    mat = turn(np.array([0.0, 1.0, 0.0]), np.pi / 2)
    lines = lines_of(geom("LINE", mat))
    assert lines.points[0] == pytest.approx(np.array([POS, POS + [0.7, 0.0, 0.0]]), abs=1e-6)
    assert len(lines_of(geom("LINEBOX", mat)).points) == 12
    assert len(lines_of(geom("BOX", mat)).points) == 0


MESHES = """<mujoco><asset><mesh name="a" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
<hfield name="h" nrow="3" ncol="3" size="1 1 1 .1"/>
<texture name="t" type="cube" builtin="flat" rgb1="1 .5 0" rgb2="1 .5 0" width="8" height="8"/>
<material name="m" texture="t"/></asset>
<worldbody><geom type="mesh" mesh="a"/><geom type="mesh" mesh="a" pos="1 0 0"/><geom type="hfield" hfield="h"/>
<geom size="1" material="m"/></worldbody></mujoco>"""


def test_meshes_and_textures_of_a_model() -> None:
    m = cardan.MjModel.from_xml_string(MESHES)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    scene = cardan.MjvScene(m, 100)
    cardan.mjv_updateScene(m, d, cardan.MjvOption(), None, cardan.MjvCamera(), 7, scene)
    geoms, surfaces = scene.geom_values[: scene.ngeom], ModelSurfaces(m)
    batches = instances_of(geoms)
    assert set(batches) == {("mesh", 0, -1), ("hfield", 0, -1), ("unit", Unit.SPHERE.value, -1)}
    assert len(batches["mesh", 0, -1].geom) == 2
    surface = surfaces.mesh(0)
    assert surface.face.max() < len(surface.vert)
    looks = Painter(surfaces).looks(geoms, scene.flags)
    assert looks.rgb[3].tolist() == pytest.approx([255, 128, 0], abs=1)
    scene.flags[cardan.mjtRndFlag.mjRND_SEGMENT] = 1
    looks = Painter(surfaces).looks(geoms, scene.flags)
    assert len({tuple(color) for color in looks.rgb.tolist()}) == len(geoms)
