"""Native functions of the renderer: kernels of ``(assets, frame, i, j)``."""

from __future__ import annotations

from cardan.jit.driver.program import call, native_over

picture_stage = native_over("Assets", "Frame", side_by_side=True)
"""Decorator of a kernel of ``(a, f, i, j)`` that `call` runs natively."""

__all__ = ["call", "picture_stage"]
