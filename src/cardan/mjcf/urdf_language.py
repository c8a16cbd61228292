"""The URDF language as a table: the elements and attributes that the engine uses.

URDF is open: elements and attributes that are not in the table (transmissions, plugins, sensors of other programs) are
skipped, as in the reference.
"""

from __future__ import annotations

from typing import Any

from cardan.spec.schema.rows import ElementRow, element, file, keyword, real, reals, text
from cardan.spec.schema.settings import COMPILER, OPTION, SIZE

JOINT_TYPES = {
    "revolute": 0, "continuous": 1, "prismatic": 2, "fixed": 3, "floating": 4, "planar": 5,
}  # fmt: skip

_ONE: dict[str, Any] = {"multiplicity": "?"}
_ORIGIN = element(
    "origin",
    "pose of the frame",
    reals("xyz", 3, (0.0, 0.0, 0.0), "position, m"),
    reals("rpy", 3, (0.0, 0.0, 0.0), "roll, pitch, yaw: angles about fixed axes x, y, z"),
    **_ONE,
)
_GEOMETRY = element(
    "geometry",
    "shape; of several the first in the order of this table counts",
    children=[
        element("box", "box", reals("size", 3, None, "sides, m", required=True), **_ONE),
        element("cylinder", "cylinder", real("radius", None, "radius, m", required=True),
                real("length", None, "length, m", required=True), **_ONE),
        element("sphere", "sphere", real("radius", None, "radius, m", required=True), **_ONE),
        element("capsule", "capsule", real("radius", None, "radius, m", required=True),
                real("length", None, "length of the cylinder, m", required=True), **_ONE),
        element("mesh", "mesh", file("filename", "mesh file", required=True),
                reals("scale", 3, (1.0, 1.0, 1.0), "scale"), **_ONE),
    ],
    multiplicity="!",
)  # fmt: skip


def _material(**more: Any) -> ElementRow:
    """Return the row of a material, which can be a sibling of links or a child of a visual."""
    colour = element("color", "colour", reals("rgba", 4, None, "colour and opacity", required=True), **_ONE)
    return element("material", "colour of a shape", text("name", "name of the material"),
                   children=[colour], **more)  # fmt: skip


def _shape(tag: str, meaning: str) -> ElementRow:
    """Return the row of a visual or a collision shape."""
    return element(tag, meaning, text("name", "name of the shape"), children=[_ORIGIN, _GEOMETRY, _material(**_ONE)])


_INERTIAL = element(
    "inertial",
    "mass and inertia",
    children=[
        _ORIGIN,
        element("mass", "mass", real("value", None, "mass, kg", required=True), multiplicity="!"),
        element(
            "inertia",
            "inertia matrix in the inertial frame, kg m^2",
            *(real(name, None, "entry of the matrix", required=True)
              for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")),
            multiplicity="!",
        ),
    ],
    **_ONE,
)  # fmt: skip

_LINK = element(
    "link",
    "rigid body",
    text("name", "name of the link", required=True),
    children=[_INERTIAL, _shape("visual", "shape that is drawn"), _shape("collision", "shape that collides")],
)


def _link_reference(tag: str) -> ElementRow:
    """Return the row of an element that names a link."""
    return element(tag, f"{tag} link", text("link", "name of the link", required=True), multiplicity="!")


_JOINT = element(
    "joint",
    "joint between two links",
    text("name", "name of the joint", required=True),
    keyword("type", JOINT_TYPES, None, "kind of joint", required=True),
    children=[
        _ORIGIN,
        _link_reference("parent"),
        _link_reference("child"),
        element("axis", "axis of motion", reals("xyz", 3, None, "axis in the joint's frame", required=True), **_ONE),
        element("limit", "limits", real("lower", 0.0, "lower limit, rad or m"), real("upper", 0.0, "upper limit"),
                real("effort", 0.0, "largest force or torque; 0: no limit"), **_ONE),
        element("dynamics", "passive forces", real("damping", 0.0, "damping coefficient"),
                real("friction", 0.0, "dry friction"), **_ONE),
        element("mimic", "position that follows another joint", text("joint", "the other joint"),
                real("multiplier", 1.0, "factor"), real("offset", 0.0, "offset"), **_ONE),
    ],
)  # fmt: skip

ROBOT = element(
    "robot",
    "the model",
    text("name", "name of the model"),
    children=[
        element("mujoco", "settings of the engine", children=[COMPILER, OPTION, SIZE], **_ONE),
        _material(),
        _LINK,
        _JOINT,
    ],
    multiplicity="!",
)
