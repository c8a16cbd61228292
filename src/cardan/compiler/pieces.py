"""Collisions of meshes that are not convex: convex pieces, exact distances, and a warning about large hulls.

The attribute ``convex`` of a mesh specifies how its geoms of type mesh collide:

- ``hull``: by the convex hull of the mesh, as in MuJoCo.
- ``decompose``: by convex pieces. Each piece is a mesh ``NAME@1``, ``NAME@2``, ... after the meshes of the user, and an
  ordinary geom ``GEOM@1``, ... after the geom. Pieces have the contact parameters and the group of the geom. They have
  no mass and are invisible to cameras and rays. The geom itself keeps its name, mass and appearance; it collides with
  nothing. ``geom_piece`` of a piece is its number.
- ``exact``: by the signed distance of the mesh. The geom gets the type sdf and the plugin `DISTANCE`.

Geoms that cannot collide, and primitive shapes fitted to a mesh, are not affected (docs/nonconvex.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cardan.compiler.meshes.kept import signed_volume
from cardan.compiler.nodes import Attached
from cardan.compiler.plugins import unnamed_instance
from cardan.errors import MjcfError
from cardan.jit.cache.progress import Progress
from cardan.spec.element import Element

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.columns import Resolved
    from cardan.compiler.meshes.base import Mesh

DISTANCE = "mujoco.sdf.sdflib"
"""Plugin of geoms that collide by the exact distance of their mesh."""
MOST_NAMED = 5
"""Largest number of meshes that the warning about large hulls lists."""
LARGE = 1.5
"""Ratio of a hull's volume to its mesh's volume above which a warning is issued."""
THRESHOLDS = (0.01, 1.0)
"""Smallest and largest concavity of convex pieces."""
_PIECE = {"type": "mesh", "mass": 0.0, "material": None, "user": None, "shellinertia": False, "fluidshape": "none"}
"""Attributes by which the geom of a piece differs from the geom of the whole mesh."""


def piece_name(whole: str, number: int) -> str:
    """Return the name of piece ``number`` (from 1) of the geom or mesh with the name ``whole``."""
    return f"{whole}@{number}"


# --- meshes ----------------------------------------------------------------------------------------------------------


def piece_meshes(build: Build) -> list[Element]:
    """Decompose the meshes whose attribute ``convex`` is "decompose"; return the ``mesh`` elements of the pieces.

    All meshes must have been read. ``build.pieces`` records the names of the pieces, by mesh. A mesh with a single
    piece collides by its convex hull.

    Raises:
        MjcfError: a parameter is wrong, the library is missing, or it fails.
    """
    wanted = [mesh for mesh in build.meshes.values() if mesh.values["convex"] == "decompose"]
    for mesh in wanted:
        _check_parameters(mesh.element, mesh.values)
    used = _colliding_meshes(build) if wanted else set()
    wanted = [mesh for mesh in wanted if mesh.element.name in used and mesh.cloud_hull is None]
    found: list[Element] = []
    with Progress(len(wanted), "decomposing meshes (once on this machine)") as progress:
        for mesh in wanted:
            found += _pieces_of(build, mesh, progress)
            progress.advance(1)
    return found


def _check_parameters(element: Element, values: dict[str, Any]) -> None:
    """Check the parameters of a decomposition."""
    low, high = THRESHOLDS
    if not low <= values["threshold"] <= high:
        raise element.error(f"must be from {low:g} to {high:g}, found {values['threshold']:g}", "threshold")
    if values["maxpieces"] < 1 and values["maxpieces"] != -1:
        raise element.error(f"must be at least 1, or -1 for no limit, found {values['maxpieces']}", "maxpieces")


def _colliding_meshes(build: Build) -> set[str]:
    """Return the names of the meshes of all geoms that collide as meshes."""
    paired = _paired(build)
    geoms = [part for part in build.tree.worldbody.descendants() if part.row.kind == "geom"]
    return {values["mesh"] for geom in geoms if _collides(values := geom.resolved(), geom.name, paired)}


def _paired(build: Build) -> set[str]:
    """Return the names of geoms in explicit contact pairs."""
    pairs = build.tree.section("contact").all("pair")
    return {name for pair in pairs for name in (pair["geom1"], pair["geom2"]) if name}


def _collides(values: dict[str, Any], name: str | None, paired: set[str]) -> bool:
    """Return whether a geom collides as a mesh; ``values`` are the values of its attributes."""
    if values["type"] != "mesh" or not values["mesh"]:
        return False
    return bool(values["contype"] or values["conaffinity"] or name in paired)


def _pieces_of(build: Build, mesh: Mesh, progress: Progress) -> list[Element]:
    """Return the elements of one mesh's pieces, and record the pieces' names in ``build.pieces``.

    If the mesh has a single piece, return an empty list and record nothing.
    """
    from cardan.compiler.meshes.decompose import DecompositionError, convex_pieces

    element, values = mesh.element, mesh.values
    name = element.name or ""

    def waiting() -> None:
        progress.show(name)

    inwards = signed_volume(mesh.vertex.astype(float)[mesh.face]) < 0.0  # as faces of mirrored meshes may be
    face = mesh.face[:, ::-1] if inwards else mesh.face
    try:
        found = convex_pieces(mesh.vertex, face, values["threshold"], values["maxpieces"], waiting)
    except DecompositionError as error:
        raise element.error(str(error), "convex") from None
    if not found:
        raise element.error("the mesh has no convex pieces with a volume", "convex")
    if len(found) == 1:
        return []
    names = build.pieces[name] = [piece_name(name, number) for number in range(1, len(found) + 1)]
    for piece in names:
        if build.tree.find("mesh", piece) is not None:
            raise element.error(f"the name '{piece}' of another mesh is reserved for a piece of this one", "name")
    own = {key: value for key, value in element.row.defaults.items() if value is not None}
    return [
        Element(
            element.row,
            build.tree,
            element.parent,
            own | {"name": piece, "vertex": tuple(points.ravel().tolist())},
            element.source,
            element.line,
        )
        for piece, points in zip(names, found, strict=True)
    ]


# --- geoms -----------------------------------------------------------------------------------------------------------


def with_pieces(build: Build, found: Attached) -> tuple[Attached, list[int]]:
    """Insert the geoms of pieces after the geoms of decomposed meshes.

    Returns:
        All geoms, and for each element its number as a piece, or 0 if it is not a piece.
    """
    if not build.pieces:
        return found, [0] * len(found.elements)
    paired, which = _paired(build), found.which or range(len(found.bodies))
    named = {number: name for number, name in zip(which, found.names, strict=True) if name in paired}
    starts: list[int] = []  # new index of each element; the indices of its pieces follow
    elements: list[Element] = []
    pieces: list[int] = []
    for number, element in enumerate(found.elements):
        parts = _piece_geoms(build, element, named.get(number), paired)
        starts.append(len(elements))
        elements += element, *parts
        pieces += range(1 + len(parts))
    repeats = [end - start for start, end in pairwise([*starts, len(elements)])]
    counts = [repeats[number] for number in which]  # by geom
    _check_names(found, which, counts)
    marks = [mark and not piece for mark, piece in zip(_repeated(found.marks, repeats), pieces, strict=True)]
    new = Attached(
        elements,
        _repeated(found.frames, repeats),
        marks,
        [starts[number] + k for number in which for k in range(repeats[number])],
        [_geom_name(name, k) for name, count in zip(found.names, counts, strict=True) for k in range(count)],
        _repeated(found.bodies, counts),
        _counts(found.counts, counts),
    )
    return new, pieces


def _check_names(found: Attached, which: Sequence[int], counts: list[int]) -> None:
    """Check that no geom has the name of another geom's piece. ``counts`` is, by geom, 1 + its number of pieces."""
    taken = {name for name in found.names if name}
    for number, name, count in zip(which, found.names, counts, strict=True):
        for k in range(1, count):
            piece = _geom_name(name, k)
            if piece in taken:
                reason = f"the name '{piece}' of another geom is reserved for a piece of this one"
                raise found.elements[number].error(reason, "name")


