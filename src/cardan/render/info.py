"""Facts about the renderer (functions of MuJoCo 4.0)."""

from __future__ import annotations

from cardan.visual.defaults import require_record
from cardan.visual.record import Member, VisualRecord

_TEXT = "S64"
BACKEND = "software"
"""Name of what draws pictures: Cardan's own renderer, on the processor."""


class MjrRendererInfo(VisualRecord):
    """Names of a renderer and of the library with which it draws."""

    table = (
        Member("renderer", _TEXT, (), "name of the renderer", b"classic"),
        Member("backend", _TEXT, (), "name of the library with which it draws"),
    )


def mjr_defaultRendererInfo(info: MjrRendererInfo) -> None:
    """Set the values that a new `MjrRendererInfo` has."""
    require_record("mjr_defaultRendererInfo", "info", info, MjrRendererInfo)
    info.values[...] = info.default


def mjr_getRendererInfo(info: MjrRendererInfo) -> None:
    """Write the names of the renderer in use."""
    mjr_defaultRendererInfo(info)
    info.backend = BACKEND


__all__ = ["MjrRendererInfo", "mjr_defaultRendererInfo", "mjr_getRendererInfo"]
