"""Derivatives of the dynamics, by finite differences or exact, and of operations on quaternions (spec: derivatives)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from cardan.api.arguments import check_pair, integer
from cardan.api.array_arguments import require, target_shape, vector
from cardan.api.native_call import native
from cardan.enums import mjtIntegrator
from cardan.errors import FatalError
from cardan.jit.binding.arguments import Number, source, target
from cardan.jit.binding.functions import Binding
from cardan.jit.binding.ready import ReadyBinding
from cardan.maths.quaternion import exp_jacobian, log_jacobian, rotation_matrix, sub_quat
from cardan.maths.vector import get3, scale3, set3, set9
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.finite_difference_run import inverse_differences, transition_differences

F = TypeVar("F", bound=Callable[..., Any])
Matrix = np.ndarray | None
FLOAT64 = np.dtype(np.float64)
Targets = tuple[tuple[str, Matrix, tuple[int, int], str], ...]


def _step_size(name: str, eps: Any) -> float:
    """Return the size of a perturbation: any number except 0.

    Raises:
        TypeError: it isn't a number.
        ValueError: it is 0, infinite or NaN.
    """
    try:
        size = float(eps)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: eps must be a number, not {type(eps).__name__}") from None
    if size == 0.0 or not isfinite(size):
        raise ValueError(f"{name}: eps must be finite and not 0, got {size}; 1e-6 is a good choice")
    return size


def _check_targets(targets: Targets) -> None:
    for name, array, shape, what in targets:
        if array is not None:
            target_shape(name, array, shape, what)


def _fits(array: Matrix, rows: int, columns: int) -> bool:
    """Whether a target is None, or a writable float64 array of the given shape. False means: check it in detail."""
    if array is None:
        return True
    return array.__class__ is np.ndarray and array.shape == (rows, columns) and array.dtype is FLOAT64 and _open(array)


def _open(array: np.ndarray) -> bool:
    return array.flags.carray


def _write(target: Matrix, values: np.ndarray) -> None:
    if target is not None:
        target[...] = values


def _transition_targets(m: MjModel, A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> Targets:
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    state, control = "2*nv+na", "nu"
    return (
        ("A", A, (nx, nx), f"({state}, {state})"),
        ("B", B, (nx, m.nu), f"({state}, {control})"),
        ("C", C, (ns, nx), f"(nsensordata, {state})"),
        ("D", D, (ns, m.nu), f"(nsensordata, {control})"),
    )


def _with_scripts(function: F) -> F:
    """Make a function that fills Jacobians native: it then needs no Python if the model has a script for it."""
    return ReadyBinding(function).builtin  # type: ignore[arg-type]


def mjd_transitionFD(
    m: MjModel, d: MjData, eps: float, flg_centered: int, A: Matrix, B: Matrix, C: Matrix, D: Matrix
) -> None:
    """Compute the Jacobians of `mj_step` by finite differences: dx_next = A dx + B du, dsensor = C dx + D du.

    The state x is (qpos, qvel, act) with positions in the tangent space. Controls are not moved out of their ranges: at
    the edge of a range the difference is one-sided, towards the inside; outside the range the derivative is zero. Every
    evaluation starts from the current `qacc_warmstart`. State and inputs are restored afterwards; results of the
    pipeline are those of the last evaluation.

    Args:
        m: model.
        d: data.
        eps: size of the perturbations.
        flg_centered: nonzero for centred differences.
        A: (2 nv + na, 2 nv + na), or None.
        B: (2 nv + na, nu), or None.
        C: (nsensordata, 2 nv + na), or None.
        D: (nsensordata, nu), or None.

    Raises:
        TypeError: an array has a wrong shape or type.
        ValueError: eps is 0 or not finite.
    """
    check_pair("mjd_transitionFD", m, d)
    nx = 2 * m.nv + m.na
    centered = integer("mjd_transitionFD", "flg_centered", flg_centered) != 0
    _check_targets(_transition_targets(m, A, B, C, D))
    by_state, by_control = A is not None or C is not None, B is not None or D is not None
    sensors = C is not None or D is not None
    size = _step_size("mjd_transitionFD", eps)
    result = transition_differences(m, d, size, centered, by_state, by_control, sensors)
    _write(A, result[:nx, :nx].T)
    _write(B, result[nx:, :nx].T)
    _write(C, result[:nx, nx:].T)
    _write(D, result[nx:, nx:].T)


@_with_scripts
def mjd_transition(
    m: MjModel,
    d: MjData,
    A: Matrix,
    B: Matrix,
    C: Matrix,
    D: Matrix,
    contacts: str = "exact",
    reach: float | None = None,
) -> None:
    """Compute the Jacobians of `mj_step`, exact up to rounding: dx_next = A dx + B du, dsensor = C dx + D du.

    It has the results of `mjd_transitionFD`, but computes tangents of the stages of the step, not finite differences.
    Where the step is not differentiable (a control at the edge of its range), the derivative is one-sided. The state x
    is (qpos, qvel, act) with positions in the tangent space. `d` does not change. Several threads may call this
    function on the same model.

    Args:
        m: model.
        d: data.
        A: (2 nv + na, 2 nv + na), or None.
        B: (2 nv + na, nu), or None.
        C: (nsensordata, 2 nv + na), or None.
        D: (nsensordata, nu), or None.
        contacts: "exact" or "smooth". If "smooth", geoms that don't touch, but are within `reach`, also contribute to
            the derivatives (and to nothing else): possible contacts then have an effect; see docs/derivatives.md.
        reach: largest distance of such geoms, m; None for the mean size of the model's bodies (``m.stat.meansize``).

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: an array has a wrong shape or type.
        ValueError: `contacts` or `reach` has an invalid value.
    """
    reach_of, step_jacobian = _transition()
    check_pair("mjd_transition", m, d)
    distance = 0.0 if contacts == "exact" and reach is None else reach_of("mjd_transition", m, contacts, reach)
    sizes = internals.sizes(m)
    nx, ns, nu = 2 * sizes["nv"] + sizes["na"], sizes["nsensordata"], sizes["nu"]
    if not (_fits(A, nx, nx) and _fits(B, nx, nu) and _fits(C, ns, nx) and _fits(D, ns, nu)):
        _check_targets(_transition_targets(m, A, B, C, D))
    sensed = C is not None or D is not None
    with step_jacobian(m, sensed and ns > 0, distance) as jacobian:
        result = jacobian.compute(d, A is not None or C is not None, B is not None or D is not None)
        if A is not None:
            A[...] = jacobian.A
        if B is not None:
            B[...] = jacobian.B
        if sensed:
            _write(C, result[nx:, :nx])
            _write(D, result[nx:, nx:])
        elif distance == 0.0:
            binding = Binding.all["mjd_transition"]
            if isinstance(binding, ReadyBinding) and jacobian.publish(binding.place(internals.programs(m).words)):
                binding.activate()


@cache
def _transition() -> tuple[Any, Any]:
    """Import the functions for exact Jacobians at their first use."""
    from cardan.derive.distant import reach_of
    from cardan.derive.jacobian import step_jacobian

    return reach_of, step_jacobian


def _inverse_targets(m: MjModel, forces: tuple[Matrix, ...], sensed: tuple[Matrix, ...], inertia: Matrix) -> Targets:
    """List the result matrices of `mjd_inverseFD` with their shapes.

    They are the derivatives of forces and of sensors by position, velocity and acceleration, and of qM by position.
    """
    nv, ns = m.nv, m.nsensordata
    return (
        *((f"DfD{x}", array, (nv, nv), "(nv, nv)") for x, array in zip("qva", forces, strict=True)),
        *((f"DsD{x}", array, (nv, ns), "(nv, nsensordata)") for x, array in zip("qva", sensed, strict=True)),
        ("DmDq", inertia, (nv, m.nM), "(nv, nM)"),
    )


def _check_invertible(name: str, m: MjModel) -> None:
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise FatalError(f"{name}: RK4 integrator is not supported")
    if m.opt.noslip_iterations > 0:
        raise FatalError(f"{name}: noslip solver is not supported")


def _wanted(forces: tuple[Matrix, ...], sensed: tuple[Matrix, ...], inertia: Matrix) -> tuple[bool, bool, bool]:
    """Whether derivatives by position, velocity and acceleration are requested."""
    by_position, by_velocity, by_acceleration = (
        force is not None or sensor is not None for force, sensor in zip(forces, sensed, strict=True)
    )
    return by_position or inertia is not None, by_velocity, by_acceleration


def _write_inverse(
    m: MjModel, result: np.ndarray, forces: tuple[Matrix, ...], sensed: tuple[Matrix, ...], inertia: Matrix
) -> None:
    nv, ns = m.nv, m.nsensordata
    for k in range(3):
        rows = result[k * nv : (k + 1) * nv]
        _write(forces[k], rows[:, :nv])
        _write(sensed[k], rows[:, nv : nv + ns])
    _write(inertia, result[:nv, nv + ns :])


def mjd_inverseFD(
    m: MjModel,
    d: MjData,
    eps: float,
    flg_actuation: int,
    DfDq: Matrix,
    DfDv: Matrix,
    DfDa: Matrix,
    DsDq: Matrix,
    DsDv: Matrix,
    DsDa: Matrix,
    DmDq: Matrix,
) -> None:
    """Compute the Jacobians of `mj_inverse` by finite differences, transposed: one row for each input.

    Inputs are q (qpos, in the tangent space), v (qvel) and a (qacc); results are f (qfrc_inverse), s (sensordata) and m
    (qM). State, `qacc` and inputs are restored afterwards.

    Args:
        m: model.
        d: data.
        eps: size of the perturbations.
        flg_actuation: nonzero to subtract `qfrc_actuator` from `qfrc_inverse`.
        DfDq: (nv, nv), or None.
        DfDv: (nv, nv), or None.
        DfDa: (nv, nv), or None.
        DsDq: (nv, nsensordata), or None.
        DsDv: (nv, nsensordata), or None.
        DsDa: (nv, nsensordata), or None.
        DmDq: (nv, nM), or None.

    Raises:
        FatalError: the integrator is RK4, or the no-slip solver is on.
        TypeError: an array has a wrong shape or type.
        ValueError: eps is 0 or not finite.
    """
    name = "mjd_inverseFD"
    check_pair(name, m, d)
    forces, sensed = (DfDq, DfDv, DfDa), (DsDq, DsDv, DsDa)
    _check_targets(_inverse_targets(m, forces, sensed, DmDq))
    actuation = integer(name, "flg_actuation", flg_actuation) != 0
    _check_invertible(name, m)
    sensors = any(array is not None for array in sensed)
    wanted = _wanted(forces, sensed, DmDq)
    result = inverse_differences(m, d, _step_size(name, eps), actuation, wanted, sensors)
    _write_inverse(m, result, forces, sensed, DmDq)


def mjd_inverse(
    m: MjModel,
    d: MjData,
    flg_actuation: int,
    DfDq: Matrix,
    DfDv: Matrix,
    DfDa: Matrix,
    DsDq: Matrix,
    DsDv: Matrix,
    DsDa: Matrix,
    DmDq: Matrix,
) -> None:
    """Compute the Jacobians of `mj_inverse`, exact up to rounding, transposed: one row for each input.

    It has the results of `mjd_inverseFD`, but does not use finite differences. Inputs are q (qpos, in the tangent
    space), v (qvel) and a (qacc); results are f (qfrc_inverse), s (sensordata) and m (qM). `d` does not change.

    Args:
        m: model.
        d: data.
        flg_actuation: nonzero to subtract `qfrc_actuator` from `qfrc_inverse`.
        DfDq: (nv, nv), or None.
        DfDv: (nv, nv), or None.
        DfDa: (nv, nv), or None.
        DsDq: (nv, nsensordata), or None.
        DsDv: (nv, nsensordata), or None.
        DsDa: (nv, nsensordata), or None.
        DmDq: (nv, nM), or None.

    Raises:
        FatalError: the integrator is RK4, or the no-slip solver is on.
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: an array has a wrong shape or type.
    """
    from cardan.derive.sensitivity import inverse_derivatives

    name = "mjd_inverse"
    check_pair(name, m, d)
    forces, sensed = (DfDq, DfDv, DfDa), (DsDq, DsDv, DsDa)
    _check_targets(_inverse_targets(m, forces, sensed, DmDq))
    actuation = integer(name, "flg_actuation", flg_actuation) != 0
    _check_invertible(name, m)
    sensors = any(array is not None for array in sensed) and m.nsensordata > 0
    result = inverse_derivatives(m, d, actuation, _wanted(forces, sensed, DmDq), sensors)
    _write_inverse(m, result, forces, sensed, DmDq)


def mjd_subQuat(qa: Any, qb: Any, Da: Matrix, Db: Matrix) -> None:
    """Jacobians of `mju_subQuat(res, qa, qb)` with respect to rotations of `qa` and `qb` in their own frames.

    Args:
        qa: quaternion (4,).
        qb: quaternion (4,).
        Da: Jacobian with respect to `qa`: nine numbers, row by row, written; or None.
        Db: Jacobian with respect to `qb`, likewise.
    """
    numbers = []
    for name, value in (("qa", qa), ("qb", qb)):
        quat = vector(name, value)
        require(quat.size == 4, f"{name} must have size 4, got {quat.size}")
        numbers.append(tuple(quat.tolist()))
    for name, result in (("Da", Da), ("Db", Db)):
        if result is not None:
            _check_nine(name, result)
    by_first = np.array(log_jacobian(sub_quat(*numbers))).reshape(3, 3)
    if Da is not None:
        Da[...] = by_first.reshape(Da.shape)
    if Db is not None:
        Db[...] = -by_first.T.reshape(Db.shape)


def _check_nine(name: str, target: Any) -> None:
    fits = isinstance(target, np.ndarray) and target.dtype == np.float64 and target.flags.writeable
    require(fits and target.flags.c_contiguous, f"{name} should be a writeable array of float64")
    require(target.size == 9, f"{name} must have size 9, got shape {target.shape}")


@native(vel=source(3), scale=Number(), Dquat=target(9), Dvel=target(9), Dscale=target(3))
def mjd_quatIntegrate(vel: Any, scale: float, Dquat: np.ndarray, Dvel: np.ndarray, Dscale: np.ndarray) -> None:
    """Compute the Jacobians of `mju_quatIntegrate(quat, vel, scale)`, in the frame of the result.

    Args:
        vel: angular velocity in the frame of the quaternion (3,).
        scale: time.
        Dquat: Jacobian with respect to a rotation of the quaternion in its own frame (9,), written.
        Dvel: Jacobian with respect to the rotation vector ``scale * vel`` (9,), written.
        Dscale: derivative with respect to the time (3,), written.
    """
    velocity = get3(vel, 0)
    rotation = scale3(velocity, scale)
    r = rotation_matrix(rotation)
    set9(Dquat, 0, (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]))
    set9(Dvel, 0, exp_jacobian(rotation))
    set3(Dscale, 0, velocity)


__all__ = ["mjd_inverse", "mjd_inverseFD", "mjd_quatIntegrate", "mjd_subQuat", "mjd_transition", "mjd_transitionFD"]
