"""Pictures with which notebooks show objects (IPython's rich display, `_repr_png_`)."""

from __future__ import annotations

from cardan.api.pipeline import mj_forward
from cardan.model import MjData, MjModel
from cardan.model.mjmodel import register_reader
from cardan.render.renderer import Renderer

HEIGHT, WIDTH = 240, 320


def model_png(model: MjModel) -> bytes:
    """Draw a model at qpos0 from its default free camera, as a PNG file of at most 320 x 240 pixels."""
    data = MjData(model)
    mj_forward(model, data)
    buffer = model.vis.global_
    with Renderer(model, min(HEIGHT, buffer.offheight), min(WIDTH, buffer.offwidth)) as renderer:
        renderer.update_scene(data)
        return renderer._repr_png_()


register_reader("png", model_png)
