"""A quadruped stands up: twelve motors, four feet on the ground (iLQR with exact Jacobians through contact).

Run it with ``python examples/ilqr_quadruped.py [picture.png]``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from ilqr import Cost, Dynamics, Result, solve

import cardan

MODEL = Path(__file__).with_name("quadruped.xml")
SETTLING = 100


def lying(dynamics: Dynamics) -> np.ndarray:
    """The state in which it has come to rest with folded legs."""
    m = dynamics.m
    start = np.concatenate([m.key_qpos[1], np.zeros(m.nv)])
    states = dynamics.follow(start, np.zeros((SETTLING, m.nu))).states
    return np.concatenate([states[-1][: m.nq], np.zeros(m.nv)])


def stand_up(dynamics: Dynamics, nstep: int = 100, iterations: int = 100, first: np.ndarray | None = None) -> Result:
    """Stand up within `nstep` steps of 0.01 s, from lying at rest and from controls `first`, or those that are 0."""
    m = dynamics.m
    place, turn, joints = np.full(3, 10.0), np.full(3, 10.0), np.full(m.nu, 0.5)
    positions, velocities = np.concatenate([place, turn, joints]), np.full(m.nv, 0.01)
    cost = Cost(
        goal=np.concatenate([m.key_qpos[0], np.zeros(m.nv)]),
        running=np.concatenate([positions, velocities]) * 1.0,
        final=np.concatenate([100.0 * positions, 100.0 * velocities]),
        control=np.full(m.nu, 0.01),
    )
    controls = np.zeros((nstep, m.nu)) if first is None else first
    return solve(dynamics, cost, lying(dynamics), controls, iterations, 1e-3)


def plot(result: Result, name: str) -> None:
    """Save height, joint angles, controls and costs."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(15, 3.2), layout="constrained")
    times = 0.01 * np.arange(len(result.states))
    axes[0].plot(times, result.states[:, 2])
    axes[0].set(xlabel="s", ylabel="m", title="height of the torso")
    axes[1].plot(times, result.states[:, 7:19])
    axes[1].set(xlabel="s", ylabel="rad", title="joint angles")
    axes[2].plot(times[:-1], result.controls)
    axes[2].set(xlabel="s", title="controls")
    axes[3].semilogy(result.costs)
    axes[3].set(xlabel="iteration", title="cost")
    figure.savefig(name, dpi=90)


def main() -> None:
    """Optimise, print what came out, and plot it where a file is named."""
    result = stand_up(Dynamics(cardan.MjModel.from_xml_path(str(MODEL))))
    heights = result.states[:, 2]
    print(f"{len(result.costs) - 1} iterations, {result.seconds[-1]:.1f} s, converged: {result.converged}")
    print(f"cost {result.costs[0]:.1f} -> {result.costs[-1]:.3f}; torso from {heights[0]:.3f} m to {heights[-1]:.3f} m")
    if len(sys.argv) > 1:
        plot(result, sys.argv[1])


if __name__ == "__main__":
    main()
