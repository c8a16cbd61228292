"""Programs that optimise, with exact derivatives ÷ the same programs with the reference's finite differences.

The programs are those of `examples/`; what differs is the engine and where derivatives come from.
One thread each. `derivatives alone` compares the calls that compute derivatives along the trajectory that was found.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

import cardan
from benchmarks.timing import paired_ratio, save

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import identify
import ilqr
import ilqr_acrobot
import ilqr_quadruped
import tangent_space

EPSILON = 1e-6
PAIRS = 3
"""Runs of each program, from which medians are taken."""
STARTS = 6
"""First guesses of the quadruped's controls, of which each gives another way to the goal."""
NUDGE = 1e-3
"""Size of the random numbers that they differ by."""


class Reference(ilqr.Dynamics):
    """The same with the reference: its steps, and A and B by its forward differences."""

    def __init__(self, m: Any) -> None:
        self.m, self.d = m, mujoco.MjData(m)
        self.nx, self.nu = 2 * m.nv + m.na, m.nu
        self._spec, self._nstate = int(mujoco.mjtState.mjSTATE_PHYSICS), m.nq + m.nv + m.na
        limited = np.array(m.actuator_ctrllimited, bool)[:, None]
        self._limits = np.where(limited, m.actuator_ctrlrange, [-np.inf, np.inf]).T

    def follow(self, start: np.ndarray, controls: np.ndarray, policy: ilqr.Policy | None = None) -> ilqr.Trajectory:
        """The trajectory from a state with given controls, or with those of a policy."""
        m, d = self.m, self.d
        states, applied = np.zeros((len(controls) + 1, self._nstate)), np.array(controls)
        mujoco.mj_resetData(m, d)
        mujoco.mj_setState(m, d, start, self._spec)
        states[0] = start
        turn, deviation = np.zeros(m.nv), np.zeros(self.nx)
        for k in range(len(controls)):
            if policy is not None:
                mujoco.mj_differentiatePos(m, turn, 1.0, policy.states[k, : m.nq], d.qpos)
                deviation[: m.nv] = turn
                deviation[m.nv :] = states[k, m.nq :] - policy.states[k, m.nq :]
                asked = policy.nominal[k] + policy.gains[k] @ deviation
                applied[k] = np.minimum(np.maximum(asked, self._limits[0]), self._limits[1])
            d.ctrl[:] = applied[k]
            mujoco.mj_step(m, d)
            mujoco.mj_getState(m, d, states[k + 1], self._spec)
        return ilqr.Trajectory(states, applied)

    def linearise(self, trajectory: ilqr.Trajectory) -> np.ndarray:
        """F = [A B] of each step of a trajectory."""
        n = len(trajectory.controls)
        A, B = np.zeros((n, self.nx, self.nx)), np.zeros((n, self.nx, self.nu))
        mujoco.mj_resetData(self.m, self.d)
        for k, control in enumerate(trajectory.controls):
            mujoco.mj_setState(self.m, self.d, trajectory.states[k], self._spec)
            self.d.ctrl[:] = control
            mujoco.mjd_transitionFD(self.m, self.d, EPSILON, 0, A[k], B[k], None, None)
        return np.concatenate([A, B], axis=2)


def trajectory_row(load: Callable[[Any], Any], solve: Callable[[ilqr.Dynamics], ilqr.Result]) -> dict[str, Any]:
    """One problem of optimal control."""
    ours, theirs = ilqr.Dynamics(load(cardan)), Reference(load(mujoco))
    found = solve(ours)
    other = solve(theirs)
    row = paired_ratio(lambda: solve(ours).seconds[-1], lambda: solve(theirs).seconds[-1], PAIRS)
    trajectory = ours.follow(found.states[0], found.controls)

    def linearise(dynamics: ilqr.Dynamics) -> float:
        begin = time.thread_time()
        dynamics.linearise(trajectory)
        return time.thread_time() - begin

    return row | {
        "iterations": len(found.costs) - 1,
        "iterations_reference": len(other.costs) - 1,
        "converged": found.converged,
        "converged_reference": other.converged,
        "cost": found.costs[-1],
        "cost_reference": other.costs[-1],
        "derivatives": paired_ratio(lambda: linearise(ours), lambda: linearise(theirs))["ratio"],
    }


