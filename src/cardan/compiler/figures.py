"""Figures of geoms: pose, sizes, bounds, volume, unit inertia, whatever they are made of (spec: modeling, "geom")."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.compiler.orientation import element_pose, frames_pose, segment_pose
from cardan.compiler.shapes import SHAPES, Shape, check_size, size_from_segment
from cardan.maths.pose import Pose, Vec3, compose
from cardan.maths.vector import add3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Placed
    from cardan.spec.element import Element


class Figure(NamedTuple):
    """Pose in the body; sizes; centre and half sides of the bounding box, radius of the bounding sphere, in its frame.

    ``inertia`` gives the principal moments of a mass; ``semiaxes`` are those of the ellipsoid that stands for the shape
    in a fluid, ``dataid`` is the id of the mesh or height field, or -1.
    """

    pose: Pose
    size: Vec3
    centre: Vec3
    half: Vec3
    radius: float
    volume: float
    inertia: Callable[[float], Vec3]
    semiaxes: Vec3
    dataid: int = -1


_ORIGIN = (0.0, 0.0, 0.0)
_SURELY_FINITE = 1e50  # radius of a shape up to which its volume and its inertia are numbers


def figure(build: Build, placed: Placed, values: dict[str, Any]) -> Figure:
    """The figure of a geom."""
    element, word = placed[0], values["type"]
    kind = _ASSETS.get(word)
    if kind and not values[kind]:
        raise element.error(f"a geom of type {word} needs the name of a {_NOUNS[kind]}", kind)
    if values["fromto"] is not None and (word in _ASSETS or values["mesh"] or values["hfield"]):
        raise element.error("a geom that stands for an asset cannot be given by two points", "fromto")
    if values["hfield"]:
        return _height_field(build, placed, values)
    if values["mesh"]:
        return _mesh(build, placed, values) if word in ("mesh", "sdf") else _fitted(build, placed, values)
    pose, size = placed_shape(build, placed, values)
    check_size(element, word, size)
    found = _primitive(word, pose, size)
    if found.radius > _SURELY_FINITE:
        x, y, z = found.inertia(found.volume)
        if not isfinite(found.volume + x + y + z):
            raise element.error("too large: the volume or the inertia exceeds the range of numbers", "size")
    return found


_ASSETS = {"mesh": "mesh", "sdf": "mesh", "hfield": "hfield"}
_NOUNS = {"mesh": "mesh", "hfield": "height field"}


def placed_shape(build: Build, placed: Placed, values: dict[str, Any]) -> tuple[Pose, Any]:
    """Pose in the body and sizes of a geom or site, from its own attributes or from two points."""
    element, frames = placed
    size, fromto = values["size"], values["fromto"]
    if fromto is None:
        return element_pose(build, element, values, frames), size
    if any(values["pos"]):
        raise element.error("pos and fromto exclude each other", "fromto")
    pose, half = segment_pose(element, fromto)
    return compose(frames_pose(build, frames), pose), size_from_segment(element, values["type"], size, half)


def _primitive(word: str, pose: Pose, size: Vec3, dataid: int = -1) -> Figure:
    """A shape that its sizes describe."""
    shape = SHAPES[word]
    half = shape.half(size)
    centre = (0.0, 0.0, -half[2]) if word == "plane" else _ORIGIN
    radius, volume = shape.radius(size), shape.volume(size)
    return Figure(pose, size, centre, half, radius, volume, _moments(shape, size), shape.semiaxes(size), dataid)


def _moments(shape: Shape, size: Vec3) -> Callable[[float], Vec3]:
    """Principal moments of a shape by its mass."""
    return lambda mass: shape.inertia(size, mass)


def _height_field(build: Build, placed: Placed, values: dict[str, Any]) -> Figure:
    """A height field, which weighs what the box of its geom's sizes weighs."""
    from cardan.compiler.heightfields import hfield_box, hfield_geom_size

    element, frames = placed
    if values["type"] != "hfield":
        raise element.error("a height field belongs to a geom of type hfield, and to no other", "hfield")
    dataid = build.ids["hfield"][values["hfield"]]
    extent = build.columns["hfield_size"][dataid]
    pose = element_pose(build, element, values, frames)
    size = hfield_geom_size(extent)
    box = SHAPES["box"]
    return Figure(pose, size, *hfield_box(extent), box.volume(size), _moments(box, size), size, dataid)


def _mesh(build: Build, placed: Placed, values: dict[str, Any]) -> Figure:
    """A mesh, in the frame of its principal axes."""
    mesh = build.meshes[values["mesh"]]
    properties = mesh.shell if values["shellinertia"] else mesh.solid
    mesh.pose = properties.pose
    mesh.needs_hull |= build.settings["convexhull"] and bool(values["contype"] or values["conaffinity"])
    centre, half = mesh.centre, mesh.half
    x, y, z = size = add3((abs(centre[0]), abs(centre[1]), abs(centre[2])), half)
    pose = _with_mesh(build, placed, values, mesh.pose)
    radius = sqrt(x * x + y * y + z * z)
    dataid = build.ids["mesh"].get(values["mesh"], -1)
    moments = _moments(SHAPES["box"], properties.box)
    return Figure(pose, size, centre, half, radius, properties.volume, moments, size, dataid)


def _fitted(build: Build, placed: Placed, values: dict[str, Any]) -> Figure:
    """A primitive shape in place of a mesh."""
    from cardan.compiler.meshes.fitting import fit

    mesh = build.meshes[values["mesh"]]
    mesh.pose, size = fit(placed[0], mesh, values, build.settings["fitaabb"])
    pose = _with_mesh(build, placed, values, mesh.pose)
    return _primitive(values["type"], pose, size, build.ids["mesh"].get(values["mesh"], -1))


def _with_mesh(build: Build, placed: Placed, values: dict[str, Any], mesh: Pose) -> Pose:
    """Pose of a geom, moved on by the pose of its mesh; both are kept, so that the geom can be written as it was."""
    element, frames = placed
    own = element_pose(build, element, values, frames)
    build.mesh_poses[build.count("geom")] = own, mesh
    return compose(own, mesh)


def mass_and_inertia(element: Element, values: dict[str, Any], found: Figure, counts: bool) -> tuple[float, Vec3]:
    """Mass as given or by density, and the principal moments that go with it.

    ``counts``: whether the body's inertia is inferred from this geom.
    """
    mass = values["mass"]
    if counts and values["shellinertia"] and values["type"] != "mesh":
        raise element.error(f"only meshes can have their mass on the surface, not a {values['type']}", "shellinertia")
    for name in ("mass", "density"):
        if values[name] is not None and values[name] < 0.0:
            if counts:
                raise element.error(f"must not be negative, found {values[name]:g}", name)
            element.warn(f"a negative {name} makes no sense, found {values[name]:g}", name)
    if not found.volume:
        if counts and values["type"] == "mesh" and mass != 0.0:
            raise element.error("the volume of the mesh is too small: set the mass to 0, or use <inertial>", "mesh")
        return 0.0, _ORIGIN
    if mass is None:
        mass = found.volume * values["density"]
    return mass, found.inertia(mass)
