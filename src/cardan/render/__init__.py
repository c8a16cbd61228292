"""The renderer: draws a scene to a picture without OpenGL. Kernels do the work, one file for each step.

- ``fields``: the tables of the structures that kernels see; ``kernel_views``, ``stubs``: their types; ``single``:
32-bit numbers; ``calls``: calls of kernels.
- ``assets``: data of a model; ``shapes``: geometric shapes as triangles; ``textures``: texels.
- ``camera``, ``lights``: views and their matrices. ``frame``: the order of the steps, memory and threads.
- ``geoms`` → ``instances`` → ``geometry`` (with ``lighting``, ``texturing``) → ``tiles`` → ``raster`` → ``shading``
  (with ``grids``, ``sampling``, ``shadows``, ``sky``) → ``picture``.
- ``canvas``, ``scene``, ``text``, ``labels``, ``figure``, ``context``, ``mjr``: the functions ``mjr_*``; ``renderer``:
  the class `Renderer`; ``gl_context``: a class that programs expect.
"""

from cardan.render.context import MjrContext
from cardan.render.gl_context import GLContext
from cardan.render.mjr import (
    mjr_addAux,
    mjr_blitAux,
    mjr_blitBuffer,
    mjr_changeFont,
    mjr_drawPixels,
    mjr_figure,
    mjr_findRect,
    mjr_finish,
    mjr_getError,
    mjr_label,
    mjr_maxViewport,
    mjr_overlay,
    mjr_readPixels,
    mjr_rectangle,
    mjr_render,
    mjr_resizeOffscreen,
    mjr_restoreBuffer,
    mjr_setAux,
    mjr_setBuffer,
    mjr_text,
    mjr_uploadHField,
    mjr_uploadMesh,
    mjr_uploadTexture,
)
from cardan.render.renderer import Renderer

__all__ = [
    "GLContext",
    "MjrContext",
    "Renderer",
    "mjr_addAux",
    "mjr_blitAux",
    "mjr_blitBuffer",
    "mjr_changeFont",
    "mjr_drawPixels",
    "mjr_figure",
    "mjr_findRect",
    "mjr_finish",
    "mjr_getError",
    "mjr_label",
    "mjr_maxViewport",
    "mjr_overlay",
    "mjr_readPixels",
    "mjr_rectangle",
    "mjr_render",
    "mjr_resizeOffscreen",
    "mjr_restoreBuffer",
    "mjr_setAux",
    "mjr_setBuffer",
    "mjr_text",
    "mjr_uploadHField",
    "mjr_uploadMesh",
    "mjr_uploadTexture",
]
