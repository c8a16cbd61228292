"""Steps that JAX differentiates: `step` (extra ``cardan[jax]``)."""

from cardan.batch.jax_step import step

__all__ = ["step"]
