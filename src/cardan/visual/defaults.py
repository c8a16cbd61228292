"""Default values, and functions that set geoms (spec: programming, API reference, "Visualization")."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.arguments import check_model, integer, vector_of
from cardan.enums.codes import GEOM_CAPSULE, GEOM_CYLINDER
from cardan.errors import FatalError
from cardan.model.mjmodel import MjModel
from cardan.visual.append import GEOM_ARROW, GEOM_ARROW1, GEOM_ARROW2, GEOM_LINE, z_to
from cardan.visual.geoms import drawn_size
from cardan.visual.record import VisualRecord
from cardan.visual.structs import MjvCamera, MjvFigure, MjvGeom, MjvOption, MjvPerturb

HALF_WAY = (GEOM_CAPSULE, GEOM_CYLINDER)
FROM_START = (GEOM_ARROW, GEOM_ARROW1, GEOM_ARROW2, GEOM_LINE)


def require_record(name: str, argument: str, value: Any, kind: type) -> None:
    """Raise TypeError if the argument `argument` of the function `name` is not a structure of class `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {argument} must be an {kind.__name__}, not {type(value).__name__}")


def _reset(name: str, argument: str, record: Any, kind: type[VisualRecord]) -> None:
    require_record(name, argument, record, kind)
    record.values[...] = kind().values


def mjv_defaultCamera(cam: MjvCamera) -> None:
    """Set an abstract camera to its defaults."""
    _reset("mjv_defaultCamera", "cam", cam, MjvCamera)


def mjv_defaultFreeCamera(m: MjModel, cam: MjvCamera) -> None:
    """Set an abstract camera to the default free camera of a model.

    The camera looks at the centre of the model (``stat.center``) from 1.5 times its extent (``stat.extent``). Azimuth,
    elevation and projection are those in ``vis.global_``.
    """
    check_model("mjv_defaultFreeCamera", m)
    _reset("mjv_defaultFreeCamera", "cam", cam, MjvCamera)
    cam.lookat, cam.distance = m.stat.center, 1.5 * m.stat.extent
    cam.azimuth, cam.elevation = m.vis.global_.azimuth, m.vis.global_.elevation
    cam.orthographic = m.vis.global_.orthographic


def mjv_defaultPerturb(pert: MjvPerturb) -> None:
    """Set a perturbation to its defaults: no body is selected."""
    _reset("mjv_defaultPerturb", "pert", pert, MjvPerturb)


def mjv_defaultOption(opt: MjvOption) -> None:
    """Set visualization options to their defaults."""
    _reset("mjv_defaultOption", "opt", opt, MjvOption)


def mjv_defaultFigure(fig: MjvFigure) -> None:
    """Set a figure to its defaults, without data."""
    _reset("mjv_defaultFigure", "fig", fig, MjvFigure)


def mjv_initGeom(geom: MjvGeom, type: int, size: Any, pos: Any, mat: Any, rgba: Any) -> None:
    """Set shape, size, pose and colour of a geom, and its other members to their default values.

    The members that describe the shown object (`objtype`, `objid`, `category`, `segid`, `camdist`, `transparent`) don't
    change.

    Args:
        geom: geom, written.
        type: shape (mjtGeom).
        size: size (3,), as ``geom_size`` of the model.
        pos: position (3,).
        mat: orientation (9,).
        rgba: colour (4,).
    """
    require_record("mjv_initGeom", "geom", geom, MjvGeom)
    kind = integer("mjv_initGeom", "type", type)
    values = [vector_of(*argument) for argument in (("size", size, 3), ("pos", pos, 3), ("mat", mat, 9))]
    colour = vector_of("rgba", rgba, 4)
    names = ("objtype", "objid", "category", "segid", "camdist", "transparent")
    kept = {name: geom.values[name].item() for name in names}
    geom.values[...] = MjvGeom.default
    for name, value in kept.items():
        geom.values[name] = value
    geom.values["type"] = kind
    geom.values["size"] = drawn_size(kind, tuple(values[0]))
    geom.values["pos"], geom.values["mat"], geom.values["rgba"] = values[1], values[2].reshape(3, 3), colour


def _connect(name: str, geom: MjvGeom, type: int, width: float, start: np.ndarray, stop: np.ndarray) -> None:
    require_record(name, "geom", geom, MjvGeom)
    kind = integer(name, "type", type)
    if kind not in HALF_WAY + FROM_START:
        raise FatalError(f"{name}: invalid geom type {kind} for connector")
    line = stop - start
    length = float(np.linalg.norm(line))
    half = kind in HALF_WAY
    geom.values["type"] = kind
    geom.values["size"] = (width, width, 0.5 * length if half else length)
    geom.values["pos"] = 0.5 * (start + stop) if half else start
    geom.values["mat"] = np.reshape(z_to(tuple(line.tolist())), (3, 3))


def mjv_makeConnector(
    geom: MjvGeom, type: int, width: float, a0: float, a1: float, a2: float, b0: float, b1: float, b2: float
) -> None:
    """Set shape, size, position and orientation of a geom so that it connects two points.

    Deprecated: use `mjv_connector`.
    """
    start, stop = vector_of("a", (a0, a1, a2), 3), vector_of("b", (b0, b1, b2), 3)
    _connect("mjv_makeConnector", geom, type, width, start, stop)


def mjv_connector(geom: MjvGeom, type: int, width: float, from_: Any, to: Any) -> None:
    """Set shape, size, position and orientation of a geom so that it connects two points.

    All other members must have been set before, for example with `mjv_initGeom`.

    Args:
        geom: geom, written.
        type: shape (mjtGeom): capsule, cylinder, arrow or line.
        width: radius of the shape, m; for a line, its width in pixels.
        from_: first point (3,), m.
        to: second point (3,), m.

    Raises:
        FatalError: the shape can't connect points.
    """
    _connect("mjv_connector", geom, type, width, vector_of("from_", from_, 3), vector_of("to", to, 3))


__all__ = ["mjv_connector", "mjv_defaultCamera", "mjv_defaultFigure", "mjv_defaultFreeCamera", "mjv_defaultOption"]
__all__ += ["mjv_defaultPerturb", "mjv_initGeom", "mjv_makeConnector"]
