"""Tangent programs: selection of the stages of a schedule and their variants, allocation of memory, and running.

If no tangents of a stage are needed, it is left out, because its results are in the data already. For example,
directions of velocity skip all stages of position (docs/how-derivatives-work.md). The tangents of a field are stored in
its *shadow*, with `LANES` numbers for each number of the field. Blocks of directions are processed one after the other.
Inputs and results have a shadow per block; each other field has one shadow for all blocks.
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
"""Number of directions in a block."""
EACH_ITS_OWN = frozenset(
    (
        *("d.qpos", "d.qvel", "d.act", "d.time", "d.sensordata"),
        *("d.efc_force", "d.efc_state", "d.qfrc_constraint"),
    )
)
"""Fields that several stages write, but to which no stage adds during a forward pass."""


# choice of stages


@dataclass(frozen=True, eq=False)
class Plain:
    """Stage in a list of stages that runs unchanged, without being differentiated."""

    stage: Stage
    reads: frozenset[str] = frozenset()  # fields (``d.qpos``) whose tangents the stage itself reads
    writes: frozenset[str] = frozenset()  # fields whose tangents the stage itself writes
    partners: frozenset[str] = frozenset()  # run only with stages that write one of these fields


class Step(NamedTuple):
    """Stage in a tangent program, with the fields whose tangents it reads and writes."""

    stage: Stage | Plain
    active: frozenset[str]  # fields that vary before the stage
    reads: frozenset[str]  # fields whose tangents the stage reads
    keep: frozenset[str]  # fields whose tangents the stage writes and that are needed


def steps_of(
    stages: Sequence[Stage | Plain], inputs: Collection[str], outputs: Collection[str], all_run: bool
) -> list[Step]:
    """Select the steps of a program that are needed, with the written fields whose tangents are needed."""
    return _with_partners(_needed_steps(_varying_steps(stages, frozenset(inputs)), frozenset(outputs)), all_run)


def _varying_steps(stages: Sequence[Stage | Plain], active: frozenset[str]) -> list[Step]:
    """Make the steps of a program in a forward pass, with the varying fields that each stage reads and writes.

    A `Plain` stage that reads tangents is left out if none of the fields that it reads varies.
    """
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
    """Restrict the fields that each step reads and writes to the needed ones, in a backward pass.

    A field is needed if it is in `wanted` or if a wanted field is computed from it.
    """
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
    """Fields that a stage writes and to which another stage may add."""
    if isinstance(stage, Plain):
        return stage.partners
    return frozenset(name for name in written(stage) - EACH_ITS_OWN if not name.startswith("d.work."))


def _runs(step: Step, all_run: bool) -> bool:
    """Return whether a stage runs for its own results, and not only as a partner (`_with_partners`)."""
    stage = step.stage
    if isinstance(stage, Plain) and not stage.reads:
        return all_run or not stage.partners
    return bool(step.keep) or (all_run and not isinstance(stage, Plain))


def _with_partners(steps: list[Step], all_run: bool) -> list[Step]:
    """Select the steps that run for their own results, and their partners: steps that write one of the same fields.

    Partners are needed because some stages add to values of earlier stages. If a partner does not depend on anything
    that varies, its tangents are 0.
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


# memory


def new_lanes(*shape: int) -> np.ndarray:
    """Allocate tangents of 0 (*shape, LANES), aligned to 64 bytes."""
    return np.ndarray((*shape, LANES), np.float64, aligned_buffer(8 * prod(shape) * LANES).data)


def in_blocks(columns: np.ndarray) -> np.ndarray:
    """Convert columns (rows, n) to blocks (blocks, rows, LANES); fill the last block with zeros."""
    rows, n = columns.shape
    if n % LANES:
        columns = np.concatenate([columns, np.zeros((rows, -n % LANES))], axis=1)
    return columns.reshape(rows, -(-n // LANES), LANES).transpose(1, 0, 2)


def in_columns(blocks: np.ndarray, n: int) -> np.ndarray:
    """Convert blocks (..., blocks, rows, LANES) to columns (..., rows, n)."""
    columns = blocks.swapaxes(-3, -2)
    return columns.reshape(*columns.shape[:-2], columns.shape[-2] * LANES)[..., :n]


class Shadows:
    """Shadows of fields of one structure. Fields in `own` have a separate shadow for each block.

    `common` contains existing shadows (1, numbers, LANES), by field, that all blocks share.
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
        """Set the shadow of a field to `array` (1 or blocks, numbers, LANES), or allocate one."""
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
    """Program that computes the tangents of a list of stages along some directions.

    The program works on the data `d`, which contains the values at the current state. It computes the tangents of the
    fields `outputs` with respect to the fields `inputs` (for example ``d.qpos`` or ``m.body_mass``), in `blocks` blocks
    of `LANES` directions. If `several` is set, no stage is left out, because the stages make several forward passes or
    can create constraint rows that the data do not have. `resets` are stages that restore the state after a block, with
    tangents of 0. `common` are shadows of fields of the data that several programs share. The attribute `shadows` has
    those of the model, "m", and of the data, "d".
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
        """Set all tangents to 0. Tangents of inputs are set afterwards (`plant`)."""
        for shadows in self.shadows.values():
            shadows.start()

    def cleared(self, but: Collection[str] = ()) -> list[tuple[int, int]]:
        """Addresses and sizes (bytes) of the tangents of all fields, without the fields `but`."""
        pairs = [(f"{letter}.{name}", a) for letter, of in self.shadows.items() for name, a in of.arrays.items()]
        return [(array.ctypes.data, array.nbytes) for name, array in pairs if name not in but]

    def of_structure(self) -> list[tuple[int, int]]:
        """Addresses and sizes (bytes) of the tangents of contacts and constraint rows, whose number varies."""
        home, shadows = internals.memory(self.d).arrays.home, self.shadows["d"].arrays
        return [(array.ctypes.data, array.nbytes) for name, array in shadows.items() if home.get(name) is not None]

    def plant(self, field: str, seeds: np.ndarray) -> None:
        """Set the tangents of an input along n directions to `seeds` (size of the field, n)."""
        blocks = in_blocks(seeds)
        self.shadows[field[0]].arrays[field[2:]][: len(blocks), : len(seeds)] = blocks

    @property
    def segment(self) -> tuple[int, ...]:
        """Arguments with which native code runs this program (`jit.driver.scripts`)."""
        tables = [shadows.tables for shadows in self.shadows.values()]
        places = (*(table.ctypes.data for table in tables), *(table.strides[0] for table in tables))
        return (self._table.ctypes.data, len(self._table), *places, self.blocks)

    def parted(self, stage: Stage) -> list[tuple[int, ...]]:
        """Split `segment` after a stage. If the program does not have this stage, return the whole segment."""
        if stage not in self._stages:
            return [self.segment]
        address, count, *rest = self.segment
        first = self._stages.index(stage) + 1
        return [(address, first, *rest), (address + self._table.itemsize * first, count - first, *rest)]

    def run(self) -> int:
        """Compute the tangents of the outputs from those of the inputs. Return 0, or the status of a failed stage."""
        table, count, *shadows = self.segment
        return block_runner()(table, count, self.m.address, self.d.address, *shadows)

    def columns(self, field: str, directions: int) -> np.ndarray:
        """Return the tangents of an output (size of the field, directions)."""
        shadows, name = self.shadows[field[0]], field[2:]
        return in_columns(shadows.arrays[name], directions)[: shadows.sizes[name]]
