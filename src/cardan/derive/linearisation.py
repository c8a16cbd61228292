"""Derivatives of what a pipeline computes, by any of its inputs: values once, then tangents along many directions.

A *course* is what is differentiated: a step, the forward dynamics or the inverse dynamics. Its values are computed
once, and the Hessian of the solver is factorised. Then the directions of one kind of input go through the tangents of
those stages that depend on it, in blocks of lanes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.constrained import integrator_tangents, program_with_distance, with_distance
from cardan.derive.contact import all_codes, contact_codes
from cardan.derive.integration import factor_step
from cardan.derive.lending import BUILDING, lent
from cardan.derive.noslip import with_factor
from cardan.derive.plugin_memory import begin_memory, evaluations_matter, memory_size, put_back, recall, take_memory
from cardan.derive.program import Plain, Stage, TangentProgram, values_of
from cardan.derive.shadows import LANES
from cardan.derive.soft_contact import side_keys
from cardan.derive.stages import actuation_is_made, compare_rows, keep_next_position
from cardan.derive.support import check_compiler, differentiable
from cardan.derive.tangent_space import TangentSpace
from cardan.dynamics.actuation import fwd_actuation
from cardan.dynamics.bias import fwd_acceleration
from cardan.enums import mjtIntegrator
from cardan.jit import Program
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.tables import CAPACITIES
from cardan.step import pipeline
from cardan.step.finite_difference import restore_start, save_start, start_size
from cardan.step.hooks import callbacks_of
from cardan.step.plan import stages_of
from cardan.step.plugin_stages import plugin_advance
from cardan.step.programs import cached_program
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

COPIED = (
    *("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "qfrc_applied", "xfrc_applied", "eq_active"),
    *("mocap_pos", "mocap_quat", "userdata", "plugin_state"),
)
"""What the dynamics depend on, besides the time."""
RESTORE = Program([restore_start])
MAKE_ROWS = ("m.dof_frictionloss", "m.tendon_frictionloss")
"""Parameters that make constraint rows where they aren't 0, or vary: all that belongs to a row is computed anew."""


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
ACTUATED_ITEMS = (*pipeline.INVERSE_POS, *pipeline.FORWARD_VEL, *pipeline.ACTUATOR_FORCES, *pipeline.INVERSE_ACC)
"""Actuator forces come before the sensors that show them."""
COURSES = {
    "step": Course(pipeline.FORWARD, pipeline.INTEGRATE),
    "step without sensors": Course(pipeline.FORWARD_BARE, pipeline.INTEGRATE),
    "forward": Course(pipeline.FORWARD),
    "inverse": Course(INVERSE_ITEMS, solves=False),
    "inverse without sensors": Course(INVERSE_ITEMS_BARE, solves=False),
    "inverse with actuation": Course(ACTUATED_ITEMS, solves=False),
}
"""Courses by name."""


