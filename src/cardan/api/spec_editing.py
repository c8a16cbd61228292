"""Changes to a whole specification that need the compiler: fused bodies, discarded visuals, values of a model."""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.compile import compile_bodies
from cardan.maths.pose import compose, unit_quat
from cardan.maths.quaternion import neg_quat, rot_vec_quat
from cardan.maths.types import Pose
from cardan.maths.vector import sub3
from cardan.mjcf.canonical.tree import canonical_tree
from cardan.mjcf.checks import check_tree
from cardan.spec.layout import bodies_of
from cardan.spec.mjspec.specification import KINDS, Specification
from cardan.spec.orientation import orientation
from cardan.spec.schema.body import INERTIAL
from cardan.spec.schema.shared import ORIENTATION
from cardan.spec.tree import listed, remove

if TYPE_CHECKING:
    from cardan.compiler.nodes import Body
    from cardan.model.mjmodel import MjModel
    from cardan.model.vfs import MjVfs
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

_VISUAL = ("material", "texture")
_SHAPES = ("geom", "site")
_ANGLES = ("range", "ref", "springref")
_TURNED = ("axis", "dir")
_TOLERANCE = 1e-9
_OF_FORM = (*(row.name for row in ORIENTATION), "fromto")


class Editing:
    """The part of `MjSpec` with changes to a whole specification."""

    tree: ModelTree
    compiler: Any
    _moved: dict[Any, Any]

    def fuse_static(self: Any, vfs: MjVfs | None = None) -> int:
        """Fuse the static bodies with their parents: each becomes a frame of its parent with the same content.

        Bodies stay that elements refer to, that have joints or are mocap bodies, and whose ``fuse`` is false. Structs
        of fused bodies must not be used afterwards. ``vfs`` is as in `compile`. Return the number of fused bodies.
        """
        compiler = self.tree.section("compiler")
        own, version = compiler.attributes.get("fusestatic"), self.compat
        compiler.attributes["fusestatic"] = True
        self.tree.compat = "4.0"
        try:
            left = {body.element: body for body in self._bodies(vfs)}
        finally:
            self.tree.compat = version
            compiler["fusestatic"] = own
        fused = [body for body in bodies_of(self.tree) if body not in left]
        receivers: dict[Element, None] = {}
        for body in fused:
            own_inertial = any(True for _ in body.content("inertial"))
            above = next(around for around in body.around() if around in left)
            if own_inertial or any(True for _ in above.content("inertial")):
                receivers[above] = None
        for body in fused[::-1]:
            self.struct(body).to_frame()
        for element in receivers:
            if element is not self.tree.worldbody:
                _write_inertial(self.struct(element), left[element])
        return len(fused)

    def discard_visual(self: Any, vfs: MjVfs | None = None) -> int:
        """Discard all materials and textures, geoms that never collide and to which nothing refers, and their meshes.

        Bodies keep their inertia: if it was inferred from a discarded geom, it becomes explicit. ``vfs`` is as in
        `compile`. Return the number of discarded elements.

        Raises:
            ValueError: ``compiler.inertiafromgeom`` is true, so that an explicit inertia would be ignored.
        """
        assets = self.tree.section("asset").children
        geoms = [element for element in self.elements("geom") if not (element["contype"] or element["conaffinity"])]
        wanted = _referred(self.tree)
        geoms = [geom for geom in geoms if ("geom", geom.name) not in wanted]
        left = [part for kind in _SHAPES for part in self.elements(kind) if part not in set(geoms)]
        meshes = {shape["mesh"] for shape in left} | {name for kind, name in wanted if kind == "mesh"}
        changed = {self.struct(geom).parent.element: None for geom in geoms}
        bodies = self._bodies(vfs) if geoms or vfs is not None else []
        inferred = [body for body in bodies if body.element in changed and body.id and body.inertial is None]
        if inferred and self.tree.section("compiler")["inertiafromgeom"] == "true":
            raise inferred[0].element.error("compiler inertiafromgeom='true' would ignore the inertia of this body")
        for body in inferred:
            _write_inertial(self.struct(body.element), body)
        unused = [part for part in assets if part.tag in _VISUAL or (part.tag == "mesh" and part.name not in meshes)]
        for element in (*geoms, *unused):
            remove(element)
        self.edited()
        return len(geoms) + len(unused)

    def dedup_assets(self: Any) -> int:
        """Merge textures and meshes that compile to equal assets; the first of each group remains.

        References to the others are changed to it. Return the number of merged assets.

        Raises:
            ValueError: this specification was attached to another one without a copy.
        """
        if self._moved:
            raise ValueError("Cannot merge the assets of an attached mjSpec.")
        first: dict[Any, Element] = {}
        gone: dict[tuple[str, str], str] = {}
        for element in list(self.tree.section("asset").children):
            if element.tag not in ("texture", "mesh") or not element.name:
                continue
            values = {name: value for name, value in element.resolved().items() if name not in ("name", "class")}
            parts = tuple((part.tag, part.attributes, str(part.children)) for part in element.children)
            key = (element.tag, repr(values), repr(parts), self.tree.beside.get(element))
            kept = first.setdefault(key, element)
            if kept is not element:
                gone[element.tag, element.name] = kept.name or ""
                remove(element, alone=True)
        for element in self.tree.root.descendants() if gone else ():
            for row in element.row.references:
                new = gone.get(element.referred(row) or ("", ""))
                if new is not None:
                    element.attributes[row.name] = new
        self.edited()
        return len(gone)

    def adopt_inertial(self: Any, body: Any, vfs: MjVfs | None = None) -> None:
        """Make the inertia that the compiler infers for a body its explicit inertia.

        ``vfs`` is as in `compile`.

        Raises:
            ValueError: ``compiler.inertiafromgeom`` is true, or the body is the world or of another specification.
        """
        if body.spec is not self:
            raise ValueError("the body belongs to another specification")
        if body.element is self.tree.worldbody:
            raise body.element.error("the world body has no inertial")
        if self.tree.section("compiler")["inertiafromgeom"] == "true":
            raise body.element.error("compiler inertiafromgeom='true' would ignore an explicit inertia")
        if not body.explicitinertial:
            _write_inertial(body, next(found for found in self._bodies(vfs) if found.element is body.element))

    def copy_back(self: Any, model: MjModel) -> None:
        """Write the values that were changed in a compiled model to the specification.

        Values are converted to what compiles to them: positions inside frames, angles in degrees, inertias.

        Raises:
            ValueError: the model has another structure, or a change cannot be expressed. Then nothing is written.
        """
        before = self.compile()
        if before.signature != model.signature:
            raise ValueError("copy_back needs a model that was compiled from this specification: incompatible models")
        trial = self.copy()
        trial.compile()
        old, new = _Values(before, self.tree), _Values(model, self.tree)
        written = _write_changes(trial, old, new)
        found = _Values(trial.compile(), trial.tree)
        for place, name in written:
            if not _close(found.get(place, name), new.get(place, name)):
                where = place if isinstance(place[1], str) else (place[0], f"'{self.tree_name(place)}'")
                text = f"{' '.join(map(str, where))}: {name} was changed in the model, which the spec cannot express"
                raise ValueError(text)
        _write_changes(self, old, new)
        self._signature = before.signature

    def tree_name(self: Any, place: tuple[str, Any]) -> str:
        """Return the name of an element given by kind and id, or its id as text."""
        element = _by_id(self, place[0]).get(place[1])
        return (element.name if element is not None else None) or str(place[1])

    def _bodies(self: Any, vfs: MjVfs | None) -> list[Body]:
        """Return the compiled bodies, with inertial frames."""
        self.check_pending()
        with self.files_of(vfs):
            check_tree(self.tree)
            return compile_bodies(self.tree)


