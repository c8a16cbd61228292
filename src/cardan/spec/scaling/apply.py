"""Application of scaled frames: content of the kinematic tree, then elements that refer to it, assets and keyframes.

An element of another section has the scale of the objects to which it refers; if it refers to two, it has the
geometric mean of their scales. The rules were derived from the manual and from results of MuJoCo 4.0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.maths.pose import z2quat
from cardan.maths.quaternion import quat2mat
from cardan.maths.vector import sub3
from cardan.spec.element import Element
from cardan.spec.general import general_form
from cardan.spec.layout import bodies_of, key_pieces, layout, rewrite_key
from cardan.spec.orientation import SHORTEST, orientation, unit
from cardan.spec.scaling.dimensions import CONTROLS, DIMENSIONS, INPUTS, SENSORS, SIZES
from cardan.spec.scaling.scale import NONE, Scale, mean
from cardan.spec.scaling.stretch import axis_factor, stretched_asset, stretched_inertia, stretched_shape
from cardan.spec.schema.keywords import OBJECT_KIND
from cardan.spec.schema.shared import ORIENTATION
from cardan.spec.tree import WORLD, copied_tree

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree

_FRAME = ("scale", "scaling", "massscale")
_FIXED_PARAMETERS = "the parameters of this actuator cannot be scaled; use scaling='geometry'"
_BY_GAIN = {"pid": "pid", "so3": "orientation", "dcmotor": "motor"}
"""Shortcuts whose dimensions also hold for general actuators with a type of gain."""
_ACTUATED = ("joint", "jointinparent", "tendon", "site", "body")


def scaled_tree(tree: ModelTree) -> ModelTree:
    """Return the tree itself if no frame is scaled, else a copy with scaled values and frames without scale.

    Raises:
        MjcfError: a scale is out of range, or an element cannot be scaled.
    """
    frames = [element for element in tree.worldbody.descendants() if element.tag == "frame"]
    if not any(name in frame.attributes for frame in frames for name in _FRAME):
        return tree
    made = copied_tree(tree)
    _Scaling(made).run()
    made.changed()
    return made


@dataclass(frozen=True, eq=False)
class _Motion:
    """Map of the world's points to those of the scaled world, for the content of a frame in the world.

    Attributes:
        origin: origin of the frame before scaling, shape (3,).
        moved: origin after scaling, shape (3,).
        rotation: rotation matrix of the frame, shape (3, 3).
        stretch: map of positions in the frame, shape (3, 3).
    """

    origin: np.ndarray
    moved: np.ndarray
    rotation: np.ndarray
    stretch: np.ndarray

    def inside(self, pos: tuple[float, ...], rotation: np.ndarray, scale: Scale) -> _Motion:
        """Return the motion inside a frame with the given pose in this frame. ``scale``: that of its content."""
        origin = self.origin + self.rotation @ pos
        moved = self.moved + self.rotation @ self.stretch @ pos
        return _Motion(origin, moved, self.rotation @ rotation, scale.matrix)

    def position(self, position: Any) -> tuple[float, ...]:
        """Return the scaled position of a point of the world."""
        return tuple((self.moved + self.velocity(np.asarray(position) - self.origin)).tolist())

    def velocity(self, velocity: Any) -> tuple[float, ...]:
        """Return the scaled velocity of a point, in the world's frame."""
        return tuple((self.rotation @ self.stretch @ self.rotation.T @ velocity).tolist())


