"""Derivatives: of the dynamics by finite differences, of operations on quaternions by formula (spec: derivatives)."""

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
from cardan.maths.quaternion import sub_quat
from cardan.maths.rotation import exp_jacobian, log_jacobian, rotation_matrix
from cardan.maths.vector import get3, scale3, set3, set9
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.finite_difference_run import inverse_differences, transition_differences

F = TypeVar("F", bound=Callable[..., Any])
Matrix = np.ndarray | None
FLOAT64 = np.dtype(np.float64)
Targets = tuple[tuple[str, Matrix, tuple[int, int], str], ...]


def _step_size(name: str, eps: Any) -> float:
    """The size of a perturbation: any number other than 0.

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
    """Whether a target is None, or surely a matrix of a shape that can be written to."""
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
    """Make a function that fills Jacobians native where a model has a script ready."""
    return ReadyBinding(function).builtin  # type: ignore[arg-type]


def mjd_transitionFD(
    m: MjModel, d: MjData, eps: float, flg_centered: int, A: Matrix, B: Matrix, C: Matrix, D: Matrix
) -> None:
    """Jacobians of `mj_step` by finite differences: dx_next = A dx + B du, dsensor = C dx + D du.

    The state x is (qpos, qvel, act) with positions in the tangent space. Controls aren't moved out of their ranges: at
    the edge of a range the difference is taken from inside; outside of it the derivative is zero. Every evaluation
    starts from the present `qacc_warmstart`. State and inputs are the same afterwards; results of the pipeline are
    those of the last evaluation.

    Args:
        m: model.
        d: data.
        eps: size of the perturbations.
        flg_centered: other than 0 for differences from both sides.
        A: (2 nv + na, 2 nv + na), or None.
        B: (2 nv + na, nu), or None.
        C: (nsensordata, 2 nv + na), or None.
        D: (nsensordata, nu), or None.

    Raises:
        TypeError: an array of another shape or type.
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
    """Jacobians of `mj_step`, exact up to rounding: dx_next = A dx + B du, dsensor = C dx + D du.

    The same as `mjd_transitionFD`, without differences: tangents go through the stages of the step. Where the step has
    a corner (a control at the edge of its range) one side counts. The state x is (qpos, qvel, act) with positions in
    the tangent space. `d` does not change. Several threads may call this on the same model.

    Args:
        m: model.
        d: data.
        A: (2 nv + na, 2 nv + na), or None.
        B: (2 nv + na, nu), or None.
        C: (nsensordata, 2 nv + na), or None.
        D: (nsensordata, nu), or None.
        contacts: "smooth" lets geoms that don't touch, but are within `reach`, take part in the derivatives (and in
            nothing else), so that they see contacts that are not made yet; see docs/derivatives.md.
        reach: that distance, m; None for the mean size of the model's bodies (``m.stat.meansize``).

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: an array of another shape or type.
        ValueError: `contacts` or `reach` is something else.
    """
    reach_of, step_jacobian = _transition()
    check_pair("mjd_transition", m, d)
    distance = 0.0 if contacts == "exact" and reach is None else reach_of("mjd_transition", m, contacts, reach)
    sizes = m._memory.sizes
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
            if isinstance(binding, ReadyBinding) and jacobian.publish(binding.place(m._programs.words)):
                binding.activate()


@cache
def _transition() -> tuple[Any, Any]:
    """What exact Jacobians need, imported when they are first asked for."""
    from cardan.derive.distant import reach_of
    from cardan.derive.jacobian import step_jacobian

    return reach_of, step_jacobian


def _inverse_targets(m: MjModel, forces: tuple[Matrix, ...], sensed: tuple[Matrix, ...], inertia: Matrix) -> Targets:
    """The matrices of `mjd_inverseFD`: derivatives of force and sensors by position, velocity, acceleration; of qM."""
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
    """Whether derivatives by position, velocity and acceleration are wanted."""
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
    """Jacobians of `mj_inverse` by finite differences, with a row for each input: transposed, as in control theory.

    Inputs are q (qpos, in the tangent space), v (qvel) and a (qacc); results f (qfrc_inverse), s (sensordata) and m
    (qM). State, `qacc` and inputs are the same afterwards.

    Args:
        m: model.
        d: data.
        eps: size of the perturbations.
        flg_actuation: other than 0 to subtract `qfrc_actuator` from `qfrc_inverse`.
        DfDq: (nv, nv), or None.
        DfDv: (nv, nv), or None.
        DfDa: (nv, nv), or None.
        DsDq: (nv, nsensordata), or None.
        DsDv: (nv, nsensordata), or None.
        DsDa: (nv, nsensordata), or None.
        DmDq: (nv, nM), or None.

    Raises:
        FatalError: the integrator is RK4, or the no-slip solver is on.
        TypeError: an array of another shape or type.
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
    """Jacobians of `mj_inverse`, exact up to rounding, with a row for each input: transposed, as in control theory.

    The same as `mjd_inverseFD`, without differences. Inputs are q (qpos, in the tangent space), v (qvel) and a (qacc);
    results f (qfrc_inverse), s (sensordata) and m (qM). `d` does not change.

    Args:
        m: model.
        d: data.
        flg_actuation: other than 0 to subtract `qfrc_actuator` from `qfrc_inverse`.
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
        TypeError: an array of another shape or type.
    """
    from cardan.derive.inverse import inverse_derivatives

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
    """Jacobians of `mju_subQuat(res, qa, qb)` by rotations of `qa` and `qb` in their own frames.

    Args:
        qa: quaternion.
        qb: quaternion.
        Da: nine numbers, a matrix row by row; or None.
        Db: likewise.
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
    """Jacobians of `mju_quatIntegrate(quat, vel, scale)` in the frame of the result.

    Args:
        vel: angular velocity in the frame of the quaternion (3,).
        scale: time.
        Dquat: by a rotation of the quaternion in its own frame (9,).
        Dvel: by the rotation vector ``scale * vel`` (9,).
        Dscale: by the time (3,).
    """
    velocity = get3(vel, 0)
    rotation = scale3(velocity, scale)
    r = rotation_matrix(rotation)
    set9(Dquat, 0, (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]))
    set9(Dvel, 0, exp_jacobian(rotation))
    set3(Dscale, 0, velocity)


__all__ = ["mjd_inverse", "mjd_inverseFD", "mjd_quatIntegrate", "mjd_subQuat", "mjd_transition", "mjd_transitionFD"]
