"""Geoms and sites (spec: modeling, "geom" and "site")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.compiler.figures import Figure, figure, mass_and_inertia, placed_shape
from cardan.compiler.fluid import fluid_coefficients
from cardan.compiler.nodes import Geom
from cardan.compiler.plugins import instance_of
from cardan.compiler.shapes import check_size
from cardan.maths.pose import IDENTITY, Pose
from cardan.spec.schema.keywords import GEOM

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Placed
    from cardan.spec.element import Element

_CONDIMS = (1, 3, 4, 6)
_NO_FLUID = (0.0,) * 12


def check_condim(element: Element, condim: int) -> int:
    """Contacts have dimension 1, 3, 4 or 6."""
    if condim not in _CONDIMS:
        raise element.error(f"must be 1, 3, 4 or 6, found {condim}", "condim")
    return condim


def add_geoms(build: Build, body: Body) -> None:
    """Enter the geoms of a body."""
    for placed in body.content.get("geom", ()):
        if not build.dropped(placed[0]):
            build.rows["geom"].append(_geom(build, body, placed))


def _geom(build: Build, body: Body, placed: Placed) -> dict[str, Any]:
    """Enter one geom, and note what its body needs to know; its row."""
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
    mass, inertia = mass_and_inertia(element, values, found, _counts(build, body, values["group"]))
    geom = Geom(
        build.enter("geom", element.name), values["group"], *found.pose, mass, inertia, found.centre, found.half,
        values["contype"], values["conaffinity"], values["margin"],
    )  # fmt: skip
    body.geoms.append(geom)
    build.user("geom", element, values["user"])
    return {
        "geom_type": GEOM[word],
        "geom_contype": values["contype"],
        "geom_conaffinity": values["conaffinity"],
        "geom_condim": check_condim(element, values["condim"]),
        "geom_bodyid": body.id,
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
        "geom_pos": geom.pos,
        "geom_quat": geom.quat,
        "geom_friction": values["friction"],
        "geom_margin": values["margin"],
        "geom_gap": values["gap"],
        "geom_fluid": _fluid(element, values, found),
        "geom_matid": build.ids["material"].get(values["material"] or "", -1),
        "geom_rgba": values["rgba"],
    }


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
    build.columns["geom_sameframe"] += [_sameframe((geom.pos, geom.quat), inertial) for geom in body.geoms]
    for number in range(len(body.content.get("site", ()))):
        row = build.columns["site_of_body"][body.id] + number
        pose = (build.columns["site_pos"][row], build.columns["site_quat"][row])
        build.put(site_sameframe=_sameframe(pose, inertial))


def _sameframe(pose: Pose, inertial: Pose) -> int:
    """1 for the body's frame, 2 for the inertial frame, 0 for a frame of its own."""
    return 1 if pose == IDENTITY else 2 if pose == inertial else 0


def add_sites(build: Build, body: Body) -> None:
    """Enter the sites of a body."""
    build.put(site_of_body=build.count("site"))
    for placed in body.content.get("site", ()):
        element = placed[0]
        values = element.resolved()
        pose, size = placed_shape(build, placed, values)
        check_size(element, values["type"], size)
        build.enter("site", element.name)
        row = {
            "site_type": GEOM[values["type"]],
            "site_bodyid": body.id,
            "site_group": values["group"],
            "site_size": size,
            "site_pos": pose[0],
            "site_quat": pose[1],
            "site_matid": build.ids["material"].get(values["material"] or "", -1),
            "site_rgba": values["rgba"],
        }
        build.rows["site"].append(row)
        build.user("site", element, values["user"])