def seconds_to(result: ilqr.Result, cost: float) -> float:
    """Processor time until a cost was reached."""
    return result.seconds[next(k for k, reached in enumerate(result.costs) if reached <= cost)]


def from_many_starts() -> dict[str, float]:
    """How long the quadruped's programs take to the larger of their two final costs, in the median over first guesses.

    Where a program ends depends on the last digits of its trajectory, with exact derivatives as with differences.
    """
    ours = ilqr.Dynamics(cardan.MjModel.from_xml_path(str(ilqr_quadruped.MODEL)))
    theirs = Reference(mujoco.MjModel.from_xml_path(str(ilqr_quadruped.MODEL)))
    rows = []
    for seed in range(STARTS):
        first = NUDGE * np.random.default_rng(seed).normal(size=(100, ours.nu))
        found, other = (ilqr_quadruped.stand_up(dynamics, first=first) for dynamics in (ours, theirs))
        cost = max(found.costs[-1], other.costs[-1])
        whole = found.seconds[-1] / other.seconds[-1]
        rows.append((seconds_to(found, cost), seconds_to(other, cost), found.costs[-1], other.costs[-1], whole))
    ratios = [a / b for a, b, *_ in rows]
    seconds, reference, costs, costs_reference, whole = np.median(rows, axis=0).tolist()
    return {
        "ratio": float(np.median(ratios)),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "ours": seconds,
        "reference": reference,
        "starts": STARTS,
        "cost": costs,
        "cost_reference": costs_reference,
        "whole": whole,
    }


