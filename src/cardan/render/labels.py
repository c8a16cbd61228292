"""Labels beside geoms."""

from __future__ import annotations

import numpy as np

from cardan.render.camera import average_camera, view_of
from cardan.render.canvas import Canvas
from cardan.render.context import MjrContext
from cardan.visual import MjrRect, MjvScene

WHITE = (1.0, 1.0, 1.0)


def draw_labels(canvas: Canvas, viewport: MjrRect, scene: MjvScene, context: MjrContext) -> None:
    """Write the labels of a scene's geoms at the positions of the geoms."""
    geoms = scene.geom_values[: scene.ngeom]
    labelled = np.flatnonzero(geoms["label"] != b"")
    if not len(labelled) or context.fonts is None:
        return
    view = view_of(average_camera(scene), viewport.width, viewport.height)
    points = np.concatenate([geoms["pos"][labelled], np.ones((len(labelled), 1))], 1)
    x, y, w, depth = view.rows @ points.T
    for k, geom in enumerate(labelled):
        if depth[k] > view.near:
            text = geoms["label"][geom].decode(errors="replace")
            px, py = round(x[k] / w[k]) + viewport.left, round(y[k] / w[k]) + viewport.bottom
            context.fonts.draw(canvas, text, px, py, WHITE)
