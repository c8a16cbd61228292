"""Open-loop rollouts in native threads, as in ``mujoco.rollout`` (see `cardan.batch.rollout`)."""

from cardan.batch.rollout import Rollout, rollout, shutdown_persistent_pool

__all__ = ["Rollout", "rollout", "shutdown_persistent_pool"]