class ReferencePieces(identify.Pieces):
    """Pieces simulated by the reference's rollout, and differentiated by differences."""

    def simulate(self) -> np.ndarray:
        """States of all pieces."""
        return identify.simulate(mujoco, self.parameters.m, self.parameters.d, self.starts, self.controls)

    def slopes(self) -> np.ndarray:
        """Derivatives of the states of all pieces by the parameters."""
        pieces = zip(self.starts, self.controls, strict=True)
        return np.array([self.of_piece(*piece) for piece in pieces])

    def of_piece(self, first: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """Derivatives of the states of a piece, from its first state and its controls."""
        raise NotImplementedError


class StepDifferences(ReferencePieces):
    """With differences of each step, by the state and by each parameter."""

    def of_piece(self, first: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """Derivatives of the states of a piece."""
        return step_sensitivities(self.parameters, first, controls)


class PieceDifferences(ReferencePieces):
    """With differences of whole pieces, which take no Jacobians."""

    def of_piece(self, first: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """Derivatives of the states of a piece."""
        return piece_sensitivities(self.parameters, first, controls)


def step_sensitivities(parameters: identify.Parameters, first: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """Sensitivities of a piece from differences of each of its steps: by the state, and by each parameter."""
    m, d = parameters.m, parameters.d
    spec = int(mujoco.mjtState.mjSTATE_PHYSICS)
    nx, values = 2 * m.nv, parameters.get()
    found, A = np.zeros((len(controls) + 1, nx, len(values))), np.zeros((nx, nx))
    start, ends = first.copy(), np.zeros((1 + len(values), m.nq + m.nv))
    for k, control in enumerate(controls):
        d.ctrl[:] = control
        mujoco.mj_setState(m, d, start, spec)
        mujoco.mjd_transitionFD(m, d, EPSILON, 0, A, None, None, None)
        for i, value in enumerate(values):
            changed = values.copy()
            changed[i] += EPSILON * value
            parameters.put(changed)
            mujoco.mj_setState(m, d, start, spec)
            mujoco.mj_step(m, d)
            mujoco.mj_getState(m, d, ends[1 + i], spec)
        parameters.put(values)
        mujoco.mj_setState(m, d, start, spec)
        mujoco.mj_step(m, d)
        mujoco.mj_getState(m, d, ends[0], spec)
        changes = tangent_space.differences(m, ends[:1], ends[1:])
        found[k + 1] = A @ found[k] + (changes / (EPSILON * values)[:, None]).T
        start[:] = ends[0]
    return found


def piece_sensitivities(parameters: identify.Parameters, first: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """The same from differences of the piece as a whole, which takes no Jacobians."""
    m, values = parameters.m, parameters.get()
    here = identify.simulate(mujoco, m, parameters.d, first[None], controls[None])[0]
    columns = []
    for i, value in enumerate(values):
        changed = values.copy()
        changed[i] += EPSILON * value
        parameters.put(changed)
        there = identify.simulate(mujoco, m, parameters.d, first[None], controls[None])[0]
        columns.append(tangent_space.differences(m, here, there) / (EPSILON * value))
    parameters.put(values)
    return np.stack(columns, axis=-1)


def identification_row(task: identify.Task, theirs: type[ReferencePieces]) -> dict[str, Any]:
    """One problem of identification."""
    found, other = identify.identify(task), identify.identify(task, mujoco, theirs)
    row = paired_ratio(
        lambda: identify.identify(task).seconds, lambda: identify.identify(task, mujoco, theirs).seconds, PAIRS
    )

    def derivatives(engine: Any, simulated: type[identify.Pieces]) -> float:
        m = engine.MjModel.from_xml_string(task.xml)
        parameters = identify.Parameters(m, engine.MjData(m), task.numbers)
        times = np.arange(400) * m.opt.timestep
        states, controls = identify.measure(engine, m, np.array([task.force(t) for t in times]), 0.0, 20).pieces()
        pieces = simulated(parameters, states[:, 0], controls)
        pieces.simulate()
        pieces.slopes()  # makes what is kept
        begin = time.thread_time()
        if engine is cardan:
            pieces.simulate()  # the reference's differences simulate by themselves
        pieces.slopes()
        return time.thread_time() - begin

    alone = paired_ratio(lambda: derivatives(cardan, identify.RecordedPieces), lambda: derivatives(mujoco, theirs))
    return row | {
        "iterations": len(found.errors) - 1,
        "iterations_reference": len(other.errors) - 1,
        "converged": found.converged,
        "converged_reference": other.converged,
        "derivatives": alone["ratio"],
    }


def main() -> None:
    """Print and save all problems."""
    rows = {
        "acrobot swings up": trajectory_row(
            lambda engine: engine.MjModel.from_xml_string(ilqr_acrobot.ACROBOT), ilqr_acrobot.swing_up
        ),
        "quadruped stands up": trajectory_row(
            lambda engine: engine.MjModel.from_xml_path(str(ilqr_quadruped.MODEL)), ilqr_quadruped.stand_up
        ),
    }
    for name, task in identify.TASKS.items():
        rows[f"identification, {name}"] = identification_row(task, StepDifferences)
        rows[f"identification, {name}; reference differences whole pieces"] = identification_row(task, PieceDifferences)
    for name, row in rows.items():
        print(
            f"{name}: {row['ratio']:.2f} of the reference's time, {row['iterations']} / {row['iterations_reference']} "
            f"iterations, {row['ours']:.2f} s / {row['reference']:.2f} s, converged {row['converged']} / "
            f"{row['converged_reference']}; derivatives alone {row['derivatives']:.2f}"
        )
    save("optimisation", rows)
    starts = from_many_starts()
    print({name: round(value, 3) for name, value in starts.items()})
    save("optimisation_starts", {"quadruped stands up": starts})


if __name__ == "__main__":
    main()
