"""The simulation pipeline as functions of (m, d): whole steps, forward and inverse dynamics, and their parts.

Each function runs a program of `cardan.step.pipeline`, without the GIL. `m` is the MjModel; `d` is an MjData made for
`m` (or for a model of the same sizes). All functions raise TypeError or ValueError for invalid arguments, ValueError if
the model needs a feature that Cardan doesn't have yet, and any exception of a Python callback.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from cardan.api.arguments import check_pair, integer, writable_vector
from cardan.dynamics.bias import newton_euler
from cardan.enums import mjtIntegrator
from cardan.enums.codes import CHART_QUAT, GAIN_SO3
from cardan.errors import FatalError
from cardan.jit import OK, jit_enabled, stage
from cardan.jit.binding.functions import Binding, ProgramBinding
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import ARRAYS, MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import DATA
from cardan.step import programs
from cardan.step.hooks import hooks
from cardan.step.run import StepProgram, run, settle

F = TypeVar("F", bound=Callable[..., None])

RUNGE_KUTTA_ORDER = 4

KEYFRAME_SOURCES = {name: "key_" + name for name in ("qpos", "qvel", "act", "ctrl")}
KEYFRAME_SOURCES |= {"mocap_pos": "key_mpos", "mocap_quat": "key_mquat"}
"""State fields that a keyframe sets (except the time), each mapped to the model field that contains its values."""

_ZERO_AFTER_RESET = ("warning.", "timer.", "solver", "maxuse_", "energy", "D_", "B_", "work.", "history")


def _execute(name: str, m: MjModel, d: MjData, repeat: int = 1) -> None:
    """Check a public function's arguments, and run its program.

    If the program needs no Python objects, prepare later calls to run without Python code.
    """
    if getattr(d, "model", None) is not m or not isinstance(d, MjData):
        check_pair(name, m, d)
    version = hooks.version
    program = programs.program(m, name)
    binding = Binding.all.get(name)
    if jit_enabled and not program.needs_objects and isinstance(binding, ProgramBinding):
        internals.programs(m).make_ready(binding.index, name, version, program)
    run(program, m, d, repeat)


def _settle(program: StepProgram, m: MjModel, d: MjData, status: int, repeat: int) -> None:
    """Handle the request of a stage that stopped a natively running program, and resume the program."""
    settle(status, program, m, d, repeat)


def _runs_program(function: F) -> F:
    """Decorate a function of (m, d) that calls `_execute`, so that all calls after the first run no Python code."""
    return ProgramBinding(function, _settle, hooks.version_address).builtin  # type: ignore[arg-type]


def _function(name: str, doc: str) -> Callable[[MjModel, MjData], None]:
    """Make the public function of (m, d) that runs a program."""

    def call(m: MjModel, d: MjData) -> None:
        _execute(name, m, d)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return _runs_program(call)


@_runs_program
def mj_step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """Advance the simulation, with controls from `d.ctrl` and the callback. Optionally, repeat nstep times."""
    _execute("mj_step", m, d, integer("mj_step", "nstep", nstep))


def mj_forwardSkip(m: MjModel, d: MjData, skipstage: int, skipsensor: int) -> None:
    """Compute forward dynamics; skip stages up to `skipstage` (mjtStage), and sensors if `skipsensor` isn't 0."""
    _skip("mj_forwardSkip", m, d, skipstage, skipsensor)


def mj_inverseSkip(m: MjModel, d: MjData, skipstage: int, skipsensor: int) -> None:
    """Compute inverse dynamics; skip stages up to `skipstage` (mjtStage), and sensors if `skipsensor` isn't 0."""
    _skip("mj_inverseSkip", m, d, skipstage, skipsensor)


def _skip(name: str, m: MjModel, d: MjData, skipstage: int, skipsensor: int) -> None:
    check_pair(name, m, d)
    stage, without_sensors = integer(name, "skipstage", skipstage), integer(name, "skipsensor", skipsensor) != 0
    run(programs.skip_program(m, name, stage, without_sensors), m, d)


mj_step1 = _function("mj_step1", "First half of a step: everything that doesn't depend on controls and applied forces.")
mj_step2 = _function("mj_step2", "Second half of a step: forces, acceleration, integration (Euler instead of RK4).")
mj_forward = _function("mj_forward", "Forward dynamics: a step without the integration.")
mj_inverse = _function("mj_inverse", "Inverse dynamics: `qfrc_inverse` from `qacc`, which must be set first.")

