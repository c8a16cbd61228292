"""Structs for bodies, frames and the elements inside them, and for orientations in several formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums import mjtJoint, mjtObj
from cardan.enums.base import MjEnum
from cardan.spec.layout import bodies_in, keys_kept
from cardan.spec.mjspec.assets import plugin_instance
from cardan.spec.mjspec.generated import Maker, make_flex
from cardan.spec.mjspec.struct import Field, Form, Named, Struct, fields, struct_class
from cardan.spec.mjspec.values import engine_number
from cardan.spec.schema.body import (
    BODY,
    CAMERA_ROW,
    FRAME,
    FREEJOINT,
    GEOM_ROW,
    INERTIAL,
    JOINT_ROW,
    LIGHT_ROW,
    SITE_ROW,
)
from cardan.spec.schema.keywords import CAMERA_OUTPUT, FLUID_SHAPE
from cardan.spec.schema.shared import ORIENTATION
from cardan.spec.tree import IMPLIED, WORLD

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardan.spec.schema.rows import Attribute


class mjtGeomInertia(MjEnum):
    """Distribution of a geom's mass: in its volume or on its surface."""

    mjINERTIA_VOLUME = 0
    mjINERTIA_SHELL = 1


class mjtOrientation(MjEnum):
    """Formats of orientations."""

    mjORIENTATION_QUAT = 0
    mjORIENTATION_AXISANGLE = 1
    mjORIENTATION_XYAXES = 2
    mjORIENTATION_ZAXIS = 3
    mjORIENTATION_EULER = 4


class MjsOrientation(Struct):
    """Alternative formats of an element's orientation: ``axisangle``, ``xyaxes``, ``zaxis``, ``euler``."""

    @property
    def type(self) -> mjtOrientation:
        """Format in which the orientation is given."""
        values = self.element.resolved()
        numbers = range(1, len(ORIENTATION))
        return mjtOrientation(next((i for i in numbers if values.get(ORIENTATION[i].name) is not None), 0))

    @type.setter
    def type(self, value: int) -> None:
        if mjtOrientation(value) == mjtOrientation.mjORIENTATION_QUAT:
            for row in ORIENTATION[1:]:
                self.element[row.name] = None
        # another format has the effect when its numbers are given


for _row in ORIENTATION[1:]:
    setattr(MjsOrientation, _row.name, Field(_row, _row.name))


class InBody(Named):
    """An element inside a body, directly or inside frames."""

    @property
    def parent(self) -> Any:
        """Body that contains the element, or None if the element was deleted."""
        around = list(self.element.around())
        if not around or around[-1] is not self.element.tree.root:
            return None  # the element, or one around it, was deleted
        body = next((part for part in around if part.tag in ("body", "worldbody")), None)
        return None if body is None else self.spec.struct(body)

    @property
    def frame(self) -> Any:
        """Innermost frame around the element within its body, or None."""
        around = self.element.parent
        return self.spec.struct(around) if around is not None and around.tag == "frame" else None

    def set_frame(self, frame: Any) -> None:
        """Move the element into a frame of the same body.

        Raises:
            MjcfError: the frame belongs to another body, is the element, or is inside the element.
        """
        if frame.spec is not self.spec or frame.parent is not self.parent:
            raise self.element.error("the frame must belong to the same body")
        element = self.element
        if element is frame.element or element in frame.element.around():
            raise element.error("a frame cannot be inside itself")
        element.parent.children.remove(element)
        frame.element.children.append(element)
        element.parent = frame.element
        self.spec.edited()


class Posed(InBody):
    """An element in a body that has position and orientation."""

    quat = Field(ORIENTATION[0], "quat")

    @property
    def alt(self) -> MjsOrientation:
        """Orientation in formats other than ``quat``."""
        return MjsOrientation(self.spec, self.element)


# --- content of bodies -----------------------------------------------------------------------------------------------


