"""Sensitivities of trajectories: how all states depend on a few numbers, in one sweep forwards.

With the sensitivity S_t of the state before step t along some directions p ::

    S_(t+1) = A_t S_t + P_t        dx_(t+1)/dp, and of the sensor data C_t S_t + Q_t

(Dickinson and Gelinas, Sensitivity analysis of ordinary differential equation systems, J. Comp. Phys. 1976). A step's
tangents are computed along the columns of S_t and p together: eight parameters take one block of lanes, whatever the
size of the state. Adjoint sweeps (`derive.tape`) are for many inputs and one result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.fields import Part, part
from cardan.derive.linearisation import COPIED, MAKE_ROWS, Linearisation, linearisation
from cardan.derive.sensitivity import seeds_of
from cardan.derive.shadows import LANES

if TYPE_CHECKING:
    from cardan.derive.recorded import Recorded
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FIRST: dict[str, Callable[[MjModel], int]] = {
    "d.qpos": lambda m: 0,
    "d.qvel": lambda m: m.nv,
    "d.act": lambda m: 2 * m.nv,
}
"""Fields of the state, and where they begin in it."""


def named_inputs(m: MjModel, d: MjData, by: Sequence[str]) -> tuple[list[Part], dict[str, int]]:
    """What names stand for, and the first column of each, by its text.

    Raises:
        IndexError, TypeError, ValueError: a name stands for nothing, or for what a step does not read.
    """
    parts = [part(m, d, text) for text in by]
    for found in parts:
        if found.field.startswith("d.") and found.field[2:] not in (*COPIED, "time"):
            raise ValueError(f"sensitivities: a step does not read {found.text}")
    sizes = [len(p.numbers) for p in parts]
    starts = (np.cumsum(sizes) - sizes).tolist() if sizes else []
    return parts, dict(zip((p.text for p in parts), starts, strict=True))


def native_seeds(
    m: MjModel, course: Linearisation, parts: Sequence[Part], places: Mapping[str, int], total: int
) -> dict[str, np.ndarray] | None:
    """Directions of inputs beside state and controls, (size of the field, total), by field.

    None where tangents along them may need what the native sweep has not: rows, or others than it puts back.
    """
    seeds: dict[str, np.ndarray] = {}
    for p in parts:
        makes_rows = p.field in MAKE_ROWS and not m._memory.arrays[p.field[2:]].all()
        if makes_rows or p.field in ("d.time", "d.qacc_warmstart"):
            return None
        if p.field not in FIRST and p.field != "d.ctrl":
            _add_seeds(seeds, course, p, places, total)
    return dict(sorted(seeds.items()))


def _add_seeds(
    seeds: dict[str, np.ndarray], course: Linearisation, given: Part, places: Mapping[str, int], total: int
) -> None:
    own = seeds_of(course, given)
    columns = seeds.setdefault(given.field, np.zeros((len(own), total)))
    columns[:, places[given.text] : places[given.text] + own.shape[1]] += own


def first_directions(
    m: MjModel, parts: Sequence[Part], places: Mapping[str, int], total: int
) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the first state (nx, total), and of the controls of all steps (nu, total)."""
    state, control = np.zeros((2 * m.nv + m.na, total)), np.zeros((m.nu, total))
    for p in parts:
        columns = places[p.text] + np.arange(len(p.numbers))
        if p.field in FIRST:
            state[FIRST[p.field](m) + p.numbers, columns] = 1.0
        elif p.field == "d.ctrl":
            control[p.numbers, columns] = 1.0
    return state, control


def in_blocks(columns: np.ndarray, blocks: int) -> np.ndarray:
    """Columns (rows, n) as blocks (blocks, rows, LANES)."""
    padded = np.zeros((len(columns), blocks * LANES))
    padded[:, : columns.shape[1]] = columns
    return np.ascontiguousarray(padded.reshape(len(columns), blocks, LANES).transpose(1, 0, 2))


def in_columns(blocks: np.ndarray, total: int) -> np.ndarray:
    """Blocks (..., blocks, rows, LANES) as columns (..., rows, total)."""
    *outer, count, rows, lanes = blocks.shape
    return np.swapaxes(blocks, -3, -2).reshape(*outer, rows, count * lanes)[..., :total]


def step_by_step(
    recorded: Recorded, world: int, parts: Sequence[Part], places: Mapping[str, int], total: int
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of states (nstep + 1, nx, total) and sensor data (nstep, nsensordata, total), each step by itself.

    So rows can be made on the way, where a parameter varies that is 0.
    """
    m, n = recorded.m, recorded.nstep
    nv, nx = m.nv, 2 * m.nv + m.na
    states, sensors = np.zeros((n + 1, nx, total)), np.zeros((n, m.nsensordata, total))
    states[0] = first_directions(m, parts, places, total)[0]
    rows = {"d.qpos": slice(0, nv), "d.qvel": slice(nv, 2 * nv), "d.act": slice(2 * nv, nx)}
    with linearisation(m, "step", recorded.reach) as course:
        varying = {f: r for f, r in rows.items() if r.stop > r.start}
        outputs = (*varying, *(("d.sensordata",) if m.nsensordata else ()))
        for k in range(n if total else 0):
            recorded.layout.put(course.d, recorded.row_at(world, k))
            course.evaluate()
            inputs = _planted(course.space.basis(course.d.qpos), varying, states[k])
            for p in parts:
                if p.field not in rows:
                    _add_seeds(inputs, course, p, places, total)
            found = course.tangents(inputs, outputs)
            for name, where in varying.items():
                states[k + 1, where] = found[name]
            if m.nsensordata:
                sensors[k] = found["d.sensordata"]
    return states, sensors


def _planted(basis: np.ndarray, rows: dict[str, slice], columns: np.ndarray) -> dict[str, np.ndarray]:
    """Tangents of the state, those of qpos with all numbers of quaternions."""
    return {name: basis @ columns[where] if name == "d.qpos" else columns[where] for name, where in rows.items()}
