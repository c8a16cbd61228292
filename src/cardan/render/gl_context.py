"""GLContext: placeholder for programs that create an OpenGL context before they draw."""

from __future__ import annotations

__all__ = ["GLContext"]


class GLContext:
    """Placeholder for an OpenGL context, which Cardan's renderer doesn't need."""

    def __init__(self, max_width: int, max_height: int) -> None:
        self.max_width, self.max_height = int(max_width), int(max_height)

    def make_current(self) -> None:
        """Do nothing: buffers belong to an `MjrContext`."""

    def free(self) -> None:
        """Do nothing: there is nothing to free."""
