"""Derivatives at one state, of any field with respect to any real field, and of the inverse dynamics.

A `Linearisation` holds a schedule (`derive.schedule`) in memory: data to work on, the program of the values, and
tangent programs (`derive.program`). Values are computed and the solver's Hessian is factorised once. Then, for each
kind of input, the tangents of all stages that depend on it run along its directions, in blocks of lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cardan.derive.contact import all_codes, contact_codes
from cardan.derive.directions import RESTRUCTURED, compare_contacts, compare_rows, keep_next_position
from cardan.derive.inputs import COPIED, TangentSpace, named_inputs, part
from cardan.derive.plugins import begin_memory, check_numbers, contact_memory, put_back
from cardan.derive.program import LANES, Plain, Stage, TangentProgram
from cardan.derive.schedule import schedule_of, tangent_stages
from cardan.jit import Program, jit_enabled
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.tables import CAPACITIES
from cardan.step.finite_difference import restore_start, start_size
from cardan.step.hooks import hooks
from cardan.step.programs import make_program
from cardan.step.run import run
from cardan.threads import Locked

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Thing = TypeVar("Thing")

COMPARISONS = (compare_contacts, compare_rows)
MAKE_ROWS = ("m.dof_frictionloss", "m.tendon_frictionloss")
"""Parameters that create constraint rows if they are not 0 or if they vary; all stages of rows must run again."""
BUILDING = Locked()
"""Lock that is held while programs are compiled, so that threads do not compile the same program twice."""


@cache
def program_of(stage: Callable[..., int]) -> Program:
    """Return a program that consists of one stage and works with any model."""
    return Program([stage])


@contextmanager
def lent(m: MjModel, name: tuple[Any, ...], make: Callable[[], Thing]) -> Iterator[Thing]:
    """Lend an object from a model's pool `name` to one user. If none is idle, `make` creates one.

    Objects return to the pool after use, except after errors. The pool is discarded if an option or a callback is set.
    """
    idle: list[Thing] = internals.programs(m).of(("idle", *name), hooks.version, list)
    try:
        found = idle.pop()
    except IndexError:
        with BUILDING.lock:
            found = make()
    yield found
    idle.append(found)  # not reached after an error


class Linearisation:
    """Programs and private data for the derivatives of a schedule (`derive.schedule.schedule_of`) of one model.

    The model's options must not change during use. Contacts at a distance are included up to ``work.reach``.

    Attributes:
        d: private data with the values at the current state.
        schedule: stages that are differentiated.
        values: program that computes the values of all fields.
        remembered: number of values that plugins remember, without their states.
        nmemory: number of values that plugins keep, if these belong to the state; otherwise 0.
        codes: pair kinds that have touched so far (`derive.contact.contact_codes`).
        version: number of changes of the contacts' sides and the constraint rows so far (an array of one number).
    """

    def __init__(self, m: MjModel, kind: str, distant: bool = False, extended: bool = False) -> None:
        if not jit_enabled:
            raise RuntimeError(
                "derivatives need native code, which CARDAN_JIT=0 (or NUMBA_DISABLE_JIT=1) switches off; "
                "mjd_transitionFD and mjd_inverseFD work without it"
            )
        self.m, self._distant = m, distant
        version = hooks.version  # before callbacks are read, because other threads may set them at any time
        self.space = TangentSpace(m)
        self.schedule = schedule_of(m, kind, distant, extended)
        self.values = internals.programs(m).of(
            ("values", kind, distant, extended), version, lambda: make_program(m, self.schedule.values)
        )
        self.d = MjData(m)
        self.remembered = begin_memory(self.d, self.schedule.left)
        self.nmemory = m.npluginstate + self.remembered + contact_memory(m) if extended else 0
        memory, self.next_qpos = internals.memory(self.d), np.zeros(m.nq)
        memory.attach("work.fd_qpos", self.next_qpos)
        memory.attach("work.fd_start", np.zeros(start_size(m)))
        self.codes: tuple[int, ...] = ()
        self.version = memory.scalars["work.kept_version"]
        self._sizes: tuple[int, ...] = ()
        self._programs: dict[Any, TangentProgram] = {}

    def tangent_stages(self, values: bool = False) -> list[Stage | Plain]:
        """Return the stages that tangent programs run (`derive.schedule.tangent_stages`)."""
        return tangent_stages(self.m, self.schedule, self.codes, values)

    def start(self, d: MjData) -> None:
        """Copy the state and the inputs from `d`, and compute the values."""
        own = self.d
        if self.schedule.solves:
            own.time = d.time
            for name in COPIED:
                getattr(own, name)[...] = getattr(d, name)
        else:
            internals.copy_values(own, d)  # muscle slopes remain those of the last forward dynamics
        if self.remembered:
            numbers, given = (internals.array(x, "work.plugin_number") for x in (own, d))
            check_numbers(numbers, given)
            numbers[...] = given
        self.evaluate()

    def evaluate(self) -> None:
        """Compute the values at the current state and inputs, and the factorisations that tangents need."""
        internals.set_number(self.d, "work.plugin_is_kept", 0)
        run(self.values, self.m, self.d)
        self.note_structure()

    def note_structure(self) -> None:
        """Compare contacts and constraint rows with those of the last call; update `codes` and the arrays of marks."""
        memory = internals.memory(self.d)
        sizes = tuple(memory.sizes[capacity] for capacity in CAPACITIES)
        changed = sizes != self._sizes
        if changed:
            self._sizes = sizes
            memory.attach("work.kept_geom", np.zeros((memory.sizes["ncon"], 2), np.int32))
            memory.attach("work.kept_row", np.zeros((memory.sizes["nefc"], 2), np.int32))
            memory.attach("work.kept_count", np.full(3, -1))
        while changed or any(program_of(stage).run(self.m, self.d) == RESTRUCTURED for stage in COMPARISONS):
            codes = {*self.codes, *contact_codes(self.m, self.d)}
            if self.schedule.several:  # later passes of a step may have other kinds of contacts
                codes |= set(all_codes(self.m, self._distant))
            self.codes, changed = tuple(sorted(codes)), False
            memory.attach("work.kept_code", np.array(self.codes, np.int64))

    def make_room(self, status: int) -> None:
        """Enlarge the arrays that a stage of a tangent program requested, and return to the start of the step.

        There can be more rows than in a step if a parameter of 0 is varied. Also, code with and without tangents rounds
        differently, which can decide whether a row at the edge of its range is active.
        """
        if not 0 < status <= len(CAPACITIES):
            raise RuntimeError(f"a stage of a tangent program returned the unknown status {status}")
        self.d.grow(list(CAPACITIES)[status - 1], int(internals.memory(self.d).scalars["work.need"][0]))
        if self.schedule.after:
            run(program_of(restore_start), self.m, self.d)

    def tangents(self, inputs: Mapping[str, np.ndarray], outputs: Collection[str]) -> dict[str, np.ndarray]:
        """Return the tangents of each output (size of the field, n) along n directions; those of qpos are (nv, n).

        `inputs` maps each field that varies (``d.qvel``, ``m.body_mass``) to its tangents (size of the field, n).
        """
        directions = next(iter(inputs.values())).shape[1]
        blocks, steps = -(-directions // LANES), bool(self.schedule.after)
        key = tuple(inputs), tuple(outputs), self.codes, blocks
        program = self._programs.get(key)
        if program is None:
            stages = [*self.tangent_stages(), *((Plain(keep_next_position), Plain(restore_start)) if steps else ())]
            whole = self.schedule.several or any(name in MAKE_ROWS for name in inputs)
            resets = (put_back,) if self.schedule.remembers else ()
            with BUILDING.lock:
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
            found["d.qpos"] = self.space.coordinates(self.next_qpos if steps else self.d.qpos, found["d.qpos"])
        return found


@contextmanager
def linearisation(m: MjModel, kind: str, reach: float = 0.0) -> Iterator[Linearisation]:
    """Lend the `Linearisation` of a model for one of `derive.schedule.KINDS`; `reach` is as in `step_jacobian`.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    distant = reach > 0.0
    with lent(m, ("linearisation", kind, distant), lambda: Linearisation(m, kind, distant)) as found:
        internals.set_number(found.d, "work.reach", reach)
        yield found