@fields(FREEJOINT)
@fields(
    JOINT_ROW,
    solreflimit="solref_limit",
    solimplimit="solimp_limit",
    solreffriction="solref_friction",
    solimpfriction="solimp_friction",
    actuatorfrclimited="actfrclimited",
    actuatorfrcrange="actfrcrange",
    actuatorgravcomp="actgravcomp",
)
class MjsJoint(InBody):
    """A joint. Its angles are in the unit of the compiler settings."""

    def read(self, row: Attribute, part: str | None = None) -> Any:
        """Return an attribute as `Struct.read` does. The type of a ``freejoint`` is ``free``."""
        if row.name == "type" and self.element.row.tag == "freejoint":
            return "free"
        return super().read(row, part)

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Write an attribute as `Struct.write` does. For a ``freejoint``, the type ``free`` is accepted.

        A free joint whose ``align`` is set becomes a ``freejoint``, which alone has this attribute in MJCF.
        """
        if row.name == "align":
            self._become_freejoint()
        if not (
            name == "type"
            and self.element.row.tag == "freejoint"
            and engine_number(mjtJoint, value) == mjtJoint.mjJNT_FREE
        ):
            super().write(row, name, value, part)

    def _become_freejoint(self) -> None:
        """Turn a ``joint`` of type ``free`` into a ``freejoint``, if it has only attributes that both have."""
        element: Any = self.element
        others = element.attributes.keys() - FREEJOINT.attributes.keys() - {"type"}
        if (
            element.row.tag == "joint"
            and not element.row.is_entry
            and element.resolved()["type"] == "free"
            and not others
        ):
            element.attributes.pop("type", None)
            element.row = FREEJOINT
            element.tree.changed()


@fields(
    GEOM_ROW,
    single=("rgba",),
    hfield="hfieldname",
    mesh="meshname",
    fluidcoef="fluid_coefs",
    shellinertia=Form("typeinertia", lambda shell: mjtGeomInertia(int(shell))),
    fluidshape=Form("fluid_ellipsoid", lambda word: float(FLUID_SHAPE[word])),
)
class MjsGeom(Posed):
    """A geom."""

    plugin = plugin_instance


@fields(SITE_ROW, single=("rgba",), mesh="meshname")
class MjsSite(Posed):
    """A site."""

    def attach_body(self, body: Any, prefix: str | None = None, suffix: str | None = None) -> Any:
        """Attach another specification's body at this site. See ``MjSpec.attach``."""
        return self.spec.attach_at_site(self, body, prefix, suffix)


def _output_bits(words: tuple[str, ...]) -> int:
    return sum(CAMERA_OUTPUT[word] for word in words)


def _output_words(bits: int) -> tuple[str, ...]:
    return tuple(word for word, bit in CAMERA_OUTPUT.items() if bits & bit)


MjsCamera = struct_class(
    "MjsCamera",
    CAMERA_ROW,
    Posed,
    single=("sensorsize", "focal", "focalpixel", "principal", "principalpixel"),
    target="targetbody",
    sensorsize="sensor_size",
    focal="focal_length",
    focalpixel="focal_pixel",
    principal="principal_length",
    principalpixel="principal_pixel",
    projection="proj",
    output=Form("output", _output_bits, _output_words),
)
MjsCamera.absent = {
    "intrinsic": "the compiler computes it from focal length and sensor: see cam_intrinsic of the model"
}
MjsLight = struct_class(
    "MjsLight",
    LIGHT_ROW,
    InBody,
    single=(
        *("bulbradius", "intensity", "range", "attenuation", "cutoff", "softness", "exponent"),
        *("ambient", "diffuse", "specular"),
    ),
    target="targetbody",
)


# --- bodies and frames -----------------------------------------------------------------------------------------------

# tags of the content of bodies, by the plural that structs use
CONTENT: dict[str, tuple[str, ...]] = {
    "bodies": ("body",),
    "joints": ("joint", "freejoint"),
    "geoms": ("geom",),
    "sites": ("site",),
    "cameras": ("camera",),
    "lights": ("light",),
}


_OF_FREE_JOINTS = ("align", "group", "name")  # keyword arguments of `add_freejoint`


class Container(Posed):
    """A body or a frame, to which elements can be added."""