class Linearisation:
    """The derivatives of a course of one model: its programs, and data to work on.

    Args:
        m: model; its options stay as they are while this is in use.
        course: a name in `COURSES`.
        distant: whether contacts at a distance take part (`derive.distant`), up to `reach`.
        extended: whether what plugins keep from step to step belongs to the state (`derive.plugin_memory`).

    Attributes:
        d: data of its own, with the values.
        several: whether a step makes several forward passes.
        remembers: whether evaluations depend on what plugins remember (`derive.plugin_memory`).
        values: the program that computes the values.
        nmemory: numbers that plugins keep, if they belong to the state.
        codes: numbers of the pairs of types that have touched (`derive.contact.contact_codes`).
        version: how often it has changed what touches what, and what the constraint rows belong to (one number).

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """

    def __init__(self, m: MjModel, course: str, distant: bool = False, extended: bool = False) -> None:
        check_compiler()
        self.m, self.d = m, MjData(m)
        self.space = TangentSpace(m)
        self.next_qpos = np.zeros(m.nq)
        self.nmemory = memory_size(m, self.d) if extended else 0
        self.remembers = evaluations_matter(m, self.d) or self.nmemory > 0
        begin_memory(m, self.d)
        kind = COURSES[course]
        self._steps, self._solves = bool(kind.after), kind.solves
        memory = internals.memory(self.d)
        memory.attach("work.fd_qpos", self.next_qpos)
        memory.attach("work.fd_start", np.zeros(start_size(m)))
        self._stages, self._after = self._stages_of(kind.values), self._stages_of(kind.after)
        self.several = self._steps and m.opt.integrator == mjtIntegrator.mjINT_RK4
        self.values = cached_program(m, ("values", course), self._value_items(kind))
        self._distant = distant
        if distant:
            self.values, self._stages = program_with_distance(self.values), with_distance(self._stages)
        self.codes: tuple[int, ...] = ()
        self.version = memory.scalars["work.kept_version"]
        self._sizes: tuple[int, ...] = ()
        self._programs: dict[Any, TangentProgram] = {}

    def _stages_of(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return stages_of(self.m, items, callbacks_of(self.m))

    def set_reach(self, reach: float) -> None:
        """Set the distance, in m, up to which contacts take part."""
        internals.set_number(self.d, "work.reach", reach)

    def _value_items(self, kind: Course) -> tuple[Any, ...]:
        """Items that compute the values, and what the implicit function theorem needs."""
        items = tuple(with_factor(self._stages_of(kind.values))) if kind.solves else kind.values
        if self.remembers:
            items = (recall, *items)
        if not self._steps:
            return items
        after = self._after
        if any(integrator_tangents(stage) for stage in after):
            items += (*(s for s in after if not integrator_tangents(s) and s is not plugin_advance), factor_step)
        return (*items, save_start)

    def differentiated(self, values: bool = False) -> list[Stage | Plain]:
        """What programs of tangents run.

        Args:
            values: whether the values are not there yet. Then they are computed in the same pass, and what touches what
                is compared with before (`derive.stages.compare_contacts`, `compare_rows`).
        """
        found: list[Stage | Plain] = [Plain(recall)] if self.remembers else []
        for stage in differentiable(self.m, self._stages, self.codes, values):
            if stage is fwd_actuation:
                found.append(Plain(actuation_is_made))
            elif stage is fwd_acceleration and values:
                found.append(Plain(compare_rows))
            found.append(stage)
        if values:
            found.append(Plain(save_start))
        return [*found, *differentiable(self.m, self._after, self.codes, values, self.nmemory > 0)]

    def start(self, d: MjData) -> None:
        """Take over the state and the inputs of `d`, compute the values, and factorise what is solved with."""
        own = self.d
        if self._solves:
            own.time = d.time
            for name in COPIED:
                getattr(own, name)[...] = getattr(d, name)
        else:
            internals.copy_values(own, d)  # slopes of muscles are those of the last forward dynamics
        if self.remembers:
            take_memory(own, d)
        self.evaluate()

    def evaluate(self) -> None:
        """Compute the values for the state and the inputs that the data has, and factorise what is solved with."""
        internals.set_number(self.d, "work.plugin_is_kept", 0)
        run(self.values, self.m, self.d)
        self.note_structure()
        if self.several:
            # contacts and rows of all passes find room before tangents need as much: tangents grow with it
            run(Program([*values_of(self.differentiated()), restore_start]), self.m, self.d)
            self.note_structure()

    def note_structure(self) -> None:
        """Look what touches what, and what the constraint rows belong to."""
        own, memory = self.d, internals.memory(self.d)
        kept = memory.arrays
        counts = np.array((own.ncon, own.nefc, own.ne, own.nf, own.nl, 0))
        geoms = side_keys(self.m, own) if self.m.nflex else own.contact.geom[: own.ncon]
        rows = np.stack((own.efc_type[: own.nefc], own.efc_id[: own.nefc]), axis=1)
        sizes = tuple(memory.sizes[c] for c in CAPACITIES)
        same = sizes == self._sizes and np.array_equal(kept["work.kept_count"][:-1], counts[:-1])
        if same and np.array_equal(kept["work.kept_geom"][: own.ncon], geoms):
            if np.array_equal(kept["work.kept_row"][: own.nefc], rows):
                return
        if sizes != self._sizes:
            self._sizes = sizes
            memory.attach("work.kept_geom", np.zeros((memory.sizes["ncon"], 2), np.int32))
            memory.attach("work.kept_row", np.zeros((memory.sizes["nefc"], 2), np.int32))
        # contacts of other types may come up within a step of several passes
        codes = all_codes(self.m, self._distant) if self.several else contact_codes(self.m, own)
        if not set(codes) <= set(self.codes):
            self.codes = tuple(sorted({*self.codes, *codes}))
        memory.attach("work.kept_code", np.array(self.codes, np.int64))
        memory.attach("work.kept_count", counts)
        kept["work.kept_geom"][: own.ncon] = geoms
        kept["work.kept_row"][: own.nefc] = rows
        self.version[0] += 1

    def make_room(self, status: int) -> None:
        """Enlarge what a stage of a program of tangents asks to, and go back to the start of the step.

        There may be more rows than in a step: where a parameter is varied that is 0, and where a row at its edge is
        active or not by the last digit, which codes with and without tangents round differently.

        Raises:
            RuntimeError: it asks for something else.
        """
        if not 0 < status <= len(CAPACITIES):
            raise RuntimeError(f"a stage of a program of tangents returned the unknown status {status}")
        memory = internals.memory(self.d)
        self.d.grow(list(CAPACITIES)[status - 1], int(memory.scalars["work.need"][0]))
        if self._steps:
            run(RESTORE, self.m, self.d)

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
        key = tuple(inputs), tuple(outputs), self.codes, blocks
        program = self._programs.get(key)
        if program is None:
            after = (Plain(keep_next_position), Plain(restore_start)) if self._steps else ()
            stages = [*self.differentiated(), *after]
            whole = self.several or any(name in MAKE_ROWS for name in inputs)
            with BUILDING.lock:
                resets = (put_back,) if self.remembers else ()
                program = TangentProgram(self.m, self.d, stages, inputs, outputs, blocks, whole, resets)
            self._programs[key] = program
        status = -1
        while status:
            program.start()
            for name, seeds in inputs.items():
                program.plant(name, seeds)
            status = program.run()
            if status:
                self.make_room(status)
        found = {name: program.columns(name, directions) for name in outputs}
        if "d.qpos" in found:
            qpos = self.next_qpos if self._steps else self.d.qpos
            found["d.qpos"] = self.space.coordinates(qpos, found["d.qpos"])
        return found


@contextmanager
def linearisation(m: MjModel, course: str, reach: float = 0.0) -> Iterator[Linearisation]:
    """The derivatives of a course of a model, which nobody else uses meanwhile (`derive.lending`).

    Args:
        m: model.
        course: a name in `COURSES`.
        reach: distance, m, up to which geoms that don't touch have contacts (`derive.distant`); 0 for none.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    distant = reach > 0.0
    with lent(m, ("linearisation", course, distant), lambda: Linearisation(m, course, distant)) as found:
        found.set_reach(reach)
        yield found