def _write_inertial(struct: Any, body: Body) -> None:
    """Write a compiled inertial frame to the struct of a body."""
    struct.explicitinertial = False
    values = {"pos": body.ipos, "quat": body.iquat, "mass": body.mass, "diaginertia": body.inertia}
    for name, value in values.items():
        struct.write(INERTIAL.attributes[name], name, value, "inertial")


def _referred(tree: ModelTree) -> set[tuple[str, str]]:
    """Return kinds and names of all objects to which elements outside the kinematic tree refer."""
    found: set[tuple[str, str]] = set()
    for section in tree.root.children:
        for element in section.descendants() if section.tag not in ("worldbody", "asset", "default") else ():
            found |= listed(element)
            found |= {target for row in element.row.references if (target := element.referred(row))}
    return found


# --- values of a compiled model --------------------------------------------------------------------------------------

Place = tuple[str, Any]
"""An element of a model: its kind and id, or a section and the tag of one of its parts (empty: the section itself)."""


class _Values:
    """Values of a compiled model as attributes of MJCF, in radians and without frames, by element."""

    def __init__(self, model: MjModel, tree: ModelTree) -> None:
        canonical = canonical_tree(model, tree)
        spec = Specification(canonical)
        self.elements: dict[Place, Element] = {}
        for kind in KINDS:
            if kind not in ("frame", "plugin"):
                self.elements.update({(kind, i): element for i, element in enumerate(spec.elements(kind))})
        for tag in ("option", "visual", "statistic"):
            section = canonical.section(tag)
            self.elements[tag, ""] = section
            self.elements.update({(tag, part.tag): part for part in section.children})

    def get(self, place: Place, name: str) -> Any:
        """Return a value of an element. ``inertial NAME`` is a value of a body's inertial frame."""
        element: Any = self.elements.get(place)
        if name.startswith("inertial "):
            element, name = element.child("inertial"), name.removeprefix("inertial ")
        return None if element is None else element.resolved().get(name)


