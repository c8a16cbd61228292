"""Rows of the MJCF table for sensors (spec: modeling, "Sensors")."""

from __future__ import annotations

from typing import Any

from cardan.spec.schema.keywords import DATA_TYPE, FRAME_OBJECT, OBJECT, REDUCE, STAGE
from cardan.spec.schema.rows import (
    Attribute,
    ElementRow,
    boolean,
    element,
    integer,
    keyword,
    real,
    reals,
    reference,
    text,
)
from cardan.spec.schema.shared import HISTORY, PLUGIN_CHOICE, USER, config, name

_COMMON: tuple[Attribute, ...] = (
    name("sensor"),
    real("cutoff", 0.0, "bound on the values; 0: none"),
    real("noise", 0.0, "standard deviation of the noise (kept, not applied)"),
    USER,
)
_MEASURED: tuple[Attribute, ...] = (
    *_COMMON,
    *HISTORY,
    reals("interval", (1, 2), (0.0, 0.0), "period of the values and time of the last one, s; it needs a history",
          since="3.5"),
)  # fmt: skip


def _without_noise(rows: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """Return the attribute rows except ``noise``."""
    return tuple(row for row in rows if row.name != "noise")


def _sensor(
    tag: str, meaning: str, *rows: Attribute, common: tuple[Attribute, ...] = _MEASURED, **more: Any
) -> ElementRow:
    """Return the row of one type of sensor, with its own attributes ``rows`` and those in ``common``."""
    children = [config()] if tag == "plugin" else []
    return element(tag, meaning, common, rows, children=children, kind="sensor", **more)


def _of(kind: str) -> Attribute:
    """Return the required attribute that names the sensor's object of this kind."""
    return reference(kind, kind, f"the {kind}", required=True)


# sensors of one object: kind of the object, then tag and meaning of each sensor
_ABOUT_ONE: dict[str, dict[str, str]] = {
    "site": {
        "touch": "normal force of contacts in the site's volume, N",
        "accelerometer": "linear acceleration with gravity, in the site's frame, m/s^2",
        "velocimeter": "linear velocity in the site's frame, m/s",
        "gyro": "angular velocity in the site's frame, rad/s",
        "force": "force between the body and its parent, in the site's frame, N",
        "torque": "torque between the body and its parent, in the site's frame, N m",
        "magnetometer": "magnetic flux in the site's frame",
    },
    "joint": {
        "jointpos": "position of a hinge or slide",
        "jointvel": "velocity of a hinge or slide",
        "jointactuatorfrc": "actuator force at a hinge or slide",
        "ballquat": "orientation of a ball joint",
        "ballangvel": "angular velocity of a ball joint, rad/s",
        "jointlimitpos": "distance from the limit",
        "jointlimitvel": "velocity towards the limit",
        "jointlimitfrc": "force of the limit",
    },
    "tendon": {
        "tendonpos": "length of a tendon",
        "tendonvel": "velocity of a tendon",
        "tendonlimitpos": "distance from the limit",
        "tendonlimitvel": "velocity towards the limit",
        "tendonlimitfrc": "force of the limit",
    },
    "actuator": {
        "actuatorpos": "length of an actuator's transmission",
        "actuatorvel": "velocity of an actuator's transmission",
        "actuatorfrc": "scalar force of an actuator",
    },
    "body": {
        "subtreecom": "centre of mass of the body's subtree, m",
        "subtreelinvel": "velocity of the centre of mass of the body's subtree, m/s",
        "subtreeangmom": "angular momentum of the body's subtree about its centre of mass",
    },
}

_OBJECT: tuple[Attribute, ...] = (
    keyword("objtype", FRAME_OBJECT, None, "kind of the object", required=True),
    reference("objname", "@objtype", "name of the object", required=True),
)
_RELATIVE: tuple[Attribute, ...] = (
    keyword("reftype", FRAME_OBJECT, None, "kind of the object in whose frame the value is given"),
    reference("refname", "@reftype", "name of that object; undefined: the world"),
)

_GEOMS: tuple[Attribute, ...] = tuple(
    reference(f"{kind}{number}", kind, f"{word} {kind}")
    for number, word in ((1, "first"), (2, "second"))
    for kind in ("geom", "body")
)

# data of a rangefinder, in the order in which they must be given
RANGE_DATA: tuple[str, ...] = ("dist", "dir", "origin", "point", "normal", "depth")
_RANGEFINDER: tuple[Attribute, ...] = (
    reference("site", "site", "the site"),
    reference("camera", "camera", "camera whose pixels have a ray each", since="3.5"),
    text("data", f"values of each ray: {', '.join(RANGE_DATA)}", default="dist", since="3.5"),
)


def _matching(number: int, word: str) -> tuple[Attribute, ...]:
    """Return the attributes that name the first or second geom, body or subtree of a contact sensor."""
    kinds = {"geom": "geom", "body": "body", "subtree": "body"}
    return tuple(reference(f"{tag}{number}", kind, f"{word} {tag} of the contacts") for tag, kind in kinds.items())


# data of a contact sensor, in the order in which they must be given
CONTACT_DATA: tuple[str, ...] = (
    "found", "force", "torque", "dist", "pos", "normal", "tangent", "linvel", "angvel"
)  # fmt: skip
_CONTACT: tuple[Attribute, ...] = (
    *_matching(1, "first"),
    reference("site", "site", "site that contains the contacts, in place of the first geom"),
    *_matching(2, "second"),
    integer("num", 1, "number of contacts"),
    text("data", f"values of each contact: {', '.join(CONTACT_DATA)}", default="found"),
    keyword("reduce", REDUCE, "none", "which contacts are chosen"),
)

_FRAME: dict[str, str] = {
    "framepos": "position of a frame, m",
    "framequat": "orientation of a frame",
    "framexaxis": "X axis of a frame",
    "frameyaxis": "Y axis of a frame",
    "framezaxis": "Z axis of a frame",
    "framelinvel": "linear velocity of a frame, m/s",
    "frameangvel": "angular velocity of a frame, rad/s",
}
_FRAME_ACCELERATION: dict[str, str] = {
    "framelinacc": "linear acceleration of a frame, m/s^2",
    "frameangacc": "angular acceleration of a frame, rad/s^2",
}
_DISTANCE: dict[str, str] = {
    "distance": "distance between geoms, m",
    "normal": "direction of the distance between geoms",
    "fromto": "end points of the distance between geoms, m",
}

_ANY_OBJECT: tuple[Attribute, ...] = (
    keyword("objtype", OBJECT, None, "kind of the object"),
    reference("objname", "@objtype", "name of the object"),
)

# number of attributes that name the object, where it is not half of the references; the others name the reference
OBJECT_NAMES: dict[str, int] = {"rangefinder": 2, "contact": 4}

SENSOR = element(
    "sensor",
    "sensors",
    children=[
        *(_sensor(tag, meaning, _of(kind)) for kind, tags in _ABOUT_ONE.items() for tag, meaning in tags.items()),
        _sensor("rangefinder", "distance along the site's Z axis, or through each pixel of a camera, m",
                *_RANGEFINDER),
        _sensor("camprojection", "position of a site in a camera's picture, pixels", _of("site"), _of("camera")),
        *(_sensor(tag, meaning, *_OBJECT, *_RELATIVE) for tag, meaning in _FRAME.items()),
        *(_sensor(tag, meaning, *_OBJECT) for tag, meaning in _FRAME_ACCELERATION.items()),
        *(_sensor(tag, meaning, *_GEOMS) for tag, meaning in _DISTANCE.items()),
        _sensor("clock", "simulation time, s"),
        _sensor("tendonactuatorfrc", "total actuator force on a tendon", _of("tendon"), since="3.3.1"),
        _sensor("insidesite", "whether an object is inside a site, or how far it juts out", *_OBJECT,
                reference("site", "site", "the site", required=True),
                boolean("enclosed", False, "how far the whole object juts out", since="3.15"),
                since="3.3.5"),
        _sensor("contact", "contacts that match conditions", *_CONTACT, since="3.3.5"),
        _sensor("e_potential", "potential energy, J", since="3.3.0"),
        _sensor("e_kinetic", "kinetic energy, J", since="3.3.0"),
        _sensor("tactile", "contact at the vertices of a mesh",
                _of("mesh"), _of("geom"), common=_without_noise(_MEASURED),
                since="3.3.5"),
        _sensor(
            "user",
            "values written by a callback",
            *_ANY_OBJECT,
            keyword("datatype", DATA_TYPE, "real", "kind of values"),
            keyword("needstage", STAGE, "acc", "stage after which the callback runs"),
            integer("dim", None, "number of values", required=True),
            common=_COMMON,
        ),
        _sensor(
            "plugin",
            "values computed by a plugin",
            *_ANY_OBJECT,
            keyword("reftype", OBJECT, None, "kind of the object in whose frame values are given"),
            reference("refname", "@reftype", "name of that object"),
            *PLUGIN_CHOICE,
            common=_without_noise(_COMMON),
        ),
    ],
    merged=True,
)  # fmt: skip
