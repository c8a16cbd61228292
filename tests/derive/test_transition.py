"""Exact derivatives of a step: against differences, against closed forms, at singular points, and bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from math import cos

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians, exact_jacobian
from models import model_path

import cardan
from cardan.enums import mjtDisableBit, mjtIntegrator

INTEGRATORS = list(mjtIntegrator.__members__.values())

CHAIN = """<mujoco><option timestep="0.01" density="3" viscosity=".02" wind="1 .2 0"/><worldbody><body name="x">
<joint name="h" axis="0 1 0" damping=".1" stiffness=".5"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.5"/>
<site name="a" pos=".1 0 .2"/>
<body pos="0 0 -.5"><joint type="ball" damping=".01" stiffness=".2"/><geom type="box" size=".1 .05 .02" pos=".1 0 -.1"/>
<site name="b" pos=".1 .1 0"/>
<body pos=".2 0 0"><joint name="s" type="slide" axis="1 .2 0"/><geom size=".05" pos="0 .1 0"/></body></body></body>
<body pos="1 0 0" gravcomp=".5"><freejoint/><geom type="ellipsoid" size=".1 .05 .07" fluidshape="ellipsoid"/>
<site name="c"/></body></worldbody>
<tendon><spatial name="t" stiffness="2" damping=".1"><site site="a"/><site site="b"/></spatial>
<fixed name="f"><joint joint="h" coef="1"/><joint joint="s" coef="-2"/></fixed></tendon>
<actuator><motor name="a" joint="h" gear="2" ctrllimited="true" ctrlrange="-1 1"/><position joint="s" kp="3"/>
<velocity tendon="f" kv=".2"/><general tendon="t" dyntype="filterexact" dynprm=".05" gainprm="3" biastype="affine"
biasprm="0 -.3 -.1"/><motor site="c" gear="0 1 0 .1 0 .2"/><muscle joint="h" lengthrange="-1 1"/></actuator>
<sensor><jointpos joint="h"/><framequat objtype="site" objname="c"/><velocimeter site="c"/><gyro site="b"/>
<accelerometer site="b"/><force site="b"/><tendonpos tendon="t"/><actuatorfrc actuator="a"/><subtreecom body="x"/>
</sensor></mujoco>"""


def moving(m: cardan.MjModel, seed: int = 0) -> cardan.MjData:
    """Data in a random state."""
    d = cardan.MjData(m)
    rng = np.random.default_rng(seed)
    cardan.mj_integratePos(m, d.qpos, rng.standard_normal(m.nv), 0.3)
    d.qvel[:] = rng.standard_normal(m.nv)
    d.act[:] = rng.uniform(0.1, 0.9, m.na)
    d.ctrl[:] = rng.uniform(-0.5, 0.5, m.nu)
    return d


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda kind: kind.name[6:])
def test_chain_with_everything(integrator: mjtIntegrator) -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    m.opt.integrator = integrator
    d = moving(m)
    d.xfrc_applied[2, :3] = 0.3, -0.2, 0.1
    d.qfrc_applied[:] = 0.1
    assert_same_jacobians(m, d)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda kind: kind.name[6:])
@pytest.mark.parametrize("name", ["humanoid", "muscle_arm"])
def test_models_without_constraints(name: str, integrator: mjtIntegrator) -> None:
    m = cardan.MjModel.from_xml_path(str(model_path(name)))
    m.opt.disableflags |= mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.integrator = integrator
    assert_same_jacobians(m, moving(m))


def test_pendulum_in_closed_form() -> None:
    # a point of mass 1 at distance L, Euler with implicit damping: v' = v + h (u - c v - g L sin q) / (L^2 + h c)
    h, g, length, c = 0.01, 9.81, 0.7, 0.3
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{h}" gravity="0 0 -{g}"/><worldbody><body><joint axis="0 1 0" damping="{c}"/>
        <inertial pos="0 0 -{length}" mass="1" diaginertia="1e-12 1e-12 1e-12"/></body></worldbody>
        <actuator><motor joint="j"/></actuator></mujoco>""".replace("<joint", '<joint name="j"')
    )
    d = cardan.MjData(m)
    d.qpos[0], d.qvel[0], d.ctrl[0] = 0.6, -1.3, 0.4
    gain = h / (length**2 + 1e-12 + h * c)
    by_q, by_v = -gain * g * length * cos(0.6), 1 - gain * c
    expected = [[1 + h * by_q, h * by_v, h * gain], [by_q, by_v, gain]]
    np.testing.assert_allclose(exact_jacobian(m, d), expected, rtol=1e-10)


