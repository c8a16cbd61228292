"""An acrobot swings up: two links, and a motor at the elbow alone (iLQR with exact Jacobians).

Run it with ``python examples/ilqr_acrobot.py [picture.png]``.
"""

from __future__ import annotations

import sys

import numpy as np
from ilqr import Cost, Dynamics, Result, solve

import cardan

ACROBOT = """
<mujoco model="acrobot">
  <option timestep="0.01" integrator="implicitfast"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" damping="0.02"/>
      <geom type="capsule" fromto="0 0 0 0 0 1" size=".03" mass="1" contype="0"/>
      <body name="lower" pos="0 0 1">
        <joint name="elbow" axis="0 1 0" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0 0 1" size=".03" mass="1" contype="0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="elbow" joint="elbow" gear="10" ctrllimited="true" ctrlrange="-2 2"/></actuator>
</mujoco>
"""

UPRIGHT = np.zeros(4)
HANGING = np.array([np.pi, 0.0, 0.0, 0.0])


def swing_up(dynamics: Dynamics, nstep: int = 500, iterations: int = 300) -> Result:
    """Swing up within `nstep` steps of 0.01 s, from hanging at rest and from small controls."""
    cost = Cost(
        goal=UPRIGHT,
        running=np.array([1e-3, 1e-3, 1e-4, 1e-4]),
        final=np.array([1000.0, 1000.0, 100.0, 100.0]),
        control=np.array([0.05]),
    )
    controls = 0.3 * np.sin(0.03 * np.arange(nstep))[:, None]
    return solve(dynamics, cost, HANGING, controls, iterations, 1e-3)


def plot(result: Result, name: str) -> None:
    """Save angles, controls and costs."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
    times = 0.01 * np.arange(len(result.states))
    axes[0].plot(times, result.states[:, 0], label="shoulder")
    axes[0].plot(times, result.states[:, 1], label="elbow")
    axes[0].set(xlabel="s", ylabel="rad", title="angles (upright: 0)")
    axes[0].legend()
    axes[1].plot(times[:-1], result.controls[:, 0])
    axes[1].set(xlabel="s", title="control")
    axes[2].semilogy(result.costs)
    axes[2].set(xlabel="iteration", title="cost")
    figure.savefig(name, dpi=90)


def main() -> None:
    """Optimise, print what came out, and plot it where a file is named."""
    result = swing_up(Dynamics(cardan.MjModel.from_xml_string(ACROBOT)))
    last = result.states[-1]
    print(f"{len(result.costs) - 1} iterations, {result.seconds[-1]:.1f} s, converged: {result.converged}")
    print(f"cost {result.costs[0]:.1f} -> {result.costs[-1]:.3f}; last angles {last[:2].round(4)}")
    if len(sys.argv) > 1:
        plot(result, sys.argv[1])


if __name__ == "__main__":
    main()
