"""Geoms and sites (spec: modeling, "geom", "site"). The geoms of all bodies are compiled together, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cardan.compiler.columns import Resolved, table
from cardan.compiler.figures import Figure, figures, masses, mesh_size, placed_shapes
from cardan.compiler.nodes import Geom, attached, from_columns
from cardan.compiler.orientation import frame_tolerance, same_frame
from cardan.compiler.pieces import geoms_with_distance, with_pieces
from cardan.compiler.plugins import instance_of
from cardan.compiler.shapes import check_size, fluid_coefficients
from cardan.maths.pose import IDENTITY
from cardan.maths.quaternion import neg_quat, rot_vec_quat
from cardan.maths.types import Pose
from cardan.maths.vector import add3, cross
from cardan.spec.schema.keywords import GEOM

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Attached, Body

_CONDIMS = {1, 3, 4, 6}
_AT_REST = (0.0,) * 6
_NO_FLUID = (0.0,) * 12
_GEOM = table(
    "geom",
    *("adhesion", "castshadow", "contype", "conaffinity", "friction", "gap", "group", "lagged", "margin"),
    *("priority", "rgba", "solimp", "solmix", "solref", "stick", "surfacevel"),
    type=("type", GEOM),
)
_SITE = table("site", "group", "rgba", type=("type", GEOM))


def add_geoms(build: Build, bodies: Sequence[Body]) -> None:
    """Add the geoms of bodies and record them in the bodies."""
    source = build.settings["inertiafromgeom"]

    def infers(body: Body) -> bool:
        return bool(body.id) and (source == "true" or (source == "auto" and body.inertial is None))

    found = attached(bodies, "geom", build.discarded, infers)
    if not found.elements:
        return
    found, pieces = with_pieces(build, found)
    columns, geoms = _columns(build, found, pieces)
    first = build.put_attached("geom", "geom", found, columns)
    geoms = from_columns(Geom, range(first, first + len(found.names)), *map(found.repeated, geoms))
    start = 0
    for body, count in found.counts:
        body.geoms = geoms[start : start + count]
        start += count


def _columns(build: Build, found: Attached, pieces: list[int]) -> tuple[dict[str, list[Any]], list[list[Any]]]:
    """Return all columns of geoms except ``geom_bodyid``, and the values of all members of `Geom` except ``id``.

    ``pieces`` is the column ``geom_piece``.
    """
    geoms = Resolved(found.elements)
    words = geoms["type"]
    _check_planes(found, words)
    plugins = _plugins(build, geoms, words)
    shapes = figures(build, geoms, found.frames)
    for number, which in enumerate(found.which or range(len(found.elements))):
        if which in shapes.parts:
            build.mesh_poses[number] = shapes.parts[which]
    columns = geoms.columns(_GEOM)
    for number, piece in enumerate(pieces):
        if piece == 1:  # the pieces collide for the geom before
            columns["geom_contype"][number - 1] = columns["geom_conaffinity"][number - 1] = 0
    for number, instance in geoms_with_distance(build, geoms).items():
        columns["geom_type"][number], plugins[number] = GEOM["sdf"], instance
    groups = columns["geom_group"]
    low, high = build.settings["inertiagrouprange"]
    # whether the inertia of the body is inferred from each geom
    counts = [infers and low <= group <= high for infers, group in zip(found.marks, groups, strict=True)]
    mass, inertia = masses(geoms, shapes.figures, counts)
    pos, quat = ([*column] for column in zip(*shapes.poses, strict=True))
    if geoms.any_but("surfacevel", _AT_REST):
        geoms.check_finite("surfacevel")
        columns["geom_surfacevel"] = _surface_velocities(geoms, shapes.parts)
        build.sizes["flg_surfacevel"] = 1
    if geoms.any_but("stick", False) or geoms.any_but("lagged", False):
        build.sizes["nstick"] = 1
    if geoms.any_but("adhesion", 0.0):
        geoms.check_finite("adhesion")
        build.sizes["flg_adhesion"] = 1
    columns |= {
        "geom_condim": condims(geoms),
        "geom_dataid": [figure.dataid for figure in shapes.figures],
        "geom_piece": pieces,
        "geom_plugin": plugins,
        "geom_pos": pos,
        "geom_quat": quat,
        "geom_size": shapes.sizes,
        "geom_aabb": [figure.aabb for figure in shapes.figures],
        "geom_rbound": [figure.radius for figure in shapes.figures],
        "geom_fluid": _fluid(geoms, shapes.figures),
        "geom_matid": build.references("material", _materials(build, geoms)),
        "geom_user": build.users("geom", geoms),
    }
    reach = columns["geom_margin"]
    if build.tree.compat == "4.0":  # the gap extends the range of contacts
        reach = [margin + gap for margin, gap in zip(reach, columns["geom_gap"], strict=True)]
    contacts = columns["geom_contype"], columns["geom_conaffinity"], reach
    return columns, [groups, pos, quat, mass, inertia, *contacts, pieces]


def _surface_velocities(geoms: Resolved, parts: Mapping[int, tuple[Pose, Pose]]) -> list[tuple[float, ...]]:
    """Return the velocity of each surface in the frame of its geom. `parts` holds the poses of geoms with meshes.

    A mesh has its own frame in the frame that the user gives.
    """
    column = [*geoms["surfacevel"]]
    for number, (_, (pos, quat)) in parts.items():
        linear, angular = column[number][:3], column[number][3:]
        back = neg_quat(quat)
        moved = add3(linear, cross(angular, pos))
        column[number] = (*rot_vec_quat(moved, back), *rot_vec_quat(angular, back))
    return column


def _check_planes(found: Attached, words: list[str]) -> None:
    """Check that planes are attached to static bodies; raise MjcfError if not."""
    if "plane" not in words:
        return
    for body, which in zip(found.bodies, found.which or range(len(words)), strict=True):
        above = body if words[which] == "plane" else None
        while above is not None:
            if "joint" in above.content:
                raise found.elements[which].error("a plane may stand only in a body that does not move", "type")
            above = above.parent


def _plugins(build: Build, geoms: Resolved, words: list[str]) -> list[int]:
    """Return the plugin instance of each geom, or -1. Warn of geoms of type ``sdf`` without a plugin.

    Raises:
        MjcfError: a geom of another type has a plugin.
    """
    plugins = [-1] * len(words)
    for number, element in enumerate(geoms.elements):
        if not (element.children or words[number] == "sdf"):
            continue
        plugin = instance_of(build, element, "sdf")
        if plugin is not None:
            if words[number] != "sdf":
                raise element.error("only a geom of type sdf has a plugin", "type")
            plugins[number] = plugin.id
        elif words[number] == "sdf":
            element.warn("a geom of type sdf without a plugin has no distance, and collides with nothing", "type")
    return plugins


def _materials(build: Build, geoms: Resolved) -> list[str | None]:
    """Return the name of each geom's material: the geom's own, else that of the geom's mesh, else None."""
    names = geoms["material"]
    if not (build.meshes and geoms.any("mesh")):
        return names
    of_meshes = {name: mesh.values["material"] for name, mesh in build.meshes.items()}
    pairs = zip(names, geoms["mesh"], strict=True)
    return [own or of_meshes.get(mesh) for own, mesh in pairs]


