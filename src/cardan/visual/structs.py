"""The structures of the abstract scene and of the renderer, with the names of MuJoCo's interface."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cardan.api.arguments import check_model, integer
from cardan.api.mju_scalars import mju_Halton
from cardan.model.mjmodel import MjModel
from cardan.model.user_memory import zeros
from cardan.visual import fields
from cardan.visual.memory import SceneMemory
from cardan.visual.record import VisualRecord

NAMED_COLOURS = (
    *((1.0, 0.3, 0.3), (0.1, 1.0, 0.1), (0.3, 0.3, 1.0), (0.1, 1.0, 1.0)),
    *((1.0, 0.2, 1.0), (1.0, 1.0, 0.1), (1.0, 0.6, 0.2), (0.6, 0.7, 0.4)),
)
"""Colours of the first lines of a figure; the colours of other lines are points of a Halton sequence."""


class MjvCamera(VisualRecord):
    """An abstract camera: a free camera, a camera that tracks a body, or a camera of the model."""

    table = fields.CAMERA


class MjvGLCamera(VisualRecord):
    """A camera for a renderer: pose and view frustum."""

    table = fields.GL_CAMERA


class MjvLight(VisualRecord):
    """A light of a scene."""

    table = fields.LIGHT


class MjvGeom(VisualRecord):
    """A shape of a scene: an element of the model, or a decoration."""

    table = fields.GEOM


class MjvOption(VisualRecord):
    """Options of a scene, which select the elements to show."""

    table = fields.OPTION


class MjvPerturb(VisualRecord):
    """The selected body, and its perturbation by the mouse."""

    table = fields.PERTURB


class MjvFigure(VisualRecord):
    """A figure of lines over a grid."""

    table = fields.FIGURE

    def __init__(self) -> None:
        super().__init__()
        colours = self.values["linergb"]
        colours[: len(NAMED_COLOURS)] = NAMED_COLOURS
        for line in range(len(NAMED_COLOURS), fields.MAXLINE):
            colours[line] = [0.1 + 0.8 * mju_Halton(line, base) for base in (2, 3, 5)]


class MjrRect(VisualRecord):
    """A rectangle of pixels.

    Args:
        left, bottom: the lower left corner, pixels.
        width, height: size of the rectangle, pixels.
    """

    table = fields.RECT

    def __init__(self, left: int, bottom: int, width: int, height: int) -> None:
        super().__init__()
        self.left, self.bottom, self.width, self.height = left, bottom, width, height


class MjvScene(VisualRecord):
    """The input of a renderer: geoms, lights, cameras, flexes and skins.

    Args:
        model: the model whose flexes and skins get memory; None for an empty scene.
        maxgeom: largest number of geoms.

    Raises:
        TypeError: only one of the arguments is given.
        ValueError: `maxgeom` is negative.
    """

    table = fields.SCENE

    def __init__(self, model: MjModel | None = None, maxgeom: int | None = None) -> None:
        super().__init__()
        if (model is None) != (maxgeom is None):
            raise TypeError("MjvScene() takes no arguments, or a model and the number of geoms")
        if model is not None and maxgeom is not None:
            check_model("MjvScene()", model)
            if integer("MjvScene()", "maxgeom", maxgeom) < 0:
                raise ValueError(f"MjvScene(): maxgeom must not be negative, got {maxgeom}")
        maxgeom = maxgeom or 0
        attributes = self.__dict__
        attributes["geom_values"] = zeros(maxgeom, MjvGeom.dtype)
        attributes["light_values"] = zeros(fields.MAXLIGHT, MjvLight.dtype)
        attributes["camera_values"] = np.zeros(2, MjvGLCamera.dtype)
        attributes.update(_arrays(model, maxgeom))
        self._attach()
        self.maxgeom = maxgeom
        if model is not None:
            self.nflex, self.nskin = model.nflex, model.nskin

    def _attach(self) -> None:
        """Make the tuples of structures whose values are in the scene's arrays, and the memory that kernels see."""
        attributes = self.__dict__
        attributes["memory"] = SceneMemory(self.geom_values, self.light_values, self.camera_values, attributes)
        attributes["geoms"] = tuple(MjvGeom.at(self.geom_values[k, ...]) for k in range(len(self.geom_values)))
        attributes["lights"] = tuple(MjvLight.at(self.light_values[k, ...]) for k in range(fields.MAXLIGHT))
        attributes["camera"] = tuple(MjvGLCamera.at(self.camera_values[k, ...]) for k in range(2))

    geom_values: np.ndarray
    light_values: np.ndarray
    camera_values: np.ndarray
    memory: SceneMemory

    # properties, so that derived classes can access them by super()
    @property
    def geoms(self) -> tuple[MjvGeom, ...]:
        """The shapes; the tuple has `maxgeom` elements, of which the first `ngeom` are used."""
        return self.__dict__["geoms"]

    @property
    def lights(self) -> tuple[MjvLight, ...]:
        """The lights; the tuple has `MAXLIGHT` elements, of which the first `nlight` are used."""
        return self.__dict__["lights"]

    @property
    def camera(self) -> tuple[MjvGLCamera, ...]:
        """The cameras of the left and the right eye."""
        return self.__dict__["camera"]

    def names(self) -> Iterator[str]:
        """Yield the names of all members."""
        yield from super().names()
        yield from ("geoms", "lights", "camera", *fields.SCENE_ARRAYS)

    def __copy__(self) -> MjvScene:
        new = super().__copy__()
        for name in ("geom_values", "light_values", "camera_values", *fields.SCENE_ARRAYS):
            new.__dict__[name] = self.__dict__[name].copy()
        new._attach()
        return new


