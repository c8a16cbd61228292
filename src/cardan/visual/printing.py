"""Scenes as text, for reading and comparison: geoms, lights, cameras, then the settings of the scene."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cardan.files import FileName, write_file
from cardan.model.printing import DEFAULT_FORMAT, check_format
from cardan.visual.record import VisualRecord
from cardan.visual.structs import MjvScene

_COLUMN = 18


def mj_printFormattedScene(s: MjvScene, filename: FileName, float_format: str | bytes) -> None:
    """Write a scene to a text file: the geoms and lights in use, both cameras, settings, flexes and skins.

    Args:
        s: the scene.
        filename: path of the file.
        float_format: printf format of one float, such as ``"%.9g"``.

    Raises:
        TypeError: `s` is not a scene.
        ValueError: the format is invalid.
        OSError: the file can't be written.
    """
    if not isinstance(s, MjvScene):
        raise TypeError(f"mj_printFormattedScene: s must be an MjvScene, not {type(s).__name__}")
    write_file(filename, scene_text(s, check_format(float_format)))


def mj_printScene(s: MjvScene, filename: FileName) -> None:
    """Write a scene to a text file, with two significant digits; see `mj_printFormattedScene`."""
    mj_printFormattedScene(s, filename, DEFAULT_FORMAT)


def scene_text(s: MjvScene, style: str) -> str:
    """Return a scene as text; `style` is the printf format of floats."""
    lines: list[str] = []
    for title, records in (("GEOM", s.geoms[: s.ngeom]), ("LIGHT", s.lights[: s.nlight]), ("CAMERA", s.camera)):
        lines += ["", f"{title}S {len(records)}"]
        for number, record in enumerate(records):
            lines += [f"  {title} {number}", *_members(record, style, "    "), ""]
    lines += ["", "SCENE", *_members(s, style, "  ")]
    return "\n".join([*lines[1:], ""])


def _members(record: VisualRecord, style: str, indent: str) -> Iterator[str]:
    """Yield a line for each member of a structure."""
    for name in record.names():
        value = getattr(record, name)
        if not isinstance(value, tuple):  # the structures of a scene
            yield f"{indent}{name:<{_COLUMN}}{_text(value, style)}".rstrip()


def _text(value: object, style: str) -> str:
    if isinstance(value, str):
        return value
    numbers = np.ravel(np.asarray(value))
    return " ".join(style % x if numbers.dtype.kind == "f" else str(x) for x in numbers.tolist())


__all__ = ["mj_printFormattedScene", "mj_printScene"]
