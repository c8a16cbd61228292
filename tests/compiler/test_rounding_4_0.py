"""Rounding of compiled meshes and inertias under 4.0: ties between axes and normals depend on the last bit."""

import numpy as np
import pytest
from later import later_run

import cardan

COMPILED = """
m = mujoco.MjModel.from_xml_string(xml)
out = {name: np.array(getattr(m, name)) for name in fields}
"""
TORUS = """
<mujoco>
  <extension><plugin plugin="mujoco.sdf.torus"><instance name="ring"><config key="radius1" value="0.35"/>
    <config key="radius2" value="0.15"/></instance></plugin></extension>
  <asset><mesh name="ring"><plugin instance="ring"/></mesh></asset>
  <worldbody><geom type="sdf" mesh="ring"><plugin instance="ring"/></geom></worldbody>
</mujoco>
"""


def check_same_bits(xml: str, *fields: str) -> None:
    """Check that fields of a model are those of 4.0.0, to the last bit."""
    there = later_run(COMPILED, xml=xml, fields=fields)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    for name in fields:
        np.testing.assert_array_equal(getattr(m, name), there[name], err_msg=name)


def text(values: np.ndarray) -> str:
    """An array as an attribute, with all digits."""
    return " ".join(repr(value) for value in values.ravel().tolist())


def test_principal_axes() -> None:
    """The product of the rotations is not normalised, however many there are."""
    rng = np.random.default_rng(0)
    bodies = []
    for _ in range(40):
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        full = axes @ np.diag(rng.uniform(1.0, 1.9, 3)) @ axes.T
        elements = text(full[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)])
        bodies.append(f'<body><freejoint/><inertial pos="0 0 0" mass="1" fullinertia="{elements}"/></body>')
    check_same_bits(f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>", "body_iquat", "body_inertia")


def test_frames_and_normals_of_meshes() -> None:
    """Tetrahedra: moments of inertia, and all that is turned to their axes."""
    rng = np.random.default_rng(1)
    meshes, bodies = [], []
    for number in range(40):
        vertex = rng.normal(size=(4, 3)).round(6)
        if np.linalg.det(vertex[1:] - vertex[0]) < 0.0:
            vertex[[0, 1]] = vertex[[1, 0]]
        smooth = "true" if number % 2 else "false"
        face = "0 2 1  0 1 3  0 3 2  1 2 3"
        meshes.append(f'<mesh name="{number}" vertex="{text(vertex)}" face="{face}" smoothnormal="{smooth}"/>')
        bodies.append(f'<body><freejoint/><geom type="mesh" mesh="{number}"/></body>')
    xml = f"<mujoco><asset>{''.join(meshes)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    check_same_bits(xml, "mesh_pos", "mesh_quat", "mesh_vert", "mesh_normal", "geom_quat", "body_inertia")


def test_normals_that_cancel() -> None:
    """On a fine sphere, components of face normals that are 0 but for rounding are summed."""
    mesh = '<mesh name="m" builtin="sphere" params="3" scale=".08 .08 .08"/>'
    geom = '<geom type="mesh" mesh="m"/>'
    check_same_bits(f"<mujoco><asset>{mesh}</asset><worldbody>{geom}</worldbody></mujoco>", "mesh_normal")


def test_normals_of_implicit_shapes() -> None:
    """The normals of a plugin's shape are summed in single precision."""
    check_same_bits(TORUS, "mesh_vert", "mesh_normal")


TREES = "bvh_nodeid", "bvh_child", "bvh_aabb"


@pytest.mark.parametrize("inertial", ["", '<inertial pos=".1 .2 .3" quat="1 .2 .3 .4" mass="1" diaginertia="1 1 1"/>'])
def test_boxes_of_bodies(inertial: str) -> None:
    """A geom's eight corners are turned; unions are those of their bounds."""
    rng = np.random.default_rng(2)
    geoms = [
        f'<geom type="box" pos="{text(rng.normal(size=3).round(3))}" size="{text(rng.uniform(0.1, 0.5, 3).round(3))}"'
        f' quat="{text(rng.normal(size=4).round(3))}"/>'
        for _ in range(60)
    ]
    body = f"<body><freejoint/>{inertial}{''.join(geoms)}</body>"
    check_same_bits(f"<mujoco><worldbody>{body}</worldbody></mujoco>", *TREES)


@pytest.mark.parametrize("steps", [2, 80, 110])
@pytest.mark.parametrize("place", ["{x} -{y} 0", "{x} 0 -{y}", "0 {x} -{y}"])
def test_nearly_equal_sides(place: str, steps: int) -> None:
    """Of sides that differ by less than 1e-14, the first counts: `steps` units of 2^-53."""
    pos = place.format(x=0.5, y=repr(0.5 + steps * 2.0**-53))
    check_same_bits(f'<mujoco><worldbody><geom size=".1"/><geom size=".1" pos="{pos}"/></worldbody></mujoco>', *TREES)


@pytest.mark.parametrize("quat", ["1 0 0 0", "1 1 0 0", "1 0 1 0"])
@pytest.mark.parametrize("pos", ["-2 0 0", "0 -2 0", "0 0 -2", "2 0 0", "0 2 0", "0 0 2"])
def test_infinite_sides(pos: str, quat: str) -> None:
    """Of two infinite sides, the later counts."""
    geoms = f'<geom type="plane" size="1 1 1" quat="{quat}"/><geom size=".1" pos="{pos}"/>'
    check_same_bits(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>", *TREES)


def test_boxes_of_triangles() -> None:
    """Boxes of the triangles of a mesh are rounded to centres and half sides."""
    mesh = '<mesh name="m" builtin="supersphere" params="12 .7 1.3" scale=".3 .2 .1"/>'
    geom = '<geom type="mesh" mesh="m"/>'
    check_same_bits(f"<mujoco><asset>{mesh}</asset><worldbody>{geom}</worldbody></mujoco>", *TREES)
