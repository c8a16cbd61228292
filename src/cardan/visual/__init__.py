"""The abstract scene: what a renderer draws, as data.

- ``members``: how the table of a structure is written; ``fields``: the tables of all structures.
- ``record``: a class made from a table.
- ``structs``: the classes of MuJoCo's interface (``MjvCamera``, ``MjvScene``, ...).
- ``scene``: `mjv_updateScene` and its parts. ``memory``: how kernels see a scene; ``append``: geoms that they add.
- ``geoms``, ``lights``, ``cameras``: stages, a file a topic.
"""

from cardan.visual.scene import mjv_addGeoms, mjv_makeLights, mjv_updateCamera, mjv_updateScene
from cardan.visual.structs import (
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
    "MjrRect",
    "MjvCamera",
    "MjvFigure",
    "MjvGLCamera",
    "MjvGeom",
    "MjvLight",
    "MjvOption",
    "MjvPerturb",
    "MjvScene",
    "mjv_addGeoms",
    "mjv_makeLights",
    "mjv_updateCamera",
    "mjv_updateScene",
]
