"""Open-loop rollouts in native threads, as in ``mujoco.rollout`` (see `cardan.batch.rollout`)."""

from cardan.batch.rollout import rollout

__all__ = ["rollout"]
