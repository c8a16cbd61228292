"""Kernels that other chapters call: inertia products, Jacobians, object motion, configurations, derivatives."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from dynamics.feature_models import MODELS
from dynamics.states import forward
from reference import data_from_reference, model_from_reference

from cardan.dynamics.actuation import fwd_actuation
from cardan.dynamics.com import object_acceleration, object_velocity
from cardan.dynamics.derivatives import implicit_inertia, implicitfast_derivatives
from cardan.dynamics.inertia import factor_ld, half_solve_m, mul_m, solve_ld, solve_m
from cardan.dynamics.jacobian import apply_ft, jac
from cardan.dynamics.kinematics import differentiate_pos, integrate_pos
from cardan.jit import OK, Program, kernel, stage
from cardan.maths.vector import get3, set6
from cardan.step.run import attached

OBJECTS = {
    "mjOBJ_BODY": "nbody",
    "mjOBJ_XBODY": "nbody",
    "mjOBJ_GEOM": "ngeom",
    "mjOBJ_SITE": "nsite",
}


def pair(name: str, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Reference model and data after forward dynamics, and Cardan's copies."""
    ref = mujoco.MjModel.from_xml_string(MODELS[name])
    expected = forward(ref, seed)
    m = model_from_reference(ref)
    return ref, expected, m, data_from_reference(m, expected)


def close(got: Any, want: Any) -> None:
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * scale)


@stage
def _inertia_products(m: Any, d: Any) -> int:
    mul_m(m, d, d.qfrc_inverse, d.qvel)
    for i in range(m.nv):
        d.qacc[i] = d.qvel[i]
        d.qacc_warmstart[i] = d.qvel[i]
    solve_m(m, d, d.qacc)
    half_solve_m(m, d, d.qacc_warmstart, 0)
    return OK


@pytest.mark.parametrize("name", ("joints", "passive"))
def test_inertia_products(name: str) -> None:
    ref, expected, m, d = pair(name)
    assert Program([_inertia_products]).run(m, d) == 0
    dense = np.zeros((ref.nv, ref.nv))
    mujoco.mj_fullM(ref, dense, expected.qM)
    close(d.qfrc_inverse, dense @ d.qvel)
    close(d.qacc, np.linalg.solve(dense, d.qvel))
    half = np.zeros((1, ref.nv))
    mujoco.mj_solveM2(ref, expected, half, expected.qvel[None])
    close(d.qacc_warmstart, half[0])


@stage
def _implicit_solution(m: Any, d: Any) -> int:
    implicit_inertia(m, d)
    factor_ld(m, d, d.qH, d.qHDiagInv)
    for i in range(m.nv):
        d.qacc[i] = d.qfrc_smooth[i]
    solve_ld(m, d.qH, d.qHDiagInv, d.qacc, 0)
    return OK


@pytest.mark.parametrize("name", ("tendons-dense", "tendons-sparse", "passive", "passive-off", "actuation-off"))
def test_implicitfast_derivatives(name: str) -> None:
    ref, expected, m, d = pair(name)
    assert Program([fwd_actuation, implicitfast_derivatives, _implicit_solution]).run(m, d) == 0
    # the reference's implicit step moves the state
    ref.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    mujoco.mj_implicit(ref, expected)
    close(d.qDeriv, expected.qDeriv)
    # and (M - h D) inverse is what our factor gives
    dense = np.zeros((ref.nv, ref.nv))
    mujoco.mj_fullM(ref, dense, d.qM)
    for row in range(ref.nv):
        for k in range(d.D_rowadr[row], d.D_rowadr[row] + d.D_rownnz[row]):
            dense[row, d.D_colind[k]] -= ref.opt.timestep * d.qDeriv[k]
    close(d.qacc, np.linalg.solve(dense, d.qfrc_smooth))


def test_derivative_of_affine_gains() -> None:
    """The gain multiplies the control before clamping, or the actuator's own activation."""
    ref, expected, m, d = pair("actuators")
    ref.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert Program([fwd_actuation, implicitfast_derivatives]).run(m, d) == 0
    mujoco.mj_implicit(ref, expected)
    # the reference looks for the activation of actuator i at act[i - (nu - na)], which is not where it is unless all
    # actuators with activations are last: the slide joint has some that are not (docs/differences.md)
    slide = ref.jnt_dofadr[ref.joint("slide").id]
    rows = np.repeat(np.arange(ref.nv), d.D_rownnz)
    close(d.qDeriv[rows != slide], expected.qDeriv[rows != slide])


