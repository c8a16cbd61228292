"""Programs of tangents: which stages of a schedule have some, in which variant; their memory; running them.

A stage without tangents that are needed is left out: its results are in the data already. So directions of velocity run
through no stage of the position (docs/how-derivatives-work.md). The tangents of a field are in its *shadow*, which has
`LANES` numbers for each number of the field. Blocks of directions are worked on one after the other. Most fields have
one shadow for all blocks, inputs and results one each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.jit import addresses
from cardan.jit.driver.scripts import block_runner
from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.layout import aligned_buffer
from cardan.jit.memory.struct import StructMemory
from cardan.model import internals
from cardan.tangents.stages import access, needed, tangent_addresses, written

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]

LANES = 8
"""Directions of a block."""
EACH_ITS_OWN = frozenset(
    (
        *("d.qpos", "d.qvel", "d.act", "d.time", "d.sensordata"),
        *("d.efc_force", "d.efc_state", "d.qfrc_constraint"),
    )
)
"""Fields that several stages write, and none adds to what another one has written during a forward pass."""


# what runs


@dataclass(frozen=True, eq=False)
class Plain:
    """In a list of stages: one that runs as it is."""

    stage: Stage
    reads: frozenset[str] = frozenset()  # fields (``d.qpos``) whose tangents it reads by itself
    writes: frozenset[str] = frozenset()  # fields whose tangents it writes by itself
    partners: frozenset[str] = frozenset()  # it runs only with stages that write one of them: it adds to their values


class Step(NamedTuple):
    """A stage in a program of tangents."""

    stage: Stage | Plain
    active: frozenset[str]  # fields that vary before it
    reads: frozenset[str]  # fields whose tangents it reads
    keep: frozenset[str]  # fields whose tangents it writes, as far as they are needed


def steps_of(
    stages: Sequence[Stage | Plain], inputs: Collection[str], outputs: Collection[str], all_run: bool
) -> list[Step]:
    """The steps of a program: those that are needed, with fields to keep in place of those that they write."""
    return _with_partners(_needed_steps(_varying_steps(stages, frozenset(inputs)), frozenset(outputs)), all_run)


def _varying_steps(stages: Sequence[Stage | Plain], active: frozenset[str]) -> list[Step]:
    """Walk forwards: which fields vary, and which of them each stage reads and writes."""
    steps: list[Step] = []
    for stage in stages:
        if isinstance(stage, Plain):
            reads = stage.reads & active
            if stage.reads and not reads:
                continue
            writes = stage.writes if reads else frozenset()
        else:
            reads, writes = (found := access(stage, active)).reads, found.writes
        steps.append(Step(stage, active, reads, writes))
        active |= writes
    return steps


def _needed_steps(steps: list[Step], wanted: frozenset[str]) -> list[Step]:
    """Walk backwards: which of the written fields are wanted, or needed for what is."""
    found: list[Step] = []
    for stage, active, reads, writes in reversed(steps):
        keep = writes & wanted
        if not isinstance(stage, Plain):
            reads = needed(stage, active, keep) if keep else frozenset()
        elif stage.writes and not keep:
            reads = frozenset()
        wanted |= reads
        found.append(Step(stage, active, reads, keep))
    return found[::-1]


def _sums(stage: Stage | Plain) -> frozenset[str]:
    """Fields that a stage writes and another one may add to."""
    if isinstance(stage, Plain):
        return stage.partners
    return frozenset(name for name in written(stage) - EACH_ITS_OWN if not name.startswith("d.work."))


def _runs(step: Step, all_run: bool) -> bool:
    """Whether a stage runs for its own sake."""
    stage = step.stage
    if isinstance(stage, Plain) and not stage.reads:
        return all_run or not stage.partners
    return bool(step.keep) or (all_run and not isinstance(stage, Plain))


def _with_partners(steps: list[Step], all_run: bool) -> list[Step]:
    """The steps that run for their own sake, and those that write a field together with one of them.

    The latter have tangents of 0 if theirs depend on nothing that varies: some stages add to what the one before has
    written.
    """
    runs = [_runs(step, all_run) for step in steps]
    while True:
        shared = frozenset().union(*(_sums(step.stage) for step, run in zip(steps, runs, strict=True) if run))
        more = [run or bool(_sums(step.stage) & shared) for step, run in zip(steps, runs, strict=True)]
        if more == runs:
            break
        runs = more
    varying = frozenset().union(*(step.keep for step in steps))
    found = []
    for step, run in zip(steps, runs, strict=True):
        stage, active, reads, keep = step
        begun = frozenset() if isinstance(stage, Plain) or keep else _sums(stage) & varying
        if run and begun:
            found.append(Step(stage, active | begun, needed(stage, active | begun, begun), begun))
        elif run:
            found.append(step if isinstance(stage, Plain) or keep else Step(Plain(stage), active, reads, keep))
    return found


# where it is in memory


def new_lanes(*shape: int) -> np.ndarray:
    """Tangents of 0 of some numbers, (*shape, LANES), from a multiple of 64 bytes on."""
    return np.ndarray((*shape, LANES), np.float64, aligned_buffer(8 * prod(shape) * LANES).data)


def in_blocks(columns: np.ndarray) -> np.ndarray:
    """Columns (rows, n) as blocks (blocks, rows, LANES), the last one filled up with zeros."""
    rows, n = columns.shape
    if n % LANES:
        columns = np.concatenate([columns, np.zeros((rows, -n % LANES))], axis=1)
    return columns.reshape(rows, -(-n // LANES), LANES).transpose(1, 0, 2)


def in_columns(blocks: np.ndarray, n: int) -> np.ndarray:
    """Blocks (..., blocks, rows, LANES) as columns (..., rows, n)."""
    columns = blocks.swapaxes(-3, -2)
    return columns.reshape(*columns.shape[:-2], columns.shape[-2] * LANES)[..., :n]


class Shadows:
    """Shadows of fields of one structure; fields in `own` have one of their own in each block.

    Shadows in `common`, (1, numbers, LANES), by field, are there already: one for all blocks.
    """

    def __init__(
        self,
        memory: StructMemory,
        blocks: int,
        fields: Collection[str],
        own: Collection[str],
        common: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        self.memory = memory
        self.tables = np.zeros((blocks, len(memory.struct.fields), WORDS), np.int64)
        self.arrays: dict[str, np.ndarray] = {}
        self.sizes: dict[str, int] = {}
        self._own = frozenset(own)
        for name in fields:
            self._place(name, common.get(name))

    def _size(self, name: str) -> int:
        return 1 if self.memory.struct.by_name[name].is_scalar else int(self.memory.arrays[name].size)

    def _place(self, name: str, array: np.ndarray | None = None) -> None:
        """Let a field have a shadow (1 or blocks, numbers, LANES)."""
        size, slot = self._size(name), self.memory.struct.slot[name]
        if array is None:
            array = new_lanes(len(self.tables) if name in self._own else 1, max(size, 1))
        self.sizes[name], self.arrays[name] = size, array
        apart = array.strides[0] if len(array) > 1 else 0
        self.tables[:, slot, 0] = array.ctypes.data + apart * np.arange(len(self.tables))
        self.tables[:, slot, 1:] = size, LANES

    def start(self) -> None:
        """Enlarge the shadows of fields that have grown, and set all tangents to 0."""
        for name, size in self.sizes.items():
            if self._size(name) != size:
                self._place(name)
        for array in self.arrays.values():
            array[...] = 0.0


class TangentProgram:
    """The tangents of a list of stages along some directions.

    The program works on the data `d`, whose values are those of the present state. `inputs` are the fields that vary,
    as ``d.qpos`` or ``m.body_mass``; of `outputs` tangents are wanted, in `blocks` blocks of `LANES` directions. If
    `several`, no stage may be left out: they make several forward passes, or others rows than the values. `resets`
    are stages that put the state back at the end of a block, and its tangents to 0. `common` are shadows of fields of
    the data that several programs share. `shadows` are those of the model, "m", and of the data, "d".
    """

    def __init__(
        self,
        m: MjModel,
        d: MjData,
        stages: Sequence[Stage | Plain],
        inputs: Collection[str],
        outputs: Collection[str],
        blocks: int,
        several: bool = False,
        resets: Sequence[Stage] = (),
        common: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        self.m, self.d, self.blocks = m, d, blocks
        steps = steps_of(stages, inputs, outputs, several)
        used = frozenset((*inputs, *outputs)).union(*(step.reads | step.keep for step in steps))
        steps += [Step(stage, used, frozenset(), written(stage) & used) for stage in resets]
        self._stages = [step.stage.stage if isinstance(step.stage, Plain) else step.stage for step in steps]
        plain = iter(addresses([step.stage.stage for step in steps if isinstance(step.stage, Plain)]))
        moving = [(step.stage, step.active, step.keep) for step in steps if not isinstance(step.stage, Plain)]
        tangents = iter(tangent_addresses(moving, LANES))
        self._code = [next(plain if isinstance(step.stage, Plain) else tangents) for step in steps]  # keeps it loaded
        self._table = np.array(self._code, np.int64)
        self.shadows = {
            letter: Shadows(
                internals.memory(structure),
                blocks,
                [name[2:] for name in sorted(used) if name.startswith(f"{letter}.")],
                [name[2:] for name in {*inputs, *outputs} if name.startswith(f"{letter}.")],
                common if letter == "d" else {},
            )
            for letter, structure in (("m", m), ("d", d))
        }

    def start(self) -> None:
        """Set all tangents to 0, before those of the inputs are set."""
        for shadows in self.shadows.values():
            shadows.start()

    def cleared(self, but: Collection[str] = ()) -> list[tuple[int, int]]:
        """Address and bytes of the tangents of all fields but some."""
        pairs = [(f"{letter}.{name}", a) for letter, of in self.shadows.items() for name, a in of.arrays.items()]
        return [(array.ctypes.data, array.nbytes) for name, array in pairs if name not in but]

    def of_structure(self) -> list[tuple[int, int]]:
        """Address and bytes of the tangents of contacts and constraint rows: of what there may be more or less of."""
        home, shadows = internals.memory(self.d).arrays.home, self.shadows["d"].arrays
        return [(array.ctypes.data, array.nbytes) for name, array in shadows.items() if home.get(name) is not None]

    def plant(self, field: str, seeds: np.ndarray) -> None:
        """Set the tangents of an input: (size of the field, n), along n directions."""
        blocks = in_blocks(seeds)
        self.shadows[field[0]].arrays[field[2:]][: len(blocks), : len(seeds)] = blocks

    @property
    def segment(self) -> tuple[int, ...]:
        """The arguments with which native code runs this: see `jit.driver.scripts`."""
        tables = [shadows.tables for shadows in self.shadows.values()]
        places = (*(table.ctypes.data for table in tables), *(table.strides[0] for table in tables))
        return (self._table.ctypes.data, len(self._table), *places, self.blocks)

    def parted(self, stage: Stage) -> list[tuple[int, ...]]:
        """`segment` in two parts, the first one up to a stage; in one part if that is not there."""
        if stage not in self._stages:
            return [self.segment]
        address, count, *rest = self.segment
        first = self._stages.index(stage) + 1
        return [(address, first, *rest), (address + self._table.itemsize * first, count - first, *rest)]

    def run(self) -> int:
        """Compute the tangents of the outputs from those of the inputs; returns 0, or the status of a stage."""
        table, count, *shadows = self.segment
        return block_runner()(table, count, self.m.address, self.d.address, *shadows)

    def columns(self, field: str, directions: int) -> np.ndarray:
        """The tangents of an output, (size of the field, directions)."""
        shadows, name = self.shadows[field[0]], field[2:]
        return in_columns(shadows.arrays[name], directions)[: shadows.sizes[name]]
