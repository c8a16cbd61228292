"""Who replaces the acceleration from which the solver starts, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run

import cardan

BALL = """<mujoco><option integrator="{integrator}" solver="{solver}" noslip_iterations="{noslip}" iterations="100"
tolerance="1e-12"/><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .099"><freejoint/>
<geom name="s" size=".1"/><body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".05"/></body></body></worldbody>
</mujoco>"""
VELOCITY = [0.1, 0.2, -0.1, 1.0, 2.0, 3.0, 1.0]
CALLS = ("mj_forward",), ("mj_step1", "mj_step2"), ("mj_step",), ("mj_forward", "own"), ("mj_step", "mj_forward")
OWN = {"Euler": "mj_Euler", "RK4": "mj_RungeKutta", "implicit": "mj_implicit", "implicitfast": "mj_implicit"}
SCRIPT = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qvel[:] = velocity
for call in calls:
    getattr(mujoco, call)(*((m, d, 4) if call == "mj_RungeKutta" else (m, d)))
out = {"qacc_warmstart": d.qacc_warmstart.copy(), "qacc": d.qacc.copy()}
"""


@pytest.mark.parametrize("noslip", [0, 3])
@pytest.mark.parametrize("calls", CALLS, ids=" ".join)
@pytest.mark.parametrize("integrator", OWN)
def test_calls_as_in_4_0(integrator: str, calls: tuple[str, ...], noslip: int) -> None:
    """Functions of all integrators."""
    text = BALL.format(integrator=integrator, solver="Newton", noslip=noslip)
    named = tuple(OWN[integrator] if call == "own" else call for call in calls)
    there = later_run(SCRIPT, xml=text, velocity=VELOCITY, calls=named)
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    for call in named:
        getattr(cardan, call)(*((m, d, 4) if call == "mj_RungeKutta" else (m, d)))
    for field, value in there.items():
        np.testing.assert_allclose(getattr(d, field), value, rtol=1e-6, atol=1e-4, err_msg=field)


@pytest.mark.parametrize("solver", ["Newton", "CG", "PGS"])
def test_forward_is_a_function_of_the_state(solver: str) -> None:
    """In 4.0 a second `mj_forward` gives the same numbers, also if the solver has not converged."""
    m = cardan.MjModel.from_xml_string(BALL.format(integrator="Euler", solver=solver, noslip=0), compat="4.0")
    m.opt.iterations = 1
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    found = []
    for _ in range(2):
        cardan.mj_forward(m, d)
        found.append(d.qacc.tobytes())
        assert not d.qacc_warmstart.any()
    assert found[0] == found[1]


@pytest.mark.parametrize("solver", ["Newton", "CG", "PGS"])
def test_forward_saves_in_3_1(solver: str) -> None:
    """In 3.1 each run of the solver saves its result."""
    m = cardan.MjModel.from_xml_string(BALL.format(integrator="Euler", solver=solver, noslip=0))
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    cardan.mj_forward(m, d)
    np.testing.assert_array_equal(d.qacc_warmstart, d.qacc)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_derivatives(integrator: str) -> None:
    """Exact derivatives of a step with contacts equal differences."""
    m = cardan.MjModel.from_xml_string(BALL.format(integrator=integrator, solver="Newton", noslip=0), compat="4.0")
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    d.qpos[2] -= 0.02
    assert_same_jacobians(m, d)