def test_cart_and_pole_in_closed_form() -> None:
    # M = [[2, cos q], [cos q, 1]] for masses and length 1: a = M^-1 (u + v^2 sin q, -g sin q)
    h, g = 0.005, 10.0
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{h}" gravity="0 0 -{g}"/><worldbody><body>
        <joint name="x" type="slide" axis="1 0 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1e-13 1e-13 1e-13"/>
        <body><joint axis="0 -1 0"/><inertial pos="0 0 -1" mass="1" diaginertia="1e-13 1e-13 1e-13"/></body>
        </body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    )
    d = cardan.MjData(m)
    q, v, u = 0.4, 0.8, 0.3
    d.qpos[1], d.qvel[:], d.ctrl[0] = q, (0.2, v), u

    def acceleration(q: complex, v: complex, u: complex) -> np.ndarray:
        matrix = np.array([[2, np.cos(q)], [np.cos(q), 1]])
        return np.linalg.solve(matrix, np.array([u + v * v * np.sin(q), -g * np.sin(q)]))

    tiny = 1e-30j  # derivatives by a complex step: exact to rounding
    moved = [acceleration(*(x + tiny * (k == i) for i, x in enumerate((q, v, u)))) for k in range(3)]
    by_q, by_v, by_u = np.imag(moved) / 1e-30
    velocity = np.column_stack([[0, 0], h * by_q, [1, 0], [0, 1] + h * by_v, h * by_u])
    position = np.column_stack([[1, 0], [0, 1], np.zeros((2, 3))]) + h * velocity
    np.testing.assert_allclose(exact_jacobian(m, d), np.vstack([position, velocity]), rtol=1e-10, atol=1e-10)


def test_at_rest() -> None:
    # rotations that do not turn, and a ball joint with a spring at its reference: no NaN, and the right slopes
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/><geom type="box" size=".1 .2 .3"/>
        <body pos="0 0 1"><joint type="ball" damping=".1" stiffness=".7"/>
        <geom type="capsule" size=".1 .2"/></body></body></worldbody>
        </mujoco>"""
    )
    jacobian = exact_jacobian(m, cardan.MjData(m))
    assert np.isfinite(jacobian).all()
    assert_same_jacobians(m, cardan.MjData(m))


@pytest.mark.parametrize("quat", ["1 0 0 0", ".5 .1 -.7 .5"])
def test_spring_of_a_ball_at_its_reference(quat: str) -> None:
    # a sphere about its centre: v' = v + h (u - c v - k q) / (I + h c), in each direction
    h, k, c, inertia = 0.01, 3.0, 0.2, 0.4 * 2.0 * 0.1**2
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{h}"/><worldbody><body quat="{quat}"><joint name="b" type="ball" stiffness="{k}"
        damping="{c}"/><geom size=".1" mass="2"/></body></worldbody>
        <sensor><ballquat joint="b"/></sensor></mujoco>"""
    )
    d = cardan.MjData(m)
    m.qpos_spring[:] = d.qpos[:] = np.array([0.8, 0.48, -0.36, 0.0]) if quat != "1 0 0 0" else m.qpos0
    gain = h / (inertia + h * c)
    by_q, by_v = -gain * k, 1.0 - gain * c
    expected = np.kron([[1.0 + h * by_q, h * by_v], [by_q, by_v]], np.eye(3))
    np.testing.assert_allclose(exact_jacobian(m, d)[:6], expected, rtol=1e-10, atol=1e-10)
    assert_same_jacobians(m, d)


def test_control_outside_its_range() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)
    d.ctrl[0] = 2.0
    jacobian = exact_jacobian(m, d)
    assert not jacobian[: 2 * m.nv, 2 * m.nv + m.na].any()


def test_data_do_not_change() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)
    cardan.mj_forward(m, d)
    before = d._memory.buffer.copy()
    exact_jacobian(m, d)
    assert np.array_equal(before, d._memory.buffer)


def test_none_and_wrong_shapes() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)
    everything = exact_jacobian(m, d)
    nx = 2 * m.nv + m.na
    B = np.empty((nx, m.nu))
    cardan.mjd_transition(m, d, None, B, None, None)
    np.testing.assert_array_equal(B, everything[:nx, nx:])
    C = np.empty((m.nsensordata, nx))
    cardan.mjd_transition(m, d, None, None, C, None)
    np.testing.assert_array_equal(C, everything[nx:, :nx])
    with pytest.raises(TypeError, match="A should be of shape"):
        cardan.mjd_transition(m, d, np.empty((nx, nx + 1)), None, None, None)


def test_compiled_callbacks_have_derivatives_and_others_are_refused() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)

    @cardan.kernel
    def drag(m, d):
        for i in range(m.nv):
            d.qfrc_passive[i] -= 0.3 * d.qvel[i] * abs(d.qvel[i])

    cardan.set_callback(m, "passive", drag)
    assert_same_jacobians(m, d)
    cardan.set_callback(m, "passive", lambda m, d: None)
    with pytest.raises(NotImplementedError, match="callbacks in Python"):
        exact_jacobian(m, d)


def test_without_native_code() -> None:
    program = """
import cardan, numpy as np
m = cardan.MjModel.from_xml_string('<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>')
try:
    cardan.mjd_transition(m, cardan.MjData(m), np.empty((2, 2)), None, None, None)
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CARDAN_JIT": "0"},
    )
    assert "derivatives need native code" in done.stdout
