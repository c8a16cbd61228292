"""Renderer: draws images of a model's states, with the interface of MuJoCo's `Renderer`."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from cardan.api.arguments import check_model
from cardan.api.names import mj_name2id
from cardan.api.pipeline import mj_forward
from cardan.enums import mjtCamera, mjtCatBit, mjtObj, mjtRndFlag
from cardan.model import MjData, MjModel, internals
from cardan.model.mjmodel import register_reader
from cardan.render.assets import Assets
from cardan.render.context import samples_of, segment_colors
from cardan.render.frame import DEPTHS, Frame, Last
from cardan.render.vertices import COLORS
from cardan.visual import MjvCamera, MjvOption, MjvScene, mjv_defaultFreeCamera, mjv_updateScene

if TYPE_CHECKING:
    from cardan.batch import Batch


SEGMENT, IDCOLOR = mjtRndFlag.mjRND_SEGMENT.value, mjtRndFlag.mjRND_IDCOLOR.value
TOO_LARGE = """Image {what} {asked} > framebuffer {what} {most}. Either reduce the image
{what} or specify a larger offscreen framebuffer in the model XML using the
clause:
<visual>
  <global off{what}="my_{what}"/>
</visual>"""


class Renderer:
    """Renderer that draws the states of a model as colour, depth or segmentation images.

    All images are drawn by the CPU: no OpenGL, window or graphics card is needed. Any number of renderers may work at
    the same time, each in a thread of its own.

    Args:
        model: the model.
        height, width: size of the images, pixels; at most `model.vis.global_.offheight` and `offwidth`.
        max_geom: largest number of geoms in the scene.
        threads: number of threads that draw an image; None: the number of processors, at most 4.

    Raises:
        ValueError: the size is too large, or not positive.
    """

    def __init__(
        self, model: MjModel, height: int = 240, width: int = 320, max_geom: int = 10000, *, threads: int | None = None
    ) -> None:
        check_model("Renderer()", model)
        buffer = model.vis.global_
        for what, asked, most in (("width", width, buffer.offwidth), ("height", height, buffer.offheight)):
            if asked > most:
                raise ValueError(TOO_LARGE.format(what=what, asked=asked, most=most))
            if asked < 1:
                raise ValueError(f"Image {what} should be at least 1 pixel, got {asked}")
        self._model, self._width, self._height = model, int(width), int(height)
        self._scene, self._option = MjvScene(model, max_geom), MjvOption()
        self._depth_rendering = self._segmentation_rendering = False
        self._nsample = samples_of(int(model.vis.quality.offsamples))
        threads = min(os.cpu_count() or 1, 4) if threads is None else threads
        self._threads, self._max_geom = threads, max_geom
        self._frame: Frame | None = Frame(Assets(model), threads)
        self._helpers: list[Renderer] = []
        self._chosen: Last[MjvCamera] = Last()
        self._filling = threading.Lock()

    @property
    def model(self) -> MjModel:
        """The model."""
        return self._model

    @property
    def scene(self) -> MjvScene:
        """The scene that `update_scene` updates and `render` draws."""
        return self._scene

    @property
    def height(self) -> int:
        """Height of the images in pixels."""
        return self._height

    @property
    def width(self) -> int:
        """Width of the images in pixels."""
        return self._width

    def enable_depth_rendering(self) -> None:
        """Make `render` return depths, and no longer segmentation images."""
        self._segmentation_rendering = False
        self._depth_rendering = True

    def disable_depth_rendering(self) -> None:
        """Make `render` return colours again."""
        self._depth_rendering = False

    def enable_segmentation_rendering(self) -> None:
        """Make `render` return segmentation images, and no longer depths."""
        self._segmentation_rendering = True
        self._depth_rendering = False

    def disable_segmentation_rendering(self) -> None:
        """Make `render` return colours again."""
        self._segmentation_rendering = False

    def render(self, *, out: np.ndarray | None = None) -> np.ndarray:
        """Draw the scene.

        Args:
            out: array for the image, (height, width, 3), or for depths (height, width). Segmentation doesn't write to
            it.

        Returns:
            `out` or a new array, the highest row first: colours (height, width, 3) uint8; depths along the camera's
            axis (height, width) float32, m; or segmentation (height, width, 2) int32: id and type (mjtObj) of the
            object, -1 if the pixel is empty.

        Raises:
            RuntimeError: the renderer was closed.
            ValueError: `out` has another shape.
        """
        if self._frame is None:
            raise RuntimeError("render cannot be called after close.")
        shape = (self._height, self._width) if self._depth_rendering else (self._height, self._width, 3)
        if out is not None and out.shape != shape:
            raise ValueError(
                f"Expected `out.shape == {shape}`. Got `out.shape={out.shape}` instead. When using depth rendering, "
                "the out array should be of shape `(width, height)` and otherwise (width, height, 3). Got "
                f"`(self.height, self.width)={(self._height, self._width)}` and "
                f"`self._depth_rendering={self._depth_rendering}`."
            )
        picture = self._draw(self._frame, out)
        if out is None or picture is out or self._segmentation_rendering:
            return picture
        out[...] = picture
        return out

    def _draw(self, frame: Frame, out: np.ndarray | None) -> np.ndarray:
        """Draw an image of the chosen kind. Return `out` if it is suitable for colours, else a new array."""
        scene = self._scene
        flags = scene.values["flags"]
        numbered = self._segmentation_rendering or bool(flags[SEGMENT])
        mode = DEPTHS if self._depth_rendering or numbered else COLORS
        colors: np.ndarray | None = None
        if mode == COLORS:
            fits = out is not None and out.dtype == np.uint8 and out.flags.c_contiguous and out.flags.writeable
            colors = out if fits else np.empty((self._height, self._width, 3), np.uint8)
        frame.draw(scene, self._width, self._height, self._nsample, mode, None, colors)
        if colors is not None:
            return colors
        if self._depth_rendering:
            return np.ascontiguousarray(frame.depths()[::-1])
        if self._segmentation_rendering:
            geoms = scene.geom_values[: scene.ngeom]
            table = np.full((len(geoms) + 1, 2), -1, np.int32)
            drawn = np.flatnonzero(geoms["segid"] >= 0)
            table[drawn, 0] = geoms["objid"][drawn]
            table[drawn, 1] = geoms["objtype"][drawn]
            return table[frame.segments()[::-1]]
        return np.ascontiguousarray(segment_colors(scene, frame.segments(), bool(flags[IDCOLOR]))[::-1])

    def update_scene(
        self, data: MjData, camera: int | str | MjvCamera = -1, scene_option: MjvOption | None = None
    ) -> None:
        """Update the scene from a state.

        Args:
            data: the state, after `mj_forward`.
            camera: name or id of a camera of the model, -1 for the free camera, or an `MjvCamera`.
            scene_option: visualization options; None: the defaults.

        Raises:
            ValueError: the camera does not exist.
        """
        self._fill(self._model, data, camera, scene_option)

    def _fill(self, m: MjModel, d: MjData, camera: int | str | MjvCamera, scene_option: MjvOption | None) -> None:
        """Update the scene from a state of the model, or of another model with the same sizes."""
        if not isinstance(camera, MjvCamera):
            camera = self._camera(camera)
        option = scene_option if scene_option is not None else self._option
        mjv_updateScene(m, d, option, None, camera, mjtCatBit.mjCAT_ALL.value, self._scene)

    def render_batch(
        self,
        data: Sequence[MjData] | Batch,
        cameras: Sequence[int | str | MjvCamera] = (-1,),
        scene_option: MjvOption | None = None,
        *,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Draw many states, each from all cameras, in one call. The images are those that `render` would return.

        Args:
            data: the states, one for each world, after `mj_forward`; or a `cardan.Batch`, whose worlds are drawn in the
            state after its last call. Each world is drawn with the values of its own model (`Batch.expand`: colours,
            sizes, cameras, lights), except meshes, height fields and textures.
            cameras: names or ids of cameras, as for `update_scene`.
            scene_option: visualization options; None: the defaults.
            out: array for the images.

        Returns:
            `out` or a new array, (worlds, cameras, height, width, channels): colours have 3 channels, uint8; depths 1,
            float32; segmentation images 2, int32.

        Raises:
            RuntimeError: the renderer was closed.
            TypeError: `data` has another type.
            ValueError: a camera does not exist, or `out` or the sizes of the batch's model don't fit.
        """
        if self._frame is None:
            raise RuntimeError("render_batch cannot be called after close.")
        from_batch = not isinstance(data, Sequence)
        state, count = (data.__getitem__, len(data)) if not from_batch else self._states_of(data)
        for camera in cameras:
            if not isinstance(camera, MjvCamera):
                self._camera(camera)
        pictures = self._array_for(out, count, len(cameras))
        while len(self._helpers) < min(self._threads, count * len(cameras)):
            self._helpers.append(Renderer(self._model, self._height, self._width, self._max_geom, threads=1))
        for helper in self._helpers:
            helper._depth_rendering = self._depth_rendering
            helper._segmentation_rendering = self._segmentation_rendering
            helper._scene.values["flags"][:] = self._scene.values["flags"]
        asking = threading.Lock()

        def one(picture: int, worker: int) -> None:
            world, camera = divmod(picture, len(cameras))
            helper = self._helpers[worker]
            with asking:  # a batch in single precision or on a GPU copies the state
                d = state(world)
            with self._filling:  # two scenes can't be updated from one state at the same time
                helper._fill(d.model if from_batch else self._model, d, cameras[camera], scene_option)
            if pictures.dtype == np.uint8:
                helper.render(out=pictures[world, camera])
            else:
                pictures[world, camera] = helper.render().reshape(pictures.shape[2:])

        self._frame.crew.each(one, count * len(cameras))  # several threads share the pictures
        return pictures

    def _array_for(self, out: np.ndarray | None, *counts: int) -> np.ndarray:
        channels, dtype = 3, np.uint8
        if self._depth_rendering:
            channels, dtype = 1, np.float32
        elif self._segmentation_rendering:
            channels, dtype = 2, np.int32
        shape = (*counts, self._height, self._width, channels)
        if out is None:
            return np.empty(shape, dtype)
        if out.shape != shape or out.dtype != dtype:
            raise ValueError(f"out should be {np.dtype(dtype)} of shape {shape}, got {out.dtype} of shape {out.shape}")
        return out

    def _states_of(self, batch: Batch) -> tuple[Callable[[int], MjData], int]:
        """Return a function that maps a world's number to its state (with its own model), and the number of worlds."""
        if not hasattr(batch, "nsim"):
            raise TypeError(f"render_batch: data must be a sequence of MjData or a Batch, not {type(batch).__name__}")
        if internals.sizes(batch.model) != internals.sizes(self._model):
            raise ValueError("render_batch: the model of the batch has other sizes than the renderer's")
        return batch.data, batch.nsim

    def _camera(self, camera: int | str) -> MjvCamera:
        number = camera
        if isinstance(camera, str):
            number = mj_name2id(self._model, mjtObj.mjOBJ_CAMERA.value, camera)
            if number == -1:
                raise ValueError(f'The camera "{camera}" does not exist.')
        if not isinstance(number, int | np.integer) or number < -1 or number >= self._model.ncam:
            raise ValueError(f"The camera id {camera} is out of range [-1, {self._model.ncam}).")
        if number != -1:
            return self._chosen.of(number, lambda: _fixed_camera(int(number)))
        stat, world = self._model.stat, self._model.vis.global_
        key = (
            stat.center.tobytes(),
            float(stat.extent),
            float(world.azimuth),
            float(world.elevation),
            world.orthographic,
        )
        return self._chosen.of(key, self._free_camera)

    def _free_camera(self) -> MjvCamera:
        camera = MjvCamera()
        mjv_defaultFreeCamera(self._model, camera)
        return camera

    def _repr_png_(self) -> bytes:
        """Draw the scene as a PNG file, for notebooks."""
        from PIL import Image

        picture = self.render()
        if picture.dtype != np.uint8:
            near = 1.0 / np.maximum(picture, 1e-6) if self._depth_rendering else picture[..., 0] + 1.0
            picture = np.rint(255 * near / max(float(near.max()), 1e-12)).astype(np.uint8)
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "PNG")
        return file.getvalue()

    def close(self) -> None:
        """Free the renderer's data. Afterwards, the renderer can't draw."""
        if self._frame is not None:
            self._frame.crew.close()
            self._frame = None
        for helper in self._helpers:
            helper.close()
        self._helpers = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _fixed_camera(number: int) -> MjvCamera:
    camera = MjvCamera()
    camera.type, camera.fixedcamid = mjtCamera.mjCAMERA_FIXED.value, number
    return camera


def model_png(model: MjModel) -> bytes:
    """Draw a model at qpos0 from its default free camera, as a PNG file of at most 320 x 240 pixels."""
    data = MjData(model)
    mj_forward(model, data)
    buffer = model.vis.global_
    with Renderer(model, min(240, buffer.offheight), min(320, buffer.offwidth)) as renderer:
        renderer.update_scene(data)
        return renderer._repr_png_()


register_reader("png", model_png)
