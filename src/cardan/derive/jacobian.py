"""Jacobian of a step with respect to state and controls, computed by a single native call.

A *script* is a list of segments, which are tables of native functions. First, values and the tangents of the first
block of directions are computed together, stage by stage. Then, for positions, velocities, and activations with
controls, only the stages that depend on them run, once per block of directions. Contacts and rows are compared with the
previous run; if they have changed, tangents are cleared. Stages also set directions and collect results
(`derive.directions`). One call thus computes a Jacobian, or those of all steps of a trajectory (`sweep`).
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
"""Names of the inputs of a step, in the order of their directions."""
VALUES = SCRIPT_SECOND
"""Index of the first segment with values. Segments: start of a recorded step; values and first tangents, in two parts
(up to contacts, and after them); other tangents; handling of the result."""
PUBLISHED_COLUMNS = 32
"""Maximum number of columns of a Jacobian that native code computes with the GIL held (tens of microseconds)."""
ATTEMPTS = 8
"""Maximum number of native attempts at a step. If all end with requests, values are computed separately."""


class Columns(NamedTuple):
    """Flags: whether a Jacobian's columns of the state, and those of the controls, are requested."""

    state: bool
    control: bool


class Directions(NamedTuple):
    """Inputs of a sweep, and the number of blocks of directions. Each step continues the previous step's directions."""

    inputs: tuple[str, ...]
    blocks: int


Wanted = Columns | Directions
ALL = Columns(True, True)


@dataclass
class Script:
    """Script for the requested columns or directions and the pair kinds that touch."""

    programs: list[TangentProgram]
    segments: np.ndarray  # the first and the last segment run only for recorded steps
    frame: np.ndarray  # words that native code reads (`jit.driver.scripts.script_runner`)
    first: int  # first direction, counted through all inputs
    end: int  # end of the directions (exclusive)
    version: int = -1  # version of contacts and rows for which the tangents were cleared
    cleared: np.ndarray | None = None  # addresses and sizes (bytes) of the arrays to clear, kept alive for native code

    def __post_init__(self) -> None:
        self.address = self.frame.ctypes.data


