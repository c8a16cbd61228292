"""A finger learns to push a ball that it does not touch yet: exact gradients, and such with contacts from a distance.

At first no control reaches the ball, so the exact gradient is 0 and nothing is learned. With ``contacts="smooth"`` the
gradient says which way the ball lies. Run it with ``python examples/smooth_push.py [picture.png]``.
"""

from __future__ import annotations

import sys

import numpy as np

import cardan

PUSH = """
<mujoco model="push">
  <option timestep="0.01" gravity="0 0 0"/>
  <default><joint type="slide" axis="1 0 0"/></default>
  <worldbody>
    <body><joint damping="1"/><geom size=".05" mass=".5"/></body>
    <body pos=".4 0 0"><joint damping=".5"/><geom size=".1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="finger" gear="5"/></actuator>
</mujoco>
""".replace('<joint damping="1"/>', '<joint name="finger" damping="1"/>')

GOAL = 0.5
"""How far the ball should be pushed, m."""


def learn(contacts: str, rounds: int = 60, nstep: int = 100) -> tuple[np.ndarray, np.ndarray, float]:
    """Learn controls by descents along the normalised gradient, with step sizes that fall.

    Args:
        contacts: "exact" or "smooth".
        rounds: number of descents.
        nstep: steps of 0.01 s.

    Returns:
        The distance of ball and goal at the end of each round's motion, the last controls, and the largest number of
        the first gradient.
    """
    m = cardan.MjModel.from_xml_string(PUSH)
    controls, misses, first = np.zeros((nstep, 1)), [], 0.0
    reach = 0.5 if contacts == "smooth" else None
    for k in range(rounds):
        tape = cardan.record(m, cardan.MjData(m), nstep, controls, contacts, reach)
        miss = tape.qpos[-1, 1] - GOAL
        misses.append(abs(miss))
        gradient = tape.gradient(np.array([0.0, miss, 0.0, 0.0])).controls
        if k == 0:
            first = float(np.abs(gradient).max())
        length = np.linalg.norm(gradient)
        if length > 0.0:
            controls = controls - 2.0 * 0.93**k * gradient / length
    return np.array(misses), controls, first


def slopes(contacts: str, pushes: np.ndarray, nstep: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Where the ball is in the end after a constant push, and the derivative of that by the push."""
    m = cardan.MjModel.from_xml_string(PUSH)
    reach = 0.5 if contacts == "smooth" else None
    tapes = [cardan.record(m, cardan.MjData(m), nstep, np.full((nstep, 1), u), contacts, reach) for u in pushes]
    by_push = [tape.gradient(np.array([0.0, 1.0, 0.0, 0.0])).controls.sum() for tape in tapes]
    return np.array([tape.qpos[-1, 1] for tape in tapes]), np.array(by_push)


def main() -> None:
    """Learn with both, print how far off the ball is, and plot it where a file is named."""
    results = {contacts: learn(contacts) for contacts in ("exact", "smooth")}
    for contacts, (misses, _, first) in results.items():
        print(f"{contacts}: first gradient {first:.2e}, off by {misses[0]:.3f} m at first, {misses[-1]:.4f} m at last")
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        figure, (axis, left, right) = plt.subplots(1, 3, figsize=(13, 3.2), layout="constrained")
        pushes = np.linspace(0.0, 0.3, 61)
        left.plot(pushes, slopes("exact", pushes)[0])
        left.set(xlabel="constant push", ylabel="m", title="how far the ball goes")
        for contacts in results:
            right.plot(pushes, slopes(contacts, pushes)[1], label=f'contacts="{contacts}"')
        right.set(xlabel="constant push", title="derivative by the push")
        right.legend()
        for contacts, (misses, _, _) in results.items():
            axis.semilogy(misses, label=f'contacts="{contacts}"')
        axis.set(xlabel="round", ylabel="m", title="distance of ball and goal at the end")
        axis.legend()
        figure.savefig(sys.argv[1], dpi=90)


if __name__ == "__main__":
    main()
