"""Inertia of bodies: given by the user or inferred from geoms (spec: modeling, "inertial" and compiler settings)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.compiler.orientation import element_pose
from cardan.constants import mjMINVAL
from cardan.maths.pose import compose, principal_axes, principal_axes_4_0
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Quat, Vec3
from cardan.maths.vector import add3, scale3, sub3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Geom
    from cardan.spec.element import Element


_LEAST_MASS = 1e-14  # geoms with at most this mass do not count in 4.0, kg
_LEAST_MOMENT = 1e-14  # smallest moment of inertia of matrices whose principal axes must be found, kg m^2


class Part(NamedTuple):
    """A solid in a body's frame: mass, principal moments, centre of mass, orientation of the principal axes."""

    mass: float
    inertia: Vec3
    pos: Vec3
    quat: Quat


def set_inertia(build: Build, body: Body, others: Sequence[Body] = ()) -> None:
    """Set and check mass, inertia and inertial frame of a body, and of ``others`` that repeat the same pattern."""
    shared = _set_inertia(build, body) and not (body.element.pattern and body.element.pattern.varied)
    for other in others:
        if shared:
            other.mass, other.inertia, other.ipos, other.iquat = body.mass, body.inertia, body.ipos, body.iquat
        else:
            _set_inertia(build, other)


def _set_inertia(build: Build, body: Body) -> bool:
    """Set and check mass, inertia and inertial frame of a body. Return whether the body's pose does not affect them."""
    source, (low, high) = build.settings["inertiafromgeom"], build.settings["inertiagrouprange"]
    geoms = body.geoms if source != "false" else ()
    counted = [geom for geom in geoms if low <= geom.group <= high and not geom.piece]
    if build.tree.compat == "4.0":
        counted = [geom for geom in counted if geom.mass > _LEAST_MASS]
    if body.inertial is not None and not (source == "true" and counted):
        _given_inertia(build, body)
    elif counted:
        _inertia_from_geoms(build, body, counted)
    else:
        # a quirk of the reference: the body's own pose, without the frames around it
        body.ipos, body.iquat = element_pose(build, body.element, body.element.resolved(), ())
    _bound(build, body)
    return body.inertial is not None or bool(counted)


def _given_inertia(build: Build, body: Body) -> None:
    """Set a body's inertia from its element ``inertial``. If the previously read element is equal, reuse its values."""
    assert body.inertial is not None
    element, frames = body.inertial
    last = build.last_inertial
    if last is not None and frames == last[1] and (element is last[0] or element.attributes == last[0].attributes):
        body.mass, body.inertia, body.ipos, body.iquat = last[2]
        return
    _read_inertia(build, body, element, frames)
    if body.mass >= 0.0 and min(body.inertia) >= 0.0:  # other values cause a warning for each body
        build.last_inertial = element, frames, (body.mass, body.inertia, body.ipos, body.iquat)


def _read_inertia(build: Build, body: Body, element: Element, frames: tuple[Element, ...]) -> None:
    values = element.resolved()
    body.mass = values["mass"]
    body.ipos, body.iquat = element_pose(build, element, values, frames)
    full, diagonal = values["fullinertia"], values["diaginertia"]
    if full is not None:
        body.inertia, body.iquat = _axes(build)(full)
        if body.inertia[2] < _LEAST_MOMENT:
            raise element.error("the matrix must be positive definite", "fullinertia")
    elif diagonal is not None:
        body.inertia = diagonal
    # for a moving body, this is an error
    if body.mass < 0.0:
        element.warn(f"must not be negative, found {body.mass:g}", "mass")
    if min(body.inertia) < 0.0:
        element.warn("moments of inertia must not be negative", "diaginertia")


def _inertia_from_geoms(build: Build, body: Body, geoms: list[Geom]) -> None:
    """Set a body's inertia from its geoms: in the frame of a single geom, or along the geoms' common principal axes."""
    if len(geoms) == 1:
        geom = geoms[0]
        body.mass, body.inertia, body.ipos, body.iquat = geom.mass, geom.inertia, geom.pos, geom.quat
        return
    if sum(g.mass for g in geoms) < mjMINVAL:
        raise body.element.error("the geoms have no mass, and so no centre of mass: give them some, or use <inertial>")
    _combine(build, body, [Part(g.mass, g.inertia, g.pos, g.quat) for g in geoms])
    if body.inertia[2] < _LEAST_MOMENT:
        raise body.element.error("the geoms have no inertia: give them mass and size, or use <inertial>")


