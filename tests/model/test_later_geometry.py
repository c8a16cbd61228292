"""Fields of MuJoCo 4.0 about trees and hulls, against 4.0.0."""

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan

COMPILED = """
m = mujoco.MjModel.from_xml_string(xml)
out = {name: np.array(getattr(m, name)) for name in fields}
"""
TREES = "tree_bodyadr", "tree_bodynum", "tree_dofadr", "tree_dofnum", "dof_length"
BODIES = (
    """<body pos="0 0 1"><freejoint/><geom size=".1" pos=".3 0 0"/>
      <body pos="1 0 0" quat="1 .2 .3 .4"><joint axis="0 1 0" pos="0 .2 .1"/><joint type="slide"/>
        <geom type="capsule" size=".05 .4"/></body></body>
    <body/><body pos="0 0 2"><joint type="ball"/><geom type="box" size=".1 .2 .3"/></body>""",
    """<body><body pos="2 2 2"><joint/><geom size=".2" pos="1 0 0"/><geom size=".7" pos="-1 0 0" mass="0"/>
      <body pos="0 1 0"><geom size=".1"/><body pos="0 3 0" euler="20 30 40"><joint pos=".1 0 5"/>
        <geom size=".1"/></body></body></body></body>
    <body><joint/><inertial mass="1" pos="0 0 0" diaginertia=".1 .1 .1"/></body>
    <body><joint/><inertial mass="1" pos="3e-7 0 4e-7" diaginertia=".1 .1 .1"/><geom size=".3"/></body>
    <body><joint/><inertial mass="1" pos="1 0 0" diaginertia=".1 .1 .1"/><geom size=".3" pos="1 3e-7 0"/></body>""",
)
CUBE = "-1 -1 -1  1 -1 -1  -1 1 -1  1 1 -1  -1 -1 1  1 -1 1  -1 1 1  1 1 1"


def compared(xml: str, *fields: str) -> tuple[cardan.MjModel, dict[str, Any]]:
    """The model, and fields by 4.0.0."""
    return cardan.MjModel.from_xml_string(xml, compat="4.0"), later_run(COMPILED, xml=xml, fields=fields)


@pytest.mark.parametrize("bodies", BODIES)
def test_trees(bodies: str) -> None:
    """Bodies and dofs of trees, and lengths of dofs."""
    m, there = compared(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", *TREES)
    for name in TREES:
        np.testing.assert_allclose(getattr(m, name), there[name], rtol=1e-12, err_msg=name)


def test_models_without_trees() -> None:
    """All arrays are empty."""
    m = cardan.MjModel.from_xml_string("<mujoco/>")
    assert [len(getattr(m, name)) for name in (*TREES, "mesh_extrema", "mesh_polynum", "mesh_polymap")] == [0] * 8
    assert m.nmeshpoly == 0


def hulls(shape: str) -> str:
    """Make a model with two meshes that do not collide, one of them without a hull, and two that do."""
    others = f'<mesh name="a" vertex="{CUBE}"/><mesh name="d" builtin="sphere" params="1"/>'
    meshes = f'{others}<mesh name="b" {shape}/><mesh name="c" vertex="{CUBE}"/>'
    geoms = '<geom type="mesh" mesh="b"/><geom type="mesh" mesh="c" pos="5 0 0"/>'
    return f"<mujoco><asset>{meshes}</asset><worldbody>{geoms}</worldbody></mujoco>"


@pytest.mark.parametrize("shape", [f'vertex="{CUBE}" scale="1 2 3"', 'builtin="cone" params="9 .3"'])
def test_hulls(shape: str) -> None:
    """Extreme vertices; polygons have the same vertices and normals, in Cardan's order."""
    arrays = ("num", "adr", "normal", "vertadr", "vertnum", "vert", "mapadr", "mapnum", "map")
    names = ("mesh_extrema", "mesh_vertadr", "mesh_vertnum", *(f"mesh_poly{name}" for name in arrays))
    m, there = compared(hulls(shape), *names)
    here = {name: getattr(m, name) for name in names}
    for name in ("mesh_extrema", "mesh_polynum", "mesh_polyadr", "mesh_polymapadr", "mesh_polymapnum"):
        np.testing.assert_array_equal(here[name], there[name], err_msg=name)
    for mesh in range(m.nmesh):
        polygons, others = polygons_of(here, mesh), polygons_of(there, mesh)
        assert polygons.keys() == others.keys()
        for key, normal in polygons.items():
            np.testing.assert_allclose(normal, others[key], rtol=0.0, atol=1e-6)


def polygons_of(fields: dict[str, Any], mesh: int) -> dict[frozenset[int], np.ndarray]:
    """Normals of a mesh's polygons by their vertices; checks that the polygons around each vertex contain it."""
    found = {}
    adr, number = fields["mesh_polyadr"][mesh], fields["mesh_polynum"][mesh]
    sets = []
    for k in range(adr, adr + number):
        start = fields["mesh_polyvertadr"][k]
        sets.append(frozenset(fields["mesh_polyvert"][start : start + fields["mesh_polyvertnum"][k]].tolist()))
        found[sets[-1]] = fields["mesh_polynormal"][k]
    first = fields["mesh_vertadr"][mesh]
    for vertex in range(fields["mesh_vertnum"][mesh]):
        start = fields["mesh_polymapadr"][first + vertex]
        around = fields["mesh_polymap"][start : start + fields["mesh_polymapnum"][first + vertex]]
        assert sorted(around) == [k for k, corners in enumerate(sets) if vertex in corners]
    return found


CHAIN = """<mujoco><worldbody><body><joint/><geom size=".1"/><site name="r"/>
<body pos="1 0 0"><joint name="j"/><geom size=".1"/><site name="a"/></body>
<body pos="0 1 0"><joint/><joint axis="1 0 0"/><geom size=".1"/><site name="b"/>
  <body pos="0 1 0"><joint/><geom size=".1"/><site name="c"/></body></body></body></worldbody>
<tendon><spatial name="t"><site site="a"/><site site="b"/></spatial>
  <spatial name="u"><site site="r"/><site site="c"/></spatial>
  <fixed name="f"><joint joint="j" coef="1"/></fixed></tendon>
<actuator>ACTUATORS</actuator></mujoco>"""


@pytest.mark.parametrize(
    "actuator",
    [
        'tendon="t"',
        'tendon="u"',
        'tendon="f"',
        'joint="j"',
        'site="c"',
        'site="a" refsite="b" gear="1 0 0 0 0 0"',
        'cranksite="a" slidersite="b" cranklength="1"',
        'cranksite="c" slidersite="r" cranklength="1"',
    ],
)
def test_number_of_moments(actuator: str) -> None:
    """Tendons and cranks store dofs that move both ends, too."""
    m, there = compared(CHAIN.replace("ACTUATORS", f"<general {actuator}/>"), "nJmom")
    assert m.nJmom == there["nJmom"]