mj_fwdPosition = _function("mj_fwdPosition", "The part of forward dynamics that depends on positions.")
mj_fwdVelocity = _function("mj_fwdVelocity", "The part of forward dynamics that depends on velocities.")
mj_fwdActuation = _function("mj_fwdActuation", "Actuator forces: `actuator_force`, `qfrc_actuator`, `act_dot`.")
mj_fwdAcceleration = _function("mj_fwdAcceleration", "Sum of all forces except constraint forces, and `qacc_smooth`.")
mj_fwdConstraint = _function("mj_fwdConstraint", "Constraint forces and `qacc` by the solver.")
mj_invPosition = _function("mj_invPosition", "The part of inverse dynamics that depends on positions.")
mj_invVelocity = _function("mj_invVelocity", "The part of inverse dynamics that depends on velocities.")
mj_invConstraint = _function("mj_invConstraint", "Constraint forces from `qacc`, in closed form.")
mj_compareFwdInv = _function("mj_compareFwdInv", "Difference of forward and inverse dynamics, in `solver_fwdinv`.")

mj_kinematics = _function("mj_kinematics", "Poses of bodies, geoms and sites.")
mj_comPos = _function("mj_comPos", "Inertias and joint axes about the centres of mass of the kinematic trees.")
mj_camlight = _function("mj_camlight", "Poses of cameras and lights.")
mj_flex = _function("mj_flex", "Vertices, boxes and edges of flexes.")
mj_tendon = _function("mj_tendon", "Tendon lengths and moment arms.")
mj_transmission = _function("mj_transmission", "Actuator lengths and moments.")
mj_crb = _function("mj_crb", "Inertia matrix `qM` by the composite rigid body algorithm.")
mj_makeM = _function("mj_makeM", "Inertia matrix `M` (`qM`), with the inertias of tendons and actuators.")
mj_fwdKinematics = _function("mj_fwdKinematics", "Poses of all objects, joint axes, flexes and tendons.")
mj_factorM = _function("mj_factorM", "Sparse factorisation of the inertia matrix: `qLD`.")
mj_comVel = _function("mj_comVel", "Velocities of bodies and rates of joint axes: `cvel`, `cdof_dot`.")
mj_passive = _function("mj_passive", "Passive forces: springs, dampers, gravity compensation, the passive callback.")
mj_rnePostConstraint = _function(
    "mj_rnePostConstraint", "`cacc`, `cfrc_ext` and `cfrc_int` from the complete solution."
)
mj_subtreeVel = _function("mj_subtreeVel", "Velocities and angular momenta of the subtrees.")
mj_collision = _function("mj_collision", "Collision detection: the list of contacts.")
mj_makeConstraint = _function("mj_makeConstraint", "Rows of all active constraints.")
mj_island = _function("mj_island", "Constraint islands: `nisland`, `dof_island`, `efc_island`, `island_*`.")
mj_referenceConstraint = _function("mj_referenceConstraint", "`efc_vel` and `efc_aref`.")
mj_projectConstraint = _function(
    "mj_projectConstraint", "Inverse inertia of the constraints, `efc_AR`; only for PGS and no-slip."
)
mj_Euler = _function("mj_Euler", "Euler integrator, semi-implicit in velocity.")
mj_checkPos = _function("mj_checkPos", "Reset the data if `qpos` has a bad number.")
mj_checkVel = _function("mj_checkVel", "Reset the data if `qvel` has a bad number.")
mj_checkAcc = _function("mj_checkAcc", "Reset the data if `qacc` has a bad number.")
mj_sensorPos = _function("mj_sensorPos", "Sensors that depend on positions.")
mj_sensorVel = _function("mj_sensorVel", "Sensors that depend on velocities.")
mj_sensorAcc = _function("mj_sensorAcc", "Sensors that depend on accelerations and forces.")
mj_energyPos = _function("mj_energyPos", "Potential energy, in `energy[0]`; zero if the flag energy is off.")
mj_energyVel = _function("mj_energyVel", "Kinetic energy, in `energy[1]`, if the flag energy is on.")
mj_resetData = _function("mj_resetData", "Reset the data to the model's default state.")


def mj_resetCtrl(m: MjModel, d: MjData) -> None:
    """Reset the controls to their neutral values: 0, and the identity for quaternions of orientation servos."""
    check_pair("mj_resetCtrl", m, d)
    d.ctrl[:] = 0.0
    quaternions = (m.actuator_ctrlspec == CHART_QUAT) & (internals.array(m, "actuator_gaintype") == GAIN_SO3)
    d.ctrl[m.actuator_ctrladr[quaternions]] = 1.0


def mju_threadpool(d: MjData, nthread: int) -> None:
    """Accept a number of threads. Results and speed of Cardan do not depend on it: a world runs on one thread.

    `rollout` refuses data for which there are threads, as in MuJoCo 4.0.

    Raises:
        TypeError: `d` is not an MjData, or `nthread` is not an integer.
        ValueError: `nthread` is negative.
    """
    if not isinstance(d, MjData):
        raise TypeError(f"mju_threadpool: d must be an MjData, not {type(d).__name__}")
    if integer("mju_threadpool", "nthread", nthread) < 0:
        raise ValueError(f"mju_threadpool: nthread must not be negative, got {nthread}")
    internals.kept(d)[internals.THREADS] = nthread


