"""Sizes of memory (spec: modeling, "size"): limits on contacts and constraint rows, bytes of the arena.

The arena here grows by need, so that these numbers are limits that a user sets, and are kept for compatibility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.compiler.build import Build


def put_memory(build: Build, sizes: dict[str, int]) -> None:
    """Sizes ``njmax``, ``nconmax`` and ``narena``."""
    size = build.size
    sizes["njmax"], sizes["nconmax"] = size["njmax"], size["nconmax"]
    sizes["narena"] = max(size["memory"], 0)