class StepJacobian:
    """Jacobian of a model's step, computed at one state after another (arguments as in `step_jacobian`).

    Attributes:
        course: the `Linearisation` that holds the values of all fields, and the schedule.
        matrix: Jacobian at the state of the last `compute`. Its parts `A` and `B` are the rows of the next state.
        inputs: fields ``d.work.seed_*``, which hold the tangents of state and controls.
    """

    def __init__(self, m: MjModel, sensors: bool, distant: bool, extended: bool = False) -> None:
        course = self.course = Linearisation(m, "step" if sensors else "step without sensors", distant, extended)
        self.sensors = sensors
        memory, sizes = internals.memory(course.d), (m.nv, m.nv, m.na, course.nmemory, m.nu)
        nx = sum(sizes) - m.nu
        rows, columns = nx + (m.nsensordata if sensors else 0), nx + m.nu
        self.matrix = np.zeros((rows, columns))
        self.A, self.B = self.matrix[:nx, :nx], self.matrix[:nx, nx:]
        self._seed_lanes, outcome = new_lanes(max(columns, 1)), new_lanes(max(rows + m.nout + m.nv, 1))
        memory.scalars["work.nmemory"][0] = course.nmemory
        memory.attach("work.seed_memory", np.zeros(course.nmemory))
        memory.attach("work.jacobian", self.matrix.reshape(-1))
        memory.attach("work.outcome", np.zeros(rows))
        memory.attach("work.outcome_lanes", outcome)
        memory.attach("work.seed_lanes", self._seed_lanes)
        ends = np.cumsum((0, *sizes)).tolist()
        self._forces = {
            "actuator_force": outcome[None, rows : rows + m.nout],
            "qfrc_actuator": outcome[None, rows + m.nout :],
        }
        self._common = {"work.outcome": outcome[None, : max(rows, 1)]} | {
            f"work.seed_{name}": self._seed_lanes[None, first:end]
            for name, first, end in zip(SEEDS, ends[:-1], ends[1:], strict=True)
            if name != "memory" or extended
        }
        self.inputs = tuple(f"d.{name}" for name in self._common if name.startswith("work.seed_"))
        # fields to copy: offset of the slot, bytes per number (0: a scalar). The memory of plugins is copied with the
        # mark that it is new, which only tangent programs set
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
        self._address = 0  # address of the published frame
        self._version = hooks.version
        self._mark = internals.programs(m).of("current", self._version, object)
        self._directed = False  # whether the last directions were not single columns

    def compute(self, d: MjData, state: bool, control: bool) -> np.ndarray:
        """Compute the derivatives at `d`, which is not changed, with respect to state, controls, or both.

        Return `matrix` (2 nv + na + nsensordata, 2 nv + na + nu), with a row per result and a column per input. Columns
        that were not requested are undefined.
        """
        wanted = Columns(state, control or not self.course.m.nu)
        if self._directed:
            self._begin_directions(wanted, {})
        self._go(wanted, lambda: self.course.start(d), self._copies_fit, d.address)
        return self.matrix

    def publish(self, words: np.ndarray) -> bool:
        """Publish the script for all columns to native code, until `withdraw`. Return False if this is not possible.

        Native code reads the address of the script's frame and the version of the callbacks from `words`.
        """
        script, programs = self._ready.get(ALL), internals.programs(self.course.m)
        if script is None or self.sensors or self.matrix.shape[1] > PUBLISHED_COLUMNS:
            return False
        with programs.lock:
            if script.version != self.course.version[0] or programs.get("current", self._version) is not self._mark:
                return False
            script.frame[5] = len(script.segments) - 1  # a sweep has one more segment
            words[:] = script.address, self._version
            self._published, self._address = words, script.address
        return True

    def withdraw(self) -> None:
        """Revoke the script that `publish` published."""
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
        """Compute the derivatives of recorded steps natively, one step after the other.

        Rows of `tape` hold the starts of steps (`derive.recording`). After each step, `finish` processes the results
        and sets ``work.tape_step`` to the next step; `steps` are the step numbers in this order. `seeds` are directions
        of other inputs than the state, (size of the field, n), by field. If `beforehand` is set, the values of each
        step are computed before its tangents.
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
        """Run scripts for one or more steps; native code continues until a stage makes a request.

        `begin` computes the values of the current step and handles requests of stages. If `fits` is set, values are
        computed natively; if `source` is not 0, state and inputs are then copied from the slot table at this address.
        `finish` runs after each recorded step and advances to the next step.
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
        """Run a script from segment `first` on, and return its status; `source` is as in `_go`.

        If `repeat` is not 0, run the script for that number of recorded steps.
        """
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
        """Compute the tangents at values that have been computed before."""
        while True:
            status = self._run(self._prepared(wanted, values=False), VALUES)
            if not status:
                return
            self.course.make_room(status)
            self.course.note_structure()

    def _begin_directions(self, wanted: Wanted, seeds: Mapping[str, np.ndarray]) -> None:
        """Clear the directions of a previous sweep, because other scripts do not overwrite them; store `seeds`."""
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
        """Return a script for the current contacts and rows. All tangents are 0, except those of the directions."""
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
            # arrays to clear if contacts change, then arrays to clear if rows change
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
        """Make the program of a step's tangents along directions of `inputs`, for the pair kinds that touch.

        The two stages `ends` set the directions of a block and collect its results. `blocks` is the number of blocks
        with separate shadows. `common` are shadows of another program with the same inputs.
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
    """Group the columns `first` to `end` - 1 into blocks of directions that need the same stages.

    Positions need all stages, velocities fewer, and activations and controls fewest. Free lanes in the last block of
    positions are filled with velocities, and so on. In small models, all columns are therefore one block.
    """
    found, at = [], first
    for k, last in enumerate((m.nv, 2 * m.nv, end)):
        if last > at:
            blocks = -(-(last - at) // LANES)
            found.append(Directions(inputs[k:], blocks))
            at += blocks * LANES
    return found


def _plain_segment(program: Program) -> tuple[int, ...]:
    """Make a segment that runs a program once, without tangents."""
    return (program.table.ctypes.data, len(program.table), 0, 0, 0, 0, 1)


@contextmanager
def step_jacobian(m: MjModel, sensors: bool, reach: float = 0.0, extended: bool = False) -> Iterator[StepJacobian]:
    """Lend a `StepJacobian` of a model, with or without sensor data, to one user (`derive.linearisation.lent`).

    Contacts at a distance of up to `reach` (m) are included (`derive.distant`). If `extended` is set, the values that
    plugins keep from step to step belong to the state.

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
