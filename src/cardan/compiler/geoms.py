"""Geoms and sites (spec: modeling, "geom" and "site")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.compiler.fluid import fluid_coefficients
from cardan.compiler.nodes import Geom
from cardan.compiler.orientation import element_pose, frames_pose, segment_pose
from cardan.compiler.shapes import SHAPES, check_size, size_from_segment
from cardan.maths.pose import IDENTITY, Pose, compose
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
        _add_geom(build, body, placed)


def _placed_shape(build: Build, placed: Placed, values: dict[str, Any]) -> tuple[Pose, Any]:
    """Pose in the body and sizes of a geom or site, from its own attributes or from two points."""
    element, frames = placed
    size, fromto = values["size"], values["fromto"]
    if fromto is None:
        return element_pose(build, element, values, frames), size
    pose, half = segment_pose(element, fromto)
    return compose(frames_pose(build, frames), pose), size_from_segment(element, values["type"], size, half)


def _mass_and_inertia(element: Element, word: str, values: dict[str, Any], size: Any) -> tuple[float, Any]:
    """Mass as given or by density, and the principal moments that go with it."""
    shape = SHAPES[word]
    volume = shape.volume(size)
    mass = values["mass"]
    for name in ("mass", "density"):
        if values[name] is not None and values[name] < 0.0:
            raise element.error(f"must not be negative, found {values[name]:g}", name)
    if not volume:
        return 0.0, (0.0, 0.0, 0.0)
    density = values["density"] if mass is None else mass / volume
    x, y, z = shape.inertia(size)
    return volume * density if mass is None else mass, (x * density, y * density, z * density)


def _add_geom(build: Build, body: Body, placed: Placed) -> None:
    """One geom: columns ``geom_*``, and what its body needs to know."""
    element = placed[0]
    values = element.resolved()
    word = values["type"]
    if word == "plane" and any(part.content.get("joint") for part in _chain(body)):
        raise element.error("a plane may stand only in a body that does not move", "type")
    pose, size = _placed_shape(build, placed, values)
    check_size(element, word, size)
    mass, inertia = _mass_and_inertia(element, word, values, size)
    shape = SHAPES[word]
    centre = (0.0, 0.0, -shape.half(size)[2]) if word == "plane" else (0.0, 0.0, 0.0)
    half = shape.half(size)
    geom = Geom(
        build.enter("geom", element.name), values["group"], *pose, mass, inertia, centre, half,
        values["contype"], values["conaffinity"], values["margin"],
    )  # fmt: skip
    body.geoms.append(geom)
    build.put(
        geom_type=GEOM[word],
        geom_contype=values["contype"],
        geom_conaffinity=values["conaffinity"],
        geom_condim=check_condim(element, values["condim"]),
        geom_bodyid=body.id,
        geom_dataid=-1,
        geom_group=values["group"],
        geom_priority=values["priority"],
        geom_plugin=-1,
        geom_solmix=values["solmix"],
        geom_solref=values["solref"],
        geom_solimp=values["solimp"],
        geom_size=size,
        geom_aabb=(*centre, *half),
        geom_rbound=shape.radius(size),
        geom_pos=geom.pos,
        geom_quat=geom.quat,
        geom_friction=values["friction"],
        geom_margin=values["margin"],
        geom_gap=values["gap"],
        geom_fluid=fluid_coefficients(shape.semiaxes(size), values["fluidcoef"])
        if values["fluidshape"] == "ellipsoid"
        else _NO_FLUID,
    )
    _put_appearance(build, "geom", values)
    build.user("geom", element, values["user"])


def _chain(body: Body) -> list[Body]:
    """The body and its ancestors."""
    found = [body]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found


def _put_appearance(build: Build, part: str, values: dict[str, Any]) -> None:
    """Material and colour."""
    build.columns[f"{part}_matid"].append(build.ids["material"].get(values["material"] or "", -1))
    build.columns[f"{part}_rgba"].append(values["rgba"])


def put_sameframes(build: Build, body: Body) -> None:
    """Whether geoms and sites share the frame of their body (1) or its inertial frame (2)."""
    inertial = (body.ipos, body.iquat)
    for geom in body.geoms:
        build.put(geom_sameframe=_sameframe((geom.pos, geom.quat), inertial))
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
        pose, size = _placed_shape(build, placed, values)
        check_size(element, values["type"], size)
        build.enter("site", element.name)
        build.put(
            site_type=GEOM[values["type"]],
            site_bodyid=body.id,
            site_group=values["group"],
            site_size=size,
            site_pos=pose[0],
            site_quat=pose[1],
        )
        _put_appearance(build, "site", values)
        build.user("site", element, values["user"])
