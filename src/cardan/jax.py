"""Simulation steps that JAX can differentiate: the function `step` (extra ``cardan[jax]``)."""

from cardan.batch.jax_step import step

__all__ = ["step"]
