"""Contacts at their result."""

from __future__ import annotations

import numpy as np
import pytest
from derive.pairs import PAIRS, scene, touching

import cardan
from cardan.derive.contact import contact_codes, contact_stages, freeze_points, pointwise_contacts
from cardan.jit import Program
from cardan.step.run import run

GEOMETRY = ("dist", "pos", "frame", "friction", "solref", "solimp", "includemargin", "dim", "geom")


def members(d: cardan.MjData) -> dict[str, np.ndarray]:
    return {name: getattr(d.contact, name).copy() for name in GEOMETRY}


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_repeated_contacts_are_the_same(first, second):
    """The stages whose tangents are taken give the contacts that collision detection found, to the last bit."""
    m = scene(first, second)
    seen = 0
    for d in touching(m, 3):
        before = members(d)
        d.contact.dist[:] = d.contact.pos[:] = d.contact.frame[:] = np.nan
        run(Program(contact_stages(m, contact_codes(m, d))), m, d)
        for name, values in members(d).items():
            np.testing.assert_array_equal(values, before[name], err_msg=name)
        seen += 1
    assert seen == 3


def test_points_stay_where_they_are():
    """Where nothing moves, touching points give the same distance and position."""
    m = scene("ellipsoid", "box")
    for d in touching(m, 3):
        before = members(d)
        run(Program([freeze_points, *map(pointwise_contacts, contact_codes(m, d))]), m, d)
        np.testing.assert_allclose(d.contact.dist, before["dist"], rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(d.contact.pos, before["pos"], rtol=0.0, atol=1e-14)


def test_a_capsule_across_an_edge_of_a_box():
    """Its axis lies exactly at right angles to an edge: along that there is no way to the sides of the box."""
    xml = """<mujoco><worldbody><body name="capsule"><freejoint/><geom type="capsule" size=".00918 .013"/></body>
    <body pos=".00578797549 0 .01847219955" euler="0 23.2 0"><freejoint/><geom type="box" size=".001 .001 .001"/>
    </body></worldbody></mujoco>"""
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert d.ncon == 2
    assert d.geom_xmat[0, 7] == 0.0
    for values in cardan.derivatives(m, d, of=("contact.pos", "contact.frame"), by=("qpos",)).values():
        assert np.isfinite(values).all()