def mj_implicit(m: MjModel, d: MjData) -> None:
    """Advance the state with the implicit integrator that the model specifies.

    Raises:
        FatalError: the model specifies another integrator.
    """
    check_pair("mj_implicit", m, d)
    if m.opt.integrator not in (mjtIntegrator.mjINT_IMPLICIT, mjtIntegrator.mjINT_IMPLICITFAST):
        raise FatalError("mj_implicit: integrator must be implicit or implicitfast")
    _execute("mj_implicit", m, d)


def mj_RungeKutta(m: MjModel, d: MjData, N: int) -> None:
    """Advance the state with the Runge-Kutta integrator of order N, after `mj_forward`.

    Raises:
        FatalError: N isn't 4.
    """
    if integer("mj_RungeKutta", "N", N) != RUNGE_KUTTA_ORDER:
        raise FatalError("mj_RungeKutta: supported RK orders: N=4")
    _execute("mj_RungeKutta", m, d)


@stage
def _rne_acceleration(m: Model, d: Data) -> int:
    newton_euler(m, d, d.work.qacc_step, True)
    return OK


@stage
def _rne_bias(m: Model, d: Data) -> int:
    newton_euler(m, d, d.work.qacc_step, False)
    return OK


def mj_rne(m: MjModel, d: MjData, flg_acc: int, result: np.ndarray) -> None:
    """Compute M(qpos) qacc + C(qpos, qvel) by the recursive Newton-Euler algorithm; only C if flg_acc is 0.

    Args:
        m: model.
        d: data after `mj_comVel`.
        flg_acc: whether to include the first term, in which M has no armature.
        result: (nv,), written.
    """
    check_pair("mj_rne", m, d)
    if isinstance(result, np.ndarray) and result.size != m.nv:
        raise TypeError("result should have length nv")
    writable_vector("mj_rne", "result", result, m.nv, "nv")
    chosen = _rne_acceleration if integer("mj_rne", "flg_acc", flg_acc) else _rne_bias
    run(programs.cached_program(m, chosen.__name__, (chosen,)), m, d)
    result.reshape(-1)[:] = internals.array(d, "work.qacc_step")


def mj_resetDataKeyframe(m: MjModel, d: MjData, key: int) -> None:
    """Reset the data; if 0 <= key < nkey, set the state of that keyframe."""
    key = integer("mj_resetDataKeyframe", "key", key)
    _execute("mj_resetData", m, d)
    if not 0 <= key < m.nkey:
        return
    d.time = m.key_time[key]
    for name, source in KEYFRAME_SOURCES.items():
        field = getattr(d, name)
        field[...] = getattr(m, source)[key].reshape(field.shape)


def mj_resetDataDebug(m: MjModel, d: MjData, debug_value: int) -> None:
    """Reset the data to defaults, and fill results of the pipeline with bytes of `debug_value` (0 to 255).

    Energies, warnings, timers, solver statistics and the index arrays ``D_*`` and ``B_*`` are only reset.
    """
    value = integer("mj_resetDataDebug", "debug_value", debug_value)
    if not 0 <= value <= 255:
        raise TypeError(f"mj_resetDataDebug: debug_value must be a byte, 0 to 255, not {value}")
    _execute("mj_resetData", m, d)
    computed = False
    for field in DATA.fields:
        if computed and field.name in ARRAYS and not field.name.startswith(_ZERO_AFTER_RESET):
            internals.array(d, field.name).view(np.uint8).fill(value)
        computed = computed or field.name == "plugin_data"


__all__ = ["mj_Euler", "mj_RungeKutta", "mj_camlight", "mj_checkAcc", "mj_checkPos", "mj_checkVel", "mj_collision"]
__all__ += ["mj_comPos", "mj_comVel", "mj_compareFwdInv", "mj_crb", "mj_energyPos", "mj_energyVel", "mj_factorM"]
__all__ += ["mj_flex", "mj_forward", "mj_forwardSkip", "mj_fwdAcceleration", "mj_fwdActuation", "mj_fwdConstraint"]
__all__ += [
    "mj_fwdKinematics",
    "mj_fwdPosition",
    "mj_fwdVelocity",
    "mj_implicit",
    "mj_invConstraint",
    "mj_invPosition",
    "mj_invVelocity",
]
__all__ += ["mj_inverse", "mj_inverseSkip", "mj_island", "mj_kinematics", "mj_makeConstraint", "mj_makeM"]
__all__ += ["mj_passive", "mj_resetCtrl", "mju_threadpool"]
__all__ += ["mj_projectConstraint", "mj_referenceConstraint", "mj_resetData", "mj_resetDataDebug"]
__all__ += ["mj_resetDataKeyframe", "mj_rne", "mj_rnePostConstraint", "mj_sensorAcc", "mj_sensorPos", "mj_sensorVel"]
__all__ += ["mj_step", "mj_step1", "mj_step2", "mj_subtreeVel", "mj_tendon", "mj_transmission"]