def sensitivities(
    m: MjModel, d: MjData, of: Sequence[str], by: Sequence[str], after: str = "step", reach: float = 0.0
) -> dict[tuple[str, str], np.ndarray]:
    """Derivatives of fields with respect to fields, as `cardan.derivatives`; `reach` is a distance (m) or 0."""
    if after not in ("step", "forward"):
        raise ValueError(f'derivatives: after must be "step" or "forward", not {after!r}')
    with linearisation(m, after, reach) as course:
        course.start(d)
        results = [part(course.d, text) for text in of]
        if m.npluginstate and any(result.field == "d.plugin_state" for result in results):
            raise NotImplementedError("derivatives of plugin_state are not supported: only those by it are")
        fixed = [result.text for result in results if result.field.startswith("m.")]
        if fixed:
            raise ValueError(f"derivatives: {fixed[0]} belongs to the model, which no step changes")
        outputs = tuple(dict.fromkeys(result.field for result in results))
        groups = {text: named_inputs(course.d, (text,)) for text in by}
        # parameters of the model share one program, which is compiled once
        parameters = [text for text, inputs in groups.items() if inputs.parts[0][0].field.startswith("m.")]
        if len(parameters) > 1:
            groups = {text: groups[text] for text in groups if text not in parameters}
            groups["parameters"] = named_inputs(course.d, parameters)
        found: dict[tuple[str, str], np.ndarray] = {}
        for inputs in groups.values():
            wanted = inputs.total and outputs
            tangents = course.tangents(inputs.seeds(course.space, course.d), outputs) if wanted else {}
            for text, (columns, shape) in inputs.columns.items():
                for result in results:
                    nothing = np.zeros((len(result.numbers), 0))
                    rows = tangents[result.field][result.numbers, columns] if tangents else nothing
                    found[result.text, text] = rows.reshape(*result.shape, *shape).copy()
        return {(result.text, text): found[result.text, text] for text in by for result in results}


