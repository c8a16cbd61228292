"""From ``<flexcomp>`` to ordinary elements: bodies with joints, a flex, an equality constraint, a plugin instance.

Point i becomes the body ``NAME_i``, a child of the flexcomp's body with three slides or, on closed surfaces, one that
leads away from the parent's origin. Points that are pinned become vertices of the parent itself. What happens beyond
the documentation was found by asking the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from cardan.constants import mjMINVAL
from cardan.maths.pose import IDENTITY, compose, unit_quat
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Pose
from cardan.spec.element import Element
from cardan.spec.flexcomp.direct import direct
from cardan.spec.flexcomp.files import gmsh, mesh
from cardan.spec.flexcomp.lattice import Lattice, box, cylinder, disc, ellipsoid, grid
from cardan.spec.flexcomp.pins import pinned_points
from cardan.spec.flexcomp.plugin import add_plugin
from cardan.spec.flexcomp.simplices import oriented
from cardan.spec.orientation import orientation
from cardan.spec.repeated import OWN, repeated
from cardan.spec.tree import WORLD

_GENERATORS: dict[str, Callable[[Element, dict[str, Any]], Lattice]] = {
    "grid": grid,
    "box": box,
    "cylinder": cylinder,
    "ellipsoid": ellipsoid,
    "disc": disc,
    "mesh": mesh,
    "gmsh": gmsh,
    "direct": direct,
}
_TETRAHEDRON = 4  # vertices
_SLIDES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_PASSED = ("name", "group", "radius", "material", "rgba")  # what the flex takes over as it is
_EDGE_OF_FLEX = ("stiffness", "damping")
_EDGE_OF_CONSTRAINT = ("solref", "solimp")


class Expansion:
    """One flexcomp that is being expanded.

    Attributes:
        macro: the element; values: its resolved attributes; settings: those of ``compiler``.
        parent: the body that it stands in; frames: the frames between that body and the macro, outermost first.
        lattice: points and elements as they are generated; point: the points where they belong, in the innermost frame.
        pinned: which points are the parent's own; used: numbers of the points that become vertices.
        elem: vertices of the elements; free: numbers of the points that get bodies.
    """

    def __init__(self, macro: Element) -> None:
        self.macro = macro
        self.values = macro.resolved()
        self.settings = macro.tree.section("compiler").resolved()
        self._check()
        self.parent, self.frames = _surroundings(macro)
        self.lattice = _GENERATORS[self.values["type"]](macro, self.values)
        self.point = _moved(self._pose(macro), self.lattice.point)
        finite = np.isfinite(self.point).all(axis=1)
        if not finite.all():
            raise macro.error(f"the position of point {int(np.argmin(finite))} is not finite")
        self.pinned = pinned_points(macro, self.values, len(self.point))
        self.pinned[:1] |= self.lattice.closed
        # points of no element are left out
        self.used = np.unique(self.lattice.elem)
        elem = np.searchsorted(self.used, self.lattice.elem)
        self.elem = oriented(elem, self.point[self.used]) if elem.shape[1] == _TETRAHEDRON else elem
        self.free = self.used[~self.pinned[self.used]].tolist()

    def run(self) -> None:
        """Replace the macro by bodies, and add the rest to its sections."""
        siblings = self.macro.parent
        assert siblings is not None
        at = siblings.children.index(self.macro)
        model = self._model(siblings)
        self._add_flex()
        bearers = [model] if self.free else []
        if self.free:
            self._add_equality()
            if self.pinned[self.used].any():
                bearers.append(self.parent)
        add_plugin(self.macro, bearers, self.elem)
        siblings.children[at : at + 1] = self._bodies(model) if self.free else []

    def _check(self) -> None:
        """Raise for values that no type can use."""
        values, macro = self.values, self.macro
        if values["dim"] not in (1, 2, 3):
            raise macro.error(f"must be 1, 2 or 3, found {values['dim']}", "dim")
        for name in ("mass", "inertiabox"):
            if not mjMINVAL <= values[name] < inf:
                raise macro.error(f"must be positive and finite, found {values[name]:g}", name)
        if min(values["scale"]) < mjMINVAL:
            raise macro.error(f"scales must be positive, found {min(values['scale']):g}", "scale")

    def _pose(self, element: Element) -> Pose:
        """Pose of the macro or a frame in what is around it."""
        values = element.resolved()
        return values["pos"], unit_quat(orientation(self.settings, element, values))

    # --- bodies ------------------------------------------------------------------------------------------------------

    def _element(self, parent: Element, tag: str, attributes: dict[str, Any]) -> Element:
        """A new element inside ``parent``, at the end of its children; messages name the macro's line."""
        row = parent.row.children[tag]
        element = Element(row, parent.tree, parent, attributes, self.macro.source, self.macro.line)
        parent.children.append(element)
        return element

    def _body_name(self, number: int) -> str:
        return f"{self.macro.name or ''}_{number}"

    def _model(self, parent: Element) -> Element:
        """What the bodies are like: masses that slide, with the inertia of a small box."""
        values, macro = self.values, self.macro
        mass = values["mass"] / len(self.point)
        moment = mass * (2.0 * values["inertiabox"] * values["inertiabox"]) / 3.0
        inertial = {"pos": (0.0, 0.0, 0.0), "mass": mass, "diaginertia": (moment, moment, moment)}
        row, home = parent.row.children["body"], (0.0, 0.0, 0.0)
        body = Element(row, macro.tree, parent, {"name": "", "pos": home}, macro.source, macro.line)
        self._element(body, "inertial", inertial)
        for axis in (home,) if self.lattice.closed else _SLIDES:
            self._element(body, "joint", {"type": "slide", "pos": home, "axis": axis})
        return body

    def _bodies(self, model: Element) -> list[Element]:
        """The bodies of the points that are not pinned."""
        names = [self._body_name(number) for number in self.free]
        points = [(x, y, z) for x, y, z in self.point[self.free].tolist()]
        model.attributes.update(name=names[0], pos=points[0])
        if not self.lattice.closed:
            return repeated(model, ((OWN, "name"), (OWN, "pos")), zip(names, points, strict=True))
        slider = next(part for part in model.children if part.row.kind == "joint")
        slider.attributes["axis"] = points[0]
        blanks = (OWN, "name"), (OWN, "pos"), (model.children.index(slider), "axis")
        return repeated(model, blanks, zip(names, points, points, strict=True))

    # --- what belongs to the whole -----------------------------------------------------------------------------------

    def _add_flex(self) -> None:
        """The flex: what the macro says of it, the bodies of its vertices, their positions, the elements."""
        values, macro = self.values, self.macro
        given = {name: macro.attributes[name] for name in _PASSED if name in macro.attributes}
        attributes: dict[str, Any] = {
            **given,
            "dim": self.elem.shape[1] - 1,
            "flatskin": macro.attributes.get("flatskin", self.lattice.flat),
            "element": tuple(self.elem.ravel().tolist()),
            "body": " ".join(self._vertex_bodies()) if self.free else self._parent_name(),
        }
        pinned = self.pinned[self.used]
        if pinned.any():
            vertex = np.zeros((len(self.used), 3))
            vertex[pinned] = self._in_body(self.point[self.used[pinned]])
            attributes["vertex"] = tuple(vertex.ravel().tolist())
        if values["texcoord"]:
            attributes["texcoord"] = self._texcoord(values["texcoord"])
        flex = self._element(macro.tree.section("deformable"), "flex", attributes)
        contact, edge = macro.child("contact"), macro.child("edge")
        if contact is not None:
            self._element(flex, "contact", dict(contact.attributes))
        if edge is not None:
            self._element(flex, "edge", {name: edge[name] for name in _EDGE_OF_FLEX if name in edge.attributes})

    def _vertex_bodies(self) -> list[str]:
        """Names of the bodies of all vertices."""
        parent = self._parent_name()
        return [parent if self.pinned[i] else self._body_name(i) for i in self.used.tolist()]

    def _parent_name(self) -> str:
        return self.parent.name or WORLD

    def _in_body(self, point: np.ndarray) -> np.ndarray:
        """Points of the innermost frame in the frame of the parent."""
        pose = IDENTITY
        for frame in self.frames:
            pose = compose(pose, self._pose(frame))
        return _moved(pose, point)

    def _texcoord(self, flat: tuple[float, ...]) -> tuple[float, ...]:
        """Texture coordinates of the points that become vertices."""
        if len(flat) != 2 * len(self.point):
            found = f"found {len(flat)} for {len(self.point)} points"
            raise self.macro.error(f"expected two numbers for each point, {found}", "texcoord")
        return tuple(np.array(flat).reshape(-1, 2)[self.used].ravel().tolist())

    def _add_equality(self) -> None:
        """The constraint that keeps the lengths of the edges, if it is asked for."""
        edge = self.macro.child("edge")
        if edge is None or not edge["equality"]:
            return
        if not self.macro.name:
            raise self.macro.error("without a name no constraint can refer to its edges", "name")
        solver = {name: edge[name] for name in _EDGE_OF_CONSTRAINT}
        attributes = {"flex": self.macro.name, "active": True, **solver}
        self._element(self.macro.tree.section("equality"), "flex", attributes)


def _surroundings(macro: Element) -> tuple[Element, tuple[Element, ...]]:
    """The body around a flexcomp, and the frames between them, outermost first."""
    frames: list[Element] = []
    around = macro.parent
    while around is not None and around.tag == "frame":
        frames.insert(0, around)
        around = around.parent
    assert around is not None
    if around.tag != "worldbody" and not around.name:
        raise macro.error("the body around it needs a name, since the vertices refer to it")
    return around, tuple(frames)


def _moved(pose: Pose, point: np.ndarray) -> np.ndarray:
    """Points after a displacement (n, 3)."""
    if pose == IDENTITY:
        return point
    return np.array(pose[0]) + point @ np.array(quat2mat(pose[1])).reshape(3, 3).T
