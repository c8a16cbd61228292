"""Reader that turns URDF text into a model tree, with the extension ``<mujoco>`` (spec: modeling, "URDF extensions").

Links become bodies, each inside the body of its parent link; a link named ``world`` is the world itself. Some compiler
settings have other defaults than in MJCF: angles are in radians; ``strippath``, ``fusestatic`` and ``discardvisual``
are on. Inertia matrices are rotated by the orientation of the inertial frame, as the URDF standard requires. Joints
that mimic another joint become equality constraints, with a warning, since URDF means an exact relation. If several
shapes have the same name, only the first keeps it. A shape without a material has the colour of the previous shape of
its link, as in MuJoCo.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from os.path import basename, splitext
from typing import TYPE_CHECKING, Any

from cardan.errors import MjcfError, suggestion
from cardan.maths.pose import IDENTITY, euler2quat, rotate_symmetric, z2quat
from cardan.maths.quaternion import neg_quat, rot_vec_quat
from cardan.maths.vector import norm3, scale3
from cardan.mjcf.rules import rules_of
from cardan.mjcf.urdf_nodes import ROBOT, Node, read_nodes
from cardan.spec.element import Element
from cardan.spec.tree import WORLD

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree

_COMPILER = {"fusestatic": True, "discardvisual": True}
_PACKAGE = "package://"
_UNDEFINED_COLOUR = (0.5, 0.5, 0.5, 1.0)
_VISUAL = {"contype": 0, "conaffinity": 0, "group": 1, "density": 0.0}
_JOINT_WORD = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "floating": "free"}


@dataclass
class _Robot:
    """State of the conversion of one robot, shared by the functions that add its links."""

    tree: ModelTree
    links: dict[str, Node]
    joints: list[Node]
    compiler: dict[str, Any]
    colours: dict[str, tuple[float, ...]] = field(default_factory=dict)
    meshes: dict[tuple[str, tuple[float, ...]], str] = field(default_factory=dict)
    shape_names: set[str] = field(default_factory=set)
    mesh_names: set[str] = field(default_factory=set)


def read_urdf(tree: ModelTree, text: str | bytes, source: str) -> None:
    """Read URDF text into an empty model tree.

    Raises:
        MjcfError: the text breaks a rule; the message names file and line.
        NotWellFormed: the text is not well-formed XML. The tree is still empty.
    """
    root = read_nodes(text, source, ROBOT)
    _take_settings(tree, root)
    compiler = tree.section("compiler").resolved()
    # shapes that will be dropped need not be valid
    root.check(skip=("visual", "geometry") if compiler["discardvisual"] else ("", ""))
    if root.values["name"]:
        tree.root.attributes["model"] = root.values["name"]
    links: dict[str, Node] = {}
    for link in root.all("link"):
        if link.values["name"] in links:
            raise link.error(f"repeated link '{link.values['name']}'", "name")
        links[link.values["name"]] = link
    robot = _Robot(tree, links, list(root.all("joint")), compiler)
    # the first definition of a colour's name in the file applies, before and after it
    for node in root.descendants():
        if node.row.tag == "material" and node.checked:
            colour = node.child("color")
            if colour is not None:
                robot.colours.setdefault(node.values["name"], colour.values["rgba"])
            elif "name" not in node.given:
                raise node.error("required attribute missing", "name")
    _add_links(robot)
    _add_mimics(robot)
    tree.changed()


def _take_settings(tree: ModelTree, root: Node) -> None:
    """Set URDF's compiler defaults, and the settings, options and sizes in the extension element ``<mujoco>``."""
    tree.section("compiler").attributes.update(_COMPILER, strippath=tree.compat == "3.1")
    extension = root.child("mujoco")
    if extension:
        extension.check()
    for node in extension.children if extension else ():
        stack = [(node, tree.section(node.row.tag))]
        while stack:
            inner, element = stack.pop()
            element.source, element.line = inner.source, inner.line
            element.attributes.update(inner.given)
            for rule in rules_of(element.row):
                rule(element)
            for child in inner.children:
                part = element.child(child.row.tag)
                assert part is not None
                stack.append((child, part))
    # limits and rotations of URDF are in radians with any settings
    tree.section("compiler").attributes["angle"] = "radian"


# --- links -----------------------------------------------------------------------------------------------------------


