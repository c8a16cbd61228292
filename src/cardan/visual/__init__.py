"""The abstract scene: what a renderer draws, as data.

- ``members``: how the table of a structure is written; ``fields``: the tables of all structures.
- ``record``: a class made from a table.
- ``structs``: the classes of MuJoCo's interface (``MjvCamera``, ``MjvScene``, ...).
"""

from cardan.visual.structs import (
    MjrContext,
    MjrRect,
    MjvCamera,
    MjvFigure,
    MjvGeom,
    MjvGLCamera,
    MjvLight,
    MjvOption,
    MjvPerturb,
    MjvScene,
)

__all__ = [
    "MjrContext",
    "MjrRect",
    "MjvCamera",
    "MjvFigure",
    "MjvGLCamera",
    "MjvGeom",
    "MjvLight",
    "MjvOption",
    "MjvPerturb",
    "MjvScene",
]
