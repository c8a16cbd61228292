"""The macro ``<flexcomp>``: a flex with the bodies and joints that carry its vertices (spec: modeling, "flexcomp")."""

from __future__ import annotations

from cardan.spec.flexcomp.expand import expand_flexcomps

__all__ = ["expand_flexcomps"]
