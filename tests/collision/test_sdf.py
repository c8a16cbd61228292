"""Signed-distance shapes without a reference: own shapes, errors, contacts where formulas say them."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.collision.sdf.mesh_distance import STRIDE, from_face, mesh_faces, nearest_face
from cardan.compiler.meshes.implicit import marching_cubes
from cardan.errors import MjcfError
from cardan.jit import jit_enabled
from cardan.plugins import PLUGINS

pytestmark = pytest.mark.skipif(not jit_enabled, reason="meshes of shapes take a million distances")

BALL = "test.sdf.ball"
SCENE = """
<mujoco>
  <option sdf_iterations="10" sdf_initpoints="20"/>
  <extension><plugin plugin="{plugin}"><instance name="s">{config}</instance></plugin></extension>
  <asset><mesh name="s"><plugin instance="s"/></mesh></asset>
  <worldbody>
    <geom type="sdf" mesh="s" name="shape"><plugin instance="s"/></geom>
    <body pos="{pos}"><freejoint/><geom name="other" {other}/></body>
  </worldbody>
</mujoco>
"""


def ball(p: Any, a: Any) -> float:
    """A sphere of radius a[0]."""
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - a[0]


def around(a: tuple[float, ...]) -> tuple[float, ...]:
    """The box around a ball."""
    return (0.0, 0.0, 0.0, 1.05 * a[0], 1.1 * a[0], 1.15 * a[0])


@pytest.fixture(autouse=True)
def own_shape() -> Iterator[None]:
    cardan.register_sdf(BALL, ball, {"radius": 0.5}, around)
    yield
    PLUGINS.pop(BALL)


def scene(plugin: str = BALL, config: str = "", pos: str = "0 0 0.6", other: str = 'size=".2"') -> cardan.MjModel:
    """A shape that is fixed in the world, and another geom."""
    return cardan.MjModel.from_xml_string(SCENE.format(plugin=plugin, config=config, pos=pos, other=other))


def contacts(m: cardan.MjModel) -> cardan.MjData:
    """Data after collision detection."""
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    return d


def test_own_shape_is_a_body_like_a_sphere() -> None:
    m = scene()
    radius, volume = 0.5, 4.0 / 3.0 * np.pi * 0.125
    vertices = np.linalg.norm(m.mesh_vert, axis=1)
    assert np.all(np.abs(vertices - radius) < 1e-3)
    assert m.geom("shape").rbound[0] == pytest.approx(radius * np.sqrt(3), rel=0.01)
    m = cardan.MjModel.from_xml_string(
        SCENE.format(plugin=BALL, config="", pos="2 2 2", other='size=".1"').replace(
            '<geom type="sdf"', '<body><freejoint/><geom type="sdf"'
        ).replace('instance="s"/></geom>', 'instance="s"/></geom></body>')
    )  # fmt: skip
    assert m.body_mass[1] == pytest.approx(1000 * volume, rel=1e-3)
    assert m.body_inertia[1] == pytest.approx(0.4 * 1000 * volume * radius**2, rel=2e-3)


@pytest.mark.parametrize(
    ("pos", "other", "depth"),
    [
        ("0 0 0.6", 'size=".2"', -0.1),
        ("0.3 0 0.5", 'size=".2"', sqrt(0.34) - 0.7),
        ("0 0 0.65", 'type="box" size=".2 .2 .2"', -0.05),
        ("0 0.62 0", 'type="capsule" size=".15 .2"', -0.03),
        ("0 0 0.75", 'type="cylinder" size=".1 .3"', -0.05),
        ("0 0 0.7", 'type="ellipsoid" size=".2 .2 .3"', -0.1),
    ],
)
def test_contact_with_a_primitive(pos: str, other: str, depth: float) -> None:
    """The distance is that of the point deepest in both: at most half of the depth, and the descent comes near it."""
    d = contacts(scene(pos=pos, other=other))
    assert d.ncon > 0
    deepest = int(np.argmin(d.contact.dist))
    assert 0.5 * depth - 1e-6 <= d.contact.dist[deepest] <= 0.3 * depth
    place = np.array(pos.split(), float)
    normal = d.contact.frame[deepest, :3] * (1 if d.contact.geom[deepest, 0] == 0 else -1)
    assert normal @ place / np.linalg.norm(place) > 0.99


def test_separated_geoms_have_no_contact() -> None:
    assert contacts(scene(pos="0 0 0.71")).ncon == 0


def test_attribute_changes_the_shape() -> None:
    m = scene(config='<config key="radius" value="0.3"/>', pos="0 0 0.45")
    assert np.abs(np.linalg.norm(m.mesh_vert, axis=1) - 0.3).max() < 1e-3
    assert -0.025 - 1e-6 <= contacts(m).contact.dist.min() < 0


def test_two_own_shapes_collide() -> None:
    text = SCENE.format(plugin=BALL, config="", pos="0 0 0.9", other='type="sdf" mesh="s"')
    m = cardan.MjModel.from_xml_string(text.replace('mesh="s"/>', 'mesh="s"><plugin instance="s"/></geom>'))
    d = contacts(m)
    assert d.ncon > 0
    assert -0.05 - 1e-6 <= d.contact.dist.min() < -0.03


def test_gradient_that_is_given_is_used() -> None:
    def gradient(p: Any, a: Any) -> Any:
        return (0.0, 0.6, 0.8)

    expected = contacts(scene()).contact.frame[0, :3]
    cardan.register_sdf(BALL, ball, {"radius": 0.5}, around, gradient)
    found = contacts(scene()).contact.frame[0, :3]
    assert np.abs(found - expected).max() > 0.1


def test_ball_comes_to_rest_on_an_own_shape() -> None:
    cardan.register_sdf(BALL, bowl_up, {"radius": 0.5}, around)
    m = scene(pos="0.1 0 0.3", other='size=".1"')
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 2000)
    assert d.qpos[2] > -0.4 and np.linalg.norm(d.qpos[:2]) < 0.4
    assert np.abs(d.qvel[:3]).max() < 1.0


def bowl_up(p: Any, a: Any) -> float:
    """The lower half of a hollow sphere with a thick wall."""
    across = sqrt(p[0] * p[0] + p[1] * p[1])
    return max(abs(sqrt(across * across + p[2] * p[2]) - 0.8 * a[0]) - 0.2 * a[0], p[2])


# --- the distance from a mesh --------------------------------------------------------------------------------------

# not a text that stands for itself, as the reference crashes on it
CORNERS = "0 0 0  1 0 0  0 1 0  1 1 0  0 0 2  1 0 2  0 1 2  1 1 2"
CUBE = f"""
<mujoco>
  <extension><plugin plugin="mujoco.sdf.sdflib"><instance name="s"/></plugin></extension>
  <asset>
    <mesh name="s" vertex="{CORNERS}"><plugin instance="s"/></mesh>
  </asset>
  <worldbody>
    <geom type="sdf" mesh="s" name="shape" pos=".1 .2 .3" euler="10 20 30"><plugin instance="s"/></geom>
    <body><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