def _close(left: Any, right: Any) -> bool:
    if isinstance(left, tuple | float | int) and isinstance(right, tuple | float | int):
        return np.shape(left) == np.shape(right) and np.allclose(left, right, rtol=_TOLERANCE, atol=_TOLERANCE)
    return left == right


def _changes(old: _Values, new: _Values) -> Iterator[tuple[Place, str]]:
    """Yield the changed values: the element and the name of the attribute."""
    for place, after in new.elements.items():
        before = old.elements.get(place)
        if before is None:
            continue
        if before.attributes != after.attributes:
            names = before.attributes.keys() | after.attributes.keys()
            for name in sorted(names):
                if before.attributes.get(name) != after.attributes.get(name):
                    yield place, name
        if place[0] == "body" and (inertial := after.child("inertial")) is not None:
            other = before.child("inertial")
            if other is None or other.attributes != inertial.attributes:
                for name in ("mass", "pos", "quat", "diaginertia"):
                    yield place, f"inertial {name}"


def _by_id(spec: Any, kind: str) -> dict[int, Element]:
    return {spec.id_of(element): element for element in spec.elements(kind)}


def _write_changes(spec: Any, old: _Values, new: _Values) -> list[tuple[Place, str]]:
    """Write the values that differ between two compiled models to a specification. Return what was written."""
    written = list(_changes(old, new))
    ids = {kind: _by_id(spec, kind) for kind in {place[0] for place, _ in written} & KINDS.keys()}
    for place, name in written:
        value = new.get(place, name)
        if place[0] not in KINDS:
            section = spec.tree.section(place[0])
            (section.child(place[1]) if place[1] else section)[name] = value
        elif place[1] in ids[place[0]]:
            _write_value(spec, ids[place[0]][place[1]], name, value, new.elements[place])
    spec.tree.changed()
    return written


def _write_value(spec: Any, element: Element, name: str, value: Any, canonical: Element) -> None:
    """Write one value of a compiled model to an element, in the element's frame and unit."""
    struct = spec.struct(element)
    if name.startswith("inertial "):
        name = name.removeprefix("inertial ")
        struct.write(INERTIAL.attributes[name], name, value, "inertial")
        return
    values = canonical.resolved()
    if name in ("pos", "quat", "size") and element.attributes.get("fromto") is not None:
        element["fromto"] = None
        for other in ("pos", "quat", "size"):
            _write_value(spec, element, other, values[other], canonical)
        return
    if name in ("pos", "quat", *_TURNED):
        pos, quat = _frame(spec, element)
        if name == "pos":
            value = rot_vec_quat(sub3(value, pos), neg_quat(quat))
        elif name == "quat":
            value = compose(((0.0, 0.0, 0.0), neg_quat(quat)), ((0.0, 0.0, 0.0), value))[1]
        else:
            value = rot_vec_quat(value, neg_quat(quat))
    if element.row.kind == "joint" and name in _ANGLES and values["type"] in ("hinge", "ball"):
        if spec.tree.section("compiler")["angle"] == "degree":
            value = tuple(map(degrees, value)) if isinstance(value, tuple) else degrees(value)
    row = element.row.attributes.get(name) or canonical.row.attributes[name]
    if value is None:
        element[name] = None
    else:
        struct.write(row, name, value)


def _frame(spec: Any, element: Element) -> Pose:
    """Return the pose of the frames around an element, in the body that contains them."""
    pose: Pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    settings = spec.tree.section("compiler").resolved()
    for around in element.around():
        if around.tag != "frame":
            break
        values = around.resolved()
        pose = compose((values["pos"], unit_quat(orientation(settings, around, values))), pose)
    return pose
