"""Derivatives of the dynamics, exact or by finite differences, and of quaternion operations (spec: derivatives)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cardan.api.arguments import check_pair, integer, reach_of, require, target_shape, vector
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
from cardan.model.sleepers import may_sleep
from cardan.step.finite_difference import inverse_differences, transition_differences

if TYPE_CHECKING:
    from cardan.api.tape import Tape

F = TypeVar("F", bound=Callable[..., Any])
Matrix = np.ndarray | None
FLOAT64 = np.dtype(np.float64)
Outputs = tuple[tuple[str, Matrix, int, int, str], ...]
"""Matrices that results are written to: name, array or None, numbers of rows and columns, shape in words."""


def _step_size(name: str, eps: Any) -> float:
    """Return the size of a perturbation; raise TypeError or ValueError unless it is a finite number and not 0."""
    try:
        size = float(eps)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: eps must be a number, not {type(eps).__name__}") from None
    if size == 0.0 or not isfinite(size):
        raise ValueError(f"{name}: eps must be finite and not 0, got {size}; 1e-6 is a good choice")
    return size


def _check(outputs: Outputs) -> None:
    """Raise TypeError unless all matrices that are given are writable and of the right shape."""
    for name, array, rows, columns, what in outputs:
        fits = array is None or (
            array.__class__ is np.ndarray
            and array.shape == (rows, columns)
            and array.dtype is FLOAT64
            and array.flags.carray
        )
        if not fits:
            target_shape(name, array, (rows, columns), what)


def refuse_sleep(name: str, m: MjModel) -> None:
    """Raise FatalError if trees of the model may sleep: repeated evaluations would change what sleeps."""
    if may_sleep(m):
        raise FatalError(f"{name}: sleeping is not supported: disable the flag sleep")


def _write(target: Matrix, values: np.ndarray) -> None:
    if target is not None:
        target[...] = values


# steps


def _of_step(m: MjModel, A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> Outputs:
    sizes = internals.sizes(m)
    nx, ns, nu = 2 * sizes["nv"] + sizes["na"], sizes["nsensordata"], sizes["nu"]
    return (
        ("A", A, nx, nx, "(2*nv+na, 2*nv+na)"),
        ("B", B, nx, nu, "(2*nv+na, nu)"),
        ("C", C, ns, nx, "(nsensordata, 2*nv+na)"),
        ("D", D, ns, nu, "(nsensordata, nu)"),
    )


def _with_scripts(function: F) -> F:
    """Decorate a function that fills Jacobians, so that later calls run natively for models with a ready script.

    `cardan.jit.binding.ready` explains these scripts.
    """
    return ReadyBinding(function).builtin  # type: ignore[arg-type]


def mjd_transitionFD(
    m: MjModel, d: MjData, eps: float, flg_centered: int, A: Matrix, B: Matrix, C: Matrix, D: Matrix
) -> None:
    """Compute the Jacobians of `mj_step` by finite differences: dx_next = A dx + B du, dsensor = C dx + D du.

    The state x is (qpos, qvel, act) with positions in the tangent space. Perturbed controls stay in their ranges. At
    the edge of a range, the difference is one-sided, towards the inside; outside, the derivative is 0. Every
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
        FatalError: trees of the model may sleep (flag sleep).
        TypeError: an array has a wrong shape or type.
        ValueError: eps is 0 or not finite.
    """
    check_pair("mjd_transitionFD", m, d)
    nx = 2 * m.nv + m.na
    centered = integer("mjd_transitionFD", "flg_centered", flg_centered) != 0
    _check(_of_step(m, A, B, C, D))
    by_state, by_control = A is not None or C is not None, B is not None or D is not None
    sensors = C is not None or D is not None
    refuse_sleep("mjd_transitionFD", m)
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

    The results are those of `mjd_transitionFD`, but computed from tangents of the stages of the step in place of finite
    differences. Where the step is not differentiable (a control at the edge of its range), the derivative is one-sided.
    The state x is (qpos, qvel, act) with positions in the tangent space. `d` does not change. Several threads may call
    this function on the same model.

    Args:
        m: model.
        d: data.
        A: (2 nv + na, 2 nv + na), or None.
        B: (2 nv + na, nu), or None.
        C: (nsensordata, 2 nv + na), or None.
        D: (nsensordata, nu), or None.
        contacts: "exact"; or "smooth": geoms that don't touch contribute to derivatives, too (docs/derivatives.md).
        reach: largest distance of such geoms, m; None for the mean size of the model's bodies (``m.stat.meansize``).

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: an array has a wrong shape or type.
        ValueError: `contacts` or `reach` has an invalid value.
    """
    from cardan.derive.jacobian import step_jacobian

    check_pair("mjd_transition", m, d)
    distance = 0.0 if contacts == "exact" and reach is None else reach_of("mjd_transition", m, contacts, reach)
    outputs = _of_step(m, A, B, C, D)
    _check(outputs)
    nx, ns = outputs[0][2], outputs[2][2]
    sensed = C is not None or D is not None
    with step_jacobian(m, sensed and ns > 0, distance) as jacobian:
        result = jacobian.compute(d, A is not None or C is not None, B is not None or D is not None)
        _write(A, jacobian.A)
        _write(B, jacobian.B)
        if sensed:
            _write(C, result[nx:, :nx])
            _write(D, result[nx:, nx:])
        elif distance == 0.0:
            binding = Binding.all["mjd_transition"]
            if isinstance(binding, ReadyBinding) and jacobian.publish(binding.place(internals.programs(m).words)):
                binding.activate()


