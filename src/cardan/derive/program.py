"""Programs of tangents: which stages of the pipeline have some, in which variant, and running them.

From the fields that vary (inputs) one walk forwards finds which fields vary with them, stage by stage; from the fields
that are wanted (outputs) one walk backwards finds whose tangents are needed. A stage without any is left out: its
results are in the data already. So directions of velocity run through no stage of the position.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.shadows import LANES, Shadows
from cardan.jit import addresses
from cardan.jit.transform.run import block_runner
from cardan.jit.transform.stages import access, needed, tangent_addresses, written
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]

EACH_ITS_OWN = frozenset(
    (
        *("d.qpos", "d.qvel", "d.act", "d.time", "d.sensordata"),
        *("d.efc_force", "d.efc_state", "d.qfrc_constraint"),
    )
)
"""Fields that several stages write, and none adds to what another one has written during a forward pass."""


class Plain:
    """In a list of stages: one that runs as it is.

    Args:
        stage: the stage.
        reads: fields (``d.qpos``) whose tangents it reads by itself.
        writes: fields whose tangents it writes by itself.
        partners: fields to whose values it contributes: it runs only if a stage that writes one of them does.
    """

    def __init__(
        self, stage: Stage, reads: Collection[str] = (), writes: Collection[str] = (), partners: Collection[str] = ()
    ) -> None:
        self.stage, self.reads, self.writes = stage, frozenset(reads), frozenset(writes)
        self.partners = frozenset(partners)


def values_of(stages: Sequence[Stage | Plain]) -> list[Stage]:
    """The stages of a list as they are, without those that work on tangents."""
    plain = [stage if isinstance(stage, Plain) else Plain(stage) for stage in stages]
    return [stage.stage for stage in plain if not stage.reads]


class TangentProgram:
    """The tangents of a list of stages along some directions.

    Args:
        m: model.
        d: data that the program works on, whose values are those of the present state.
        stages: stages in order; a `Plain` one runs as it is.
        inputs: fields that vary, as ``d.qpos`` or ``m.body_mass``.
        outputs: fields whose tangents are wanted.
        blocks: number of blocks of `LANES` directions.
        several: whether no stage may be left out: they make several forward passes, or others rows than the values.
        resets: stages that put the state back at the end of a block, and its tangents to 0.
        common: shadows of fields of the data that several programs share, (numbers, LANES), by name.

    Attributes:
        model, data: shadows of the fields.
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
        self.m, self.d = m, d
        self.blocks = blocks
        steps = _forwards(stages, frozenset(inputs))
        steps = _backwards(steps, frozenset(outputs), several)
        own = {*inputs, *outputs}
        used = own.union(*(_shadowed(step) for step in steps))
        steps += [(stage, frozenset(used), frozenset(), written(stage) & used) for stage in resets]
        self._table, self._code = _table(steps)
        self._stages = [step[0].stage if isinstance(step[0], Plain) else step[0] for step in steps]
        self.model, self.data = (
            Shadows(
                internals.memory(x),
                self.blocks,
                [name[2:] for name in sorted(used) if name.startswith(letter)],
                [name[2:] for name in own if name.startswith(letter)],
                common if x is d else {},
            )
            for letter, x in (("m.", m), ("d.", d))
        )

    def start(self) -> None:
        """Set all tangents to 0, before those of the inputs are set."""
        for shadows in (self.model, self.data):
            shadows.follow()
            shadows.clear()

    def cleared(self, but: Collection[str] = ()) -> list[tuple[int, int]]:
        """Address and bytes of the tangents of all fields but some."""
        pairs = [("m." + name, array) for name, array in self.model.arrays.items()]
        pairs += [("d." + name, array) for name, array in self.data.arrays.items()]
        return [(array.ctypes.data, array.nbytes) for name, array in pairs if name not in but]

    def of_structure(self) -> list[tuple[int, int]]:
        """Address and bytes of the tangents of contacts and constraint rows: of what there may be more or less of."""
        home, shadows = internals.memory(self.d).arrays.home, self.data.arrays
        return [(array.ctypes.data, array.nbytes) for name, array in shadows.items() if home.get(name) is not None]

    def plant(self, field: str, seeds: np.ndarray) -> None:
        """Set the tangents of an input: (size of the field, n), along n directions."""
        array = (self.model if field.startswith("m.") else self.data).arrays[field[2:]]
        full, rest = divmod(seeds.shape[1], LANES)
        if full:
            blocks = seeds[:, : full * LANES].reshape(len(seeds), full, LANES)
            array[:full, : len(seeds)] = blocks.transpose(1, 0, 2)
        if rest:
            array[full, : len(seeds), :rest] = seeds[:, full * LANES :]

    @property
    def segment(self) -> tuple[int, ...]:
        """What native code takes to run this: see `jit.transform.run`."""
        shadows = (self.model.address, self.data.address, self.model.stride, self.data.stride)
        return (self._table.ctypes.data, len(self._table), *shadows, self.blocks)

    def parted(self, stage: Stage) -> list[tuple[int, ...]]:
        """The same in two segments, the first one with all up to a stage; in one if that is not there."""
        if stage not in self._stages:
            return [self.segment]
        address, count, *rest = self.segment
        first = self._stages.index(stage) + 1
        return [(address, first, *rest), (address + self._table.itemsize * first, count - first, *rest)]

    def run(self) -> int:
        """Compute the tangents of the outputs from those of the inputs.

        Returns:
            0, or the status of a stage that stopped.
        """
        table, count, *shadows = self.segment
        return block_runner()(table, count, self.m.address, self.d.address, *shadows)

    def columns(self, field: str, directions: int) -> np.ndarray:
        """The tangents of an output, (size of the field, directions)."""
        shadows = self.model if field.startswith("m.") else self.data
        return shadows.columns(field[2:], directions)


