"""Sensitivities of trajectories: how all states depend on a few numbers, in one sweep forwards.

With the sensitivity S_t of the state before step t along some directions p ::

    S_(t+1) = A_t S_t + P_t        dx_(t+1)/dp, and of the sensor data C_t S_t + Q_t

(Dickinson and Gelinas, Sensitivity analysis of ordinary differential equation systems, J. Comp. Phys. 1976). A step's
tangents are computed along the columns of S_t and p together: eight parameters take one block of lanes, whatever the
size of the state. Adjoint sweeps (`derive.tape`) are for many inputs and one result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.fields import Part, part
from cardan.derive.jacobian import INPUTS, Directions, StepJacobian, step_jacobian
from cardan.derive.linearisation import COPIED, MAKE_ROWS, linearisation
from cardan.derive.recording import next_recorded
from cardan.derive.sensitivity import seeds_of
from cardan.derive.shadows import LANES
from cardan.jit import Program

if TYPE_CHECKING:
    from cardan.derive.tape import Tape
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FIRST: dict[str, Callable[[MjModel], int]] = {
    "d.qpos": lambda m: 0,
    "d.qvel": lambda m: m.nv,
    "d.act": lambda m: 2 * m.nv,
}
"""Fields of the state, and where they begin in it."""


def sensitivities_of(tape: Tape, by: Sequence[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Derivatives of all states and sensor data of a tape by numbers that are the same in all steps.

    Args:
        tape: the tape.
        by: names, as in `cardan.derivatives`: fields of the model, controls, applied forces, mocap poses; and qpos,
            qvel and act, which stand for the first state.

    Returns:
        For each name the derivatives of the states, (nstep + 1, 2 nv + na, ...), and of the sensor data, (nstep,
        nsensordata, ...), with the shape of what is named in place of the dots.

    Raises:
        IndexError, TypeError, ValueError: a name stands for nothing, or for what a step does not read.
        NotImplementedError: the model or a state has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    m, n = tape.m, tape.nstep
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    jacobian = step_jacobian(m, m.nsensordata > 0, tape.reach)
    parts = [_input(m, jacobian.course.d, text) for text in by]
    ends = np.cumsum([len(p.numbers) for p in parts])
    total = int(ends[-1]) if parts else 0
    places = dict(zip((p.text for p in parts), ends - [len(p.numbers) for p in parts], strict=True))
    if any(_needs_rows(tape, p) for p in parts):
        states, sensors = _step_by_step(tape, parts, places, total)
    else:
        states, sensors = _natively(tape, jacobian, parts, places, total)
    results = {}
    for p in parts:
        where = np.s_[..., places[p.text] : places[p.text] + len(p.numbers)]
        shapes = (n + 1, nx, *p.shape), (n, ns, *p.shape)
        results[p.text] = states[where].reshape(shapes[0]), sensors[where].reshape(shapes[1])
    return results


def _input(m: MjModel, d: MjData, text: str) -> Part:
    found = part(m, d, text)
    if found.field.startswith("d.") and found.field[2:] not in (*COPIED, "time"):
        raise ValueError(f"sensitivities: a step does not read {found.text}")
    return found


def _needs_rows(tape: Tape, given: Part) -> bool:
    """Whether tangents along an input may need what the native sweep has not: rows, or others than it puts back."""
    if given.field in MAKE_ROWS:
        return not tape.m._memory.arrays[given.field[2:]].all()
    return given.field in ("d.time", "d.qacc_warmstart")


def _first(tape: Tape, parts: Sequence[Part], places: dict[str, int], total: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the first state (nx, total), and of the controls (nu, total)."""
    m = tape.m
    state, control = np.zeros((2 * m.nv + m.na, total)), np.zeros((m.nu, total))
    for p in parts:
        columns = places[p.text] + np.arange(len(p.numbers))
        if p.field in FIRST:
            state[FIRST[p.field](m) + p.numbers, columns] = 1.0
        elif p.field == "d.ctrl":
            control[p.numbers, columns] = 1.0
    return state, control


