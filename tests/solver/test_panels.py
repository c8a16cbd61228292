"""Sparse factors whose rows are computed by panels: the first Newton step against a dense solution."""

from __future__ import annotations

import mujoco
import numpy as np
from solver.problems import dense_jacobian, problems, solve_problem

BALLS = 24
CHAIN = 9


def connected_bodies() -> str:
    """Free bodies tied to their neighbours, and a limb on the last: 153 dofs, panels of three sizes."""
    limb = "".join(
        f'<body name="limb{k}" pos="0 0 .3"><joint axis="{k % 2} {1 - k % 2} 0"/><geom size=".1"/>'
        for k in range(CHAIN)
    )
    bodies = "".join(
        f'<body name="b{k}" pos="{0.18 * k} 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/>'
        f"{limb + '</body>' * CHAIN if k == BALLS - 1 else ''}</body>"
        for k in range(BALLS)
    )
    ties = "".join(f'<connect body1="b{k}" body2="b{k + 1}" anchor=".1 0 0"/>' for k in range(BALLS - 1))
    ties += f'<connect body1="b3" body2="limb{CHAIN - 1}" anchor="0 0 0"/>'
    return f"""<mujoco><option jacobian="sparse" iterations="1" cone="pyramidal"/><worldbody>
<geom type="plane" size="5 5 .1"/>{bodies}</worldbody><equality>{ties}</equality></mujoco>"""


def test_first_step_is_newtons():
    """The move from qacc_smooth is along H^-1 times the gradient there, with H = M + J' D J over the active rows."""
    ref = mujoco.MjModel.from_xml_string(connected_bodies())
    ref.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_WARMSTART
    for m, d, _ in problems(ref, (0, 5)):
        solve_problem(m, d)
        sizes = np.unique(d._memory.arrays["work.panel_first"], return_counts=True)[1]
        assert set(sizes.tolist()) == {1, 6, 8}
        inertia = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(ref, inertia, np.array(d.qM))
        jacobian = dense_jacobian(ref, d)
        residual = jacobian @ d.qacc_smooth - d.efc_aref
        active = (residual < 0) | (np.arange(d.nefc) < d.ne)
        weight = np.where(active, d.efc_D, 0.0)
        direction = -np.linalg.solve(
            inertia + jacobian.T @ (weight[:, None] * jacobian), jacobian.T @ (weight * residual)
        )
        move = d.qacc - d.qacc_smooth
        step = (move @ direction) / (direction @ direction)
        assert step > 0
        np.testing.assert_allclose(move, step * direction, atol=1e-9 * np.abs(move).max())
