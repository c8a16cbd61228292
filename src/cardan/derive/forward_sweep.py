"""Sensitivities of trajectories: how all states depend on a few numbers, in one sweep forwards.

With the sensitivity S_t of the state before step t along some directions p ::

    S_(t+1) = A_t S_t + P_t        dx_(t+1)/dp, and of the sensor data C_t S_t + Q_t

(Dickinson and Gelinas, Sensitivity analysis of ordinary differential equation systems, J. Comp. Phys. 1976). A step's
tangents are computed along the columns of S_t and p together: eight parameters take one block of lanes, whatever the
size of the state. Adjoint sweeps (`derive.tape`) are for many inputs and one result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.fields import Part, part
from cardan.derive.linearisation import COPIED, linearisation
from cardan.derive.sensitivity import seeds_of

if TYPE_CHECKING:
    from cardan.derive.tape import Tape

STATE = ("qpos", "qvel", "act")


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
    nv, nx = m.nv, 2 * m.nv + m.na
    parts = [_input(tape, text) for text in by]
    ends = np.cumsum([len(p.numbers) for p in parts])
    total = int(ends[-1]) if parts else 0
    states, sensors = np.zeros((n + 1, nx, total)), np.zeros((n, m.nsensordata, total))
    rows = {"d.qpos": slice(0, nv), "d.qvel": slice(nv, 2 * nv), "d.act": slice(2 * nv, nx)}
    for p, end in zip(parts, ends, strict=True):
        if p.field in rows:
            first = rows[p.field].start
            states[0, first + p.numbers, np.arange(end - len(p.numbers), end)] = 1.0
    course = linearisation(m, "step", tape.reach)
    varying = {f: r for f, r in rows.items() if r.stop > r.start}
    outputs = (*varying, *(("d.sensordata",) if m.nsensordata else ()))
    for k in range(n if total else 0):
        course.start(tape.data_at(k))
        inputs = _planted(course.space.basis(course.d.qpos), varying, states[k])
        for p, end in zip(parts, ends, strict=True):
            if p.field not in rows:
                seeds = seeds_of(course, p)
                given = inputs.setdefault(p.field, np.zeros((len(seeds), total)))
                given[:, end - len(p.numbers) : end] += seeds
        found = course.tangents(inputs, outputs)
        for name, where in varying.items():
            states[k + 1, where] = found[name]
        if m.nsensordata:
            sensors[k] = found["d.sensordata"]
    results = {}
    for p, end in zip(parts, ends, strict=True):
        where = np.s_[..., end - len(p.numbers) : end]
        results[p.text] = states[where].reshape(n + 1, nx, *p.shape), sensors[where].reshape(n, -1, *p.shape)
    return results


def _input(tape: Tape, text: str) -> Part:
    found = part(tape.m, tape.data_at(0), text)
    if found.field.startswith("d.") and found.field[2:] not in (*COPIED, "time"):
        raise ValueError(f"sensitivities: a step does not read {found.text}")
    return found


def _planted(basis: np.ndarray, rows: dict[str, slice], columns: np.ndarray) -> dict[str, np.ndarray]:
    """Tangents of the state, those of qpos with all numbers of quaternions."""
    return {name: basis @ columns[where] if name == "d.qpos" else columns[where] for name, where in rows.items()}
