"""Table of the URDF language, and parser that turns URDF text into nodes: elements with typed values.

URDF is open: elements and attributes that are not in the table (transmissions, plugins, sensors of other programs) are
skipped, as in MuJoCo.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cardan.errors import MjcfError, suggestion
from cardan.mjcf.events import make_parser, run_parser
from cardan.mjcf.values import known_values, parse_value
from cardan.spec.schema.rows import ElementRow, Type, element, file, keyword, real, reals
from cardan.spec.schema.rows import text as word
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
    "shape; if there are several, the first in the order of this table counts",
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
    """Return the row of a material, which may be defined beside links or inside a ``visual``."""
    colour = element("color", "colour", reals("rgba", 4, None, "colour and opacity", required=True), **_ONE)
    return element("material", "colour of a shape", word("name", "name of the material"),
                   children=[colour], **more)  # fmt: skip


def _shape(tag: str, meaning: str) -> ElementRow:
    """Return the row of a visual or a collision shape."""
    return element(tag, meaning, word("name", "name of the shape"), children=[_ORIGIN, _GEOMETRY, _material(**_ONE)])


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
    word("name", "name of the link", required=True),
    children=[_INERTIAL, _shape("visual", "shape that is drawn"), _shape("collision", "shape that collides")],
)


_JOINT = element(
    "joint",
    "joint between two links",
    word("name", "name of the joint", required=True),
    keyword("type", JOINT_TYPES, None, "kind of joint", required=True),
    children=[
        _ORIGIN,
        *(element(tag, f"{tag} link", word("link", "name of the link", required=True), multiplicity="!")
          for tag in ("parent", "child")),
        element("axis", "axis of motion", reals("xyz", 3, None, "axis in the joint's frame", required=True), **_ONE),
        element("limit", "limits", real("lower", 0.0, "lower limit, rad or m"), real("upper", 0.0, "upper limit"),
                real("effort", 0.0, "largest force or torque; 0: no limit"), **_ONE),
        element("dynamics", "passive forces", real("damping", 0.0, "damping coefficient"),
                real("friction", 0.0, "dry friction"), **_ONE),
        element("mimic", "position that follows another joint", word("joint", "the other joint"),
                real("multiplier", 1.0, "factor"), real("offset", 0.0, "offset"), **_ONE),
    ],
)  # fmt: skip

ROBOT = element(
    "robot",
    "the model",
    word("name", "name of the model"),
    children=[
        element("mujoco", "settings of the engine", children=[COMPILER, OPTION, SIZE], **_ONE),
        _material(),
        _LINK,
        _JOINT,
    ],
    multiplicity="!",
)


# --- nodes ------------------------------------------------------------------------------------------------------------

_SETTINGS = ("compiler", "option", "size")


@dataclass(slots=True, eq=False)
class Node:
    """One element: its row of the table, the texts of its attributes, its location in the file, and its children.

    After `check`, ``given`` has the typed values of the attributes in the file, and ``values`` also has the defaults.
    """

    row: ElementRow
    texts: dict[str, str]
    source: str
    line: int
    children: list[Node] = field(default_factory=list)
    checked: bool = False
    given: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.values = self.row.defaults

    def child(self, tag: str) -> Node | None:
        """Return the first child with a tag, or None if there is none."""
        for child in self.children:
            if child.row.tag == tag:
                return child
        return None

    def all(self, *tags: str) -> Iterator[Node]:
        """Return the children whose tag is one of `tags`."""
        return (child for child in self.children if child.row.tag in tags)

    def descendants(self) -> Iterator[Node]:
        """Return all elements inside this one, in the order of the file."""
        stack = self.children[::-1]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children[::-1])

    def error(self, message: str, attribute: str | None = None) -> MjcfError:
        """Return an error about this element, to be raised by the caller."""
        return MjcfError(message, self.source, self.line, self.row.tag, attribute)

    def check(self, skip: tuple[str, str] = ("", "")) -> None:
        """Check and convert the attributes of this element and of all elements inside it.

        ``skip`` is a pair of tags: inside elements with the first tag, children with the second are not checked.
        Raises MjcfError.
        """
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            if node.checked:
                continue
            node.checked = True
            if node.texts:
                node._check_values()
            for name in node.row.required:
                if name not in node.given:
                    raise node.error("required attribute missing", name)
            node._check_children(skip)
            stack.extend(child for child in node.children[::-1] if (node.row.tag, child.row.tag) != skip)

    def _check_values(self) -> None:
        """Convert the attributes to typed values. Raises MjcfError."""
        known, self.given = known_values(self.row), {}
        for name, text in self.texts.items():
            value = known[name].read(text) if name in known else None
            attribute = self.row.attributes.get(name)
            if value is None and attribute is not None:
                # not in simple notation
                try:
                    value = parse_value(attribute, text)
                except ValueError as error:
                    raise self.error(str(error), name) from None
                if attribute.type is Type.FILE and not text:
                    raise self.error("the file name must not be empty", name)
            if attribute is not None:
                self.given[name] = value
            elif self.row.tag in _SETTINGS:
                hint = suggestion(name, self.row.attributes)
                warnings.warn(f"{self.error('unknown attribute is ignored' + hint, name)}", stacklevel=2)
        self.values = {**self.row.defaults, **self.given}

    def _check_children(self, skip: tuple[str, str]) -> None:
        """Check that each kind of child occurs as often as its row requires and allows."""
        seen: set[str] = set()
        for child in self.children:
            row = child.row
            if row.tag in seen and (row.multiplicity in "!?" or row.merged):
                raise child.error(f"may occur only once inside <{self.row.tag}>")
            seen.add(row.tag)
        for tag, row in self.row.children.items():
            if row.multiplicity == "!" and tag not in seen and (self.row.tag, tag) != skip:
                raise self.error(f"required element <{tag}> missing")


def read_nodes(text: str | bytes, source: str, root: ElementRow) -> Node:
    """Parse ``text`` into nodes, without checking them. Raises NotWellFormed if it is not well-formed XML.

    ``source`` is the document's name for errors, and ``root`` is the row of the outermost element.
    """
    top = Node(root, {}, source, 1)
    stack: list[Node | None] = []  # None represents an element that is skipped

    def start(tag: str, attributes: dict[str, str]) -> None:
        around = stack[-1] if stack else None
        row = (around.row.children.get(tag) if around else None) if stack else root
        node = Node(row, attributes, source, parser.CurrentLineNumber) if row else None
        if around is not None and node is not None:
            around.children.append(node)
        elif not stack and node is not None:
            top.texts, top.line = node.texts, node.line
            node = top
        stack.append(node)

    def end(tag: str) -> None:
        stack.pop()

    parser = make_parser(text, source, start, end)
    run_parser(parser, text, source)
    return top
