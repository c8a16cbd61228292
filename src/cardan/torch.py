"""Simulation steps that PyTorch can differentiate: the function `step` (extra ``cardan[torch]``)."""

from cardan.batch.torch_step import step

__all__ = ["step"]
