"""Sizes of memory (spec: modeling, "size"): limits on contacts and constraint rows, bytes of the arena.

The arena grows on demand here. The sizes are therefore only limits set by the user, kept for compatibility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.compiler.build import Build


def put_memory(build: Build, sizes: dict[str, int]) -> None:
    """Set the sizes ``njmax``, ``nconmax`` and ``narena``."""
    size = build.size
    sizes["njmax"], sizes["nconmax"] = size["njmax"], size["nconmax"]
    sizes["narena"] = max(size["memory"], 0)
