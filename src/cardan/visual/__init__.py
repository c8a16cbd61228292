"""The abstract scene: objects for a renderer, and their control by the mouse (spec: programming, visualization).

- ``fields``: the tables of all structures; ``record``: classes made from tables; ``structs``: the classes of MuJoCo's
  interface (``MjvCamera``, ``MjvScene``, ...).
- ``scene``: `mjv_updateScene` and the table of its stages; ``memory``: a scene as kernels see it; ``append``: functions
  that add geoms.
- ``geoms``, ``bodies``, ``joints``, ``tendons``, ``contacts``, ``flexes``, ``cameras``: stages, a file for each topic.
- ``defaults``, ``rooms``, ``mouse``, ``perturbation``, ``selection``: functions that need no stages.
"""

from cardan.visual.defaults import (
    mjv_connector,
    mjv_defaultCamera,
    mjv_defaultFigure,
    mjv_defaultFreeCamera,
    mjv_defaultOption,
    mjv_defaultPerturb,
    mjv_initGeom,
    mjv_makeConnector,
)
from cardan.visual.mouse import mjv_moveCamera, mjv_moveModel, mjv_movePerturb
from cardan.visual.perturbation import mjv_applyPerturbForce, mjv_applyPerturbPose, mjv_initPerturb
from cardan.visual.rooms import (
    mjv_alignToCamera,
    mjv_averageCamera,
    mjv_cameraInModel,
    mjv_cameraInRoom,
    mjv_frustumHeight,
    mjv_model2room,
    mjv_room2model,
)
from cardan.visual.scene import mjv_addGeoms, mjv_makeLights, mjv_updateCamera, mjv_updateScene, mjv_updateSkin
from cardan.visual.selection import mjv_select
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
    "mjv_alignToCamera",
    "mjv_applyPerturbForce",
    "mjv_applyPerturbPose",
    "mjv_averageCamera",
    "mjv_cameraInModel",
    "mjv_cameraInRoom",
    "mjv_connector",
    "mjv_defaultCamera",
    "mjv_defaultFigure",
    "mjv_defaultFreeCamera",
    "mjv_defaultOption",
    "mjv_defaultPerturb",
    "mjv_frustumHeight",
    "mjv_initGeom",
    "mjv_initPerturb",
    "mjv_makeConnector",
    "mjv_makeLights",
    "mjv_model2room",
    "mjv_moveCamera",
    "mjv_moveModel",
    "mjv_movePerturb",
    "mjv_room2model",
    "mjv_select",
    "mjv_updateCamera",
    "mjv_updateScene",
    "mjv_updateSkin",
]
