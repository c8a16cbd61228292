"""Geoms and sites (spec: modeling, "geom" and "site")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cardan.compiler.figures import Figure, figure, mass_and_inertia, placed_shape
from cardan.compiler.fluid import fluid_coefficients
from cardan.compiler.nodes import Geom
from cardan.compiler.orientation import element_pose
from cardan.compiler.plugins import instance_of
from cardan.compiler.shapes import check_size
from cardan.maths.pose import IDENTITY, Pose, Vec3
from cardan.spec.schema.keywords import GEOM

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Placed
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.element import Element
    from cardan.spec.repeated import Repeated

_CONDIMS = (1, 3, 4, 6)
_SPECIAL = (GEOM["plane"], GEOM["sdf"])
_NO_FLUID = (0.0,) * 12
_PLACED = ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler")
_OWN = frozenset(("name", *_PLACED))
"""Attributes in which geoms may differ that are read once; two points are none of them, since they tell the size."""


def check_condim(element: Element, condim: int) -> int:
    """Contacts have dimension 1, 3, 4 or 6."""
    if condim not in _CONDIMS:
        raise element.error(f"must be 1, 3, 4 or 6, found {condim}", "condim")
    return condim


class Like(NamedTuple):
    """What a geom or site has in common with those that give the same attributes.

    Attributes:
        element: the one that was read.
        around: what else its meaning depends on.
        row: values of its columns.
        user: its user values.
        geom: of a geom, what it means for its body.
        weigh: of a geom, mass and inertia by density.
    """

    element: Element
    around: tuple[Any, ...]
    row: dict[str, Any]
    user: Any
    geom: Geom | None = None
    weigh: Callable[[float], tuple[float, Vec3]] | None = None


def add_geoms(build: Build, body: Body, others: Sequence[Body] = ()) -> None:
    """Enter the geoms of a body, and of others that repeat its pattern."""
    _add_geoms(build, body)
    like, pattern, geoms = build.last_geom, body.element.pattern, body.content.get("geom", [])
    if others and like is not None and len(body.geoms) == len(geoms) == 1 and pattern is not None:
        differ = pattern.differences(geoms[0][0])
        if differ.keys() <= {"density"}:
            _repeat_geom(build, others, like, differ.get("density"))
            return
    for other in others:
        _add_geoms(build, other)


def _repeat_geom(build: Build, bodies: Sequence[Body], like: Like, density: int | None) -> None:
    """Enter the only geom of each of several bodies, which is like another but for its density, if there is a place."""
    assert like.geom is not None and like.weigh is not None
    columns, count, geom = build.columns, len(bodies), like.geom
    names = [name for body in bodies for name in body.names(body.content["geom"])]
    first = build.enter_all("geom", names)
    for number, body in enumerate(bodies, first):
        if density is not None:
            mass, inertia = like.weigh(cast("Repeated", body.element).values[density])
            geom = geom._replace(mass=mass, inertia=inertia)
        body.geoms.append(Geom(number, *geom[1:]))
    build.rows["geom"] += [like.row] * count
    columns["geom_pos"] += [geom.pos] * count
    columns["geom_quat"] += [geom.quat] * count
    columns["geom_bodyid"] += [body.id for body in bodies]
    columns["geom_user"] += [like.user] * count


def _add_geoms(build: Build, body: Body) -> None:
    """Enter the geoms of a body. Those that are like the geom before are read once."""
    geoms = body.parts("geom")
    for placed, name in zip(geoms, body.names(geoms), strict=True):
        element, frames = placed
        if build.dropped(element):
            continue
        around = (body.inertial is None, bool(body.id), element.default_class)
        like = build.last_geom
        if like is None or around != like.around or element.children or not _alike_but_pose(element, like.element):
            geom, row, user, weigh = _geom(build, body, placed)
            # what stands for an asset notes more than its row, a plane depends on the bodies around, some are warned of
            plain = row["geom_dataid"] < 0 and row["geom_type"] not in _SPECIAL and not element.children
            plain &= _pose_values(element, around[-1])["fromto"] is None
            build.last_geom = Like(element, around, row, user, geom, weigh) if plain and geom.mass >= 0.0 else None
        else:
            assert like.geom is not None
            pos, quat = element_pose(build, element, _pose_values(element, around[-1]), frames)
            geom, row, user = like.geom._replace(pos=pos, quat=quat), like.row, like.user
        number = build.enter("geom", name)
        body.geoms.append(Geom(number, *geom[1:]))
        build.rows["geom"].append(row)
        build.columns["geom_pos"].append(geom.pos)
        build.columns["geom_quat"].append(geom.quat)
        build.columns["geom_bodyid"].append(body.id)
        build.columns["geom_user"].append(user)


def _alike_but_pose(element: Element, other: Element) -> bool:
    """Whether two geoms give the same attributes but for their names and poses."""
    given, others = element.attributes, other.attributes
    if element is other:
        return True
    for name, value in given.items():
        # no value is equal to a dict: it stands for none
        if name not in _OWN and others.get(name, others) != value:
            return False
    return others.keys() <= given.keys() or not others.keys() - given.keys() - _OWN


def _pose_values(element: Element, cls: DefaultClass) -> dict[str, Any]:
    """Values of the attributes that say where a geom of a default class is."""
    given, base = element.attributes, cls.base(element.row)
    return {name: given[name] if name in given else base[name] for name in (*_PLACED, "fromto")}


def _geom(
    build: Build, body: Body, placed: Placed
) -> tuple[Geom, dict[str, Any], Any, Callable[[float], tuple[float, Vec3]]]:
    """What a geom means for its body (but for the geom's id), values of its columns, user values, mass by density."""
    element = placed[0]
    values = element.resolved()
    word = values["type"]
    if word == "plane" and any(part.content.get("joint") for part in _chain(body)):
        raise element.error("a plane may stand only in a body that does not move", "type")
    plugin = instance_of(build, element, "sdf")
    if plugin and word != "sdf":
        raise element.error("only a geom of type sdf has a plugin", "type")
    if word == "sdf" and not plugin:
        element.warn("a geom of type sdf without a plugin has no distance, and collides with nothing", "type")
    found = figure(build, placed, values)
    counts = _counts(build, body, values["group"])
    mass, inertia = mass_and_inertia(element, values, found, counts)
    geom = Geom(
        -1, values["group"], *found.pose, mass, inertia, found.centre, found.half,
        values["contype"], values["conaffinity"], values["margin"],
    )  # fmt: skip
    row = {
        "geom_type": GEOM[word],
        "geom_contype": values["contype"],
        "geom_conaffinity": values["conaffinity"],
        "geom_condim": check_condim(element, values["condim"]),
        "geom_dataid": found.dataid,
        "geom_group": values["group"],
        "geom_priority": values["priority"],
        "geom_plugin": plugin.id if plugin else -1,
        "geom_solmix": values["solmix"],
        "geom_solref": values["solref"],
        "geom_solimp": values["solimp"],
        "geom_size": found.size,
        "geom_aabb": (*found.centre, *found.half),
        "geom_rbound": found.radius,
        "geom_friction": values["friction"],
        "geom_margin": values["margin"],
        "geom_gap": values["gap"],
        "geom_fluid": _fluid(element, values, found),
        "geom_matid": build.ids["material"].get(values["material"] or "", -1),
        "geom_rgba": values["rgba"],
    }
    user = build.checked_user("geom", element, values["user"])
    return geom, row, user, lambda density: mass_and_inertia(element, values | {"density": density}, found, counts)


def _fluid(element: Element, values: dict[str, Any], found: Figure) -> tuple[float, ...]:
    """Row of ``geom_fluid``."""
    if values["fluidshape"] != "ellipsoid":
        return _NO_FLUID
    try:
        return fluid_coefficients(found.semiaxes, values["fluidcoef"])
    except (OverflowError, ZeroDivisionError):
        raise element.error("too large or too small: the added mass exceeds the range of numbers", "size") from None


def _counts(build: Build, body: Body, group: int) -> bool:
    """Whether the body's inertia is inferred from its geoms of this group."""
    source = build.settings["inertiafromgeom"]
    low, high = build.settings["inertiagrouprange"]
    inferred = source == "true" or (source == "auto" and body.inertial is None)
    return bool(body.id) and inferred and low <= group <= high


def _chain(body: Body) -> list[Body]:
    """The body and its ancestors."""
    found = [body]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found


def put_sameframes(build: Build, body: Body) -> None:
    """Whether geoms and sites share the frame of their body (1) or its inertial frame (2)."""
    inertial = (body.ipos, body.iquat)
    columns = build.columns
    columns["geom_sameframe"] += [_sameframe((geom.pos, geom.quat), inertial) for geom in body.geoms]
    start = columns["site_of_body"][body.id]
    for row in range(start, start + len(body.content.get("site", ()))):
        pose = (columns["site_pos"][row], columns["site_quat"][row])
        columns["site_sameframe"].append(_sameframe(pose, inertial))


def _sameframe(pose: Pose, inertial: Pose) -> int:
    """1 for the body's frame, 2 for the inertial frame, 0 for a frame of its own."""
    return 1 if pose == IDENTITY else 2 if pose == inertial else 0


def add_sites(build: Build, body: Body, others: Sequence[Body] = ()) -> None:
    """Enter the sites of a body, and of others that repeat its pattern."""
    _add_sites(build, body)
    like, pattern, sites, columns = build.last_site, body.element.pattern, body.content.get("site", []), build.columns
    if others and like is not None and len(sites) == 1 and pattern is not None and not pattern.differences(sites[0][0]):
        first = build.enter_all("site", [name for other in others for name in other.names(other.content["site"])])
        build.rows["site"] += [like.row] * len(others)
        columns["site_pos"] += columns["site_pos"][-1:] * len(others)
        columns["site_quat"] += columns["site_quat"][-1:] * len(others)
        columns["site_of_body"] += range(first, first + len(others))
        columns["site_bodyid"] += [other.id for other in others]
        columns["site_user"] += [like.user] * len(others)
        return
    for other in others:
        _add_sites(build, other)


def _add_sites(build: Build, body: Body) -> None:
    """Enter the sites of a body. Those that are like the site before are read once."""
    build.columns["site_of_body"].append(build.count("site"))
    sites = body.parts("site")
    for placed, name in zip(sites, body.names(sites), strict=True):
        element, frames = placed
        cls, like = element.default_class, build.last_site
        where = _pose_values(element, cls)
        placed_alone = where["fromto"] is None  # two points tell the size, too
        if like is None or like.around != (cls,) or not placed_alone or not _alike_but_pose(element, like.element):
            pose, row, user = _site(build, placed)
            like = Like(element, (cls,), row, user)
            build.last_site = like if placed_alone else None
        else:
            pose = element_pose(build, element, where, frames)
        build.enter("site", name)
        build.rows["site"].append(like.row)
        build.columns["site_pos"].append(pose[0])
        build.columns["site_quat"].append(pose[1])
        build.columns["site_bodyid"].append(body.id)
        build.columns["site_user"].append(like.user)


def _site(build: Build, placed: Placed) -> tuple[Pose, dict[str, Any], Any]:
    """Pose of a site, values of its other columns, and user values."""
    element = placed[0]
    values = element.resolved()
    pose, size = placed_shape(build, placed, values)
    check_size(element, values["type"], size)
    row = {
        "site_type": GEOM[values["type"]],
        "site_group": values["group"],
        "site_size": size,
        "site_matid": build.ids["material"].get(values["material"] or "", -1),
        "site_rgba": values["rgba"],
    }
    return pose, row, build.checked_user("site", element, values["user"])
