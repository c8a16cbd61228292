"""Conjugate gradients: products that follow from others along the iterations are those made from scratch."""

from __future__ import annotations

import numpy as np
import pytest

import cardan

# balls and vertices on three slides have a diagonal inertia, the pendulum has not; a ring of vertices moves as a whole
MODEL = """
<mujoco><option solver="CG" jacobian="{jacobian}" cone="{cone}" iterations="12" tolerance="0" timestep="0.005">
  <flag island="{island}" warmstart="disable"/></option>
<worldbody>
  <geom type="plane" size="5 5 .1"/>
  <flexcomp name="cloth" type="grid" count="5 5 1" spacing=".1 .1 .1" dim="2" mass="1" radius=".02" pos="0 0 .021">
    <edge equality="true"/><contact selfcollide="none"/><pin id="3"/>
  </flexcomp>
  <body pos=".05 .05 .12"><freejoint/><geom size=".05" condim="4"/></body>
  <body pos="1 0 .5"><joint axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .2 0 0"/>
    <body name="lower" pos=".2 0 0"><joint axis="0 1 1"/><geom type="capsule" size=".05" fromto="0 0 0 .2 0 -.2"/>
      <flexcomp name="tail" type="grid" count="4 1 1" spacing=".1 .1 .1" dim="1" mass=".1" radius=".01" pos=".3 0 0">
        <edge equality="true"/><contact selfcollide="none"/></flexcomp>
    </body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("island", ["disable", "enable"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_products_follow_the_iterations(jacobian: str, cone: str, island: str) -> None:
    m = cardan.MjModel.from_xml_string(MODEL.format(jacobian=jacobian, cone=cone, island=island))
    d = cardan.MjData(m)
    d.qvel[:] = np.random.default_rng(4).normal(size=m.nv)
    for step in range(60):
        cardan.mj_forward(m, d)
        if step % 20 == 19:
            check_gradient(m, d)
        cardan.mj_step(m, d)
    assert d.ncon > 4
    assert d.solver_niter[0] == 12


def check_gradient(m: cardan.MjModel, d: cardan.MjData) -> None:
    """The gradient that the last iterations report is M qacc - qfrc_smooth - J' efc_force, made from the results."""
    force, product = np.zeros(m.nv), np.zeros(m.nv)
    cardan.mj_mulJacTVec(m, d, force, d.efc_force)
    scale = np.abs(force).max()
    np.testing.assert_allclose(d.qfrc_constraint, force, atol=1e-12 * scale)
    cardan.mj_mulM(m, d, product, d.qacc)
    gradient = product - d.qfrc_smooth - force
    rounding = 1e-14 * (np.linalg.norm(product) + np.linalg.norm(force)) / (m.stat.meaninertia * m.nv)
    if not m.opt.enableflags & cardan.mjtEnableBit.mjENBL_ISLAND:
        reported = d.solver.gradient[d.solver_niter[0] - 1]
        assert reported > 100.0 * rounding
        assert np.linalg.norm(gradient) / (m.stat.meaninertia * m.nv) == pytest.approx(reported, rel=1e-6)


def test_free_bodies_with_diagonal_inertia_are_not_coupled() -> None:
    """Rounding errors of the factor of M do not count as entries."""
    body = (
        '<body pos="{0} 0 .1" euler="10 {1} 30"><freejoint/><geom type="box" size=".1 .12 .15" pos="{2} 0 0"/></body>'
    )
    for offset, coupled in ((0.0, False), (0.01, True)):
        bodies = "".join(body.format(k, 20 * k, offset) for k in range(3))
        m = cardan.MjModel.from_xml_string(
            f"""<mujoco><option solver="CG"/>
            <worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>""",
            compat="4.0",
        )
        d = cardan.MjData(m)
        cardan.mj_forward(m, d)
        assert d.nefc > 0
        assert (d.view.work.ncoupled > 0) == coupled
