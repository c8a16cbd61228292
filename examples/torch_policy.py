"""A neural policy learns to balance a pole on a cart by gradients through the simulation (PyTorch).

The loss is a sum over the states of many worlds, and `backward` goes through all their steps.
Run it with ``python examples/torch_policy.py``; it needs ``cardan[torch]``.
"""

from __future__ import annotations

import torch

import cardan
import cardan.torch

CART_POLE = """
<mujoco model="cart and pole">
  <option timestep="0.02"/>
  <worldbody>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" damping="0.05"/>
      <geom type="box" size=".2 .1 .05" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".2"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="10"/></actuator>
</mujoco>
"""


def train(rounds: int = 30, nworld: int = 16, nstep: int = 50, seed: int = 0) -> list[float]:
    """Train the policy.

    Args:
        rounds: number of descents.
        nworld: number of worlds.
        nstep: steps of each, of 0.02 s.
        seed: of weights and initial states.

    Returns:
        The loss of each round: the mean of the squares of angle and position.
    """
    m = cardan.MjModel.from_xml_string(CART_POLE)
    torch.manual_seed(seed)
    policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.03)
    start = 0.4 * (torch.rand(nworld, 4, dtype=torch.float64) - 0.5)
    losses = []
    for _ in range(rounds):
        state, loss = start, torch.zeros((), dtype=torch.float64)
        for _ in range(nstep):
            state, _ = cardan.torch.step(m, state, policy(state))
            loss = loss + (state[:, 1] ** 2 + 0.1 * state[:, 0] ** 2).mean() / nstep
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


def main() -> None:
    """Train, and show how the loss falls."""
    for k, loss in enumerate(train()):
        if k % 10 == 9:
            print(f"round {k + 1:2}: loss {loss:.5f}")


if __name__ == "__main__":
    main()
