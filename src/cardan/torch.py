"""Steps that PyTorch differentiates: `step` (extra ``cardan[torch]``)."""

from cardan.batch.torch_step import step

__all__ = ["step"]
