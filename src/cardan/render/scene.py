"""Drawing scenes into buffers: colours or segments, depths, both eyes, frames."""

from __future__ import annotations

import numpy as np

from cardan.enums import mjtStereo
from cardan.render.camera import average_camera, view_of
from cardan.render.context import Canvas, MjrContext
from cardan.render.frame import DEPTHS, Frame, flag_of
from cardan.render.vertices import COLORS
from cardan.visual import MjrRect, MjvGLCamera, MjvScene
from cardan.visual.structs import NAMED_COLOURS


def samples_of(offsamples: int) -> int:
    """Return the number of samples per pixel, 1 or 4, for a requested number."""
    return 4 if offsamples > 1 else 1


def segment_colors(scene: MjvScene, segment: np.ndarray, by_number: bool) -> np.ndarray:
    """Colours of a segmentation image, by the geom of each pixel, or -1. See `colors_of_numbers`."""
    segid = np.append(scene.geom_values["segid"][: scene.ngeom], -1)
    return colors_of_numbers(segid, by_number)[segment]


def colors_of_numbers(segid: np.ndarray, by_number: bool) -> np.ndarray:
    """Colours of segments, (n, 3) uint8, by their numbers `segid`, (n,); black for -1.

    `by_number`: the colour is the number plus 1, red the lowest byte; otherwise segments get distinct colours.
    """
    segid = segid.astype(np.int64)
    if by_number:
        number = segid + 1
        colors = np.stack([number & 255, number >> 8 & 255, number >> 16 & 255], 1)
    else:
        palette = np.array(NAMED_COLOURS)
        shade = 0.4 + 0.6 * ((segid // len(palette)) % 5) / 4
        colors = np.rint(255 * palette[segid % len(palette)] * shade[:, None])
        colors[segid < 0] = 0
    return colors.astype(np.uint8)


def draw_view(
    frame: Frame, canvas: Canvas, place: tuple[int, int, int, int], scene: MjvScene, camera: MjvGLCamera, nsample: int
) -> None:
    """Draw the view of a camera into a rectangle (left, bottom, width, height) of a buffer: colours and depths."""
    left, bottom, width, height = place
    if width <= 0 or height <= 0:
        return
    here, inside = canvas.part(left, bottom, width, height)
    segments = flag_of(scene, "SEGMENT")
    if not segments:
        frame.draw(scene, width, height, nsample, COLORS, camera)
        canvas.rgb[here] = frame.colors()[inside]
    frame.draw(scene, width, height, nsample, DEPTHS, camera)
    if segments:
        canvas.rgb[here] = segment_colors(scene, frame.segments(), flag_of(scene, "IDCOLOR"))[inside]
    near, far = camera.frustum_near, camera.frustum_far
    if not 0.0 < near < far:
        canvas.depth[here] = 1.0
        return
    # from 0 to 1 (OpenGL 1.5, section 2.11)
    canvas.depth[here] = far * (1.0 - near / frame.depths()[inside].astype(float)) / (far - near)


def draw_scene(frame: Frame, canvas: Canvas, viewport: MjrRect, scene: MjvScene, offsamples: int) -> None:
    """Draw a scene into a rectangle of a buffer, for one eye or side by side for two, within its frame."""
    left, bottom, width, height = viewport.left, viewport.bottom, viewport.width, viewport.height
    border = scene.framewidth
    if border > 0:
        canvas.fill(left, bottom, width, height, (*scene.framergb, 1.0))
        left, bottom, width, height = left + border, bottom + border, width - 2 * border, height - 2 * border
    nsample = samples_of(offsamples)
    if scene.stereo == mjtStereo.mjSTEREO_SIDEBYSIDE.value:
        half = width // 2
        for k, camera in enumerate(scene.camera):
            draw_view(frame, canvas, (left + k * half, bottom, half, height), scene, camera, nsample)
    else:
        draw_view(frame, canvas, (left, bottom, width, height), scene, average_camera(scene), nsample)


def draw_labels(canvas: Canvas, viewport: MjrRect, scene: MjvScene, context: MjrContext) -> None:
    """Write the labels of a scene's geoms at the positions of the geoms."""
    geoms = scene.geom_values[: scene.ngeom]
    labelled = np.flatnonzero(geoms["label"] != b"")
    if not len(labelled):
        return
    view = view_of(average_camera(scene), viewport.width, viewport.height)
    points = np.concatenate([geoms["pos"][labelled], np.ones((len(labelled), 1))], 1)
    x, y, w, depth = view.rows @ points.T
    for k, geom in enumerate(labelled):
        if depth[k] > view.near:
            text = geoms["label"][geom].decode(errors="replace")
            px, py = round(x[k] / w[k]) + viewport.left, round(y[k] / w[k]) + viewport.bottom
            context.fonts.draw(canvas, text, px, py, (1.0, 1.0, 1.0))
