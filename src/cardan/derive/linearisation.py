"""Derivatives of what a pipeline computes, by any of its inputs: values once, then tangents along many directions.

A *course* is what is differentiated: a step, the forward dynamics or the inverse dynamics. Its values are computed
once, and the Hessian of the solver is factorised. Then the directions of one kind of input go through the tangents of
those stages that depend on it, in blocks of lanes.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.constrained import share_solution
from cardan.derive.contact import all_codes, contact_codes
from cardan.derive.program import Plain, Stage, TangentProgram, values_of
from cardan.derive.shadows import LANES
from cardan.derive.solver import factor_solution
from cardan.derive.stages import actuation_is_made, gather_outcome, keep_next_position, plant_seeds
from cardan.derive.support import check_derivable, differentiable
from cardan.derive.tangent_space import TangentSpace
from cardan.dynamics.actuation import fwd_actuation
from cardan.enums import mjtIntegrator
from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.model.tables import CAPACITIES
from cardan.step import pipeline
from cardan.step.finite_difference import restore_start, save_start, start_size
from cardan.step.hooks import hooks
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

COPIED = (
    *("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "qfrc_applied", "xfrc_applied", "eq_active"),
    *("mocap_pos", "mocap_quat", "userdata", "plugin_state"),
)
"""What the dynamics depend on, besides the time."""
BUILDING = threading.RLock()
"""Held while programs are made, which compiles: threads would do it twice."""


@dataclass(frozen=True, slots=True)
class Course:
    """What is differentiated.

    Attributes:
        values: items of the pipeline that compute the values.
        after: items that come after them and change the state.
        solves: whether an acceleration is solved for.
    """

    values: tuple[Any, ...]
    after: tuple[Any, ...] = ()
    solves: bool = True


INVERSE_ITEMS = (*pipeline.INVERSE_POS, *pipeline.FORWARD_VEL, *pipeline.INVERSE_ACC)
INVERSE_ITEMS_BARE = (*pipeline.INVERSE_POS_BARE, *pipeline.FORWARD_VEL_BARE, *pipeline.INVERSE_ACC_BARE)
COURSES = {
    "step": Course(pipeline.FORWARD, pipeline.INTEGRATE),
    "step without sensors": Course(pipeline.FORWARD_BARE, pipeline.INTEGRATE),
    "forward": Course(pipeline.FORWARD),
    "inverse": Course(INVERSE_ITEMS, solves=False),
    "inverse without sensors": Course(INVERSE_ITEMS_BARE, solves=False),
    "inverse with actuation": Course((*INVERSE_ITEMS, *pipeline.ACTUATOR_FORCES), solves=False),
}
"""Courses by name."""


class Linearisation:
    """The derivatives of a course of one model: its programs, and data to work on.

    Args:
        m: model; its options stay as they are while this is in use.
        course: a name in `COURSES`.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """

    def __init__(self, m: MjModel, course: str) -> None:
        check_derivable(m)
        self.m, self.d = m, MjData(m)
        self.space = TangentSpace(m)
        self.next_qpos = np.zeros(m.nq)
        self.d._memory.attach("work.fd_qpos", self.next_qpos)
        self.d._memory.attach("work.fd_start", np.zeros(start_size(m)))
        self.d._memory.attach("work.outcome", np.zeros(2 * m.nv + m.na))
        kind = COURSES[course]
        self._steps, self._solves = bool(kind.after), kind.solves
        solved = (factor_solution,) if kind.solves else ()
        kept = (save_start,) if kind.after else ()
        self._values = pipeline.cached_program(m, ("values", course), (*kind.values, *solved, *kept))
        self._stages = pipeline.resolve(m, (*kind.values, *kind.after))
        self._several = self._steps and m.opt.integrator == mjtIntegrator.mjINT_RK4
        self._codes: tuple[int, ...] = ()
        self._geoms = b""
        self._structure: object = None
        self._programs: dict[Any, TangentProgram] = {}

    def _differentiated(self) -> list[Stage | Plain]:
        found: list[Stage | Plain] = []
        for stage in differentiable(self.m, self._stages, self._codes):
            if stage is fwd_actuation:
                found.append(Plain(actuation_is_made))
            found.append(stage)
        return found

    def start(self, d: MjData) -> None:
        """Take over the state and the inputs of `d`, compute the values, and factorise the solver's Hessian."""
        own = self.d
        if self._solves:
            own.time = d.time
            for name in COPIED:
                getattr(own, name)[...] = getattr(d, name)
        else:
            own._copy_values(d)  # slopes of muscles are those of the last forward dynamics
        run(self._values, self.m, own)
        self._note_structure()
        if self._several:
            # contacts and rows of all passes find room before tangents need as much
            run(Program([*values_of(self._differentiated()), restore_start]), self.m, own)

    def _note_structure(self) -> None:
        """What touches what, and how many rows there are."""
        own = self.d
        geoms = own._memory.arrays["contact.geom"][: own.ncon].tobytes()
        if self._several:
            self._codes = all_codes(self.m)  # contacts of other types may come up within a step of several passes
        elif geoms != self._geoms:
            self._codes, self._geoms = contact_codes(self.m, own), geoms
        self._structure = (geoms, own.ne, own.nf, own.nl, own.nefc, tuple(own._memory.sizes[c] for c in CAPACITIES))

    def outcome(self, seeds: Mapping[str, np.ndarray], sensors: bool) -> tuple[np.ndarray, ...]:
        """Derivatives of the next state by directions of positions, velocities, activations and controls.

        Args:
            seeds: the directions, the same in each call with these names: (size, n), by ``qpos``, ``qvel``, ``act`` and
                ``ctrl``; those of qpos in the tangent space.
            sensors: whether derivatives of the sensor data are wanted.

        Returns:
            Those of the state (2 nv + na, n), positions in the tangent space, and, if wanted, of sensor data.
        """
        n = next(iter(seeds.values())).shape[1]
        key = ("outcome", *seeds), sensors, self._codes
        outputs = ("d.work.outcome", *(("d.sensordata",) if sensors else ()))
        program = self._programs.get(key)
        if program is None:
            stages = [plant_seeds, *self._differentiated(), Plain(keep_next_position), gather_outcome]
            inputs = [f"d.work.seed_{name}" for name in seeds]
            blocks = -(-n // LANES)
            with BUILDING:
                program = TangentProgram(self.m, self.d, stages, inputs, outputs, blocks, self._several, restore_start)
            self._programs[key] = program
        if program.is_stale(self._structure):
            program.start()
            for name, directions in seeds.items():
                program.plant(f"d.work.seed_{name}", directions)
        share_solution(self.d, program.data)
        program.run()
        return tuple(program.columns(name, n) for name in outputs)

    def tangents(self, inputs: Mapping[str, np.ndarray], outputs: Collection[str]) -> dict[str, np.ndarray]:
        """The tangents of some fields along directions.

        Args:
            inputs: for each field that varies (``d.qvel``, ``m.body_mass``) its tangents, (size of the field, n).
            outputs: fields whose tangents are wanted.

        Returns:
            For each output its tangents, (size of the field, n); those of qpos are (nv, n), in the tangent space.
        """
        directions = next(iter(inputs.values())).shape[1]
        blocks = -(-directions // LANES)
        key = tuple(inputs), tuple(outputs), self._codes, blocks
        program = self._programs.get(key)
        if program is None:
            after = (Plain(keep_next_position), Plain(restore_start)) if self._steps else ()
            stages = [*self._differentiated(), *after]
            with BUILDING:
                program = TangentProgram(self.m, self.d, stages, inputs, outputs, blocks, self._several)
            self._programs[key] = program
        program.start()
        for name, seeds in inputs.items():
            program.plant(name, seeds)
        share_solution(self.d, program.data)
        program.run()
        found = {name: program.columns(name, directions) for name in outputs}
        if "d.qpos" in found:
            qpos = self.next_qpos if self._steps else self.d.qpos
            found["d.qpos"] = self.space.coordinates(qpos, found["d.qpos"])
        return found


def linearisation(m: MjModel, course: str) -> Linearisation:
    """The derivatives of a course of a model, kept with it for each thread until an option or a callback is set.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    key = (("linearisation", course, threading.get_ident()), hooks.version)
    if key not in m._programs:
        with BUILDING:
            m._programs[key] = Linearisation(m, course)
    return m._programs[key]
