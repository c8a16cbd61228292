"""Rows of the MJCF table for the sections ``contact``, ``equality``, ``tendon`` and ``keyframe``."""

from __future__ import annotations

from typing import Any

from cardan.spec.schema.asset import NUMBERS
from cardan.spec.schema.body import COLOUR, MATERIAL
from cardan.spec.schema.rows import Attribute, ElementRow, boolean, element, integer, integers, real, reals, reference
from cardan.spec.schema.shared import (
    CLASS,
    CONTACT_ADHESION,
    CONTACT_MEMORY,
    GROUP,
    USER,
    classed,
    name,
    passive,
    solver,
)

PAIR = classed(
    "pair",
    "pair of geoms that may collide, with its contact parameters",
    reference("geom1", "geom", "first geom", required=True),
    reference("geom2", "geom", "second geom", required=True),
    integer("condim", 3, "dimension of contacts: 1, 3, 4 or 6"),
    reals("friction", (1, 5), (1.0, 1.0, 0.005, 0.0001, 0.0001), "friction: two sliding, torsional, two rolling"),
    *solver("", "contact"),
    reals("solreffriction", (1, 2), (0.0, 0.0), "reference acceleration in friction dimensions; 0 0: as solref"),
    real("margin", 0.0, "distance at which contacts are detected, m"),
    real("gap", 0.0, "distance below the margin at which contacts become active, m"),
    CONTACT_ADHESION,
    *CONTACT_MEMORY,
)

CONTACT = element(
    "contact",
    "pairs of geoms that collide, pairs of bodies that do not",
    children=[
        PAIR,
        element(
            "exclude",
            "pair of bodies whose geoms do not collide",
            name("exclude"),
            reference("body1", "body", "first body", required=True),
            reference("body2", "body", "second body", required=True),
            kind="exclude",
        ),
    ],
    merged=True,
)

EQUALITY_SHARED: tuple[Attribute, ...] = (
    name("constraint"),
    CLASS,
    boolean("active", True, "is active at the start"),
    *solver("", "constraint"),
)


def _equality(tag: str, meaning: str, *rows: Attribute, **more: Any) -> ElementRow:
    """Return the row of one kind of equality constraint."""
    return element(tag, meaning, EQUALITY_SHARED, rows, kind="equality", entry="equality", **more)


_SITES = tuple(
    reference(f"site{number}", "site", f"{word} site, in place of a body", since="3.2.3")
    for number, word in ((1, "first"), (2, "second"))
)


_POLYCOEF = reals("polycoef", (1, 5), (0.0, 1.0, 0.0, 0.0, 0.0), "coefficients of the polynomial, constant first")

EQUALITY = element(
    "equality",
    "equality constraints",
    children=[
        _equality(
            "connect",
            "a point of two bodies, or of two sites, stays together",
            reference("body1", "body", "first body"),
            reference("body2", "body", "second body; undefined: the world"),
            reals("anchor", 3, None, "the point, in the frame of the first body, m"),
            *_SITES,
        ),
        _equality(
            "weld",
            "two bodies, or the frames of two sites, stay together",
            reference("body1", "body", "first body"),
            reference("body2", "body", "second body; undefined: the world"),
            reals("relpose", 7, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                  "pose of the second body in the first; zero quaternion: as in the initial configuration"),
            reals("anchor", 3, (0.0, 0.0, 0.0), "anchor in the frame of the second body, m"),
            real("torquescale", 1.0, "weight of rotation against translation, m"),
            *_SITES,
        ),
        _equality(
            "joint",
            "position of a joint as a polynomial of another",
            reference("joint1", "joint", "first joint", required=True),
            reference("joint2", "joint", "second joint; undefined: the first joint is constant"),
            _POLYCOEF,
        ),
        _equality(
            "tendon",
            "length of a tendon as a polynomial of another",
            reference("tendon1", "tendon", "first tendon", required=True),
            reference("tendon2", "tendon", "second tendon; undefined: the first tendon is constant"),
            _POLYCOEF,
        ),
        _equality("flex", "edges of a flex keep their lengths", reference("flex", "flex", "the flex", required=True)),
        _equality(
            "flexstrain",
            "cells of a flex keep their strain",
            reference("flex", "flex", "the flex", required=True),
            integers("cell", 3, None, "the cell; undefined: all"),
            later="constraints on the strain of flexes",
            since="3.5",
        ),
    ],
    merged=True,
)  # fmt: skip


def equality_objects(row: ElementRow, kind: str) -> list[Attribute]:
    """Return the attributes that name the objects of a constraint, if these are of kind ``kind``."""
    return [reference for reference in row.references if reference.kind == kind]


# entries of ``eq_data`` that hold the attributes of each kind of constraint
EQUALITY_DATA: dict[str, dict[str, slice]] = {
    "connect": {"anchor": slice(0, 3)},
    "weld": {"anchor": slice(0, 3), "relpose": slice(3, 10), "torquescale": slice(10, 11)},
    "joint": {"polycoef": slice(0, 5)},
    "tendon": {"polycoef": slice(0, 5)},
    "flex": {},
}

TENDON_SHARED: tuple[Attribute, ...] = (
    name("tendon"),
    CLASS,
    GROUP,
    *passive("tendon", since="3.3.1"),
    real("armature", 0.0, "inertia of changes of the length", since="3.3.1"),
    reals("springlength", (1, 2), (-1.0, -1.0), "range of lengths without spring force; -1: as in the initial "
          "configuration; one value: both ends", repeat=True),
    USER,
)  # fmt: skip

SPATIAL = element(
    "spatial",
    "tendon along a path in space",
    TENDON_SHARED,
    real("width", 0.003, "width, m"),
    MATERIAL,
    COLOUR,
    children=[
        element("site", "site on the path", reference("site", "site", "the site", required=True)),
        element("geom", "geom that the path wraps around", reference("geom", "geom", "the geom", required=True),
                reference("sidesite", "site", "site that picks the side")),
        element("pulley", "pulley between branches", real("divisor", None, "divisor of the force", required=True)),
    ],
    kind="tendon",
    entry="tendon",
)  # fmt: skip

FIXED = element(
    "fixed",
    "weighted sum of joint positions",
    TENDON_SHARED,
    children=[
        element("joint", "joint in the sum", reference("joint", "joint", "the joint", required=True),
                real("coef", None, "weight of the joint", required=True)),
    ],
    kind="tendon",
    entry="tendon",
)  # fmt: skip

TENDON = element("tendon", "tendons", children=[SPATIAL, FIXED], merged=True)

KEYFRAME = element(
    "keyframe",
    "states to start from",
    children=[
        element(
            "key",
            "state",
            name("keyframe"),
            real("time", 0.0, "time, s"),
            reals("qpos", NUMBERS, None, "joint positions; undefined: qpos0"),
            reals("qvel", NUMBERS, None, "joint velocities; undefined: 0"),
            reals("act", NUMBERS, None, "activations; undefined: 0"),
            reals("mpos", NUMBERS, None, "positions of mocap bodies, m; undefined: as in the model"),
            reals("mquat", NUMBERS, None, "orientations of mocap bodies; undefined: as in the model"),
            reals("ctrl", NUMBERS, None, "controls; undefined: 0"),
            reals(
                "plastic",
                NUMBERS,
                None,
                "states of plastic springs; undefined: those of the start",
                since="4.0",
                later="plastic springs",
            ),
            kind="key",
        )
    ],
    merged=True,
)