def _add_links(robot: _Robot) -> None:
    """Add all links as bodies, each after its parent, in the order of the joints in the file. Then add all shapes.

    Raises:
        MjcfError: a link is missing, has several parents, or is part of a loop.
    """
    joint_of: dict[str, Node] = {}
    children: dict[str, list[Node]] = {name: [] for name in robot.links}
    for joint in robot.joints:
        parent, child = ends = [node.values["link"] for tag in ("parent", "child") if (node := joint.child(tag))]
        for name, tag in zip(ends, ("parent", "child"), strict=True):
            node = joint.child(tag)
            if name not in robot.links and node is not None:
                raise node.error(f"there is no link '{name}'" + suggestion(name, robot.links), "link")
        if child in joint_of:
            first = joint_of[child].values["name"]
            raise joint.error(f"link '{child}' has several parents: joint '{first}' moves it already")
        joint_of[child] = joint
        children[parent].append(joint)
    # a world that is the child of a joint remains the world, and the joint is ignored
    roots = [name for name in robot.links if name not in joint_of or name == WORLD]
    stack: list[tuple[str, Element]] = [(name, robot.tree.worldbody) for name in roots[::-1]]
    bodies: dict[str, Element] = {}
    while stack:
        name, parent = stack.pop()
        body = bodies[name] = _add_link(robot, robot.links[name], joint_of.get(name), parent)
        below = [joint.child("child").values["link"] for joint in children[name]]  # type: ignore[union-attr]
        stack.extend((child, body) for child in below[::-1] if child != WORLD)
    lost = next((link for name, link in robot.links.items() if name not in bodies), None)
    if lost is not None:
        raise lost.error(f"link '{lost.values['name']}' is part of a loop of joints: no root leads to it")
    # shapes are added in the order of the file, which determines their materials and names
    for name, link in robot.links.items():
        colour = _UNDEFINED_COLOUR
        for shape in link.all("visual", "collision"):
            # the material of a collision shape defines the colour of its name, but does not colour the shape
            material = shape.child("material")
            if material is not None and shape.row.tag != "collision":
                own = material.child("color")
                colour = robot.colours.get(material.values["name"], colour) if own is None else own.values["rgba"]
            if shape.row.tag == "collision" or not robot.compiler["discardvisual"]:
                _add_shape(robot, bodies[name], shape, colour)


