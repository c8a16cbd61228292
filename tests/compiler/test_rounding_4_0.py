"""Rounding of compiled meshes and inertias under 4.0: ties between axes and normals depend on the last bit."""

import numpy as np
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
    check_same_bits(xml, "mesh_pos", "mesh_quat", "mesh_vert", "mesh_normal", "body_mass", "body_inertia")


def test_normals_that_cancel() -> None:
    """On a fine sphere, components of face normals that are 0 but for rounding are summed."""
    mesh = '<mesh name="m" builtin="sphere" params="3" scale=".08 .08 .08"/>'
    geom = '<geom type="mesh" mesh="m"/>'
    check_same_bits(f"<mujoco><asset>{mesh}</asset><worldbody>{geom}</worldbody></mujoco>", "mesh_normal")


def test_normals_of_implicit_shapes() -> None:
    """The normals of a plugin's shape are summed in single precision."""
    check_same_bits(TORUS, "mesh_vert", "mesh_normal")