def _blocks(columns: np.ndarray, blocks: int) -> np.ndarray:
    """Columns (rows, n) as blocks (blocks, rows, LANES)."""
    padded = np.zeros((len(columns), blocks * LANES))
    padded[:, : columns.shape[1]] = columns
    return np.ascontiguousarray(padded.reshape(len(columns), blocks, LANES).transpose(1, 0, 2))


def _columns(blocks: np.ndarray, total: int) -> np.ndarray:
    """Blocks (n, blocks, rows, LANES) as columns (n, rows, total)."""
    n, count, rows, _ = blocks.shape
    return blocks.transpose(0, 2, 1, 3).reshape(n, rows, count * LANES)[..., :total]


def _natively(
    tape: Tape, jacobian: StepJacobian, parts: Sequence[Part], places: dict[str, int], total: int
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the states (nstep + 1, nx, total) and of the sensor data (nstep, nsensordata, total)."""
    m, n, blocks = tape.m, tape.nstep, -(-total // LANES)
    state, control = _first(tape, parts, places, total)
    states, sensors = np.zeros((n + 1, blocks, len(state), LANES)), np.zeros((n, blocks, m.nsensordata, LANES))
    states[0] = _blocks(state, blocks)
    seeds: dict[str, np.ndarray] = {}
    for p in parts:
        if p.field not in FIRST and p.field != "d.ctrl":
            own = seeds_of(jacobian.course, p)
            columns = seeds.setdefault(p.field, np.zeros((len(own), total)))
            columns[:, places[p.text] : places[p.text] + own.shape[1]] += own
    seeds = dict(sorted(seeds.items()))
    asked = INPUTS if control.any() else INPUTS[:3]
    wanted = Directions((*asked, *seeds), blocks)
    jacobian.course.d._memory.scalars["work.tape_blocks"][0] = blocks
    for first, end in tape.stretches() if total else []:
        arrays = {"sensitivity": states[first : end + 1], "sensitivity_sensors": sensors[first:end]}
        arrays["sensitivity_control"] = _blocks(control, blocks)
        tape.sweep(jacobian, wanted, (first, end), arrays, Program([next_recorded]), seeds=seeds)
    return _columns(states, total), _columns(sensors, total)


def _step_by_step(
    tape: Tape, parts: Sequence[Part], places: dict[str, int], total: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same where rows may have to be made: each step by itself."""
    m, n = tape.m, tape.nstep
    nv, nx = m.nv, 2 * m.nv + m.na
    states, sensors = np.zeros((n + 1, nx, total)), np.zeros((n, m.nsensordata, total))
    states[0] = _first(tape, parts, places, total)[0]
    rows = {"d.qpos": slice(0, nv), "d.qvel": slice(nv, 2 * nv), "d.act": slice(2 * nv, nx)}
    course = linearisation(m, "step", tape.reach)
    varying = {f: r for f, r in rows.items() if r.stop > r.start}
    outputs = (*varying, *(("d.sensordata",) if m.nsensordata else ()))
    for k in range(n if total else 0):
        course.start(tape.data_at(k))
        inputs = _planted(course.space.basis(course.d.qpos), varying, states[k])
        for p in parts:
            if p.field not in rows:
                seeds = seeds_of(course, p)
                given = inputs.setdefault(p.field, np.zeros((len(seeds), total)))
                given[:, places[p.text] : places[p.text] + len(p.numbers)] += seeds
        found = course.tangents(inputs, outputs)
        for name, where in varying.items():
            states[k + 1, where] = found[name]
        if m.nsensordata:
            sensors[k] = found["d.sensordata"]
    return states, sensors


def _planted(basis: np.ndarray, rows: dict[str, slice], columns: np.ndarray) -> dict[str, np.ndarray]:
    """Tangents of the state, those of qpos with all numbers of quaternions."""
    return {name: basis @ columns[where] if name == "d.qpos" else columns[where] for name, where in rows.items()}
