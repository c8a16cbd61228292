"""Geometric properties of geoms of any type: pose, sizes, bounds, volume, unit inertia (spec: modeling, "geom")."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.compiler.orientation import element_pose, element_poses, frames_pose
from cardan.compiler.shapes import SHAPES, SHELLS, Shape, check_size
from cardan.errors import with_article
from cardan.maths.pose import compose, compose_as_is
from cardan.maths.types import Pose, Vec3
from cardan.maths.vector import add3, scale3
from cardan.spec.orientation import segment_pose, size_from_segment

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.columns import Resolved
    from cardan.compiler.meshes.base import Mesh
    from cardan.spec.element import Element


class Figure(NamedTuple):
    """The geometry of a geom, independent of its pose."""

    aabb: tuple[float, ...]  # centre and half sides of the bounding box, in the geom's frame
    radius: float  # of the bounding sphere
    volume: float  # or area
    shape: Shape  # primitive shape with the geom's principal moments of inertia
    solid: Vec3  # sizes of this shape
    semiaxes: Vec3  # of the equivalent ellipsoid for fluid forces
    dataid: int = -1  # id of the mesh or height field, or -1


class Placed(NamedTuple):
    """A geom made from an asset. For a mesh, ``pose`` is the product of the two ``parts``: own pose, mesh's frame."""

    pose: Pose
    size: Vec3
    figure: Figure
    parts: tuple[Pose, Pose] | None = None


class Figures(NamedTuple):
    """Poses (in the body), sizes and figures of geoms. ``parts`` maps the indices of mesh geoms to ``Placed.parts``."""

    poses: list[Pose]
    sizes: list[Vec3]
    figures: list[Figure]
    parts: dict[int, tuple[Pose, Pose]]


_ORIGIN = (0.0, 0.0, 0.0)
_SURELY_FINITE = 1e50  # up to this radius, volume and inertia of a shape are finite
_ASSETS = {"mesh": "mesh", "sdf": "mesh", "hfield": "hfield"}
_NOUNS = {"mesh": "mesh", "hfield": "height field"}


def figures(build: Build, geoms: Resolved, frames: Sequence[tuple[Element, ...]]) -> Figures:
    """Return poses, sizes and figures of geoms; ``frames`` holds the ``frame`` elements around each geom."""
    words = geoms["type"]
    of_assets = _of_assets(geoms, words)
    poses, sizes = placed_shapes(build, geoms, frames)
    known: dict[tuple[str, Vec3], Figure] = {}
    found: list[Figure] = []
    parts: dict[int, tuple[Pose, Pose]] = {}
    for number, (word, size) in enumerate(zip(words, sizes, strict=True)):
        if number in of_assets:
            around = _fused(frames[number])
            element, values = geoms.elements[number], geoms.one(number)
            shown = _mesh if word in ("mesh", "sdf") else _fitted
            place = _height_field if values["hfield"] else shown
            poses[number], sizes[number], figure, pair = place(build, values, element, poses[number])
            if around and pair is not None:
                own = element_pose(build, element, values, frames[number][len(around) :])
                poses[number] = compose(frames_pose(build, around), compose(own, pair[1]))
            if pair is not None:
                parts[number] = pair
        else:
            figure = known.get((word, size))
            if figure is None:
                figure = known[word, size] = _checked(geoms.elements[number], word, size)
        found.append(figure)
    if build.meshes and build.tree.compat == "4.0":
        _need_hulls_in_pairs(build, geoms, words)
    return Figures(poses, sizes, found, parts)


def _need_hulls_in_pairs(build: Build, geoms: Resolved, words: list[str]) -> None:
    """Request the convex hulls of meshes whose geoms are named in an element ``pair``.

    No hulls are requested for meshes that are split into convex pieces, or if the setting ``convexhull`` is off.
    """
    pairs = build.tree.section("contact").all("pair") if build.settings["convexhull"] else []
    names = {pair.attributes.get(end) for pair in pairs for end in ("geom1", "geom2")}
    for element, word, mesh in zip(geoms.elements, words, geoms["mesh"], strict=True):
        if _ASSETS.get(word) == "mesh" and element.name and element.name in names:
            build.meshes[mesh].needs_hull |= mesh not in build.pieces


