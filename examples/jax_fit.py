"""Masses and dampings of a double pendulum from a recording of its motion, by gradients through the simulation (JAX).

Run it with ``python examples/jax_fit.py``; it needs ``cardan[jax]``.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

import cardan
import cardan.jax

jax.config.update("jax_enable_x64", True)

PENDULUM = """
<mujoco model="double pendulum">
  <option timestep="0.01"/>
  <worldbody>
    <body>
      <joint name="shoulder" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1"/>
      <body pos="0 0 -.4">
        <joint name="elbow" axis="0 1 0" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass=".5"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder"/></actuator>
</mujoco>
"""


def fit(nstep: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Fit the dampings of both joints: by their logarithms, with the method of Broyden, Fletcher, Goldfarb and Shanno.

    Args:
        nstep: steps that were recorded.

    Returns:
        Dampings after each iteration, (n, 2), and the true ones.
    """
    m = cardan.MjModel.from_xml_string(PENDULUM)
    truth = jnp.asarray(m.dof_damping)
    start = jnp.array([0.5, -0.3, 0.0, 0.0])
    controls = jnp.sin(0.1 * jnp.arange(nstep))[:, None]

    def motion(damping: jax.Array) -> jax.Array:
        def forth(state: jax.Array, control: jax.Array) -> tuple[jax.Array, jax.Array]:
            following, _ = cardan.jax.step(m, state, control, {"dof_damping": damping})
            return following, following[:2]

        return jax.lax.scan(forth, start, controls)[1]

    recorded = motion(truth)
    loss = jax.jit(jax.value_and_grad(lambda x: 1e3 * jnp.mean((motion(jnp.exp(x)) - recorded) ** 2)))
    found = [np.array([0.2, 0.2])]
    minimize(
        lambda x: tuple(np.asarray(part) for part in loss(x)),
        np.log(found[0]),
        jac=True,
        method="BFGS",
        callback=lambda x: found.append(np.exp(x)),
    )
    return np.array(found), np.asarray(truth)


def main() -> None:
    """Fit, and show the dampings on the way."""
    found, truth = fit()
    for k, dampings in enumerate(found):
        print(f"iteration {k:2}: dampings {dampings.round(5)}")
    print(f"true dampings {truth}")


if __name__ == "__main__":
    main()
