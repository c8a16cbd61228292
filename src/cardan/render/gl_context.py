"""GLContext: what programs make before they draw; here it needs and holds nothing."""

from __future__ import annotations

__all__ = ["GLContext"]


class GLContext:
    """Stands for a context of OpenGL, which Cardan's renderer doesn't need.

    Args:
        max_width, max_height: size of the largest picture, pixels; the buffer that stands for a window gets it.
    """

    def __init__(self, max_width: int, max_height: int) -> None:
        self.max_width, self.max_height = int(max_width), int(max_height)

    def make_current(self) -> None:
        """Nothing to do: buffers belong to an `MjrContext`."""

    def free(self) -> None:
        """Nothing to give back."""
