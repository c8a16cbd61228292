"""Own shapes for collisions (spec: programming, collision functions; modeling, plugins)."""

from __future__ import annotations

from cardan.collision.sdf.registry import register_sdf

__all__ = ["register_sdf"]