def inverse_derivatives(
    m: MjModel, d: MjData, actuation: bool, inputs: tuple[bool, bool, bool], sensors: bool
) -> np.ndarray:
    """Derivatives of inverse dynamics with respect to position, velocity and acceleration (spec: derivatives).

    If `actuation` is set, `qfrc_actuator` is subtracted from `qfrc_inverse`. `inputs` selects the three inputs, and
    `sensors` includes sensor data. The result is (3 nv, nv + nsensordata + nM), with one row per input. Its columns
    belong to qfrc_inverse, sensor data and qM; parts that were not selected are 0.
    """
    kind = "inverse with actuation" if actuation else "inverse" if sensors else "inverse without sensors"
    nv, ns = m.nv, m.nsensordata
    result = np.zeros((3 * nv, nv + ns + m.nM))
    with linearisation(m, kind) as course:
        course.start(d)
        seeds = (("d.qpos", course.space.basis(course.d.qpos)), ("d.qvel", np.eye(nv)), ("d.qacc", np.eye(nv)))
        places = {"d.qfrc_inverse": slice(0, nv), "d.qM": slice(nv + ns, None)}
        places |= {"d.sensordata": slice(nv, nv + ns)} if sensors else {}
        outputs = (*places, *(("d.qfrc_actuator",) if actuation else ()))
        for k, (name, directions) in enumerate(seeds):
            if inputs[k] and nv:
                found = course.tangents({name: directions}, outputs)
                rows = result[k * nv : (k + 1) * nv]
                for output, columns in places.items():
                    rows[:, columns] = found[output].T
                if actuation:
                    rows[:, :nv] -= found["d.qfrc_actuator"].T
    return result
