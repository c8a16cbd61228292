"""Tendons (spec: modeling, tendons): fixed (weighted sums of joint positions) and spatial (paths in space)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from cardan.compiler.bodies import put_simple_runs
from cardan.compiler.columns import Resolved, split_powers, table
from cardan.enums import mjtGeom, mjtWrap
from cardan.enums.codes import TRN_TENDON
from cardan.spec.repeated import TIE, runs

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element
    from cardan.spec.repeated import Pattern, Repeated

_JOINT, _SITE = int(mjtWrap.mjWRAP_JOINT), int(mjtWrap.mjWRAP_SITE)
# obstacles by the type of their geom
_OBSTACLES: dict[int, int] = {
    int(mjtGeom.mjGEOM_SPHERE): int(mjtWrap.mjWRAP_SPHERE),
    int(mjtGeom.mjGEOM_CYLINDER): int(mjtWrap.mjWRAP_CYLINDER),
}
_TENDON = table(
    *("tendon", "armature", "damping", "frictionloss", "group", "margin", "range", "rgba", "stiffness", "width"),
    actfrcrange="actuatorfrcrange",
    solref_lim="solreflimit",
    solimp_lim="solimplimit",
    solref_fri="solreffriction",
    solimp_fri="solimpfriction",
    lengthspring="springlength",
)


def add_tendons(build: Build) -> None:
    """Add tendons in the user's order: columns ``tendon_*``, and ``wrap_*`` for the parts of their paths."""
    elements = build.tree.section("tendon").children
    if not elements:
        return
    read: list[Element] = []  # tendons to read; if tendons repeat a pattern, only the pattern's model
    which: list[int] = []  # index in `read` of each tendon
    names: list[str | None] = []
    starts: list[int] = []
    wraps: list[Part] = []
    sites = build.ids["site"]
    for run in runs(elements, lambda element: element):
        pattern = run[0].pattern
        if pattern is not None and _are_ties(run, pattern):
            own, first, second = zip(*(cast("Repeated", element).values for element in run), strict=True)
            starts += range(len(wraps), len(wraps) + 2 * len(run), 2)
            wraps += [(_SITE, sites[name], 0.0) for pair in zip(first, second, strict=True) for name in pair]
            names += own
            which += [len(read)] * len(run)
            read.append(pattern.model)
            continue
        for element in run:
            if element.row.tag == "spatial":
                _check_path(element)
            names.append(element.name)
            which.append(len(read))
            read.append(element)
            starts.append(len(wraps))
            wraps += [_PARTS[part.row.tag](build, part) for part in element.children]
    columns = build.columns
    columns["tendon_adr"] = starts
    columns["tendon_num"] = [after - start for start, after in pairwise([*starts, len(wraps)])]
    build.enter_all("tendon", names)
    tendons = _columns(build, Resolved(read))
    split_powers(tendons, "tendon_stiffness", "tendon_damping")
    if len(read) < len(which):
        tendons = {name: [*map(column.__getitem__, which)] for name, column in tendons.items()}
    columns.update(tendons)
    for number, field in enumerate(("wrap_type", "wrap_objid", "wrap_prm")):
        columns[field] = [wrap[number] for wrap in wraps]


def _are_ties(run: list[Element], pattern: Pattern) -> bool:
    """Return whether all repeated tendons of a run are straight paths between two different sites."""
    if pattern.blanks != TIE or len(pattern.model.children) != 2:
        return False
    return all(first != second for _, first, second in (cast("Repeated", element).values for element in run))


# parts of a path: type (mjtWrap), id of the object, parameter ------------------------------------------

Part = tuple[int, int, float]


def _geom(build: Build, part: Element) -> Part:
    geom = build.ids["geom"][part.attributes["geom"]]
    kind = _OBSTACLES.get(int(build.columns["geom_type"][geom]))
    if kind is None:
        raise part.error("tendons wrap around spheres and cylinders only", "geom")
    side = part.attributes.get("sidesite")
    return kind, geom, build.ids["site"][side] if side else -1


def _pulley(build: Build, part: Element) -> Part:
    divisor = part.attributes["divisor"]
    if not divisor >= 0.0:
        raise part.error(f"must not be negative, found {divisor:g}", "divisor")
    if not divisor:
        part.warn("a divisor of 0 makes the tendon infinitely long", "divisor")
    return int(mjtWrap.mjWRAP_PULLEY), -1, divisor


