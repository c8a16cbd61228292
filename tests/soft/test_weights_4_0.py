"""Contacts of elements under compat 4.0: barycentric weights of their vertices, spheres on tetrahedra."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run
from tests.verdicts import FULL

import cardan

MODEL = """<mujoco><option jacobian="dense"/><worldbody><body pos="{place}"><freejoint/>{geom}</body>
<flexcomp name="f" type="direct" dim="{dim}" point="0 0 0 1 0 .02 0 1 .05 .3 .3 1 1 1 .1" element="{elements}"
radius=".05" mass="1"><edge equality="true"/><contact condim="3" selfcollide="none"/></flexcomp></worldbody></mujoco>"""
SPHERE = '<geom size=".1"/>'
CASES = {
    "segment": (1, "0 1 1 2 2 4", ".5 -.12 .02", SPHERE),
    "end of a segment": (1, "0 1 1 2 2 4", "-.08 -.05 .02", SPHERE),
    "capsule": (1, "0 1 1 2 2 4", ".02 .01 .12", '<geom type="capsule" size=".1 .2" euler="0 80 0"/>'),
    "triangle": (2, "0 1 2 1 4 2", ".3 .2 .12", SPHERE),
    "side of a triangle": (2, "0 1 2 1 4 2", ".5 -.12 .02", SPHERE),
    "face of a tetrahedron": (3, "0 1 2 3 1 4 2 3", ".3 .2 -.12", SPHERE),
    "side of a tetrahedron": (3, "0 1 2 3 1 4 2 3", ".5 -.12 .02", SPHERE),
    "corner of a tetrahedron": (3, "0 1 2 3 1 4 2 3", "-.08 -.05 .02", SPHERE),
    "centre inside a tetrahedron": (3, "0 1 2 3 1 4 2 3", ".3 .25 .15", SPHERE),
    "two tetrahedra": (3, "0 1 2 3 1 4 2 3", ".35 .35 .4", SPHERE),
    "corner of a triangle": (2, "0 1 2 1 4 2", "-.08 -.05 .02", SPHERE),
}


@pytest.mark.parametrize("name", CASES)
def test_jacobians(name: str) -> None:
    dim, elements, place, geom = CASES[name]
    xml = MODEL.format(dim=dim, elements=elements, place=place, geom=geom)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    code = "m = mujoco.MjModel.from_xml_string(xml); d = mujoco.MjData(m); mujoco.mj_forward(m, d); "
    theirs = later_run(code + "out = d.ncon, np.array(d.efc_J), np.array(d.qacc), np.array(d.contact.dist)", xml=xml)
    assert d.ncon == theirs[0] > 0
    np.testing.assert_allclose(d.contact.dist, theirs[3], atol=1e-9)
    np.testing.assert_allclose(np.asarray(d.efc_J).ravel(), theirs[1].ravel(), atol=1e-9)
    np.testing.assert_allclose(d.qacc, theirs[2], atol=1e-6 * np.abs(theirs[2]).max())


def test_contacts_of_tetrahedra_move_with_the_material() -> None:
    """If all vertices move alike, so does the point of the contact: weights sum to 1."""
    xml = MODEL.format(dim=3, elements="0 1 2 3 1 4 2 3", place=".3 .2 -.12", geom=SPHERE)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert d.ncon > 0
    row = np.asarray(d.efc_J).reshape(d.nefc, -1)[d.contact[0].efc_address]
    alike = np.zeros(m.nv)
    alike[6:] = np.tile((0.3, -0.2, 0.7), 5)
    assert row @ alike == pytest.approx((row[6:].reshape(-1, 3).sum(axis=0)) @ (0.3, -0.2, 0.7))
    alike[:3] = (0.3, -0.2, 0.7)
    assert abs(row @ alike) < 1e-12


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("triangle", marks=pytest.mark.skipif(not FULL, reason="compiles for long: CARDAN_FULL_TESTS=1")),
        "centre inside a tetrahedron",
    ],
)
def test_derivatives(name: str) -> None:
    dim, elements, place, geom = CASES[name]
    xml = MODEL.format(dim=dim, elements=elements, place=place, geom=geom)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    m.opt.tolerance, m.opt.iterations = 1e-15, 200
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert d.ncon > 0
    assert_same_jacobians(m, d, tolerance=1e-4)