Step = tuple[Stage | Plain, frozenset[str], frozenset[str], frozenset[str]]
"""A stage, the fields that are active before it, those that it reads, and those that it writes."""


def _forwards(stages: Sequence[Stage | Plain], active: frozenset[str]) -> list[Step]:
    steps: list[Step] = []
    for stage in stages:
        if isinstance(stage, Plain):
            reads = stage.reads & active
            if stage.reads and not reads:
                continue
            writes = stage.writes if reads else frozenset()
        else:
            found = access(stage, active)
            reads, writes = found.reads, found.writes
        steps.append((stage, active, reads, writes))
        active |= writes
    return steps


def _backwards(steps: list[Step], wanted: frozenset[str], all_run: bool) -> list[Step]:
    """The steps that are needed, each with the fields to keep in place of those that it writes.

    Those that write a field together with a step that is needed are needed as well, with tangents of 0 if theirs depend
    on nothing that varies: some stages add to what the one before has written.
    """
    found: list[Step] = []
    for stage, active, reads, writes in reversed(steps):
        keep = writes & wanted
        if isinstance(stage, Plain) and (keep or not stage.writes):
            wanted |= reads
            found.append((stage, active, reads, keep))
        elif keep and not isinstance(stage, Plain):
            wanted |= needed(stage, active, keep)
            found.append((stage, active, reads, keep))
        else:
            found.append((stage, active, frozenset(), frozenset()))
    return _with_partners(found[::-1], all_run)


def _sums(stage: Stage | Plain) -> frozenset[str]:
    """Fields that a stage writes and another one may add to."""
    if isinstance(stage, Plain):
        return stage.partners
    return frozenset(name for name in written(stage) - EACH_ITS_OWN if not name.startswith("d.work."))


def _runs(stage: Stage | Plain, keep: frozenset[str], all_run: bool) -> bool:
    """Whether a stage runs for its own sake."""
    if isinstance(stage, Plain) and not stage.reads:
        return all_run or not stage.partners
    return bool(keep) or (all_run and not isinstance(stage, Plain))


def _with_partners(steps: list[Step], all_run: bool) -> list[Step]:
    runs = [_runs(stage, keep, all_run) for stage, _, _, keep in steps]
    while True:
        shared = frozenset().union(*(_sums(step[0]) for step, run in zip(steps, runs, strict=True) if run))
        more = [run or bool(_sums(step[0]) & shared) for step, run in zip(steps, runs, strict=True)]
        if more == runs:
            break
        runs = more
    varying = frozenset().union(*(keep for _, _, _, keep in steps))
    return [_partner(step, varying) for step, run in zip(steps, runs, strict=True) if run]


def _partner(step: Step, varying: frozenset[str]) -> Step:
    """A step that runs: as it is, with tangents of 0 for what others add to, or without tangents."""
    stage, active, reads, keep = step
    if isinstance(stage, Plain) or keep:
        return step
    begun = _sums(stage) & varying
    return (stage, active | begun, reads, begun) if begun else (Plain(stage), active, reads, keep)


def _shadowed(step: Step) -> frozenset[str]:
    """Fields whose shadows a step reads or writes."""
    stage, active, reads, keep = step
    return reads | keep if isinstance(stage, Plain) else keep | needed(stage, active, keep)


def _table(steps: list[Step]) -> tuple[np.ndarray, list[int]]:
    """Addresses of the stages, as an array and as objects that keep the code."""
    plain = [stage.stage for stage, *_ in steps if isinstance(stage, Plain)]
    moving = [(stage, active, keep) for stage, active, _, keep in steps if not isinstance(stage, Plain)]
    as_they_are, tangents = iter(addresses(plain)), iter(tangent_addresses(moving, LANES))
    code = [next(as_they_are if isinstance(stage, Plain) else tangents) for stage, *_ in steps]
    return np.array(code, np.int64), code