def _combine(build: Build, body: Body, parts: list[Part]) -> None:
    """Set mass, centre of mass, principal moments and axes of a body made of several solids (parallel axis theorem).

    The operations are in the order of the reference, because the choice between nearly equal axes, or between geoms at
    nearly equal distances, depends on rounding.
    """
    body.mass = sum(part.mass for part in parts)
    moment: Any = (0.0, 0.0, 0.0)
    for part in parts:
        moment = add3(moment, scale3(part.pos, part.mass))
    centre = (moment[0] / body.mass, moment[1] / body.mass, moment[2] / body.mass)
    total = [0.0] * 6
    for part in parts:
        for matrix in (_turned(part), _shifted(part, centre)):
            for k in range(6):
                total[k] += matrix[k]
    body.ipos = centre
    body.inertia, body.iquat = _axes(build)(tuple(total))


def _axes(build: Build) -> Callable[[tuple[float, ...]], tuple[Vec3, Quat]]:
    """Return the function that computes principal axes as the model's version of MuJoCo does."""
    return principal_axes_4_0 if build.tree.compat == "4.0" else principal_axes


def _turned(part: Part) -> tuple[float, ...]:
    """Return the inertia of a solid about its own centre of mass, along the body's axes: xx, yy, zz, xy, xz, yz."""
    r = quat2mat(part.quat)
    x, y, z = part.inertia
    return (
        r[0] * (r[0] * x) + r[1] * (r[1] * y) + r[2] * (r[2] * z),
        r[3] * (r[3] * x) + r[4] * (r[4] * y) + r[5] * (r[5] * z),
        r[6] * (r[6] * x) + r[7] * (r[7] * y) + r[8] * (r[8] * z),
        r[0] * (r[3] * x) + r[1] * (r[4] * y) + r[2] * (r[5] * z),
        r[0] * (r[6] * x) + r[1] * (r[7] * y) + r[2] * (r[8] * z),
        r[3] * (r[6] * x) + r[4] * (r[7] * y) + r[5] * (r[8] * z),
    )


def _shifted(part: Part, centre: Vec3) -> tuple[float, ...]:
    """Return the inertia about ``centre`` of a point mass at the solid's centre of mass: xx, yy, zz, xy, xz, yz."""
    mass = part.mass
    x, y, z = sub3(part.pos, centre)
    diagonal = (mass * (y * y + z * z), mass * (x * x + z * z), mass * (x * x + y * y))
    return (*diagonal, -mass * x * y, -mass * x * z, -mass * y * z)


def fuse_inertia(build: Build, body: Body, whole: dict[Element, Body]) -> None:
    """Set the inertia of ``body``, which includes the inertias of the bodies that are fused with it.

    ``whole`` maps elements to bodies of the unreduced model, whose inertias are set.
    """
    own = whole[body.element]
    body.mass, body.inertia, body.ipos, body.iquat = own.mass, own.inertia, own.ipos, own.iquat
    for element, frames in body.fused:
        part = whole[element]
        if part.mass < mjMINVAL:
            continue
        pose = compose(element_pose(build, element, element.resolved(), frames), (part.ipos, part.iquat))
        _combine(
            build, body, [Part(body.mass, body.inertia, body.ipos, body.iquat), Part(part.mass, part.inertia, *pose)]
        )


def _bound(build: Build, body: Body) -> None:
    """Apply the lower bounds of the compiler settings, and check that no moment exceeds the sum of the other two.

    If the compiler balances inertias, moments that fail this check are replaced by their mean.
    """
    settings = build.settings
    least = settings["boundinertia"]
    body.mass = max(body.mass, settings["boundmass"])
    a, b, c = body.inertia = (max(body.inertia[0], least), max(body.inertia[1], least), max(body.inertia[2], least))
    if not (a + b < c or a + c < b or b + c < a):
        return
    if settings["balanceinertia"]:
        mean = sum(body.inertia) / 3.0
        body.inertia = (mean, mean, mean)
        if not mean < 0.0:
            return
    found = " ".join(f"{moment:g}" for moment in body.inertia)
    hint = "correct it or set compiler balanceinertia"
    element = body.inertial[0] if body.inertial else body.element
    raise element.error(f"each moment of inertia must be at most the sum of the others (found {found}): {hint}")


def check_moving(body: Body) -> None:
    """Check that a moving body, or a child fixed to it, has mass and inertia; raise MjcfError if not."""
    if not body.joints or _has_mass(body):
        return
    if not any(_has_mass(child) for child in body.children if not child.joints):
        raise body.element.error(
            f"mass and inertia of a moving body must be larger than {mjMINVAL:g}: give it geoms or <inertial>"
        )


def _has_mass(body: Body) -> bool:
    """Return whether the body has mass, and inertia in all directions."""
    return body.mass >= mjMINVAL and min(body.inertia) >= mjMINVAL


def scale_total_mass(build: Build) -> None:
    """Scale masses and inertias to the total mass that the compiler setting ``settotalmass`` specifies."""
    wanted = build.settings["settotalmass"]
    total = sum(body.mass for body in build.bodies[1:])
    if wanted > 0.0 and total > 0.0:
        for body in build.bodies[1:]:
            body.mass *= wanted / total
            body.inertia = scale3(body.inertia, wanted / total)
