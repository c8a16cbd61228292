"""Sensitivities of trajectories: how all states depend on a few numbers, in one sweep forwards.

With the sensitivity S_t of the state before step t along some directions p ::

    S_(t+1) = A_t S_t + P_t        dx_(t+1)/dp, and of the sensor data C_t S_t + Q_t

(Dickinson and Gelinas, Sensitivity analysis of ordinary differential equation systems, J. Comp. Phys. 1976). A step's
tangents are computed along the columns of S_t and p together: eight parameters take one block of lanes, whatever the
size of the state. Adjoint sweeps (`derive.tape`) are for many inputs and one result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cardan.derive.fields import Part, part
from cardan.derive.linearisation import COPIED, MAKE_ROWS, Linearisation, linearisation
from cardan.derive.sensitivity import seeds_of
from cardan.derive.shadows import LANES
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.derive.recorded import Recorded
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FIRST: dict[str, Callable[[MjModel], int]] = {
    "d.qpos": lambda m: 0,
    "d.qvel": lambda m: m.nv,
    "d.act": lambda m: 2 * m.nv,
    "d.plugin_state": lambda m: 2 * m.nv + m.na,
}
"""Fields of the state, and where they begin in it."""


Combination = Mapping[str, ArrayLike]
"""Numbers that change together: how much of each field, or part of one, by name."""
By = Sequence[str] | Mapping[str, Combination]
"""What sensitivities are by: names, or combinations with names of the caller's own."""


@dataclass(frozen=True)
class Weighted:
    """A field, or a part of it, that varies.

    Attributes:
        part: the field.
        weights: how much its numbers change along each direction, (numbers, directions).
    """

    part: Part
    weights: np.ndarray


@dataclass(frozen=True)
class Inputs:
    """What sensitivities are by.

    Attributes:
        parts: what varies.
        columns: directions of each name, and the shape of what it stands for.
        total: number of directions.
    """

    parts: list[Weighted]
    columns: dict[str, tuple[slice, tuple[int, ...]]]
    total: int


def named_inputs(m: MjModel, d: MjData, by: By) -> Inputs:
    """What names stand for.

    Raises:
        IndexError, TypeError, ValueError: a name stands for nothing, or for what a step does not read; or weights are
            not as many as what they belong to.
    """
    combined = by if isinstance(by, Mapping) else {}
    groups = {name: [_input(m, d, text) for text in combined.get(name, (name,))] for name in by}
    columns: dict[str, tuple[slice, tuple[int, ...]]] = {}
    total = 0
    for name, parts in groups.items():
        size, shape = (1, ()) if name in combined else (len(parts[0].numbers), parts[0].shape)
        columns[name] = slice(total, total + size), shape
        total += size
    varying = []
    for name, parts in groups.items():
        for p in parts:
            weights = np.zeros((len(p.numbers), total))
            weights[:, columns[name][0]] = (
                _weights(p, combined[name][p.text]) if name in combined else np.eye(len(weights))
            )
            varying.append(Weighted(p, weights))
    return Inputs(varying, columns, total)


def _input(m: MjModel, d: MjData, text: str) -> Part:
    found = part(m, d, text)
    if found.field.startswith("d.") and found.field[2:] not in (*COPIED, "time"):
        raise ValueError(f"sensitivities: a step does not read {found.text}")
    return found


def _weights(given: Part, weights: ArrayLike) -> np.ndarray:
    try:
        return np.broadcast_to(np.asarray(weights, float), given.shape).reshape(-1, 1)
    except ValueError:
        wanted = f"a number or an array of shape {given.shape}"
        raise ValueError(
            f"sensitivities: weights of {given.text} should be {wanted}, got {np.shape(weights)}"
        ) from None


def native_seeds(m: MjModel, course: Linearisation, inputs: Inputs) -> dict[str, np.ndarray] | None:
    """Directions of inputs beside state and controls, (size of the field, total), by field.

    None where tangents along them may need what the native sweep has not: rows, or others than it puts back.
    """
    seeds: dict[str, np.ndarray] = {}
    for varying in inputs.parts:
        name = varying.part.field
        makes_rows = name in MAKE_ROWS and not internals.array(m, name[2:]).all()
        if makes_rows or name in ("d.time", "d.qacc_warmstart"):
            return None
        if name not in FIRST and name != "d.ctrl":
            _add_seeds(seeds, course, varying)
    return dict(sorted(seeds.items()))


def _add_seeds(seeds: dict[str, np.ndarray], course: Linearisation, varying: Weighted) -> None:
    own = seeds_of(course, varying.part) @ varying.weights
    seeds[varying.part.field] = seeds.get(varying.part.field, 0.0) + own


def first_directions(m: MjModel, nx: int, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the first state (nx, total), and of the controls of all steps (nu, total)."""
    state, control = np.zeros((nx, inputs.total)), np.zeros((m.nu, inputs.total))
    for varying in inputs.parts:
        p = varying.part
        if p.field in FIRST:
            state[FIRST[p.field](m) + p.numbers] += varying.weights
        elif p.field == "d.ctrl":
            control[p.numbers] += varying.weights
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


def step_by_step(recorded: Recorded, world: int, given: Inputs) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of states (nstep + 1, nx, total) and sensor data (nstep, nsensordata, total), each step by itself.

    So rows can be made on the way, where a parameter varies that is 0.
    """
    m, n, total = recorded.m, recorded.nstep, given.total
    nv, nx = m.nv, 2 * m.nv + m.na
    states, sensors = np.zeros((n + 1, nx, total)), np.zeros((n, m.nsensordata, total))
    states[0] = first_directions(m, nx, given)[0]
    rows = {"d.qpos": slice(0, nv), "d.qvel": slice(nv, 2 * nv), "d.act": slice(2 * nv, nx)}
    with linearisation(m, "step", recorded.reach) as course:
        varying = {f: r for f, r in rows.items() if r.stop > r.start}
        outputs = (*varying, *(("d.sensordata",) if m.nsensordata else ()))
        for k in range(n if total else 0):
            recorded.layout.put(course.d, recorded.row_at(world, k))
            course.evaluate()
            inputs = _planted(course.space.basis(course.d.qpos), varying, states[k])
            for varying_part in given.parts:
                if varying_part.part.field not in rows:
                    _add_seeds(inputs, course, varying_part)
            found = course.tangents(inputs, outputs)
            for name, where in varying.items():
                states[k + 1, where] = found[name]
            if m.nsensordata:
                sensors[k] = found["d.sensordata"]
    return states, sensors


def _planted(basis: np.ndarray, rows: dict[str, slice], columns: np.ndarray) -> dict[str, np.ndarray]:
    """Tangents of the state, those of qpos with all numbers of quaternions."""
    return {name: basis @ columns[where] if name == "d.qpos" else columns[where] for name, where in rows.items()}
