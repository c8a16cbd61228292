"""Rows of the MJCF table for attributes that several elements share (spec: modeling, "MJCF Mechanisms")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cardan.spec.schema.keywords import INTERPOLATION, TRISTATE
from cardan.spec.schema.rows import (
    OWN,
    Attribute,
    ElementRow,
    boolean,
    coefficients,
    element,
    integer,
    keyword,
    real,
    reals,
    reference,
    text,
)

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
RGBA = (0.5, 0.5, 0.5, 1.0)

CLASS = reference("class", "default", "default class from which undefined attributes are taken")
GROUP = integer("group", 0, "group, which switches drawing (and counts for inertias and actuators)")
USER = reals("user", (0, None), None, "user values")


def name(of: str, *, required: bool = False) -> Attribute:
    """Return the row of an object's ``name``. ``of`` is the kind of object, for the attribute's description."""
    return text("name", f"name of the {of}", required=required)


def classed(tag: str, meaning: str, *rows: Attribute | Iterable[Attribute], **more: Any) -> ElementRow:
    """Return the row of an element with name and class. Its kind and ``<default>`` entry are named after its tag."""
    return element(tag, meaning, name(tag), CLASS, *rows, kind=tag, entry=tag, **more)


# an element has at most one of these
ORIENTATION: tuple[Attribute, ...] = (
    reals("quat", 4, (1.0, 0.0, 0.0, 0.0), "orientation as a quaternion"),
    reals("axisangle", 4, None, "orientation as an axis and an angle"),
    reals("xyaxes", 6, None, "orientation as X and Y axes"),
    reals("zaxis", 3, None, "orientation as the Z axis, by the smallest rotation"),
    reals("euler", 3, None, "orientation as Euler angles, in the order of compiler eulerseq"),
)
POSE = (reals("pos", 3, (0.0, 0.0, 0.0), "position in the parent's frame, m"), *ORIENTATION)


def solver(suffix: str, meaning: str) -> tuple[Attribute, Attribute]:
    """Return the attributes ``solref`` and ``solimp`` with a suffix (spec: modeling, "Solver parameters")."""
    return (
        reals(f"solref{suffix}", (1, 2), SOLREF, f"{meaning}: reference acceleration"),
        reals(f"solimp{suffix}", (1, 5), SOLIMP, f"{meaning}: impedance"),
    )


def passive(of: str, **limit: Any) -> tuple[Attribute, ...]:
    """Return the attributes of a joint or tendon for limits, friction loss, stiffness, damping and actuator forces.

    ``of`` is ``joint`` or ``tendon``. ``limit`` has further arguments for the row ``actuatorfrcrange``.
    """
    return (
        keyword("limited", TRISTATE, "auto", f"whether the {of} has limits; auto: when a range is given"),
        reals("range", 2, (0.0, 0.0), f"limits of the {of}"),
        *solver("limit", "limit constraint"),
        *solver("friction", "friction loss constraint"),
        real("margin", 0.0, "distance from the limit at which the constraint becomes active"),
        coefficients("stiffness", "stiffness of the spring; quadratic, cubic coefficient"),
        real("springyield", 0.0, "displacement at which the spring yields; 0: never",
             since="4.0", later="plastic springs"),
        coefficients("damping", "damping coefficient; quadratic, cubic coefficient"),
        real("frictionloss", 0.0, "largest force of dry friction"),
        keyword("actuatorfrclimited", TRISTATE, "auto", "whether the total actuator force is limited",
                since=limit.get("since")),
        reals("actuatorfrcrange", 2, (0.0, 0.0), "range of the total actuator force", **limit),
    )  # fmt: skip


HISTORY: tuple[Attribute, ...] = (
    integer("nsample", 0, "number of values in the history; 0: none", since="3.5"),
    keyword("interp", INTERPOLATION, "zoh", "how values between those of the history are found", since="3.5"),
    real("delay", 0.0, "age of the value in use, s; it needs a history", since="3.5"),
)  # fmt: skip


CONTACT_SHARED: tuple[Attribute, ...] = (
    integer("contype", 1, "contact type bits"),
    integer("conaffinity", 1, "contact affinity bits"),
    integer("condim", 3, "dimension of contacts: 1, 3, 4 or 6"),
    integer("priority", 0, "priority when contact parameters are mixed"),
    reals("friction", (1, 3), (1.0, 0.005, 0.0001), "sliding, torsional and rolling friction"),
    real("solmix", 1.0, "weight when solver parameters are mixed"),
    *solver("", "contact"),
    real("margin", 0.0, "distance at which contacts are detected, m"),
    real("gap", 0.0, "distance below the margin at which contacts become active, m"),
)

CONTACT_ADHESION = real("adhesion", 0.0, "largest pull of a contact, N", since="3.11")
CONTACT_MEMORY: tuple[Attribute, ...] = (
    boolean("stick", False, "contacts stick: they remember their deformation", since=OWN),
    boolean("lagged", False, "the normal force of the last step limits friction", since=OWN),
)

PLUGIN_CHOICE: tuple[Attribute, ...] = (
    text("plugin", "identifier of the plugin"),
    reference("instance", "plugin", "name of the plugin instance"),
)


def plugin() -> ElementRow:
    """Return the row of a ``plugin`` element inside another element."""
    return element("plugin", "plugin that computes this element", *PLUGIN_CHOICE, children=[config()])


def config() -> ElementRow:
    """Return the row of a ``config`` element of a plugin."""
    key = text("key", "name of the setting", required=True)
    return element("config", "setting of a plugin", key, text("value", "value of the setting", required=True))