def box_distance(points: np.ndarray) -> np.ndarray:
    """Signed distance from the box from (0, 0, 0) to (1, 1, 2)."""
    out = np.abs(points - (0.5, 0.5, 1.0)) - (0.5, 0.5, 1.0)
    return np.linalg.norm(np.maximum(out, 0), axis=1) + np.minimum(out.max(axis=1), 0)


def mesh_frame(m: cardan.MjModel) -> np.ndarray:
    """Orientation of the mesh's own frame in the frame of its vertices as given."""
    frame = np.zeros(9)
    cardan.mju_quat2Mat(frame, m.mesh_quat[0])
    return frame.reshape(3, 3)


def test_exact_distance_from_a_mesh() -> None:
    m = cardan.MjModel.from_xml_string(CUBE)
    cardan.mj_forward(m, cardan.MjData(m))
    points = np.random.default_rng(0).uniform(-0.5, 2.5, (500, 3))
    own = (points - m.mesh_pos[0]) @ mesh_frame(m)
    faces, tree = mesh_faces(m, 0), (m.bvh_child, m.bvh_nodeid, m.bvh_aabb)
    values, gradients = [], []
    for k, p in enumerate(own.tolist()):  # the search ends at the nearest face, wherever it starts
        face = nearest_face(faces, 0, tree, int(m.mesh_bvhadr[0]), tuple(p), k % m.nmeshface)
        value, gradient = from_face(faces, STRIDE * face, tuple(p))
        values.append(value)
        gradients.append(gradient)
    assert values == pytest.approx(box_distance(points), abs=1e-6)
    step = 1e-4 * np.array(gradients) @ mesh_frame(m).T
    assert box_distance(points + step) == pytest.approx(box_distance(points) + 1e-4, abs=2e-6)


