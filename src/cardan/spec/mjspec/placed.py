"""Elements inside bodies: joints, geoms, sites, cameras, lights, and the pose that most of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums import mjtJoint
from cardan.spec.mjspec.enumerations import mjtGeomInertia, mjtOrientation
from cardan.spec.mjspec.plugin import plugin_inside
from cardan.spec.mjspec.struct import Field, Named, Struct, fields
from cardan.spec.schema.body import CAMERA_ROW, GEOM_ROW, JOINT_ROW, LIGHT_ROW, SITE_ROW
from cardan.spec.schema.keywords import FLUID_SHAPE
from cardan.spec.schema.shared import ORIENTATION

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.mjspec.defaults import DefaultEntry
    from cardan.spec.schema.rows import Attribute

_FORMATS = {row.name: mjtOrientation(number) for number, row in enumerate(ORIENTATION)}


def set_orientation(struct: Struct, row: Attribute, name: str, value: Any) -> None:
    """Set an orientation in one of the five formats, and remove earlier ones."""
    struct.write(row, name, value)
    for other in ORIENTATION:
        if other.name != row.name and other.name in struct.element.attributes:
            struct.element[other.name] = None


class Orientation(Field):
    """One of the five formats of an orientation; setting it replaces an orientation in another format."""

    def __set__(self, struct: Struct, value: Any) -> None:
        set_orientation(struct, self.row, self.name, value)


class MjsOrientation(Struct):
    """Alternative formats of an element's orientation: ``axisangle``, ``xyaxes``, ``zaxis``, ``euler``."""

    @property
    def type(self) -> mjtOrientation:
        """The format that is used."""
        values = self.element.resolved()
        return next((_FORMATS[r.name] for r in ORIENTATION[1:] if values.get(r.name) is not None), _FORMATS["quat"])


for _row in ORIENTATION[1:]:
    setattr(MjsOrientation, _row.name, Orientation(_row, _row.name))


class InBody(Named):
    """An element inside a body, directly or inside frames."""

    @property
    def parent(self) -> Any:
        """The body that contains the element."""
        around = self.element.parent
        while around is not None and around.tag not in ("body", "worldbody"):
            around = around.parent
        return None if around is None else self.spec.struct(around)

    @property
    def frame(self) -> Any:
        """The innermost frame around the element within its body, or None."""
        around = self.element.parent
        return self.spec.struct(around) if around is not None and around.tag == "frame" else None

    def set_frame(self, frame: Any) -> None:
        """Move the element into a frame of the same body. Raises MjcfError if the frame belongs to another body."""
        if frame.spec is not self.spec or frame.parent is not self.parent:
            raise self.element.error("the frame must belong to the same body")
        element: Element = self.element
        if element in (frame.element, *_around(frame.element)):
            raise self.element.error("a frame cannot stand inside itself")
        assert element.parent is not None
        element.parent.children.remove(element)
        frame.element.children.append(element)
        element.parent = frame.element
        element.tree.changed()


def _around(element: Element) -> list[Element]:
    """Return the elements around an element, innermost first."""
    found = []
    while element.parent is not None:
        element = element.parent
        found.append(element)
    return found


class Posed(InBody):
    """An element in a body with position and orientation."""

    quat = Orientation(ORIENTATION[0], "quat")

    @property
    def alt(self) -> MjsOrientation:
        """The orientation in its other formats."""
        return MjsOrientation(self.spec, self.element)


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
    """A joint; angles in the unit of the compiler settings."""

    type = Field(JOINT_ROW.attributes["type"], "type")

    def __init__(self, spec: Any, element: Element | DefaultEntry) -> None:
        super().__init__(spec, element)

    def read(self, row: Attribute) -> Any:
        """Return an attribute as for every element; a joint made by ``add_freejoint`` is free."""
        if row.name == "type" and self.element.row.tag == "freejoint":
            return "free"
        return super().read(row)

    def write(self, row: Attribute, name: str, value: Any) -> None:
        """Write an attribute as for every element; a joint made by ``add_freejoint`` remains free."""
        if name == "type" and self.element.row.tag == "freejoint" and value == mjtJoint.mjJNT_FREE:
            return
        super().write(row, name, value)


@fields(GEOM_ROW, hfield="hfieldname", mesh="meshname", drop=("fluidshape", "shellinertia"), fluidcoef="fluid_coefs")
class MjsGeom(Posed):
    """A geom."""

    plugin = plugin_inside

    @property
    def typeinertia(self) -> mjtGeomInertia:
        """Whether the mass is in the volume or on the surface."""
        return mjtGeomInertia(int(self.read(GEOM_ROW.attributes["shellinertia"])))

    @typeinertia.setter
    def typeinertia(self, value: int) -> None:
        self.write(GEOM_ROW.attributes["shellinertia"], "typeinertia", value)

    @property
    def fluid_ellipsoid(self) -> float:
        """Whether fluid forces are computed for an ellipsoid of the geom's shape."""
        return float(FLUID_SHAPE[self.read(GEOM_ROW.attributes["fluidshape"])])

    @fluid_ellipsoid.setter
    def fluid_ellipsoid(self, value: float) -> None:
        self.write(GEOM_ROW.attributes["fluidshape"], "fluid_ellipsoid", value)


@fields(SITE_ROW)
class MjsSite(Posed):
    """A site."""

    def attach_body(self, body: Any, prefix: str = "", suffix: str = "") -> Any:
        """Attach a copy of a body of another specification at this site; see ``MjSpec.attach``."""
        return self.spec.attach_at_site(self, body, prefix, suffix)


@fields(
    CAMERA_ROW,
    target="targetbody",
    sensorsize="sensor_size",
    focal="focal_length",
    focalpixel="focal_pixel",
    principal="principal_length",
    principalpixel="principal_pixel",
)
class MjsCamera(Posed):
    """A camera."""


@fields(LIGHT_ROW, target="targetbody")
class MjsLight(InBody):
    """A light."""