def condims(resolved: Resolved) -> list[int]:
    """Return ``condim`` of each geom or contact pair. Raises MjcfError for values other than 1, 3, 4 or 6."""
    column = resolved["condim"]
    if not set(column) <= _CONDIMS:
        number = next(number for number, condim in enumerate(column) if condim not in _CONDIMS)
        raise resolved.elements[number].error(f"must be 1, 3, 4 or 6, found {column[number]}", "condim")
    return column


def _fluid(geoms: Resolved, found: Sequence[Figure]) -> list[tuple[float, ...]]:
    shapes = geoms["fluidshape"]
    rows = [_NO_FLUID] * len(shapes)
    if "ellipsoid" not in shapes:
        return rows
    coefficients = geoms["fluidcoef"]
    for number, word in enumerate(shapes):
        if word == "ellipsoid":
            try:
                rows[number] = fluid_coefficients(found[number].semiaxes, coefficients[number])
            except (OverflowError, ZeroDivisionError):
                reason = "too large or too small: the added mass exceeds the range of numbers"
                raise geoms.elements[number].error(reason, "size") from None
    return rows


def put_sameframes(build: Build) -> None:
    """Fill ``*_sameframe`` of geoms and sites (`same_frame`): relative to their bodies, or to the inertial frames."""
    bodies, columns = build.bodies, build.columns
    tolerance = frame_tolerance(build)
    for word in ("geom", "site"):
        column = columns[f"{word}_sameframe"]
        placed = (columns[f"{word}_{name}"] for name in ("pos", "quat", "bodyid"))
        for place, turn, owner in zip(*placed, strict=True):
            column.append(same_frame((place, turn), (IDENTITY, (bodies[owner].ipos, bodies[owner].iquat)), tolerance))


def add_sites(build: Build, bodies: Sequence[Body]) -> None:
    """Add the sites of bodies."""
    found = attached(bodies, "site")
    if not found.elements:
        return
    sites = Resolved(found.elements)
    words = sites["type"]
    poses, sizes = placed_shapes(build, sites, found.frames)
    meshes = _site_meshes(build, sites, words, sizes)
    known: set[Any] = set()
    for element, word, size in zip(found.elements, words, sizes, strict=True):
        if word != "mesh" and (word, size) not in known:
            check_size(element, word, size)
            known.add((word, size))
    columns = sites.columns(_SITE) | {
        "site_dataid": meshes,
        "site_size": sizes,
        "site_pos": [pos for pos, _ in poses],
        "site_quat": [quat for _, quat in poses],
        "site_matid": build.references("material", sites["material"]),
        "site_user": build.users("site", sites),
    }
    build.put_attached("site", "site", found, columns)


def _site_meshes(build: Build, sites: Resolved, words: list[str], sizes: list[Any]) -> list[int]:
    """Return the mesh id of each site, or -1; write the sizes of sites with meshes to ``sizes``.

    These meshes are moved to their own frames. Raises MjcfError if a site's type and ``mesh`` do not match.
    """
    names = sites["mesh"] if sites.any("mesh") or "mesh" in words else None
    if names is None:
        return [-1] * len(words)
    for number, (element, word, name) in enumerate(zip(sites.elements, words, names, strict=True)):
        if word == "mesh" and not name:
            raise element.error("required attribute missing (type mesh needs it)", "mesh")
        if word != "mesh" and name:
            raise element.error(f"only a site of type mesh has a mesh, not a {word}", "mesh")
        if name:
            mesh = build.meshes[name]
            pose = mesh.properties(False).pose  # this also moves the mesh to its own frame
            mesh.pose = pose if mesh.pose == IDENTITY else mesh.pose
            sizes[number] = mesh_size(mesh.centre, mesh.half)
    return build.references("mesh", names)