def _add_link(robot: _Robot, link: Node, joint: Node | None, parent: Element) -> Element:
    """Add the body of one link, with inertia and joint; return it. For the link ``world``, return the world body."""
    if link.values["name"] == WORLD:
        body = robot.tree.worldbody
        if joint is not None:
            _warn(
                joint, f"link '{WORLD}' is the world, which no joint moves; joint '{joint.values['name']}' is ignored"
            )
    else:
        body = _element(parent, "body", joint or link, **_pose(joint))
        body.source, body.line = link.source, link.line
        if link.values["name"]:
            body.attributes["name"] = link.values["name"]
        inertial = link.child("inertial")
        if inertial is not None:
            mass, matrix, pose = inertial.child("mass"), inertial.child("inertia"), _pose(inertial)
            assert mass is not None and matrix is not None
            full = tuple(matrix.values[name] for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
            if pose.get("quat", IDENTITY[1]) != IDENTITY[1]:
                full = rotate_symmetric(full, neg_quat(pose["quat"]))  # into the body's frame
            inertia = {"fullinertia": full} if any(full) else {"diaginertia": full[:3]}
            kilograms = max(0.0, mass.values["value"])  # a negative mass counts as missing
            _element(body, "inertial", inertial, pos=pose.get("pos", IDENTITY[0]), mass=kilograms, **inertia)
        if joint is not None:
            _add_joint(body, joint)
    return body


def _element(parent: Element, tag: str, node: Node, **values: Any) -> Element:
    """Add an element with the source location of ``node`` to ``parent``. Values of None are left out."""
    element = parent.add(tag, **{name: value for name, value in values.items() if value is not None})
    element.source, element.line = node.source, node.line
    return element


def _pose(node: Node | None) -> dict[str, Any]:
    """Return a node's pose (its child ``origin``) as attributes ``pos`` and ``quat``, or {} if there is none."""
    origin = node.child("origin") if node else None
    if origin is None:
        return {}
    # roll, pitch and yaw are successive rotations about the fixed axes x, y, z
    return {"pos": origin.values["xyz"], "quat": euler2quat(origin.values["rpy"], "XYZ")}


# --- joints ----------------------------------------------------------------------------------------------------------


def _add_joint(body: Element, node: Node) -> None:
    """Add the joint between a link and its parent as MJCF joints: none, one or three."""
    kind, name = node.values["type"], node.values["name"]
    axis_node = node.child("axis")
    axis = axis_node.values["xyz"] if axis_node else (1.0, 0.0, 0.0)
    dynamics, limit = node.child("dynamics"), node.child("limit")
    passive: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    if limit is not None:
        lower, upper, effort = (limit.values[name] for name in ("lower", "upper", "effort"))
        if lower or upper:
            limits["range"] = (lower, upper)
            # limits are active if both are given
            if len(limit.given.keys() & {"lower", "upper"}) == 1:
                limits["limited"] = "false"
        if effort:
            limits["actuatorfrcrange"] = (-abs(effort), abs(effort))
    if dynamics is not None:
        passive = {"damping": dynamics.values["damping"], "frictionloss": dynamics.values["friction"]}
    if kind == "planar":
        # two slides in the plane and a rotation about its normal; the first one has the limits
        length = norm3(axis)
        if not length > 0.0:
            raise node.error("an axis of zero length has no direction", "axis")
        turn = z2quat(scale3(axis, 1.0 / length))
        along = [rot_vec_quat(direction, turn) for direction in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
        _element(body, "joint", node, name=f"{name}_TX", type="slide", axis=along[0], **passive, **limits)
        _element(body, "joint", node, name=f"{name}_TY", type="slide", axis=along[1], **passive)
        _element(body, "joint", node, name=f"{name}_RZ", type="hinge", axis=axis, **passive)
    elif kind == "floating":
        free = {**limits, "limited": "false", "actuatorfrclimited": "false"}
        _element(body, "joint", node, name=name or None, type="free", **passive, **free)
    elif kind != "fixed":
        _element(body, "joint", node, name=name or None, type=_JOINT_WORD[kind], axis=axis, **passive, **limits)


def _add_mimics(robot: _Robot) -> None:
    """Add equality constraints for joints that mimic other joints."""
    names = {joint.values["name"]: joint for joint in robot.joints}
    scalar = ("revolute", "continuous", "prismatic")
    for joint in robot.joints:
        mimic = joint.child("mimic")
        if mimic is None:
            continue
        name, other = joint.values["name"], mimic.values["joint"]
        if not other or other not in names or other == name:
            hint = suggestion(other, names) if other else ""
            reason = "itself" if other == name else f"'{other or ''}', which does not exist{hint}"
            _warn(mimic, f"joint '{name}' can't mimic {reason}; mimic is ignored")
            continue
        if joint.values["type"] not in scalar or names[other].values["type"] not in scalar:
            _warn(mimic, f"joint '{name}' can't mimic '{other}': both need one degree of freedom; mimic is ignored")
            continue
        coefficients = (mimic.values["offset"], mimic.values["multiplier"], 0.0, 0.0, 0.0)
        _element(robot.tree.section("equality"), "joint", mimic, joint1=name, joint2=other, polycoef=coefficients)
        _warn(mimic, f"joint '{name}' mimics '{other}' by a soft equality constraint")


def _warn(node: Node, message: str) -> None:
    """Issue a warning with the location of a node in the file."""
    warnings.warn(str(MjcfError(message, node.source, node.line, node.row.tag)), stacklevel=2)


# --- shapes ----------------------------------------------------------------------------------------------------------


def _add_shape(robot: _Robot, body: Element, shape: Node, colour: tuple[float, ...]) -> None:
    """Add a visual or collision shape as a geom."""
    geometry = shape.child("geometry")
    assert geometry is not None
    kinds = {child.row.tag: child for child in geometry.children}
    tag = next((tag for tag in geometry.row.children if tag in kinds), None)
    if tag is None:
        known = ", ".join(geometry.row.children)
        raise geometry.error(f"no shape: it needs one of {known}")
    given = kinds[tag].values
    if tag == "mesh":
        values: dict[str, Any] = {"type": "mesh", "mesh": _mesh_name(robot, kinds[tag])}
    elif tag == "box":
        x, y, z = given["size"]
        values = {"type": "box", "size": (0.5 * x, 0.5 * y, 0.5 * z)}
    else:  # a sphere, which has no length, or a cylinder or capsule
        values = {"type": tag, "size": (given["radius"], *(0.5 * given[n] for n in ("length",) if n in given))}
    name = shape.values["name"]
    if name:
        if name in robot.shape_names:
            _warn(shape, f"another shape is called '{name}': this one goes without a name")
        else:
            values["name"] = name
            robot.shape_names.add(name)
    if shape.row.tag == "visual":
        values.update(_VISUAL)
    _element(body, "geom", shape, **_pose(shape), rgba=colour, **values)


def _mesh_name(robot: _Robot, node: Node) -> str:
    """Return the name of a mesh's asset. Add the asset unless one with this file and scale exists."""
    file = node.values["filename"].removeprefix(_PACKAGE)
    if robot.compiler["strippath"]:
        file = basename(file)
    key = (file, node.values["scale"])
    if key not in robot.meshes:
        stem = splitext(basename(file))[0]
        numbered = (f"{stem}{number or ''}" for number in range(len(robot.mesh_names) + 1))
        name = next(name for name in numbered if name not in robot.mesh_names)
        robot.meshes[key] = name
        robot.mesh_names.add(name)
        mesh = _element(robot.tree.section("asset"), "mesh", node, name=name, file=file)
        if node.values["scale"] != (1.0, 1.0, 1.0):
            mesh.attributes["scale"] = node.values["scale"]
    return robot.meshes[key]
