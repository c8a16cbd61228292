"""Random search learns to balance a pole on a cart, with a thousand worlds at once.

Each round tries as many linear policies as there are worlds, all in one batch, and keeps the best ones' mean and
spread (the cross-entropy method). Run it with ``python examples/batch_policy.py``.
"""

from __future__ import annotations

import time

import numpy as np

import cardan

CART_POLE = """
<mujoco model="cart and pole">
  <option timestep="0.01"/>
  <worldbody>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" limited="true" range="-2 2" damping="0.05"/>
      <geom type="box" size=".2 .1 .05" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".2"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="20" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""

NWORLD, NSTEP, ROUNDS, BEST = 1000, 300, 6, 50


def returns(batch: cardan.Batch, policies: np.ndarray, seed: int) -> np.ndarray:
    """How long each policy keeps the pole up (nworld,), as a share of all steps, minus a price for leaving the middle.

    Args:
        batch: the worlds, one a policy.
        policies: gains of cart position, pole angle and their velocities (nworld, 4).
        seed: of the initial states.
    """
    batch.reset(stage=cardan.mjtStage.mjSTAGE_NONE)
    batch.qpos[:, 1] = 0.3 * (batch.random(1, seed)[:, 0] - 0.5)
    up, total = np.ones(len(batch), bool), np.zeros(len(batch))
    for _ in range(NSTEP):
        batch.ctrl[:, 0] = (policies * np.hstack([batch.qpos, batch.qvel])).sum(axis=1)
        batch.step()
        up &= np.abs(batch.qpos[:, 1]) < 0.5
        total += up * (1 - 0.2 * np.abs(batch.qpos[:, 0]))
    return total / NSTEP


def main() -> None:
    """Search, and show how the best policy gets better."""
    rng = np.random.default_rng(0)
    batch = cardan.Batch(cardan.MjModel.from_xml_string(CART_POLE), NWORLD)
    mean, spread = np.zeros(4), np.full(4, 1.0)
    start = time.perf_counter()
    for k in range(ROUNDS):
        policies = mean + spread * rng.normal(size=(NWORLD, 4))
        scores = returns(batch, policies, seed=k)
        best = policies[np.argsort(scores)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"round {k + 1:2}: best {scores.max():.3f}, mean of the best {np.sort(scores)[-BEST:].mean():.3f}")
    steps = ROUNDS * NWORLD * NSTEP
    seconds = time.perf_counter() - start
    final = returns(batch, np.tile(mean, (NWORLD, 1)), seed=ROUNDS)
    print(
        f"{steps / seconds:,.0f} steps a second; the policy {np.round(mean, 2)} scores {final.mean():.3f} on new states"
    )


if __name__ == "__main__":
    main()
