"""PGS with ``compat="4.0"``: islands apart, and sweeps with momentum, which converge to the same forces faster."""

from __future__ import annotations

import numpy as np
import pytest

import cardan

PILE = """
<body pos="{x} 0 .095"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="{x} 0 .29"><freejoint/><geom type="box" size=".08 .1 .1" euler="0 0 20"/></body>
<body pos="{x} 1 1"><joint axis="0 1 0" range="-10 10"/><geom type="capsule" size=".04" fromto="0 0 0 .5 0 .3"/>
  <body pos=".5 0 .3">
    <joint axis="0 1 0" frictionloss=".1"/><geom type="capsule" size=".04" fromto="0 0 0 .3 0 0"/>
  </body>
</body>
"""
FORMS = pytest.mark.parametrize("form", ['cone="pyramidal"', 'cone="elliptic"', 'cone="elliptic" jacobian="sparse"'])


def solved(form: str, count: int = 1, solver: str = "PGS", flags: str = "", compat: str = "4.0") -> cardan.MjData:
    """Data of `count` piles after a few steps, at which forces are far from 0."""
    piles = "".join(PILE.format(x=2 * k) for k in range(count))
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option solver="{solver}" {form}><flag {flags}/></option>
        <worldbody><geom type="plane" size="9 9 1"/>{piles}</worldbody></mujoco>""",
        compat=compat,
    )
    d = cardan.MjData(m)
    d.qvel[: m.nv // count] = 0.1
    d.qvel[m.nv // count :] = np.tile(d.qvel[: m.nv // count], count - 1)
    cardan.mj_forward(m, d)
    return d


@FORMS
@pytest.mark.parametrize("flags", ["", 'island="disable"'])
def test_converges_to_the_optimum(form, flags):
    tight = form + ' tolerance="1e-15" iterations="5000"'
    optimum, d = solved(tight, solver="Newton"), solved(tight, flags=flags)
    assert d.solver_niter[0] < 5000
    np.testing.assert_allclose(d.qacc, optimum.qacc, rtol=1e-4, atol=1e-4 * abs(optimum.qacc).max())


@FORMS
def test_takes_fewer_sweeps_than_without_momentum(form):
    tight = form + ' tolerance="1e-12" iterations="5000"'
    flags = 'island="disable"'
    assert solved(tight, flags=flags).solver_niter[0] < 0.95 * solved(tight, compat="3.1").solver_niter[0]


@FORMS
def test_islands_are_solved_as_if_they_were_alone(form):
    alone, both = solved(form), solved(form, 2)
    assert both.nisland == 2 * alone.nisland > 2
    np.testing.assert_array_equal(both.solver_niter[: alone.nisland], alone.solver_niter[: alone.nisland])
    np.testing.assert_allclose(both.qacc, np.tile(alone.qacc, 2), rtol=0, atol=1e-9 * abs(alone.qacc).max())


@FORMS
def test_forces_are_admissible_whenever_it_stops(form):
    for iterations in (1, 2, 3, 5, 8, 13):
        d = solved(f'{form} iterations="{iterations}"')
        rows = d.efc_force[d.ne + d.nf :]
        first = rows if "pyramidal" in form else d.efc_force[d.contact.efc_address]
        assert (first >= 0.0).all()
        if "elliptic" in form:
            for c in d.contact:
                friction = d.efc_force[c.efc_address + 1 : c.efc_address + c.dim] / c.friction[: c.dim - 1]
                assert np.linalg.norm(friction) <= d.efc_force[c.efc_address] * (1 + 1e-9)
