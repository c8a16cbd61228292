"""Jacobians of a simulation step (spec: computation, derivatives), without differences.

The values of the step are computed once, and the Hessian of the solver is factorised. Then the directions of one kind
of input (positions, velocities, activations and controls) go through the tangents of those stages that depend on it, in
blocks of lanes: forward dynamics, acceleration, integrator.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.constrained import share_solution
from cardan.derive.contact import all_codes, contact_codes
from cardan.derive.program import Plain, Stage, TangentProgram, values_of
from cardan.derive.solver import factor_solution
from cardan.derive.stages import actuation_is_made, keep_next_position
from cardan.derive.support import check_derivable, differentiable
from cardan.derive.tangent_space import TangentSpace
from cardan.dynamics.actuation import fwd_actuation
from cardan.enums import mjtIntegrator
from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.step import pipeline
from cardan.step.finite_difference import restore_start, save_start, start_size
from cardan.step.hooks import hooks
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

INPUTS = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart")
COPIED = (*INPUTS, "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat", "userdata", "plugin_state")
"""What a step depends on, besides the time."""
STATE = ("d.qpos", "d.qvel", "d.act")


class Transition:
    """The derivatives of a step of one model: its programs, and data to work on.

    Args:
        m: model; its options stay as they are while this is in use.
        sensors: whether derivatives of sensor data are wanted.
    """

    def __init__(self, m: MjModel, sensors: bool) -> None:
        check_derivable(m)
        self.m, self.d = m, MjData(m)
        self.sensors = sensors
        self.space = TangentSpace(m)
        self.next_qpos = np.zeros(m.nq)
        self.d._memory.attach("work.fd_qpos", self.next_qpos)
        self.d._memory.attach("work.fd_start", np.zeros(start_size(m)))
        forward = pipeline.FORWARD if sensors else pipeline.FORWARD_BARE
        self._forward = pipeline.cached_program(m, ("transition values", sensors), forward)
        self._save = pipeline.cached_program(m, "save_start", (save_start,))
        self._factor = pipeline.cached_program(m, "factor_solution", (factor_solution,))
        self._stages = pipeline.resolve(m, (*forward, *pipeline.INTEGRATE))
        self._several = m.opt.integrator == mjtIntegrator.mjINT_RK4
        self._codes: tuple[int, ...] = ()
        self._programs: dict[tuple[tuple[str, ...], tuple[int, ...]], TangentProgram] = {}

    def _differentiated(self) -> list[Stage | Plain]:
        found: list[Stage | Plain] = []
        for stage in differentiable(self.m, self._stages, self._codes):
            if stage is fwd_actuation:
                found.append(Plain(actuation_is_made))
            found.append(stage)
        return [*found, Plain(keep_next_position), Plain(restore_start)]

    def _program(self, inputs: tuple[str, ...], directions: int) -> TangentProgram:
        key = (inputs, self._codes)
        if key not in self._programs:
            outputs = (*STATE, "d.sensordata") if self.sensors else STATE
            self._programs[key] = TangentProgram(
                *(self.m, self.d, self._differentiated(), inputs, outputs, directions), several=self._several
            )
        return self._programs[key]

    def start(self, d: MjData) -> None:
        """Take over the state and the inputs of `d`, compute the forward dynamics, factorise the solver's Hessian."""
        own = self.d
        own.time = d.time
        for name in COPIED:
            getattr(own, name)[...] = getattr(d, name)
        run(self._forward, self.m, own)
        run(self._factor, self.m, own)
        # contacts of other types may come up within a step of several passes
        self._codes = all_codes(self.m) if self._several else contact_codes(self.m, own)
        run(self._save, self.m, own)
        if self._several:
            # contacts and rows of all passes find room before tangents need as much
            run(Program(values_of(self._differentiated())), self.m, own)

    def by_position(self) -> np.ndarray:
        """Derivatives of next state and sensor data by the positions, (2 nv + na + nsensordata, nv)."""
        return self._columns(("d.qpos",), [self.space.basis(self.d.qpos)])

    def by_velocity(self) -> np.ndarray:
        """The same by the velocities."""
        return self._columns(("d.qvel",), [np.eye(self.m.nv)])

    def by_activation_and_control(self) -> np.ndarray:
        """The same by the activations, then the controls: (2 nv + na + nsensordata, na + nu)."""
        na, nu = self.m.na, self.m.nu
        return self._columns(("d.act", "d.ctrl"), [np.eye(na, na + nu), np.eye(nu, na + nu, na)])

    def _columns(self, inputs: tuple[str, ...], seeds: list[np.ndarray]) -> np.ndarray:
        m, directions = self.m, seeds[0].shape[1]
        rows = 2 * m.nv + m.na + (m.nsensordata if self.sensors else 0)
        if not directions:
            return np.zeros((rows, 0))
        program = self._program(inputs, directions)
        program.start()
        for name, seed in zip(inputs, seeds, strict=True):
            program.plant(name, seed)
        share_solution(self.d, program.data)
        program.run()
        result = np.empty((rows, directions))
        result[: m.nv] = self.space.coordinates(self.next_qpos, program.columns("d.qpos"))
        result[m.nv : 2 * m.nv] = program.columns("d.qvel")
        result[2 * m.nv : 2 * m.nv + m.na] = program.columns("d.act")
        if self.sensors:
            result[2 * m.nv + m.na :] = program.columns("d.sensordata")
        return result


def transition_of(m: MjModel, sensors: bool) -> Transition:
    """The derivatives of a step of a model, kept with it for each thread until an option or a callback is set.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    key = (("transition", sensors, threading.get_ident()), hooks.version)
    if key not in m._programs:
        m._programs[key] = Transition(m, sensors)
    return m._programs[key]


def transition_derivatives(m: MjModel, d: MjData, by_state: bool, by_control: bool, sensors: bool) -> np.ndarray:
    """Derivatives of the next state and the sensor data of a step by the state and the controls.

    Args:
        m: model.
        d: data; it does not change.
        by_state: whether derivatives by the state are wanted.
        by_control: whether those by the controls are.
        sensors: whether those of sensor data are.

    Returns:
        (2 nv + na + nsensordata, 2 nv + na + nu): a row a result, a column an input; zero where not wanted.

    Raises:
        NotImplementedError: the model or the state has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    transition = transition_of(m, sensors)
    transition.start(d)
    nv, nx = m.nv, 2 * m.nv + m.na
    result = np.zeros((nx + (m.nsensordata if sensors else 0), nx + m.nu))
    if by_state:
        result[:, :nv] = transition.by_position()
        result[:, nv : 2 * nv] = transition.by_velocity()
    if by_control or (by_state and m.na):
        result[:, 2 * nv :] = transition.by_activation_and_control()
    return result