def _piece_geoms(build: Build, element: Element, name: str | None, paired: set[str]) -> list[Element]:
    """Return the elements of a geom's pieces, if it has any. ``name`` is the geom's name if it is in ``paired``."""
    values = element.resolved()
    names = build.pieces.get(values["mesh"] or "")
    if names is None or not _collides(values, name, paired):
        return []
    given = element.attributes | _PIECE | {"rgba": (*values["rgba"][:3], 0.0)}
    given.pop("name", None)
    return [
        Element(element.row, build.tree, element.parent, given | {"mesh": mesh}, element.source, element.line)
        for mesh in names
    ]


def _geom_name(name: str | None, k: int) -> str | None:
    return piece_name(name, k) if name and k else name


def _repeated(column: Iterable[Any], repeats: Sequence[int]) -> list[Any]:
    """Repeat each value of a column as many times as its entry in ``repeats`` specifies."""
    return [value for value, count in zip(column, repeats, strict=True) for _ in range(count)]


def _counts(counts: list[tuple[Any, int]], repeats: Sequence[int]) -> list[tuple[Any, int]]:
    """Return each body's number of geoms including pieces. ``repeats`` is, for each geom, 1 + its number of pieces."""
    found: list[tuple[Any, int]] = []
    start = 0
    for body, count in counts:
        found.append((body, sum(repeats[start : start + count])))
        start += count
    return found


# --- large hulls -----------------------------------------------------------------------------------------------------


def warn_of_large_hulls(build: Build) -> None:
    """Warn about colliding meshes whose convex hulls are much larger than the meshes, unless ``convex`` is set."""
    found: list[tuple[str, float]] = []
    for name, mesh in build.meshes.items():
        if mesh.collides and mesh.cloud_hull is None and not mesh.element.is_set("convex"):
            if mesh.bulge > LARGE and mesh.closed:
                found.append((name, mesh.bulge))
    if found:
        names = ", ".join(f"'{name}' ({ratio:.1f} times)" for name, ratio in found[:MOST_NAMED])
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        remark = f"meshes collide by their convex hulls, whose volumes are much larger: {names}{more}"
        hint = "set the attribute convex to decompose, exact or, if the hull is wanted, hull"
        warnings.warn(str(MjcfError(f"{remark}; {hint}", build.tree.source, element="mesh")), stacklevel=2)


# --- exact distances -------------------------------------------------------------------------------------------------


def add_distances(build: Build) -> None:
    """Add a plugin instance for each mesh that collides by its exact distance. Warn if such a mesh is not closed."""
    for element in build.tree.section("asset").all("mesh"):
        if element["convex"] == "exact" and not build.dropped(element):
            if not build.meshes[element.name or ""].closed:
                element.warn("the mesh is not closed, so that the sign of distances is wrong in places", "convex")
            build.distances[element.name or ""] = unnamed_instance(build, element, DISTANCE)


def geoms_with_distance(build: Build, geoms: Resolved) -> dict[int, int]:
    """Map the indices of geoms that collide by their mesh's exact distance to the ids of their plugin instances."""
    if not build.distances:
        return {}
    found: dict[int, int] = {}
    paired, meshes = _paired(build), geoms["mesh"]
    for number, name in enumerate(meshes):
        if name in build.distances and _collides(geoms.one(number), geoms.elements[number].name, paired):
            found[number] = build.distances[name].id
    return found