def _adder(tag: str) -> Callable[..., Any]:
    """Return a method that adds an element with tag ``tag`` to a body or frame."""

    def add(self: Container, default: Any = None, **values: Any) -> Any:
        for name in values if tag == "freejoint" else ():
            if name not in _OF_FREE_JOINTS:
                options = ", ".join(_OF_FREE_JOINTS)
                raise TypeError(f"Invalid {name} keyword argument. Valid options are: {options}.")
        return self.spec.add_to(self.element, tag, default, values)

    add.__name__ = f"add_{tag}"
    add.__doc__ = f"Add a {tag}, of a default class if it takes one, with attributes by name."
    return add


for _tag in ("frame", *(tag for tags in CONTENT.values() for tag in tags)):
    setattr(Container, f"add_{_tag}", _adder(_tag))


@fields(FRAME)
class MjsFrame(Container):
    """A frame: a pose that applies to its content, without a body."""

    def attach_body(self, body: MjsBody, prefix: str | None = None, suffix: str | None = None) -> MjsBody:
        """Attach a body, usually from another specification, in this frame. See ``MjSpec.attach``."""
        return self.spec.attach_part(self, body, prefix, suffix)


@fields(INERTIAL, part="inertial", pos="ipos", quat="iquat", diaginertia="inertia")
@fields(BODY)
class MjsBody(Container):
    """A body. Setting ``mass``, ``ipos``, ``iquat``, ``inertia`` or ``fullinertia`` creates its inertial frame."""

    plugin = plugin_instance

    @property
    def name(self) -> str:
        """Name of the body."""
        return WORLD if self.element.row.tag == "worldbody" else self.element.attributes.get("name") or ""

    @name.setter
    def name(self, value: str) -> None:
        self.spec.check_name(self.element, value)
        self.write(BODY.attributes["name"], "name", value)

    def part(self, tag: str, make: bool = False) -> Any:
        """Return the ``inertial`` element, even inside a frame. If missing, add one (``make``) or return None."""
        found = next((element for element, _ in self.element.content(tag)), None)
        if found is None and make:
            found = self.element.add(tag, pos=(0.0, 0.0, 0.0))
            if self.spec.compat == "4.0":
                self.spec.tree.beside[found] = {IMPLIED: True}
        return found

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Write an attribute as `Struct.write` does. Setting ``ipos`` makes the inertial frame explicit."""
        super().write(row, name, value, part)
        if part == "inertial" and row.name == "pos":
            self.spec.tree.beside.pop(self.part(part), None)

    @property
    def ialt(self) -> MjsOrientation:
        """Orientation of the inertial frame in formats other than ``iquat``. Access creates the inertial frame."""
        return MjsOrientation(self.spec, self.part("inertial", make=True))

    @property
    def explicitinertial(self) -> bool:
        """Whether the body has an inertial frame of its own. Assign False to remove it.

        With ``compat="4.0"``, setting only ``mass``, ``inertia`` or ``fullinertia`` does not make the frame explicit:
        it counts if the body has no geoms.
        """
        inertial = self.part("inertial")
        return inertial is not None and inertial not in self.spec.tree.beside

    @explicitinertial.setter
    def explicitinertial(self, value: bool) -> None:
        inertial = self.part("inertial", make=bool(value))
        self.spec.tree.beside.pop(inertial, None)
        if not value and inertial is not None:
            inertial.parent.children.remove(inertial)

    @property
    def fuse(self) -> int:
        """Whether ``fusestatic`` may fuse the body with its parent: 1 or 0."""
        return int(self.element.resolved().get("fuse") != "false")

    @fuse.setter
    def fuse(self, value: Any) -> None:
        may = value == "auto" if isinstance(value, str) else bool(value)
        self.write(BODY.attributes["fuse"], "fuse", "auto" if may else "false")

    def to_frame(self) -> MjsFrame:
        """Replace the body by a frame of its parent with the same pose, which holds the content of the body.

        The struct of the body must not be used afterwards. Joints become joints of the parent, and the inertial frame
        is lost. Raises MjcfError for the world body.
        """
        element = self.element
        if element.parent is None or element.tag != "body":
            raise element.error("only bodies inside the world can become frames")
        names = ("pos", *(row.name for row in ORIENTATION), "childclass")
        given = {name: element.attributes[name] for name in names if name in element.attributes}
        with keys_kept(element.tree):
            place = element.parent.children.index(element)
            frame = element.parent.add("frame", **given)
            element.parent.children.insert(place, element.parent.children.pop())
            element.parent.children.remove(element)
            for child in [child for child in element.children if child.tag not in ("inertial", "plugin")]:
                child.parent = frame
                frame.children.append(child)
        element.parent, element.children = None, []
        self.spec.edited()
        return self.spec.struct(frame)

    @property
    def frames(self) -> list[MjsFrame]:
        """Frames of this body, including nested frames."""
        found, stack = [], list(self.element.children[::-1])
        while stack:
            element = stack.pop()
            if element.tag == "frame":
                found.append(self.spec.struct(element))
                stack.extend(element.children[::-1])
        return found

    make_flex: Maker

    def find_all(self, kind: mjtObj | str) -> list[Any]:
        """Return all elements of a kind (a `mjtObj` or a word, like ``"site"``) in this body's subtree.

        The elements of a body precede those of its child bodies. Raises ValueError for kinds that bodies do not
        contain.
        """
        word = (
            kind if isinstance(kind, str) else mjtObj(engine_number(mjtObj, kind)).name.removeprefix("mjOBJ_").lower()
        )
        if word not in _FINDABLE:
            raise ValueError(f"body.find_all supports the types: {', '.join(_FINDABLE)}.")
        bodies = bodies_in(self.element)
        if word == "body":
            return [self.spec.struct(body) for body in bodies if body is not self.element]
        plural = "frames" if word == "frame" else next(p for p, tags in CONTENT.items() if word in tags)
        return [element for body in bodies for element in getattr(self.spec.struct(body), plural)]

    def find_child(self, name: str) -> MjsBody | None:
        """Return the body with this name in the subtree of this body, or None."""
        return next((body for body in self.find_all("body") if body.name == name), None)

    def attach_frame(self, frame: MjsFrame, prefix: str | None = None, suffix: str | None = None) -> MjsFrame:
        """Attach a frame, usually from another specification, in this body. See ``MjSpec.attach``."""
        return self.spec.attach_part(self, frame, prefix, suffix)


MjsBody.make_flex = make_flex
_FINDABLE = ("body", "frame", "geom", "site", "joint", "light", "camera")


def _steppers(kind: str, plural: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods ``first_KIND`` and ``next_KIND`` of a body, which walk through its elements of a kind."""

    def first(self: MjsBody) -> Any:
        return next(iter(getattr(self, plural)), None)

    def following(self: MjsBody, element: Any) -> Any:
        found = getattr(self, plural)
        place = next((i for i, other in enumerate(found) if other is element), None)
        if place is None:
            raise ValueError(f"next_{kind}: the element is not a {kind} of this body")
        return found[place + 1] if place + 1 < len(found) else None

    first.__name__, first.__doc__ = f"first_{kind}", f"Return the first {kind} of this body, or None."
    following.__name__ = f"next_{kind}"
    following.__doc__ = f"Return the {kind} that follows another {kind} of this body, or None."
    return first, following


def _listing(tags: tuple[str, ...], doc: str) -> property:
    """Return a property that lists the body's elements with these tags."""

    def get(self: MjsBody) -> list[Any]:
        return [self.spec.struct(element) for element, _ in self.element.content(*tags)]

    return property(get, doc=doc)


for _plural, _tags in CONTENT.items():
    setattr(MjsBody, _plural, _listing(_tags, f"The {_plural} that belong to this body, frames opened."))
for _plural, _kind in (("frames", "frame"), *((plural, tags[0]) for plural, tags in CONTENT.items())):
    for _step in _steppers(_kind, _plural):
        setattr(MjsBody, _step.__name__, _step)