def test_ball_meets_a_mesh() -> None:
    m = cardan.MjModel.from_xml_string(CUBE)
    m.opt.sdf_initpoints = 40
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    turn = d.geom_xmat[0].reshape(3, 3) @ mesh_frame(m).T
    origin = d.geom_xpos[0] - turn @ m.mesh_pos[0]
    for local, touching in (((0.5, 0.5, 2.05), True), ((0.5, 0.5, 2.2), False), ((1.05, 0.5, 1.0), True)):
        d.qpos[:3] = origin + turn @ local
        cardan.mj_forward(m, d)
        assert bool(d.ncon) == touching
        if touching:
            deepest = int(np.argmin(d.contact.dist))
            ends = d.contact.pos + 0.5 * d.contact.dist[:, None] * d.contact.frame[:, :3]
            between = np.maximum(
                box_distance((ends - origin) @ turn), np.linalg.norm(ends - d.geom_xpos[1], axis=1) - 0.1
            )
            assert d.contact.dist == pytest.approx(between, abs=1e-6)  # the exact distance, not that of a grid
            assert -0.026 <= d.contact.dist[deepest] < -0.01
            assert np.abs(d.contact.frame[deepest, :3] @ turn[:, 2 if local[2] > 2 else 0]) > 0.97


# --- errors -----------------------------------------------------------------------------------------------------------


def test_unknown_attribute_is_named() -> None:
    with pytest.raises(MjcfError, match="no attribute 'size'; it has: radius"):
        scene(config='<config key="size" value="1"/>')


def test_attribute_must_be_a_number() -> None:
    with pytest.raises(MjcfError, match="radius must be a number, found 'wide'"):
        scene(config='<config key="radius" value="wide"/>')


def test_unknown_plugin_is_named() -> None:
    with pytest.raises(MjcfError, match=r"no plugin 'test\.sdf\.none'"):
        scene(plugin="test.sdf.none")


def test_shape_without_surface() -> None:
    with pytest.raises(MjcfError, match="no zero in its box"):
        cardan.register_sdf(BALL, ball, {"radius": 0.5}, (3, 0, 0, 1, 1, 1))
        scene()


def test_geom_without_plugin() -> None:
    text = SCENE.format(plugin=BALL, config="", pos="0 0 1", other='type="sdf" mesh="s"')
    with pytest.warns(UserWarning, match="collides with nothing"):
        m = cardan.MjModel.from_xml_string(text)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 3)
    assert d.ncon == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mujoco.sdf.torus", ball), "plugin of the package"),
        ((BALL, ball, {str(k): 0.0 for k in range(9)}), "at most 8 attributes"),
        ((BALL, ball, {}, (0, 0, 0, 1, 0, 1)), "three positive half sides"),
    ],
)
def test_wrong_registration(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cardan.register_sdf(*arguments)


def test_registering_what_is_no_function() -> None:
    with pytest.raises(TypeError, match="must be a function"):
        cardan.register_sdf(BALL, 1.0)  # pyright: ignore[reportArgumentType]


# --- marching cubes ---------------------------------------------------------------------------------------------------


def test_surface_is_closed_and_points_outside() -> None:
    rng = np.random.default_rng(0)
    values = np.pad(rng.uniform(-1, 1, (7, 6, 5)), 1, constant_values=1.0)
    vertex, face = marching_cubes(values)
    edges = np.concatenate([face[:, [0, 1]], face[:, [1, 2]], face[:, [2, 0]]])
    forth, back = ({tuple(edge) for edge in way.tolist()} for way in (edges, edges[:, ::-1]))
    assert forth == back
    corners = vertex[face]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert volume > 0