# inverse dynamics


def _inverse(
    name: str, m: MjModel, d: MjData, flg_actuation: int, eps: float | None, given: tuple[Matrix, ...]
) -> None:
    """Write the derivatives of inverse dynamics to `given`: by finite differences, or exactly if `eps` is None."""
    check_pair(name, m, d)
    nv, ns = m.nv, m.nsensordata
    table = [(f"DfD{x}", nv, "(nv, nv)") for x in "qva"]
    table += [(f"DsD{x}", ns, "(nv, nsensordata)") for x in "qva"]
    table.append(("DmDq", m.nC, "(nv, nC)") if m.is_4_0 else ("DmDq", m.nM, "(nv, nM)"))
    _check(tuple((key, array, nv, n, what) for (key, n, what), array in zip(table, given, strict=True)))
    actuation = integer(name, "flg_actuation", flg_actuation) != 0
    refuse_sleep(name, m)
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise FatalError(f"{name}: RK4 integrator is not supported")
    if m.opt.noslip_iterations > 0:
        raise FatalError(f"{name}: noslip solver is not supported")
    forces, sensed, inertia = given[:3], given[3:6], given[6]
    q, v, a = (forces[k] is not None or sensed[k] is not None for k in range(3))
    wanted = q or inertia is not None, v, a
    sensors = any(array is not None for array in sensed)
    if eps is not None:
        result = inverse_differences(m, d, _step_size(name, eps), actuation, wanted, sensors)
    else:
        from cardan.derive.linearisation import inverse_derivatives

        result = inverse_derivatives(m, d, actuation, wanted, sensors and ns > 0)
    for k in range(3):
        rows = result[k * nv : (k + 1) * nv]
        _write(forces[k], rows[:, :nv])
        _write(sensed[k], rows[:, nv : nv + ns])
    rates = result[:nv, nv + ns :]
    _write(inertia, rates[:, m.mapM2M] if m.is_4_0 else rates)


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
        DmDq: (nv, nM), or with compat 4.0 (nv, nC); or None.

    Raises:
        FatalError: the integrator is RK4, or the no-slip solver is on.
        TypeError: an array has a wrong shape or type.
        ValueError: eps is 0 or not finite.
    """
    _inverse("mjd_inverseFD", m, d, flg_actuation, eps, (DfDq, DfDv, DfDa, DsDq, DsDv, DsDa, DmDq))


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

    The results are those of `mjd_inverseFD`, without finite differences. `d` does not change.

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
        DmDq: (nv, nM), or with compat 4.0 (nv, nC); or None.

    Raises:
        FatalError: the integrator is RK4, or the no-slip solver is on.
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: an array has a wrong shape or type.
    """
    _inverse("mjd_inverse", m, d, flg_actuation, None, (DfDq, DfDv, DfDa, DsDq, DsDv, DsDa, DmDq))


# quaternions


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
            fits = isinstance(result, np.ndarray) and result.dtype == np.float64 and result.flags.writeable
            require(fits and result.flags.c_contiguous, f"{name} should be a writeable array of float64")
            require(result.size == 9, f"{name} must have size 9, got shape {result.shape}")
    by_first = np.array(log_jacobian(sub_quat(*numbers))).reshape(3, 3)
    if Da is not None:
        Da[...] = by_first.reshape(Da.shape)
    if Db is not None:
        Db[...] = -by_first.T.reshape(Db.shape)


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


# any fields, and trajectories