class _Scaling:
    """Scaling of one tree, in place.

    Attributes:
        scales: scale of each object that is scaled.
        linear: whether the coordinate of a tendon or an actuator is a length, not an angle.
        kinds: row of `DIMENSIONS` of each actuator, by its tag before its conversion to the general form.
    """

    def __init__(self, tree: ModelTree) -> None:
        self.tree = tree
        self.settings = tree.section("compiler").resolved()
        self.scales: dict[Element, Scale] = {}
        self.linear: dict[Element, bool] = {}
        self.kinds: dict[Element, str] = {}
        self._authored: dict[Element, dict[str, Any]] = {}
        self._rotations: dict[Element, np.ndarray] = {}  # of stretched geoms and sites
        self._motions: dict[Element, _Motion] = {}  # of the world and of frames in it
        self._motions_of_bodies: dict[Element, _Motion] = {}

    def run(self) -> None:
        """Scale all elements."""
        self._bodies()
        self._assets()
        for element in self.tree.section("tendon").children:
            self._tendon(element)
        for element in self.tree.section("contact").all("pair"):
            self._put(element, mean(*(self._scale("geom", element[name]) for name in ("geom1", "geom2"))))
        for section in ("asset", "deformable"):
            for element in self.tree.section(section).all("skin", "flex"):
                self._surface(element)
        for element in self.tree.section("equality").children:
            self._equality(element)
        section = self.tree.section("actuator")
        section.children = [self._actuator(element) for element in section.children]
        self.tree.changed()
        for element in self.tree.section("sensor").children:
            self._sensor(element)
        self._keyframes()

    # --- values ------------------------------------------------------------------------------------------------------

    def _put(self, element: Element, scale: Scale, linear: bool = True, kind: str = "") -> None:
        """Scale the attributes of an element that have a dimension. ``kind``: the tag whose dimensions apply."""
        if scale == NONE:
            return
        self.scales[element] = scale
        if element.child("plugin") is not None or element.tag == "plugin":
            raise element.error("an element with a plugin cannot be scaled")
        values = element.resolved()
        for name, dimensions in DIMENSIONS.get(kind or element.tag, {}).items():
            value = values.get(name)
            if value is None or (name == "springlength" and value[0] < 0.0):
                continue  # a negative spring length is found from the initial state
            if name == "size":
                dimensions = SIZES.get(values["type"], dimensions)
            changed = _scaled(value, dimensions, scale, linear)
            if changed != value:
                element.attributes[name] = changed

    def _scale(self, kind: str, name: str | None) -> Scale:
        """Return the scale of an object, given by kind and name."""
        found = self.tree.find(kind, name) if name and name != WORLD else None
        return NONE if found is None else self.scales.get(found, NONE)

    # --- kinematic tree ----------------------------------------------------------------------------------------------

    def _bodies(self) -> None:
        """Scale the content of all frames and bodies."""
        self._motions[self.tree.worldbody] = _Motion(np.zeros(3), np.zeros(3), np.eye(3), np.eye(3))
        stack: list[tuple[Element, Scale]] = [(self.tree.worldbody, NONE)]
        while stack:
            around, scale = stack.pop()
            motion = self._motions.get(around)
            for child in around.children:
                if child.tag == "frame":
                    inside = self._inside(child, scale)
                    if motion is not None:
                        self._motions[child] = motion.inside(child["pos"], self._rotation(child), inside)
                    self._move(child, scale)
                    for name in _FRAME:
                        child.attributes.pop(name, None)
                    stack.append((child, inside))
                elif child.tag == "body":
                    if motion is not None:
                        self._motions_of_bodies[child] = motion
                    self._move(child, scale)
                    if scale != NONE and child.child("plugin") is not None:
                        raise child.error("a body with a plugin cannot be scaled")
                    stack.append((child, scale.turned(self._rotation(child)) if scale.stretch else scale))
                elif scale != NONE:
                    self._content(child, scale)

    def _inside(self, frame: Element, scale: Scale) -> Scale:
        """Return the scale inside a frame."""
        if not any(name in frame.attributes for name in _FRAME):
            return scale.turned(self._rotation(frame)) if scale.stretch else scale
        return scale.inside(frame, self._rotation(frame))

    def _rotation(self, element: Element) -> np.ndarray:
        """Return the rotation matrix of an element relative to its parent."""
        return np.reshape(quat2mat(orientation(self.settings, element, element.resolved())), (3, 3))

    def _move(self, element: Element, scale: Scale) -> None:
        """Scale the position of a frame or a body."""
        if scale != NONE:
            self.scales[element] = scale
            element.attributes["pos"] = scale.moved(element.resolved()["pos"])

    def _content(self, element: Element, scale: Scale) -> None:
        """Scale an element inside a body."""
        values = element.resolved()
        if values.get("type") == "free":
            # its lengths and angles share their parameters, which are not scaled
            self.scales[element] = scale
            return
        slides = element.row.kind == "joint" and values.get("type") == "slide"
        if scale.stretch and element.tag == "joint" and values["type"] in ("hinge", "slide"):
            scale = replace(scale, length=axis_factor(element, scale, values["axis"]))
        self._put(element, scale, slides)
        if element.tag == "geom" and (values["shellinertia"] or self._is_shell(values["mesh"])):
            # surfaces have a density by area
            element.attributes["density"] = values["density"] * scale.factor("ML-2")
        if scale.stretch:
            self._stretch(element, values, scale)

    def _stretch(self, element: Element, values: dict[str, Any], scale: Scale) -> None:
        """Replace positions, sizes and inertias of an element, scaled equally in all directions, by stretched ones."""
        given = element.attributes
        if element.tag == "inertial":
            made = stretched_inertia(values, scale, self._rotation(element))
            for name in ("diaginertia", *(row.name for row in ORIENTATION)):
                given.pop(name, None)
            given.update(made)
            return
        if given.get("pos") is not None:
            given["pos"] = scale.moved(values["pos"])
        ends = values.get("fromto")
        if ends is not None:
            given["fromto"] = (*scale.moved(ends[:3]), *scale.moved(ends[3:]))
        if element.row.kind in ("geom", "site"):
            rotation = self._rotation(element)
            if ends is not None:
                direction = unit(element, sub3(ends[:3], ends[3:]), "fromto")
                rotation = np.reshape(quat2mat(z2quat(direction, SHORTEST)), (3, 3))
            self._rotations[element] = rotation
            if values["type"] not in ("mesh", "sdf"):
                given["size"] = stretched_shape(element, values, scale, rotation)

    def _is_shell(self, mesh: str | None) -> bool:
        found = self.tree.find("mesh", mesh) if mesh else None
        return found is not None and found["inertia"] == "shell"

    # --- assets ------------------------------------------------------------------------------------------------------

    def _assets(self) -> None:
        """Scale meshes and height fields. One that is used at several scales becomes several assets."""
        made: dict[tuple[str, str], dict[tuple[float, ...], str]] = {}
        for tag in ("geom", "site"):
            for body in bodies_of(self.tree):
                for element, _ in body.content(tag):
                    for kind in ("mesh", "hfield"):
                        name = element.attributes.get(kind) or element.resolved().get(kind)
                        if name:
                            instances = made.setdefault((kind, name), {})
                            scale = self.scales.get(element, NONE)
                            factors = (scale.length,) * 3
                            if scale.stretch:
                                factors = stretched_asset(element, scale, self._rotations[element])
                            if factors not in instances:
                                instances[factors] = self._instance(kind, name, factors, len(instances))
                            element.attributes[kind] = instances[factors]

    def _instance(self, kind: str, name: str, factors: tuple[float, ...], number: int) -> str:
        """Scale an asset along its axes, or a copy of it if ``number`` is not 0. Return the name."""
        source = self.tree.find(kind, name)
        if source is None:
            return name
        asset, attribute = source, "scale" if kind == "mesh" else "size"
        if number:
            section = self.tree.section("asset")
            asset = section.append(kind, {**self._authored[source], "name": f"{name}@{number}"}, source)
            for child in source.children:
                asset.append(child.tag, dict(child.attributes), child)
        else:
            self._authored[source] = dict(source.attributes)
        # a height field has two sizes along Z
        values = zip((*factors, factors[2]), asset.resolved()[attribute], strict=False)
        asset.attributes[attribute] = tuple(factor * value for factor, value in values)
        return asset.attributes["name"]

    # --- other sections ----------------------------------------------------------------------------------------------

    def _tendon(self, element: Element) -> None:
        """Scale a tendon if all its objects have the same scale. Coefficients of joints are always scaled."""
        parts = [
            (part, self.tree.find(row.kind or "", part.attributes[row.name]))
            for part in element.children
            for row in part.row.references
            if row.name in part.attributes
        ]
        found = {self.scales.get(target, NONE) if target else NONE for _, target in parts}
        scale = found.pop() if len(found) == 1 else NONE
        joints = [(part, joint) for part, joint in parts if part.tag == "joint" and joint is not None]
        slides = {joint: joint.tag == "joint" and joint["type"] == "slide" for _, joint in joints}
        linear = self.linear[element] = element.tag == "spatial" or any(slides.values())
        self._put(element, scale, linear)
        for part, joint in joints:
            factor = scale.factor("Q", linear) / self.scales.get(joint, NONE).factor("Q", slides[joint])
            if factor != 1.0:
                part.attributes["coef"] = part["coef"] * factor

    def _equality(self, element: Element) -> None:
        """Scale an equality constraint."""
        values = element.resolved()
        first, second = (self._constrained(element, values, number) for number in "12")
        if element.tag in ("joint", "tendon"):
            self._polynomial(element, values, first, second)
        elif element.tag == "connect" and values["site1"] is None:
            self._put(element, first[0])
        elif element.tag == "flex":
            self._put(element, self._scale("flex", values["flex"]), kind="connect")
        elif element.tag in ("connect", "weld"):
            self._put(element, mean(first[0], second[0]))
            # the anchor is in the frame of body 2, the relative pose in that of body 1
            for name, dimensions, scale in (("anchor", "L", second[0]), ("relpose", "L L L 1", first[0])):
                if element.tag == "weld" and element.is_set(name):
                    element.attributes[name] = _scaled(values[name], dimensions, scale, True)

    def _constrained(self, element: Element, values: Mapping[str, Any], number: str) -> tuple[Scale, bool]:
        """Return the scale of one side of a constraint, and whether its coordinate is a length."""
        for row in element.row.references:
            name = values.get(row.name)
            if row.name.endswith(number) and name and name != WORLD:
                found = self.tree.find(row.kind or "", name)
                return self.scales.get(found, NONE) if found else NONE, self._is_linear(found)
        return NONE, False

    def _is_linear(self, target: Element | None) -> bool:
        """Return whether the coordinate of a joint or tendon is a length."""
        if target is None:
            return False
        return target["type"] == "slide" if target.tag == "joint" else self.linear.get(target, False)

    def _polynomial(
        self, element: Element, values: Mapping[str, Any], first: tuple[Scale, bool], second: tuple[Scale, bool]
    ) -> None:
        """Scale the polynomial of a constraint between joints or tendons, and the width of its impedance."""
        own, other = first[0].factor("Q", first[1]), second[0].factor("Q", second[1])
        if own != 1.0:
            element.attributes["solimp"] = _each(values["solimp"], lambda i, x: x * own if i == 2 else x)
        if own != 1.0 or other != 1.0:
            element.attributes["polycoef"] = _each(values["polycoef"], lambda i, x: x * own / other**i)

    def _surface(self, element: Element) -> None:
        """Scale a skin or a flex, whose bodies must have one scale."""
        lists = [element.attributes.get(row.name, "").split() for row in element.row.lists if row.kind == "body"]
        names = [name for given in lists for name in given]
        names += [part.attributes["body"] for part in element.all("bone")]
        found = {self._scale("body", name) for name in names}
        if len(found) > 1:
            part = "bones" if element.tag == "skin" else "bodies"
            raise element.error(f"the {part} of a {element.tag} must have the same scale")
        if found:
            scale = found.pop()
            if scale.stretch:
                raise element.unsupported("stretched skins and flexes")
            if element.tag == "flex" and scale != NONE and element.child("contact") is None:
                element.append("contact", {}, element)
            for part in (element, *element.children):
                self._put(part, scale)

    def _actuator(self, element: Element) -> Element:
        """Return an actuator, or its scaled general form."""
        values = element.resolved()
        form = self.kinds[element] = _BY_GAIN.get(values["gaintype"], element.tag)
        kind = next((name for name in _ACTUATED if values.get(name)), "")
        target = self.tree.find("joint" if kind == "jointinparent" else kind, values[kind]) if kind else None
        scale, linear, gear = self.scales.get(target, NONE) if target else NONE, True, values.get("gear")
        if not kind:
            scale = mean(self._scale("site", values.get("cranksite")), self._scale("site", values.get("slidersite")))
        elif values["gaintype"] == "so3":
            linear = False
        elif kind == "site" or (target is not None and _is_free(target)):
            linear = any((gear or ())[:3])
        elif kind != "body":
            linear = self._is_linear(target)
        self.linear[element] = linear
        if scale == NONE:
            return element
        if element.tag == "plugin":
            raise element.error("an actuator with a plugin cannot be scaled")
        if values["gaintype"] == "dcmotor" and scale.unit_length * scale.unit_mass != 1.0:
            raise element.error(_FIXED_PARAMETERS)
        made = general_form(element, values)
        self.linear[made], self.kinds[made] = linear, form
        dimensions = DIMENSIONS[form]
        for name, value in values.items():
            if name in dimensions and value is not None:
                made.attributes[name] = _scaled(value, dimensions[name], scale, linear)
        self._parameters(made, element, values, scale, linear)
        if gear and linear and (kind == "site" or (target is not None and _is_free(target))):
            made.attributes["gear"] = _scaled(gear, "1 1 1 L", scale, True)
        self.scales[made] = scale
        return made

    def _parameters(
        self, made: Element, element: Element, values: Mapping[str, Any], scale: Scale, linear: bool
    ) -> None:
        """Correct parameters that have another dimension by their values."""
        if element.tag == "general" and values["gaintype"] == "muscle":
            for name in ("gainprm", "biasprm"):
                made.attributes[name] = _scaled(values[name], DIMENSIONS["muscle"][name], scale, linear)
        if values["gaintype"] == "muscle" and values["gainprm"][2] < 0.0:
            # the peak force is found from the acceleration at unit force
            made.attributes.update(gainprm=values["gainprm"], biasprm=values["biasprm"])
        elif values["biastype"] in ("affine", "so3") and values["biasprm"][2] > 0.0:
            bias = list(made.attributes["biasprm"])
            bias[2] = values["biasprm"][2]  # a damping ratio
            made.attributes["biasprm"] = tuple(bias)
        elif "user" in (values["gaintype"], values["biastype"]) and scale.unit_length * scale.unit_mass != 1.0:
            raise element.error(_FIXED_PARAMETERS)

    def _sensor(self, element: Element) -> None:
        """Scale cutoff and noise of a sensor."""
        dimension = SENSORS.get(element.tag)
        values = element.resolved()
        if dimension is None and element.tag != "plugin":
            return
        targets = [found for row in element.row.references if row.name not in ("refname", "class")
                   and (found := self._target(row.name, row.kind or "", values))]  # fmt: skip
        if not targets:
            return
        if element.tag == "plugin":
            if any(target in self.scales for target in targets):
                raise element.error("a sensor with a plugin cannot be scaled")
            return
        scale = self.scales.get(targets[0], NONE)
        for other in targets[1:]:
            scale = mean(scale, self.scales.get(other, NONE))
        target = targets[0]
        linear = self.linear[target] if target in self.linear else self._is_linear(target)
        for name in ("cutoff", "noise"):
            if values.get(name):
                element.attributes[name] = values[name] * scale.factor(dimension or "1", linear)

    def _target(self, name: str, kind: str, values: Mapping[str, Any]) -> Element | None:
        """Return the object to which attribute ``name`` of a sensor refers, or None."""
        if kind.startswith("@"):
            kind = OBJECT_KIND.get(values.get(kind[1:]) or "", "")
        return self.tree.find(kind, values[name]) if values.get(name) else None

    # --- keyframes ---------------------------------------------------------------------------------------------------

    def _keyframes(self) -> None:
        """Scale the states of keyframes."""
        keys = self.tree.section("keyframe").children
        parts = layout(self.tree) if keys else {}
        for key in keys:
            known = key_pieces(key, parts)
            for part, by_element in known.items():
                for element, numbers in by_element.items():
                    by_element[element] = self._state(part, element, numbers)
            rewrite_key(key, known, parts)

    def _state(self, part: str, element: Element, numbers: Any) -> tuple[float, ...]:
        """Return the scaled numbers of an element in one part of the state."""
        scale, linear = self.scales.get(element, NONE), True
        if scale == NONE or part == "mquat":
            return tuple(numbers)
        if part == "mpos":
            return self._motions_of_bodies[element].position(numbers)
        if part in ("qpos", "qvel"):
            if _is_free(element):
                body = next(around for around in element.around() if around.tag == "body")
                motion = self._motions_of_bodies[body]
                moved = motion.position(numbers[:3]) if part == "qpos" else motion.velocity(numbers[:3])
                return (*moved, *numbers[3:])
            dimensions = "Q" if element["type"] == "slide" else "1"
        else:
            control, activation = CONTROLS.get(self.kinds.get(element, ""), ("1", "1"))
            if self.kinds.get(element) == "pid":
                control = " ".join(INPUTS[word] for word in (element.resolved()["input"] or "pos vel").split())
            dimensions, linear = control if part == "ctrl" else activation, self.linear.get(element, True)
        return _scaled(tuple(numbers), dimensions, scale, linear)


def _is_free(target: Element) -> bool:
    """Return whether an object is a free joint."""
    return target.tag == "freejoint" or (target.tag == "joint" and target["type"] == "free")


def _each(values: tuple[float, ...], change: Callable[[int, float], float]) -> tuple[float, ...]:
    """Return values changed by a function of their index and value."""
    return tuple(change(i, x) for i, x in enumerate(values))


def _scaled(value: Any, dimensions: str, scale: Scale, linear: bool) -> Any:
    """Return a scaled attribute value: a number, or a tuple whose numbers have the given dimensions."""
    words = dimensions.split()
    if not isinstance(value, tuple):
        return value * scale.factor(words[0], linear)
    factors = [scale.factor(word, linear) for word in words]
    return _each(value, lambda i, x: x * factors[min(i, len(factors) - 1)])