def _fused(frames: tuple[Element, ...]) -> tuple[Element, ...]:
    """Return the enclosing frames up to and including the innermost fused body, or no frames if no body is fused.

    A static body that is fused with its parent is treated as a frame (see `cardan.compiler.reductions`). As in the
    reference, a geom with a mesh is first placed in the fused body and then moved to the parent. This order determines
    the rounding, which decides between contacts at nearly equal distances.
    """
    count = len(frames)
    while count > 0 and frames[count - 1].tag != "body":
        count -= 1
    return frames[:count]


def _of_assets(geoms: Resolved, words: list[str]) -> set[int]:
    """Return the indices of geoms that refer to a mesh or height field, including shapes fitted to a mesh.

    Raises:
        MjcfError: one of these geoms names no asset or has ``fromto``.
    """
    if not (geoms.any("mesh") or geoms.any("hfield")) and _ASSETS.keys().isdisjoint(words):
        return set()
    meshes, hfields, segments = geoms["mesh"], geoms["hfield"], geoms["fromto"]
    found: set[int] = set()
    for number, word in enumerate(words):
        kind, element = _ASSETS.get(word), geoms.elements[number]
        if kind and not (meshes if kind == "mesh" else hfields)[number]:
            raise element.error(f"a geom of type {word} needs the name of a {_NOUNS[kind]}", kind)
        if kind or meshes[number] or hfields[number]:
            if segments[number] is not None:
                raise element.error("a geom that stands for an asset cannot be given by two points", "fromto")
            found.add(number)
    return found


def placed_shapes(
    build: Build, shapes: Resolved, frames: Sequence[tuple[Element, ...]]
) -> tuple[list[Pose], list[Vec3]]:
    """Return poses (in the body) and sizes of geoms or sites, from their own attributes or from ``fromto``.

    ``shapes`` are the geoms or sites; ``frames`` are the frames around each of them, the outermost first.
    """
    segments = shapes["fromto"] if shapes.any("fromto") else None
    poses, sizes = element_poses(build, shapes, frames, segments), shapes["size"]
    if segments is None:
        return poses, sizes
    words, places = shapes["type"], shapes["pos"]
    for number, fromto in enumerate(segments):
        if fromto is None:
            continue
        element, around = shapes.elements[number], frames[number]
        if any(places[number]):
            raise element.error("pos and fromto exclude each other", "fromto")
        pose, half = segment_pose(element, fromto)
        poses[number] = compose(frames_pose(build, around), pose) if around else pose
        sizes[number] = size_from_segment(element, words[number], sizes[number], half)
    return poses, sizes


def _checked(element: Element, word: str, size: Vec3) -> Figure:
    """Return the figure of a primitive shape from its sizes. Raises MjcfError for sizes that are not valid."""
    check_size(element, word, size)
    found = _primitive(word, size)
    if found.radius > _SURELY_FINITE:
        x, y, z = found.shape.inertia(size, found.volume)
        if not isfinite(found.volume + x + y + z):
            raise element.error("too large: the volume or the inertia exceeds the range of numbers", "size")
    return found


def _primitive(word: str, size: Vec3, dataid: int = -1) -> Figure:
    """Return the figure of a primitive shape from its sizes."""
    shape = SHAPES[word]
    half = shape.half(size)
    aabb = (0.0, 0.0, -half[2] if word == "plane" else 0.0, *half)
    return Figure(aabb, shape.radius(size), shape.volume(size), shape, size, shape.semiaxes(size), dataid)


def _height_field(build: Build, values: dict[str, Any], element: Element, pose: Pose) -> Placed:
    """Place a height field. Its mass is computed for a box whose thickness is the base plus half the elevation."""
    if values["type"] != "hfield":
        raise element.error("a height field belongs to a geom of type hfield, and to no other", "hfield")
    dataid = build.ids["hfield"][values["hfield"]]
    x, y, top, base = build.columns["hfield_size"][dataid]
    size, box = (x, y, 0.25 * top + 0.5 * base), SHAPES["box"]
    aabb = (0.0, 0.0, 0.5 * (top - base), x, y, 0.5 * (top + base))
    radius = sqrt(x * x + y * y + max(top, base) * max(top, base))
    return Placed(pose, size, Figure(aabb, radius, box.volume(size), box, size, size, dataid))


