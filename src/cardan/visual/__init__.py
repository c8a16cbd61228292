"""The abstract scene: objects for a renderer, and their control by the mouse (spec: programming, visualization).

- ``fields``: the tables of all structures; ``record``: classes made from tables; ``structs``: the classes of MuJoCo's
  interface (``MjvCamera``, ``MjvScene``, ...).
- ``scene``: `mjv_updateScene` and the table of its stages; ``memory``: a scene as kernels see it; ``append``: functions
  that add geoms.
- ``geoms``, ``bodies``, ``joints``, ``tendons``, ``contacts``, ``flexes``, ``cameras``: stages, a file for each topic.
- ``defaults``, ``rooms``, ``views``, ``mouse`` (also perturbation and selection): functions that need no stages.
- ``printing``: scenes as text.
"""

from cardan.visual import defaults, mouse, printing, rooms, scene, structs, views
from cardan.visual.defaults import *
from cardan.visual.mouse import *
from cardan.visual.printing import *
from cardan.visual.rooms import *
from cardan.visual.scene import *
from cardan.visual.structs import *
from cardan.visual.views import *

__all__: list[str] = []
__all__ += structs.__all__
__all__ += defaults.__all__
__all__ += mouse.__all__
__all__ += printing.__all__
__all__ += rooms.__all__
__all__ += scene.__all__
__all__ += views.__all__
