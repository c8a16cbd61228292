"""The Jacobian of a step by state and controls: values, tangents of each kind of input, and results, natively at once.

A *script* is a list of segments, tables of native functions: the values together with the tangents of the first block
of directions, stage by stage; then for positions, velocities, and activations with controls the tangents of those
stages that depend on them, once a block of directions. On the way what touches what is compared with the run before; if
that has changed, tangents are cleared. Stages bring directions in and results out, too (`derive.directions`). So one
call from Python makes a whole Jacobian, or those of all steps of a trajectory, each followed by a stage (`sweep`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.derive import directions
from cardan.derive.inputs import COPIED
from cardan.derive.linearisation import BUILDING, MAKE_ROWS, Linearisation, lent, program_of
from cardan.derive.plugins import gather_memory, made_by_the_user, plant_memory, put_back
from cardan.derive.program import LANES, Plain, Stage, TangentProgram, new_lanes
from cardan.derive.recording import begin_directions, end_directions, put_recorded, restore_recorded
from cardan.dynamics.actuation import actuation_stage
from cardan.jit import Program
from cardan.jit.binding.ready import FRAME_WORDS
from cardan.jit.driver.scripts import SCRIPT_SECOND, script_runner
from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.layout import address_of
from cardan.model import internals
from cardan.model.tables import DATA
from cardan.step.finite_difference import restore_start
from cardan.step.hooks import hooks
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

SEEDS = ("qpos", "qvel", "act", "memory", "ctrl")
"""Names of the inputs, in the order of their directions."""
VALUES = SCRIPT_SECOND
"""Segments of a script: a recorded step's start; values and first tangents, up to the contacts, and all after them; the
other tangents; what is done with a result."""
PUBLISHED_COLUMNS = 32
"""Columns, at most, of a Jacobian that native code computes while it holds the GIL: some tens of microseconds."""
ATTEMPTS = 8
"""How often a step is begun again because a stage asked for something, before values are computed beforehand."""


class Columns(NamedTuple):
    """The columns of a Jacobian that are wanted: those by the state, those by the controls."""

    state: bool
    control: bool


class Directions(NamedTuple):
    """So many blocks of directions of some inputs together; in a sweep each from the end of the step before."""

    inputs: tuple[str, ...]
    blocks: int


Wanted = Columns | Directions
ALL = Columns(True, True)


@dataclass
class Script:
    """A script for what is wanted and the kinds of pairs that touch."""

    programs: list[TangentProgram]
    segments: np.ndarray  # the first one and the last one are for recorded steps alone
    frame: np.ndarray  # the words that native code reads (`jit.driver.scripts.script_runner`)
    first: int  # the first direction, counted through all inputs
    end: int  # the one after the last
    version: int = -1  # the number of the structure that the tangents were cleared for
    cleared: np.ndarray | None = None  # kept alive for native code: addresses and bytes of arrays that are cleared

    def __post_init__(self) -> None:
        self.address = self.frame.ctypes.data


class StepJacobian:
    """The Jacobians of a step of one model, one state after the other (arguments as in `step_jacobian`).

    Attributes:
        course: what is differentiated.
        matrix: the Jacobian of the last state (`compute`); `A` and `B` are its parts of the next state.
        inputs: the fields whose tangents are the directions, by state and controls.
    """

    def __init__(self, m: MjModel, sensors: bool, distant: bool, extended: bool = False) -> None:
        course = self.course = Linearisation(m, "step" if sensors else "step without sensors", distant, extended)
        self.sensors = sensors
        memory, sizes = internals.memory(course.d), (m.nv, m.nv, m.na, course.nmemory, m.nu)
        nx = sum(sizes) - m.nu
        rows, columns = nx + (m.nsensordata if sensors else 0), nx + m.nu
        self.matrix = np.zeros((rows, columns))
        self.A, self.B = self.matrix[:nx, :nx], self.matrix[:nx, nx:]
        self._seed_lanes, outcome = new_lanes(max(columns, 1)), new_lanes(max(rows + m.nu + m.nv, 1))
        memory.scalars["work.nmemory"][0] = course.nmemory
        memory.attach("work.seed_memory", np.zeros(course.nmemory))
        memory.attach("work.jacobian", self.matrix.reshape(-1))
        memory.attach("work.outcome", np.zeros(rows))
        memory.attach("work.outcome_lanes", outcome)
        memory.attach("work.seed_lanes", self._seed_lanes)
        ends = np.cumsum((0, *sizes)).tolist()
        self._forces = {
            "actuator_force": outcome[None, rows : rows + m.nu],
            "qfrc_actuator": outcome[None, rows + m.nu :],
        }
        self._common = {"work.outcome": outcome[None, : max(rows, 1)]} | {
            f"work.seed_{name}": self._seed_lanes[None, first:end]
            for name, first, end in zip(SEEDS, ends[:-1], ends[1:], strict=True)
            if name != "memory" or extended
        }
        self.inputs = tuple(f"d.{name}" for name in self._common if name.startswith("work.seed_"))
        # fields that are taken over: distance of the slot from the first one, bytes of a number (0: a scalar); with
        # what plugins remember comes the mark that it is new: nobody except programs of tangents ever sets it
        fields = ["time", *COPIED]
        fields += ["work.plugin_is_kept"] if course.schedule.remembers else []
        fields += ["work.plugin_number"] if course.remembered else []
        kinds = [(8 * WORDS * DATA.slot[name], DATA.by_name[name]) for name in fields]
        self._copies = np.array([(at, 0 if f.is_scalar else f.numpy_dtype.itemsize) for at, f in kinds], np.int64)
        self._column, self._first, self._end = (
            memory.scalars[f"work.{name}"] for name in ("column", "first_column", "end_column")
        )
        self._runner = script_runner()
        self._native = not (course.schedule.several or course.values.needs_objects)
        self._copies_fit = not (course.remembered and made_by_the_user(m))
        self._scripts: dict[tuple[Wanted, tuple[int, ...], bool], Script] = {}
        self._ready: dict[Wanted, Script] = {}
        self._seeds: Mapping[str, np.ndarray] = {}
        self._published: np.ndarray | None = None
        self._address = 0  # of the frame that is published
        self._version = hooks.version
        self._mark = internals.programs(m).of("current", self._version, object)
        self._directed = False  # whether directions other than single columns were planted last

    def compute(self, d: MjData, state: bool, control: bool) -> np.ndarray:
        """The derivatives at a data, which does not change, by the state, by the controls, or by both.

        They are `matrix`, (2 nv + na + nsensordata, 2 nv + na + nu): a row a result, a column an input; what was not
        wanted is not defined.
        """
        wanted = Columns(state, control or not self.course.m.nu)
        if self._directed:
            self._begin_directions(wanted, {})
        self._go(wanted, lambda: self.course.start(d), self._copies_fit, d.address)
        return self.matrix

    def publish(self, words: np.ndarray) -> bool:
        """Let native code find the script for all columns, if it is short, until `withdraw`; returns whether it can.

        It looks in `words` for the address of the frame and the version of the callbacks.
        """
        script, programs = self._ready.get(ALL), internals.programs(self.course.m)
        if script is None or self.sensors or self.matrix.shape[1] > PUBLISHED_COLUMNS:
            return False
        with programs.lock:
            if script.version != self.course.version[0] or programs.get("current", self._version) is not self._mark:
                return False
            script.frame[5] = len(script.segments) - 1  # a sweep had one more
            words[:] = script.address, self._version
            self._published, self._address = words, script.address
        return True

    def withdraw(self) -> None:
        """Hide it again."""
        if self._published is not None and self._published[0] == self._address:
            self._published[0] = 0
        self._published = None

    def sweep(
        self,
        tape: np.ndarray,
        steps: range,
        finish: Program,
        wanted: Wanted,
        seeds: Mapping[str, np.ndarray] = MappingProxyType({}),
        beforehand: bool = False,
    ) -> None:
        """The derivatives of recorded steps one after the other, each followed by a stage, natively.

        Rows of `tape` are what steps start from (`derive.recording`); `steps` are their numbers, in the order that
        `finish` goes to by itself: it is done with the results of each step, and sets ``work.tape_step`` to the next
        one. `seeds` are directions of inputs beside the state, (size of the field, n), by field. If
        `beforehand`, the values of each step are computed before its tangents, not with them.
        """
        if not len(steps):
            return
        course = self.course
        internals.set_number(course.d, "work.tape_step", steps[0])
        internals.attach(course.d, "work.tape", tape)

        def begin() -> None:
            run(program_of(put_recorded), course.m, course.d)
            course.evaluate()

        self._begin_directions(wanted, seeds)
        self._go(wanted, begin, not beforehand, steps=len(steps), finish=finish)

    def _go(
        self,
        wanted: Wanted,
        begin: Callable[[], None],
        fits: bool = True,
        source: int = 0,
        steps: int = 1,
        finish: Program | None = None,
    ) -> None:
        """Run scripts, as many steps at a time as need no Python.

        `begin` computes the values of the present step, and answers what a stage asks for. If it `fits`, native code
        takes state and inputs over from the slot table at the address `source`, if that is not 0. `finish` is done
        after each of recorded steps, and goes to the next one.
        """
        course, left, attempts = self.course, steps, 0
        while left:
            if not (fits and self._native) or attempts == ATTEMPTS:
                begin()
                self._differentiate(wanted)
                if finish is not None:
                    run(finish, course.m, course.d)
                left, attempts = left - 1, 0
                continue
            if not course.version[0]:
                begin()
            script, before = self._prepared(wanted), left
            if finish is not None:
                script.segments[-1] = _plain_segment(finish)
                status = self._run(script, 0, repeat=left)
                left = int(script.frame[8])
            else:
                status = self._run(script, VALUES, source)
            if status == 0:
                return
            attempts = attempts + 1 if left == before else 1
            if status == directions.RESTRUCTURED:
                course.note_structure()
            else:
                begin()

    def _run(self, script: Script, first: int, source: int = 0, repeat: int = 0) -> int:
        """Run a script from a segment on, for a source (`_go`) or `repeat` recorded steps; return a status."""
        self._column[0] = self._first[0] = script.first
        self._end[0] = script.end
        self._plant(script)
        frame = script.frame
        frame[1], frame[2], frame[4] = len(self._copies) if source else 0, source, first
        frame[5] = len(script.segments) - (0 if repeat else 1)
        frame[8] = repeat
        status = self._runner(script.address)
        script.version = int(self.course.version[0])
        return status

    def _differentiate(self, wanted: Wanted) -> None:
        """Run the tangents at values that are there."""
        while True:
            status = self._run(self._prepared(wanted, values=False), VALUES)
            if not status:
                return
            self.course.make_room(status)
            self.course.note_structure()

    def _begin_directions(self, wanted: Wanted, seeds: Mapping[str, np.ndarray]) -> None:
        """Clear the previous directions, which blocks of columns do not clear, and take the next ones."""
        if self._directed:
            self._seed_lanes[...] = 0.0
        self._directed, self._seeds = isinstance(wanted, Directions), seeds

    def _plant(self, script: Script) -> None:
        at = 0
        for program in script.programs if self._seeds else ():
            for name, seeds in self._seeds.items():
                program.plant(name, seeds[:, at : at + LANES * program.blocks])
            at += LANES * program.blocks

    def _prepared(self, wanted: Wanted, values: bool = True) -> Script:
        """A script for the present structure, with tangents of 0 except those of the directions."""
        course = self.course
        key = wanted, course.codes, values
        script = self._scripts.get(key)
        if script is None:
            with BUILDING.lock:
                script = self._scripts[key] = self._make_script(wanted, values)
        if script.version != course.version[0]:
            for program in script.programs:
                program.start()
            script.version = int(course.version[0])
            of_structure = [part for program in script.programs for part in program.of_structure()]
            all_parts = [part for program in script.programs for part in program.cleared(self._seeds)]
            # what is cleared where contacts change, then what is where rows do
            script.cleared = cleared = np.array([*of_structure, *all_parts], np.int64).reshape(-1, 2)
            address, first = cleared.ctypes.data, len(of_structure)
            script.frame[9:13] = address, first, address + first * cleared.strides[0], len(all_parts)
        if values:
            self._ready[wanted] = script
        return script

    def _make_script(self, wanted: Wanted, values: bool) -> Script:
        m = self.course.m
        programs: list[TangentProgram] = []
        rows = [_plain_segment(program_of(restore_recorded))]
        first, end = 0, 0
        if isinstance(wanted, Directions):
            groups = [wanted]
            ends = begin_directions, end_directions
        else:
            first = 0 if wanted.state else 2 * m.nv
            end = len(self.A) + (m.nu if wanted.control else 0)
            groups = _groups(m, self.inputs, first, end)
            ends = directions.begin_block, directions.end_block
            if wanted == ALL and not self.sensors and directions.lanes_are_shared(m):
                groups, ends = [Directions(self.inputs, 1)], (directions.begin_shared, directions.end_shared)
        for inputs, blocks in groups:
            left = blocks
            if values and not programs:
                programs.append(self._program(inputs, ends, blocks=1, values=True))
                rows += programs[-1].parted(directions.compare_contacts)
                left -= 1
            if left and isinstance(wanted, Directions):
                programs.append(self._program(inputs, ends, blocks=left))
                rows.append(programs[-1].segment)
            elif left:  # all blocks have the same shadows
                shared = programs[0].shadows["d"].arrays if left < blocks else {}
                programs.append(self._program(inputs, ends, common=shared))
                rows.append((*programs[-1].segment[:4], 0, 0, left))
        segments = np.array([*rows, _plain_segment(program_of(restore_recorded))], np.int64)
        frame = np.zeros(FRAME_WORDS, np.int64)
        addresses = self._copies.ctypes.data, 0, 0, segments.ctypes.data
        frame[:8] = *addresses, 0, len(segments) - 1, m.address, self.course.d.address
        scalars = (address_of(number) for number in (self._column, self._first, self._end))
        sizes = len(self.A), m.nu, len(self._copies)
        frame[13:] = hooks.version_address, *sizes, *scalars, self.matrix.ctypes.data
        return Script(programs, segments, frame, first, end)

    def _program(
        self,
        inputs: tuple[str, ...],
        ends: tuple[Stage, Stage],
        blocks: int = 1,
        values: bool = False,
        common: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> TangentProgram:
        """The tangents of a step along directions of some inputs; one program for as long as the same kinds touch.

        `ends` are the stages that set the directions of a block, and that take its results; `blocks` the number of
        blocks with shadows of their own; `common` shadows from another program with the same inputs.
        """
        course, kept = self.course, self.course.nmemory > 0
        stages: list[Stage | Plain] = [Plain(ends[0]), directions.plant_seeds, *([plant_memory] if kept else [])]
        stages += course.tangent_stages(values)
        if ends[0] is directions.begin_shared:
            stages.insert(stages.index(actuation_stage(course.m)) + 1, directions.SPREAD_FORCES)
            common = {**common, **self._forces}
        stages += [Plain(directions.keep_next_position), directions.gather_outcome]
        stages += [*([gather_memory] if kept else []), *([directions.gather_sensors] if self.sensors else [])]
        stages.append(Plain(ends[1]))
        whole = values or course.schedule.several or any(name in MAKE_ROWS for name in inputs)
        resets = (restore_start, put_back) if course.schedule.remembers else (restore_start,)
        common = {**common, **self._common}
        return TangentProgram(course.m, course.d, stages, inputs, ("d.work.outcome",), blocks, whole, resets, common)


def _groups(m: MjModel, inputs: tuple[str, ...], first: int, end: int) -> list[Directions]:
    """Blocks of directions that go through the same stages: names of the inputs, and how many blocks there are.

    Positions go through all stages, velocities through fewer, activations and controls through fewest. Lanes that
    positions leave over take velocities, and so on: so in small models all are one block.
    """
    found, at = [], first
    for k, last in enumerate((m.nv, 2 * m.nv, end)):
        if last > at:
            blocks = -(-(last - at) // LANES)
            found.append(Directions(inputs[k:], blocks))
            at += blocks * LANES
    return found


def _plain_segment(program: Program) -> tuple[int, ...]:
    """A segment that runs once, without tangents."""
    return (program.table.ctypes.data, len(program.table), 0, 0, 0, 0, 1)


@contextmanager
def step_jacobian(m: MjModel, sensors: bool, reach: float = 0.0, extended: bool = False) -> Iterator[StepJacobian]:
    """Lend the Jacobians of a step of a model to one user (`derive.linearisation.lent`), with sensor data or without.

    Contacts take part that are up to `reach` (m) away (`derive.distant`); if 0, none. In an `extended` one what plugins
    keep from step to step belongs to the state.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    distant = reach > 0.0
    name = ("step jacobian", sensors, distant, extended)
    with lent(m, name, lambda: StepJacobian(m, sensors, distant, extended)) as found:
        found.withdraw()
        internals.set_number(found.course.d, "work.reach", reach)
        yield found