def _arrays(model: MjModel | None, maxgeom: int) -> dict[str, np.ndarray]:
    """Make the arrays of a scene. Arrays that describe the model's flexes and skins are filled; others are zero."""
    arrays = {name: np.zeros(0, dtype) for name, (dtype, _) in fields.SCENE_ARRAYS.items()}
    arrays["geomorder"] = np.zeros(maxgeom, np.int32)
    if model is None:
        return arrays
    faces = np.array([_face_room(model, flex) for flex in range(model.nflex)], np.int32)
    total = int(faces.sum())
    arrays |= {
        **{f"flex{k}": np.array(getattr(model, f"flex_{k}")) for k in ("edgeadr", "edgenum", "vertadr", "vertnum")},
        "flexfaceadr": (np.cumsum(faces) - faces).astype(np.int32),
        "flexfacenum": faces,
        "flexfaceused": np.zeros(model.nflex, np.int32),
        "flexedge": np.array(model.flex_edge, np.int32).ravel(),
        "flexvert": np.zeros(3 * model.nflexvert, np.float32),
        "flexface": np.zeros(9 * total, np.float32),
        "flexnormal": np.zeros(9 * total, np.float32),
        "flextexcoord": np.zeros(6 * total, np.float32),
        **{f"skin{name}": np.array(getattr(model, f"skin_{name}")) for name in ("facenum", "vertadr", "vertnum")},
        "skinvert": np.zeros(3 * model.nskinvert, np.float32),
        "skinnormal": np.zeros(3 * model.nskinvert, np.float32),
    }
    return arrays


def _face_room(model: MjModel, flex: int) -> int:
    """Return the largest number of faces of a flex that can be shown at once.

    A surface has two faces for each element, and two for each edge of its border. A solid shows either its shell or all
    elements in one layer; the result is the larger number of faces. A line shows no faces, but gets the same memory as
    a solid, as in MuJoCo.
    """
    dim, elements, shell = (int(getattr(model, f"flex_{name}")[flex]) for name in ("dim", "elemnum", "shellnum"))
    if dim == 2:
        return 2 * elements + 2 * shell
    first = int(model.flex_elemadr[flex])
    layers = np.bincount(model.flex_elemlayer[first : first + elements], minlength=1)
    return max(shell, 4 * int(layers.max()))


__all__ = ["MjrRect", "MjvCamera", "MjvFigure", "MjvGLCamera", "MjvGeom", "MjvLight", "MjvOption", "MjvPerturb"]
__all__ += ["MjvScene"]