def mesh_size(centre: Vec3, half: Vec3) -> Vec3:
    """Return the half sides of a box around the origin of a mesh's frame, from centre and half sides of its bounds."""
    return add3((abs(centre[0]), abs(centre[1]), abs(centre[2])), half)


def _mesh(build: Build, values: dict[str, Any], element: Element, pose: Pose) -> Placed:
    """Place a mesh geom in the frame of the mesh's principal axes.

    Also record in the mesh whether it collides and whether its convex hull is needed.
    """
    mesh = build.meshes[values["mesh"]]
    properties = mesh.properties(values["shellinertia"])
    mesh.pose = properties.pose
    collides = bool(values["contype"] or values["conaffinity"]) and values["mesh"] not in build.pieces
    mesh.needs_hull |= build.settings["convexhull"] and collides
    mesh.collides |= collides and values["type"] == "mesh"
    centre, half = mesh.centre, mesh.half
    x, y, z = size = mesh_size(centre, half)
    radius = sqrt(x * x + y * y + z * z)
    dataid = build.ids["mesh"].get(values["mesh"], -1)
    figure = Figure((*centre, *half), radius, properties.volume, SHAPES["box"], properties.box, size, dataid)
    return Placed(_composed(mesh, pose, mesh.pose), size, figure, (pose, mesh.pose))


def _composed(mesh: Mesh, own: Pose, inner: Pose) -> Pose:
    """Compose a geom's own pose and a pose in its mesh. In 4.0 the quaternion is not normalised."""
    return compose_as_is(own, inner) if mesh.is_4_0 else compose(own, inner)


def _fitted(build: Build, values: dict[str, Any], element: Element, pose: Pose) -> Placed:
    """Place a primitive shape that is fitted to a mesh. In MuJoCo 3.1, this also sets the mesh's pose."""
    from cardan.compiler.meshes.fitted import fit

    mesh = build.meshes[values["mesh"]]
    place, size = fit(element, mesh, values, build.settings["fitaabb"])
    if mesh.is_4_0:
        return Placed(_composed(mesh, pose, place), size, _primitive(values["type"], size))
    mesh.pose = place
    figure = _primitive(values["type"], size, build.ids["mesh"].get(values["mesh"], -1))
    return Placed(compose(pose, place), size, figure, (pose, place))


def masses(geoms: Resolved, found: Sequence[Figure], counts: Sequence[bool]) -> tuple[list[float], list[Vec3]]:
    """Return the masses of geoms (kg), given or computed from density, and their principal moments of inertia (kg m^2).

    ``counts`` specifies for each geom whether it contributes to the inferred inertia of its body.
    """
    shells = geoms.any("shellinertia")
    mass: list[float] = []
    inertia: list[Vec3] = []
    for number, (figure, given, density) in enumerate(zip(found, geoms["mass"], geoms["density"], strict=True)):
        volume, shell = figure.volume, None
        if shells and geoms.one(number)["shellinertia"] and geoms.one(number)["type"] in SHELLS:
            volume, shell = SHELLS[geoms.one(number)["type"]](figure.solid)
        if shells or density < 0.0 or (given is not None and given < 0.0) or (not volume and figure.dataid >= 0):
            _check_mass(geoms, number, figure, counts[number])
        if not volume:
            mass.append(0.0)
            inertia.append(_ORIGIN)
            continue
        own = volume * density if given is None else given
        mass.append(own)
        inertia.append(figure.shape.inertia(figure.solid, own) if shell is None else scale3(shell, own))
    return mass, inertia


def _check_mass(geoms: Resolved, number: int, found: Figure, counts: bool) -> None:
    element, values = geoms.elements[number], geoms.one(number)
    if counts and values["shellinertia"] and values["type"] not in ("mesh", *SHELLS):
        raise element.error(f"{with_article(values['type'])} can't have its mass on the surface", "shellinertia")
    for name in ("mass", "density"):
        if values[name] is not None and values[name] < 0.0:
            if counts:
                raise element.error(f"must not be negative, found {values[name]:g}", name)
            element.warn(f"a negative {name} makes no sense, found {values[name]:g}", name)
    if not found.volume and counts and values["type"] == "mesh" and values["mass"] != 0.0:
        raise element.error("the volume of the mesh is too small: set the mass to 0, or use <inertial>", "mesh")
