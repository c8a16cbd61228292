"""The Jacobian of a step by state and controls: values, tangents of each kind of input, and results, natively at once.

A *script* is a list of segments, tables of native functions: the values together with the tangents of the first block
of directions, stage by stage; then for positions, velocities, and activations with controls the tangents of those
stages that depend on them, once a block of directions. On the way what touches what is compared with the run before;
where that is something else, tangents are cleared. Directions and results are brought in and out by stages, too, so
that one call from Python makes a whole Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.lending import BUILDING, lent
from cardan.derive.linearisation import COPIED, MAKE_ROWS, Linearisation
from cardan.derive.plugin_memory import gather_memory, made_by_the_user, plant_memory, put_back
from cardan.derive.program import Plain, Stage, TangentProgram
from cardan.derive.recording import begin_directions, end_directions, restore_recorded
from cardan.derive.shadows import LANES
from cardan.derive.shared_lanes import SPREAD_FORCES, begin_shared, end_shared, lanes_are_shared
from cardan.derive.stages import (
    RESTRUCTURED,
    begin_block,
    compare_contacts,
    end_block,
    gather_outcome,
    gather_sensors,
    keep_next_position,
    plant_seeds,
)
from cardan.dynamics.actuation import fwd_actuation
from cardan.jit import Program
from cardan.jit.binding.ready import FRAME_WORDS
from cardan.jit.memory.struct import WORDS, address_of, aligned_buffer
from cardan.jit.transform.run import SCRIPT_SECOND, script_runner
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
INPUTS = tuple(f"d.work.seed_{name}" for name in SEEDS if name != "memory")
VALUES = SCRIPT_SECOND
"""Segments of a script: a recorded step's start; values and first tangents, up to the contacts, and all after them; the
other tangents; what is done with a result."""
PUBLISHED_COLUMNS = 32
"""Columns, at most, of a Jacobian that native code computes while it holds the GIL: some tens of microseconds."""
ATTEMPTS = 8
"""How often a step is begun again because a stage asked for something, before values are computed beforehand."""


def _copies(remembers: bool) -> np.ndarray:
    """For each field that is taken over: distance of its slot from the first one, bytes of a number (0: a scalar).

    With what plugins remember comes the mark that it is new: nobody but programs of tangents ever sets it.
    """
    arrays = (*COPIED, "work.plugin_number") if remembers else COPIED
    scalars = ("time", "work.plugin_is_kept") if remembers else ("time",)
    rows = [(DATA.slot[name], 0) for name in scalars]
    rows += [(DATA.slot[name], DATA.by_name[name].numpy_dtype.itemsize) for name in arrays]
    return np.array([(8 * WORDS * slot, size) for slot, size in rows], np.int64)


@dataclass(frozen=True)
class Columns:
    """The columns of a Jacobian that are wanted: those by the state, those by the controls."""

    state: bool
    control: bool


@dataclass(frozen=True)
class Directions:
    """Directions of the state and of other inputs together, each from the end of the step before.

    Attributes:
        inputs: fields beside the state that vary.
        blocks: number of blocks.
    """

    inputs: tuple[str, ...]
    blocks: int


Wanted = Columns | Directions


@dataclass
class Script:
    """A script for what is wanted, some results, and the pairs of types that touch.

    Attributes:
        programs: the programs of tangents.
        segments: the segments; the first one and the last one are for recorded steps alone.
        frame: what native code takes (`jit.transform.run.script_runner`).
        address: its address.
        first: the first direction, counted through all inputs.
        end: the one after the last.
        version: the number of the structure that the tangents were cleared for.
        cleared: what is cleared where contacts change, then what is where rows do: address and bytes of each array.
    """

    programs: list[TangentProgram]
    segments: np.ndarray
    frame: np.ndarray
    address: int
    first: int
    end: int
    version: int = -1
    cleared: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))


class StepJacobian:
    """The Jacobians of a step of one model, one state after the other.

    Attributes:
        course: what is differentiated.
        matrix: the Jacobian of the last state (`compute`).
        A, B: its parts of the next state by the state and the controls.

    Args:
        m: model.
        sensors: whether sensor data are among the results.
        distant: whether contacts take part that aren't made (`derive.distant`).
        extended: whether what plugins keep from step to step is the last part of the state (`derive.plugin_memory`).

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """

    def __init__(self, m: MjModel, sensors: bool, distant: bool, extended: bool = False) -> None:
        self.course = Linearisation(m, "step" if sensors else "step without sensors", distant, extended)
        self.sensors = sensors
        memory, nv, na, nu = internals.memory(self.course.d), m.nv, m.na, m.nu
        nx = 2 * nv + na + self.course.nmemory
        rows, columns = nx + (m.nsensordata if sensors else 0), nx + nu
        self.matrix = np.zeros((rows, columns))
        memory.scalars["work.nmemory"][0] = self.course.nmemory
        memory.attach("work.seed_memory", np.zeros(self.course.nmemory))
        self.A, self.B = self.matrix[:nx, :nx], self.matrix[:nx, nx:]
        seeds, outcome = _lanes(max(columns, 1)), _lanes(max(rows + nu + nv, 1))
        memory.attach("work.jacobian", self.matrix.reshape(-1))
        memory.attach("work.outcome", np.zeros(rows))
        memory.attach("work.outcome_lanes", outcome)
        memory.attach("work.seed_lanes", seeds)
        self._seed_lanes = seeds
        ends = np.cumsum((0, nv, nv, na, self.course.nmemory, nu)).tolist()
        self._forces = {"actuator_force": outcome[rows : rows + nu], "qfrc_actuator": outcome[rows + nu :]}
        self._common = {"work.outcome": outcome[: max(rows, 1)]} | {
            f"work.seed_{name}": seeds[first:end]
            for name, first, end in zip(SEEDS, ends[:-1], ends[1:], strict=True)
            if name != "memory" or extended
        }
        self.inputs = tuple(f"d.{name}" for name in self._common if name.startswith("work.seed_"))
        self._restore = Program([restore_recorded])
        self._copies = _copies(self.course.remembers)
        self._column, self._first, self._end = (
            memory.scalars[f"work.{name}"] for name in ("column", "first_column", "end_column")
        )
        self._runner = script_runner()
        self._native = not (self.course.several or self.course.values.needs_objects)
        self._copies_fit = not (self.course.remembers and made_by_the_user(m))
        self._scripts: dict[tuple[Wanted, tuple[int, ...], bool], Script] = {}
        self._ready: dict[Wanted, Script] = {}
        self._seeds: Mapping[str, np.ndarray] = {}
        self._published: np.ndarray | None = None
        self._address = 0  # of the frame that is published
        self._version = hooks.version
        self._mark = internals.programs(m).of("current", self._version, object)
        self._directed = False  # whether directions other than single columns were planted last

    def compute(self, d: MjData, state: bool, control: bool) -> np.ndarray:
        """The derivatives for the state and the inputs of a data, which does not change.

        Args:
            d: data.
            state: whether derivatives by the state are wanted.
            control: whether those by the controls are.

        Returns:
            (2 nv + na + nsensordata, 2 nv + na + nu), a row a result, a column an input; what was not wanted is not
            defined. The same array each time.
        """
        wanted = COLUMNS[state, control or not self.course.m.nu]
        if self._directed:
            self._begin_directions(wanted, {})
        for _ in range(ATTEMPTS if self._native and self._copies_fit else 0):
            script = self._ready.get(wanted)
            if script is None or script.version != self.course.version[0]:
                if not self.course.version[0]:
                    self.course.start(d)
                script = self._prepared(wanted)
            status = self._run(script, VALUES, d.address)
            if status == 0:
                return self.matrix
            if status == RESTRUCTURED:
                self.course.note_structure()
            else:
                self.course.start(d)  # it answers what a stage asks for
        self.course.start(d)
        self._differentiate(wanted)
        return self.matrix

    def publish(self, words: np.ndarray) -> bool:
        """Let native code find the script for all columns, if it is short, until this is used otherwise (`withdraw`).

        Args:
            words: where it looks: address of the frame, and version of the callbacks.

        Returns:
            Whether it can find it.
        """
        script, programs = self._ready.get(COLUMNS[True, True]), internals.programs(self.course.m)
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
        if self._published is not None:
            if self._published[0] == self._address:
                self._published[0] = 0
            self._published = None

    def sweep(
        self,
        tape: np.ndarray,
        put: Callable[[MjData, int], None],
        steps: range,
        finish: Program,
        wanted: Wanted,
        seeds: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """The derivatives of recorded steps one after the other, each followed by a stage, natively.

        Args:
            tape: what steps start from (`derive.recording`), a row each.
            put: sets data as they were before a step: with what the rows don't have, and each step that needs Python.
            steps: numbers of the rows, in the order that `finish` goes to by itself.
            finish: what is done with the results of each step; it sets ``work.tape_step`` to the next one.
            wanted: what is wanted.
            seeds: directions of inputs beside the state, (size of the field, n), by field.
        """
        if not len(steps):
            return
        course, left = self.course, len(steps)
        put(course.d, steps[0])
        internals.attach(course.d, "work.tape", tape)
        number = internals.memory(course.d).scalars["work.tape_step"]
        number[0] = steps[0]
        self._begin_directions(wanted, seeds)
        if wanted in self._ready:
            self._plant(self._ready[wanted])
        attempts = 0
        while left:
            if self._native and attempts < ATTEMPTS:
                if not course.version[0]:
                    course.evaluate()
                script = self._prepared(wanted)
                script.segments[-1] = _plain_segment(finish)
                before = left
                status = self._run(script, 0, repeat=left)
                left = int(script.frame[8])
                if status == 0:
                    return
                attempts = attempts + 1 if left == before else 1
                if status == RESTRUCTURED:
                    course.note_structure()
                    continue
                put(course.d, int(number[0]))
                course.evaluate()  # it answers what a stage asks for
                continue
            put(course.d, int(number[0]))
            course.evaluate()
            self._differentiate(wanted)
            run(finish, course.m, course.d)
            left, attempts = left - 1, 0

    def _run(self, script: Script, first: int, source: int = 0, repeat: int = 0) -> int:
        """Run a script from one of its segments on; returns 0, or the status of the stage that stopped.

        Args:
            script: the script.
            first: number of the segment.
            source: address of the slot table that state and inputs are taken over from, or 0.
            repeat: number of recorded steps, or 0 for a state that is given.
        """
        self._column[0] = self._first[0] = script.first
        self._end[0] = script.end
        frame = script.frame
        frame[1], frame[2], frame[4] = len(self._copies) if source else 0, source, first
        frame[5] = len(script.segments) - (0 if repeat else 1)
        frame[8] = repeat
        status = self._runner(script.address)
        script.version = int(self.course.version[0])
        return status

    def _begin_directions(self, wanted: Wanted, seeds: Mapping[str, np.ndarray]) -> None:
        """Forget the directions of before, which blocks of columns don't clear, and note the ones to come."""
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
        """A script for the present structure, with tangents of 0 but those of the directions.

        Args:
            wanted: what is wanted.
            values: whether it computes the values as well.
        """
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
            script.cleared = np.array([*of_structure, *all_parts], np.int64).reshape(-1, 2)
            address, first = script.cleared.ctypes.data, len(of_structure)
            script.frame[9:13] = address, first, address + first * script.cleared.strides[0], len(all_parts)
            self._plant(script)
        if values:
            self._ready[wanted] = script
        return script

    def _differentiate(self, wanted: Wanted) -> None:
        """Run the tangents at values that are there."""
        while True:
            status = self._run(self._prepared(wanted, values=False), VALUES)
            if not status:
                return
            self.course.make_room(status)
            self.course.note_structure()

    def _make_script(self, wanted: Wanted, values: bool) -> Script:
        m = self.course.m
        programs: list[TangentProgram] = []
        rows = [_plain_segment(self._restore)]
        first, end = 0, 0
        if isinstance(wanted, Directions):
            groups = [(wanted.inputs, wanted.blocks)]
            ends = begin_directions, end_directions
        else:
            first = 0 if wanted.state else 2 * m.nv
            end = len(self.A) + (m.nu if wanted.control else 0)
            groups = _groups(m, self.inputs, first, end)
            ends = begin_block, end_block
            if wanted.state and wanted.control and not self.sensors and lanes_are_shared(m):
                groups, ends = [(self.inputs, 1)], (begin_shared, end_shared)
        for inputs, blocks in groups:
            left = blocks
            if values and not programs:
                programs.append(self._program(inputs, *ends, blocks=1, values=True))
                rows += programs[-1].parted(compare_contacts)
                left -= 1
            if left and isinstance(wanted, Directions):
                programs.append(self._program(inputs, *ends, blocks=left))
                rows.append(programs[-1].segment)
            elif left:  # all blocks have the same shadows
                shared = programs[0].data.arrays if left < blocks else {}
                programs.append(self._program(inputs, *ends, common={name: a[0] for name, a in shared.items()}))
                rows.append((*programs[-1].segment[:4], 0, 0, left))
        segments = np.array([*rows, _plain_segment(self._restore)], np.int64)
        copies = self._copies.ctypes.data
        frame = np.zeros(FRAME_WORDS, np.int64)
        frame[:8] = copies, 0, 0, segments.ctypes.data, 0, len(segments) - 1, m.address, self.course.d.address
        scalars = (address_of(number) for number in (self._column, self._first, self._end))
        nx = len(self.A)
        frame[13:] = hooks.version_address, nx, m.nu, len(self._copies), *scalars, self.matrix.ctypes.data
        return Script(programs, segments, frame, frame.ctypes.data, first, end)

    def _program(
        self,
        inputs: Sequence[str],
        begin: Stage,
        end: Stage,
        blocks: int = 1,
        values: bool = False,
        common: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> TangentProgram:
        """The tangents of a step along directions of some inputs; one program for as long as the same types touch.

        Args:
            inputs: fields that vary.
            begin: the stage that sets the directions of a block.
            end: the one that takes its results.
            blocks: number of blocks that have shadows of their own.
            values: whether it computes the values as well.
            common: shadows of fields of the data that it has from another program with the same inputs.
        """
        course = self.course
        kept = course.nmemory > 0
        gather = [gather_outcome, *([gather_memory] if kept else []), *([gather_sensors] if self.sensors else [])]
        plant = [plant_seeds, *([plant_memory] if kept else [])]
        stages: list[Stage | Plain] = [Plain(begin), *plant, *course.differentiated(values)]
        if begin is begin_shared:
            stages.insert(stages.index(fwd_actuation) + 1, SPREAD_FORCES)
            common = {**common, **self._forces}
        stages += [Plain(keep_next_position), *gather, Plain(end)]
        whole = values or course.several or any(name in MAKE_ROWS for name in inputs)
        return TangentProgram(
            *(course.m, course.d, stages, inputs, ("d.work.outcome",), blocks, whole),
            resets=(restore_start, put_back) if course.remembers else (restore_start,),
            common={**common, **self._common},
        )


def _lanes(rows: int) -> np.ndarray:
    """Tangents of 0 of some numbers, (rows, LANES), from a multiple of 64 bytes on."""
    return np.ndarray((rows, LANES), np.float64, aligned_buffer(8 * rows * LANES).data)


COLUMNS = {(state, control): Columns(state, control) for state in (False, True) for control in (False, True)}


def _groups(m: MjModel, inputs: tuple[str, ...], first: int, end: int) -> list[tuple[tuple[str, ...], int]]:
    """Blocks of directions that go through the same stages: names of the inputs, and how many blocks there are.

    Positions go through all stages, velocities through fewer, activations and controls through fewest. Lanes that
    positions leave over take velocities, and so on: so in small models all are one block (`derive.stages.group_end`).
    """
    if first >= 2 * m.nv:
        return [(inputs[2:], -(-(end - first) // LANES))] if end > first else []
    found = []
    at = first
    for k, last in enumerate((m.nv, 2 * m.nv, end)):
        if last > at:
            blocks = -(-(last - at) // LANES)
            found.append((inputs[k:], blocks))
            at += blocks * LANES
    return found


def _plain_segment(program: Program) -> tuple[int, ...]:
    """A segment that runs once, without tangents."""
    return (program.table.ctypes.data, len(program.table), 0, 0, 0, 0, 1)


@contextmanager
def step_jacobian(m: MjModel, sensors: bool, reach: float = 0.0, extended: bool = False) -> Iterator[StepJacobian]:
    """The Jacobians of a step of a model, which nobody else uses meanwhile (`derive.lending`).

    Args:
        m: model.
        sensors: whether sensor data are among the results.
        reach: distance, m, up to which contacts take part that aren't made (`derive.distant`); 0 for none.
        extended: whether what plugins keep from step to step belongs to the state.

    Raises:
        NotImplementedError: the model has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    distant = reach > 0.0
    name = ("step jacobian", sensors, distant, extended)
    with lent(m, name, lambda: StepJacobian(m, sensors, distant, extended)) as found:
        found.withdraw()
        found.course.set_reach(reach)
        yield found
