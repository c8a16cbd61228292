"""Expansion of ``<flexcomp>`` to bodies with joints, a flex, an equality constraint and a plugin instance.

Point i becomes the body ``NAME_i``, a child of the body that contains the flexcomp. The new body has three or two slide
joints, or one along the ray from the parent's origin (``dof``). Pinned points become vertices of the parent itself.
Details that are not documented were derived from results of the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from math import inf
from typing import Any

import numpy as np

from cardan.constants import mjMINVAL
from cardan.maths.pose import IDENTITY, compose, unit_quat
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Pose
from cardan.spec.element import Element
from cardan.spec.flexcomp.given import direct, gmsh, mesh, pinned_points
from cardan.spec.flexcomp.lattice import Lattice, circle, disc, grid, oriented, surface
from cardan.spec.macro_plugin import give_flex_plugin
from cardan.spec.orientation import orientation
from cardan.spec.repeated import OWN, repeated
from cardan.spec.tree import WORLD

_GENERATORS: dict[str, Callable[[Element, dict[str, Any]], Lattice]] = {
    "grid": grid,
    **dict.fromkeys(("box", "cylinder", "ellipsoid"), surface),
    "disc": disc,
    "circle": circle,
    "mesh": mesh,
    "gmsh": gmsh,
    "direct": direct,
}
_TETRAHEDRON = 4  # number of vertices
_SLIDES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_AXES = {"full": _SLIDES, "2d": _SLIDES[:2]}  # axes of the joints of a point; radial ones differ from point to point
_PASSED = ("name", "group", "radius", "material", "rgba")  # attributes that the flex takes over unchanged
_EDGE_OF_FLEX = ("stiffness", "damping")
_EDGE_OF_CONSTRAINT = ("solref", "solimp")


class Expansion:
    """The expansion of one flexcomp.

    ``parent`` is the body that contains the macro, and ``frames`` are the frames between the two, outermost first.
    ``lattice`` has the generated points and elements; ``point`` has their positions in the innermost frame.
    ``pinned`` is the mask of points that belong to the parent. ``used`` are the indices of points in elements,
    ``free`` the indices of used points that are not pinned: each of these has its own body.
    """

    def __init__(self, macro: Element) -> None:
        self.macro = macro
        self.values = macro.resolved()
        if self.values["mesh"] and "type" not in macro.attributes:
            self.values["type"] = "mesh"
        self.settings = macro.tree.section("compiler").resolved()
        self._check()
        frames = list(takewhile(lambda around: around.tag == "frame", macro.around()))[::-1]
        around = (frames[0] if frames else macro).parent
        assert around is not None
        if around.tag != "worldbody" and not around.name:
            raise macro.error("the body around it needs a name, since the vertices refer to it")
        self.parent, self.frames = around, frames
        self.lattice = _GENERATORS[self.values["type"]](macro, self.values)
        self.dof = self._freedom()
        self.point = _moved(self._pose(macro), self.lattice.point)
        finite = np.isfinite(self.point).all(axis=1)
        if not finite.all():
            raise macro.error(f"the position of point {int(np.argmin(finite))} is not finite")
        self.pinned = pinned_points(macro, self.values, len(self.point))
        self.pinned[:1] |= self.dof == "radial"
        # points of no element are left out
        self.used = np.unique(self.lattice.elem)
        elem = np.searchsorted(self.used, self.lattice.elem)
        self.elem = oriented(elem, self.point[self.used]) if elem.shape[1] == _TETRAHEDRON else elem
        self.free = self.used[~self.pinned[self.used]]

    def run(self) -> None:
        """Replace the macro by bodies, and add the flex, the constraint and the plugin to their sections.

        If all points are pinned, no bodies and no constraint are added.
        """
        siblings = self.macro.parent
        assert siblings is not None
        at = siblings.children.index(self.macro)
        model = self._model(siblings)
        self._add_flex()
        bearers = [model] if len(self.free) else []
        if len(self.free):
            self._add_equality()
            if self.pinned[self.used].any():
                bearers.append(self.parent)
        give_flex_plugin(self.macro, bearers, self.elem)
        siblings.children[at : at + 1] = self._bodies(model) if len(self.free) else []

    def _check(self) -> None:
        """Raise MjcfError if a value is outside the bounds that apply to every flexcomp."""
        values, macro = self.values, self.macro
        if values["dim"] not in (1, 2, 3):
            raise macro.error(f"must be 1, 2 or 3, found {values['dim']}", "dim")
        if values["mesh"] and values["type"] not in ("mesh", "gmsh"):
            raise macro.error(f"a flexcomp of type {values['type']} has no mesh: expected mesh or gmsh", "type")
        for name in ("mass", "inertiabox"):
            if not mjMINVAL <= values[name] < inf:
                raise macro.error(f"must be positive and finite, found {values[name]:g}", name)
        if min(values["scale"]) < mjMINVAL:
            raise macro.error(f"scales must be positive, found {min(values['scale']):g}", "scale")

    def _freedom(self) -> str:
        """Return ``dof`` or its default: ``full``, except ``radial`` for closed surfaces in 3.1."""
        rays = self.lattice.closed and self.macro.tree.compat == "3.1"
        return self.values["dof"] or ("radial" if rays else "full")

    def _pose(self, element: Element) -> Pose:
        """Return the pose of the macro or of a frame relative to the element around it."""
        values = element.resolved()
        return values["pos"], unit_quat(orientation(self.settings, element, values))

    # --- bodies ------------------------------------------------------------------------------------------------------

    def _names(self, points: np.ndarray) -> list[str]:
        """Return the names of the bodies for the given point indices."""
        start = f"{self.macro.name or ''}_"
        return [f"{start}{number}" for number in points.tolist()]

    def _model(self, parent: Element) -> Element:
        """Return the template of all bodies, with slide joints, the mass of a point and the inertia of a small box."""
        values, macro = self.values, self.macro
        # in 3.1, points of no element count, too
        mass = values["mass"] / len(self.used if macro.tree.compat == "4.0" else self.point)
        moment = mass * (2.0 * values["inertiabox"] * values["inertiabox"]) / 3.0
        inertial = {"pos": (0.0, 0.0, 0.0), "mass": mass, "diaginertia": (moment, moment, moment)}
        row, home = parent.row.children["body"], (0.0, 0.0, 0.0)
        body = Element(row, macro.tree, parent, {"name": "", "pos": home}, macro.source, macro.line)
        body.append("inertial", inertial, macro)
        for axis in _AXES.get(self.dof, (home,)):
            body.append("joint", {"type": "slide", "pos": home, "axis": axis}, macro)
        return body

    def _bodies(self, model: Element) -> list[Element]:
        """Return the bodies of the points that are not pinned, as copies of ``model``."""
        names = self._names(self.free)
        points = [(x, y, z) for x, y, z in self.point[self.free].tolist()]
        model.attributes.update(name=names[0], pos=points[0])
        if self.dof != "radial":
            return repeated(model, ((OWN, "name"), (OWN, "pos")), zip(names, points, strict=True))
        slider = next(part for part in model.children if part.row.kind == "joint")
        slider.attributes["axis"] = points[0]
        blanks = (OWN, "name"), (OWN, "pos"), (model.children.index(slider), "axis")
        return repeated(model, blanks, zip(names, points, points, strict=True))

    # --- the flex and its constraint ---------------------------------------------------------------------------------

    def _add_flex(self) -> None:
        """Add the flex, with the macro's attributes, the bodies and positions of its vertices, and its elements."""
        values, macro, parent = self.values, self.macro, self.parent.name or WORLD
        pinned = self.pinned[self.used]
        names = self._names(self.used)
        bodies = [parent if is_pinned else name for is_pinned, name in zip(pinned.tolist(), names, strict=True)]
        given = {name: macro.attributes[name] for name in _PASSED if name in macro.attributes}
        attributes: dict[str, Any] = {
            **given,
            "dim": self.elem.shape[1] - 1,
            "flatskin": macro.attributes.get("flatskin", self.lattice.flat),
            "element": tuple(self.elem.ravel().tolist()),
            "body": " ".join(bodies) if len(self.free) else parent,
        }
        if pinned.any():
            vertex = np.zeros((len(self.used), 3))
            pose = IDENTITY  # pose of the innermost frame in the parent
            for frame in self.frames:
                pose = compose(pose, self._pose(frame))
            vertex[pinned] = _moved(pose, self.point[self.used[pinned]])
            attributes["vertex"] = tuple(vertex.ravel().tolist())
        if values.get("elemtexcoord"):
            attributes |= {"texcoord": values["texcoord"], "elemtexcoord": values["elemtexcoord"]}
        elif values["texcoord"]:
            flat = values["texcoord"]
            if len(flat) != 2 * len(self.point):
                found = f"found {len(flat)} for {len(self.point)} points"
                raise macro.error(f"expected two numbers for each point, {found}", "texcoord")
            attributes["texcoord"] = tuple(np.array(flat).reshape(-1, 2)[self.used].ravel().tolist())
        flex = macro.tree.section("deformable").append("flex", attributes, macro)
        contact, edge = macro.child("contact"), macro.child("edge")
        if contact is not None:
            flex.append("contact", dict(contact.attributes), macro)
        elasticity = macro.child("elasticity")
        if elasticity is not None:
            flex.append("elasticity", dict(elasticity.attributes), macro)
        if edge is not None:
            flex.append("edge", {name: edge[name] for name in _EDGE_OF_FLEX if name in edge.attributes}, macro)

    def _add_equality(self) -> None:
        """Add the equality constraint that keeps the lengths of the edges, if the macro requests one."""
        edge = self.macro.child("edge")
        if edge is None or edge["equality"] == "false":
            return
        if not self.macro.name:
            raise self.macro.error("without a name no constraint can refer to its edges", "name")
        solver = {name: edge[name] for name in _EDGE_OF_CONSTRAINT}
        attributes = {"flex": self.macro.name, "active": True, **solver}
        self.macro.tree.section("equality").append("flex", attributes, self.macro)


def expand(macro: Element) -> None:
    """Replace one flexcomp by its elements. Raises MjcfError for invalid values."""
    Expansion(macro).run()


def _moved(pose: Pose, point: np.ndarray) -> np.ndarray:
    """Transform points (n, 3) by a pose."""
    if pose == IDENTITY:
        return point
    return np.array(pose[0]) + point @ np.array(quat2mat(pose[1])).reshape(3, 3).T
