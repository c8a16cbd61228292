"""Solutions whose Hessian is far beyond the digits of a number: derivatives stay within what the inertia allows."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_implicit import solution_tangents

import cardan
from cardan.enums.codes import CNSTRSTATE_QUADRATIC

BOXES = """<mujoco><option jacobian="{jacobian}" cone="pyramidal" solver="{solver}" impratio="{impratio}"/>
<default><geom friction="1e-9 1e-9 1e-9" condim="6" solimp=".9999 .9999" solref="1e-4 1"/></default><worldbody>
<geom type="plane" size="5 5 1"/><body pos="0 0 .09"><freejoint/><geom type="box" size=".1 .1 .1"/>
<body pos=".2 0 0" euler="1 2 3"><joint axis="1 1 0"/><joint axis="0 1 3"/><geom type="box" size=".05 .2 .1"/></body>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("solver", ["CG", "Newton"])
@pytest.mark.parametrize("impratio", [1.0, 1e-2, 1e-4])
def test_no_direction_gains(jacobian: str, solver: str, impratio: float) -> None:
    """H = M + J' D J is not less than M: so b' H^-1 b is neither negative nor more than b' M^-1 b, for any b."""
    m = cardan.MjModel.from_xml_string(BOXES.format(jacobian=jacobian, solver=solver, impratio=impratio))
    d = cardan.MjData(m)
    d.qvel[:] = np.random.default_rng(0).normal(size=m.nv)
    cardan.mj_forward(m, d)
    inertia = np.zeros((m.nv, m.nv))
    cardan.mj_fullM(m, inertia, d.qM)
    rng = np.random.default_rng(1)
    b = np.concatenate([np.eye(m.nv), rng.normal(size=(20, m.nv))])
    gained = -(b * solution_tangents(d, b)).sum(axis=1)
    most = (b * np.linalg.solve(inertia, b.T).T).sum(axis=1)
    assert d.efc_D[d.efc_state == CNSTRSTATE_QUADRATIC].max() > 1e9
    assert (gained > -1e-3 * most).all()
    assert (gained < 1.5 * most).all()