def derivatives(
    m: MjModel,
    d: MjData,
    of: Sequence[str] = ("qpos", "qvel", "act", "sensordata"),
    by: Sequence[str] = ("qpos", "qvel", "act", "ctrl"),
    after: str = "step",
    contacts: str = "exact",
    reach: float | None = None,
) -> dict[tuple[str, str], np.ndarray]:
    """Differentiate real fields of the data with respect to real fields of data or model, exact up to rounding.

    Inputs may be all values that a step reads: the state, controls, applied forces, and parameters of the model. A
    parameter varies alone: values that `mj_setConst` would derive from it stay fixed. If a parameter is 0 and this
    turns a feature off, the derivative is one-sided where possible. Results qpos, qvel, act and time are those after
    the step. All other results are the values that a step leaves in the data: they belong to the state before the step.

    Args:
        m: model.
        d: data; it does not change.
        of: names of results, as ``"qvel"``, ``"sensordata[2]"`` or ``"xpos[3, 0]"``.
        by: names of inputs, as ``"ctrl"``, ``"body_mass"``, ``"geom_friction[3]"`` or ``"opt.gravity"``.
        after: "step" for derivatives of `mj_step`, "forward" for those of `mj_forward`.
        contacts: "exact"; or "smooth": geoms that don't touch contribute to derivatives, too (docs/derivatives.md).
        reach: largest distance of such geoms, m; None for the mean size of the model's bodies (``m.stat.meansize``).

    Returns:
        For each pair (result, input), an array whose shape is that of the result followed by that of the input. As
        result or input, ``"qpos"`` is in the tangent space and has the shape (nv,).

    Raises:
        IndexError: an index in a name is too large.
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: a name is not a string, `m` is not a model, or `d` is not an MjData.
        ValueError: a field does not exist, or `after`, `contacts` or `reach` has an invalid value.
    """
    from cardan.derive.linearisation import sensitivities

    check_pair("derivatives", m, d)
    distance = reach_of("derivatives", m, contacts, reach)
    results, inputs = (of,) if isinstance(of, str) else of, (by,) if isinstance(by, str) else by
    return sensitivities(m, d, results, inputs, after, distance)


def record(
    m: MjModel,
    d: MjData,
    nstep: int,
    controls: np.ndarray | None = None,
    contacts: str = "exact",
    reach: float | None = None,
    every: int = 1,
    feedback: tuple[np.ndarray, np.ndarray] | None = None,
) -> Tape:
    """Simulate `nstep` steps and record the values from which gradients of the trajectory are computed.

    ``tape.gradient(dL_dstate, dL_dsensors)`` then goes back through the steps with their exact Jacobians, and
    ``tape.jacobians()`` returns the Jacobians. The tape stores the state and the inputs before each step, or before
    each `every`-th step.

    Args:
        m: model; it must not be changed while the tape is in use.
        d: data; it is stepped `nstep` times.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu); None for the controls in `d`.
        contacts: "exact"; or "smooth": geoms that don't touch contribute to derivatives, too (docs/derivatives.md).
        reach: largest distance of such geoms, m; None for the mean size of the model's bodies (``m.stat.meansize``).
        every: number of steps between two stored states. Values above 1 save memory, but gradients then simulate the
            steps once more, and applied forces should be equal in all steps.
        feedback: reference states before each step, (nstep, nq + nv + na), and gains (nstep, nu, 2 nv + na). The
            applied controls are ``controls + gains (x - states)``, clamped to their ranges, where x is the state and
            the difference is in the tangent space. ``tape.controls`` contains them; derivatives treat them as given.

    Returns:
        The tape: the recorded steps, and the methods that differentiate them.

    Raises:
        TypeError: `nstep` or `every` is not an integer, `m` is not a model, or `d` is not an MjData.
        ValueError: `nstep` is negative, `every` is less than 1, an array has a wrong shape, or `contacts` or `reach`
            has an invalid value.
    """
    from cardan.api.tape import Tape
    from cardan.derive.trajectory import Recorded

    check_pair("record", m, d)
    distance = reach_of("record", m, contacts, reach)
    n, spacing = integer("record", "nstep", nstep), integer("record", "every", every)
    if n < 0:
        raise ValueError(f"record: nstep must not be negative, got {n}")
    if spacing < 1:
        raise ValueError(f"record: every must be at least 1, got {spacing}")
    given = np.broadcast_to(d.ctrl, (n, m.nu)) if controls is None else np.asarray(controls, float)
    arrays: list[tuple[str, np.ndarray, tuple[int, ...]]] = [("controls", given, (n, m.nu))]
    leading = None
    if feedback is not None:
        leading = states, gains = np.ascontiguousarray(feedback[0], float), np.ascontiguousarray(feedback[1], float)
        arrays.append(("states of the feedback", states, (n, m.nq + m.nv + m.na)))
        arrays.append(("gains of the feedback", gains, (n, m.nu, 2 * m.nv + m.na)))
    for name, array, shape in arrays:
        if array.shape != shape:
            raise ValueError(f"record: {name} should be of shape {shape}, got {array.shape}")
    return Tape(Recorded(m, d, np.array(given)[None], distance, spacing, feedback=leading))


__all__ = ["derivatives", "mjd_inverse", "mjd_inverseFD", "mjd_quatIntegrate", "mjd_subQuat", "mjd_transition"]
__all__ += ["mjd_transitionFD", "record"]