_PARTS: dict[str, Callable[[Build, Element], Part]] = {
    "joint": lambda build, part: (_JOINT, build.ids["joint"][part.attributes["joint"]], part.attributes["coef"]),
    "site": lambda build, part: (_SITE, build.ids["site"][part.attributes["site"]], 0.0),
    "geom": _geom,
    "pulley": _pulley,
}


def _check_path(element: Element) -> None:
    """Check that obstacles are between sites, branches have at least two sites, and no site occurs twice in a row."""
    parts = element.children
    if len(parts) < 2:
        raise element.error("the path needs two sites at least")
    tags = [part.row.tag for part in parts]
    if tags.count("site") < len(tags):
        if tags[-1] == "pulley":
            raise parts[-1].error("the path must not end with a pulley")
        around = ["pulley", *tags, "pulley"]
        for part, before, after in zip(parts, around, around[2:], strict=False):
            if part.tag == "geom" and (before, after) != ("site", "site"):
                raise part.error("a geom must stand between two sites")
            if part.tag == "pulley" and before == "pulley" and part is not parts[0]:
                raise part.error("two pulleys in a row: a branch has two sites at least")
            if part.tag == "site" and before == after == "pulley":
                raise part.error("a branch has two sites at least")
    for part, other in pairwise(parts):
        if part.row.tag == other.row.tag == "site" and part.attributes["site"] == other.attributes["site"]:
            raise other.error("a site must not follow itself", "site")


def _columns(build: Build, tendons: Resolved) -> dict[str, list[Any]]:
    """Return the columns of tendons, except their paths. Raises MjcfError for invalid values."""
    values = tendons["width"], tendons["springlength"], tendons["armature"]
    for element, width, (low, high), armature in zip(tendons.elements, *values, strict=True):
        if armature < 0.0:
            raise element.error(f"must not be negative, found {armature:g}", "armature")
        if armature and any(part.tag == "geom" for part in element.children):
            raise element.error("a tendon that wraps around geoms cannot have an armature", "armature")
        if element.row.tag == "spatial" and not width > 0.0:
            raise element.error(f"must be positive, found {width:g}", "width")
        if high < low:
            reason = f"the lower length must not be above the upper one, found {low:g} {high:g}"
            raise element.error(reason, "springlength")
    return tendons.columns(_TENDON) | {
        "tendon_actfrclimited": _force_limits(build, tendons),
        "tendon_matid": build.references("material", tendons.get("material", None)),
        "tendon_limited": build.limits(tendons, "range", "limited"),
        "tendon_user": build.users("tendon", tendons),
    }


def _force_limits(build: Build, tendons: Resolved) -> list[bool]:
    """Return whether the total actuator force on each tendon is limited. Raises MjcfError if a range excludes 0."""
    limited = build.limits(tendons, "actuatorfrcrange", "actuatorfrclimited")
    for element, holds, (low, high) in zip(tendons.elements, limited, tendons["actuatorfrcrange"], strict=True):
        if holds and not low <= 0.0 <= high:
            raise element.error(f"the range must contain 0, found {low:g} {high:g}", "actuatorfrcrange")
    return limited


def couple_bodies(build: Build) -> None:
    """Set ``body_simple`` to 0 for bodies on the paths of tendons with armature, which couple the bodies' dofs.

    Tendons and actuators must be complete.

    Raises:
        MjcfError: an actuator adds armature to a tendon that wraps around geoms.
    """
    columns = build.columns
    heavy = {tendon for tendon, armature in enumerate(columns["tendon_armature"]) if armature}
    values = columns["actuator_armature"], columns["actuator_trntype"], columns["actuator_trnid"]
    obstacles = set(_OBSTACLES.values())
    for element, armature, kind, (target, _) in zip(build.tree.section("actuator").children, *values, strict=True):
        if armature and kind == TRN_TENDON:
            first = columns["tendon_adr"][target]
            if obstacles.intersection(columns["wrap_type"][first : first + columns["tendon_num"][target]]):
                raise element.error("a tendon that wraps around geoms cannot have an armature", "armature")
            heavy.add(target)
    owners = {_JOINT: columns["jnt_bodyid"], _SITE: columns["site_bodyid"]}
    for tendon in heavy:
        first = columns["tendon_adr"][tendon]
        for wrap in range(first, first + columns["tendon_num"][tendon]):
            owner = owners.get(columns["wrap_type"][wrap])
            if owner is not None:
                columns["body_simple"][owner[columns["wrap_objid"][wrap]]] = 0
    if heavy:
        put_simple_runs(build)