@pytest.mark.parametrize("name", ("joints", "passive", "actuators"))
def test_patterns(name: str) -> None:
    _, expected, _, d = pair(name)
    fresh = type(d)(d.model)
    for field in ("D_rownnz", "D_rowadr", "D_colind", "B_rownnz", "B_rowadr", "B_colind"):
        np.testing.assert_array_equal(getattr(fresh, field), getattr(expected, field), err_msg=field)


@stage
def _jacobians(m: Any, d: Any) -> int:
    """Jacobians of the last body's centre of mass, and the force of a wrench on body 2."""
    for i in range(m.nv):
        d.qfrc_inverse[i] = 0.0
    jac(m, d, d.work.batch_jacp, d.work.batch_jacr, get3(d.xipos, m.nbody - 1), m.nbody - 1)
    apply_ft(m, d, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), get3(d.xpos, 2), 2, d.qfrc_inverse)
    return OK


def test_jacobians() -> None:
    ref, expected, m, d = pair("passive")
    found = {"work.batch_jacp": np.ones((3, ref.nv)), "work.batch_jacr": np.ones((3, ref.nv))}
    with attached(d, found):
        assert Program([_jacobians]).run(m, d) == 0
    jacp, jacr = np.zeros((3, ref.nv)), np.zeros((3, ref.nv))
    body = ref.nbody - 1
    mujoco.mj_jac(ref, expected, jacp, jacr, expected.xipos[body], body)
    close(found["work.batch_jacp"], jacp)
    close(found["work.batch_jacr"], jacr)
    force = np.zeros(ref.nv)
    mujoco.mj_applyFT(ref, expected, np.r_[1.0, 2, 3], np.r_[4.0, 5, 6], expected.xpos[2], 2, force)
    close(d.qfrc_inverse, force)


@kernel
def _motions(m: Any, d: Any, kind: int, number: int, local: bool) -> None:
    for k in range(number):
        set6(d.cfrc_int, k, object_velocity(m, d, kind, k, local))
        set6(d.cfrc_ext, k, object_acceleration(m, d, kind, k, local))


@stage
def _object_motion(m: Any, d: Any) -> int:
    """Kind, number and orientation of the objects come in `qfrc_inverse`."""
    _motions(m, d, int(d.qfrc_inverse[0]), int(d.qfrc_inverse[1]), d.qfrc_inverse[2] > 0.0)
    return OK


@pytest.mark.parametrize("local", (0, 1))
@pytest.mark.parametrize("kind", OBJECTS)
def test_object_motion(kind: str, local: int) -> None:
    ref, expected, m, d = pair("joints")
    number = getattr(ref, OBJECTS[kind])
    code = getattr(mujoco.mjtObj, kind)
    d.qfrc_inverse[:3] = int(code), number, local
    assert Program([_object_motion]).run(m, d) == 0
    want = np.zeros(6)
    for k in range(number):
        mujoco.mj_objectVelocity(ref, expected, code, k, want, local)
        close(d.cfrc_int[k], want)
        mujoco.mj_objectAcceleration(ref, expected, code, k, want, local)
        close(d.cfrc_ext[k], want)


@stage
def _move(m: Any, d: Any) -> int:
    integrate_pos(m, d.qpos, d.qvel, 0.1)
    return OK


def test_integrate_pos() -> None:
    ref, expected, m, d = pair("joints")
    mujoco.mj_integratePos(ref, expected.qpos, expected.qvel, 0.1)
    assert Program([_move]).run(m, d) == 0
    close(d.qpos, expected.qpos)


@stage
def _difference(m: Any, d: Any) -> int:
    differentiate_pos(m, d.qacc, 0.1, m.qpos0, d.qpos)
    return OK


def test_differentiate_pos() -> None:
    ref, expected, m, d = pair("joints")
    want = np.zeros(ref.nv)
    mujoco.mj_differentiatePos(ref, want, 0.1, ref.qpos0, expected.qpos)
    assert Program([_difference]).run(m, d) == 0
    close(d.qacc, want)


@pytest.mark.parametrize("value", (np.nan, np.inf, 1e11))
def test_bad_control_counts_as_zero_and_warns(value: float) -> None:
    ref, expected, m, d = pair("actuators")
    expected.ctrl[[3, 7]] = value
    d.ctrl[[3, 7]] = value
    mujoco.mj_fwdActuation(ref, expected)
    assert Program([fwd_actuation]).run(m, d) == 0
    close(d.actuator_force, expected.actuator_force)
    close(d.act_dot, expected.act_dot)
    warning = int(mujoco.mjtWarning.mjWARN_BADCTRL)
    assert d.warning[warning].number == expected.warning[warning].number == 1
    assert d.warning[warning].lastinfo == expected.warning[warning].lastinfo == 3
