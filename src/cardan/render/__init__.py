"""Software renderer, which draws scenes without OpenGL. Kernels do the computation; each step has its own file.

- ``fields``: the tables of the structures that kernels see; ``kernel_views``: types of these structures; ``kernels``:
  the decorator of stages, and 32-bit numbers.
- ``assets``: data of a model, with textures; ``shapes``: geometric shapes as triangles.
- ``camera``: views and their matrices. ``frame``: the order of the steps, memory and threads.
- ``instances`` → ``geometry`` (with ``vertices``, ``lighting``) → ``tiles`` → ``raster`` → ``shading`` (with ``grids``,
  ``sampling``, ``shadows``, ``sky``) → ``picture``.
- ``figure``, ``context``, ``info``, ``mjr``: the functions ``mjr_*``; ``renderer``: the class `Renderer`;
  ``gl_context``: a placeholder for programs that create an OpenGL context.
"""

from cardan.render import info, mjr
from cardan.render.context import MjrContext
from cardan.render.gl_context import GLContext
from cardan.render.info import *
from cardan.render.mjr import *
from cardan.render.renderer import Renderer

__all__ = ["GLContext", "MjrContext", "Renderer"]
__all__ += info.__all__
__all__ += mjr.__all__
