"""Bodies and frames: adding elements to them, and access to their content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums import mjtObj
from cardan.errors import suggestion
from cardan.spec.mjspec.placed import MjsOrientation, Posed, set_orientation
from cardan.spec.mjspec.plugin import plugin_inside
from cardan.spec.mjspec.struct import Field, fields
from cardan.spec.mjspec.values import to_user
from cardan.spec.schema.body import BODY, FRAME, INERTIAL
from cardan.spec.schema.rows import Attribute
from cardan.spec.tree import WORLD

if TYPE_CHECKING:
    from cardan.spec.element import Element

# tags of the content of bodies, by the plural that structs use
CONTENT: dict[str, tuple[str, ...]] = {
    "bodies": ("body",),
    "joints": ("joint", "freejoint"),
    "geoms": ("geom",),
    "sites": ("site",),
    "cameras": ("camera",),
    "lights": ("light",),
}


class Container(Posed):
    """A body or a frame: elements can be added to it."""

    def add_body(self, default: Any = None, **values: Any) -> MjsBody:
        """Add a body. ``default`` is the default class of its content; ``values`` are attributes by name."""
        return self.spec.add_to(self.element, "body", default, values)

    def add_frame(self, default: Any = None, **values: Any) -> MjsFrame:
        """Add a frame."""
        return self.spec.add_to(self.element, "frame", default, values)

    def add_geom(self, default: Any = None, **values: Any) -> Any:
        """Add a geom of a default class, with attributes by name."""
        return self.spec.add_to(self.element, "geom", default, values)

    def add_joint(self, default: Any = None, **values: Any) -> Any:
        """Add a joint of a default class, with attributes by name."""
        return self.spec.add_to(self.element, "joint", default, values)

    def add_freejoint(self, default: Any = None, **values: Any) -> Any:
        """Add a free joint, which uses no default class."""
        return self.spec.add_to(self.element, "freejoint", default, values)

    def add_site(self, default: Any = None, **values: Any) -> Any:
        """Add a site of a default class, with attributes by name."""
        return self.spec.add_to(self.element, "site", default, values)

    def add_camera(self, default: Any = None, **values: Any) -> Any:
        """Add a camera of a default class, with attributes by name."""
        return self.spec.add_to(self.element, "camera", default, values)

    def add_light(self, default: Any = None, **values: Any) -> Any:
        """Add a light of a default class, with attributes by name."""
        return self.spec.add_to(self.element, "light", default, values)


@fields(FRAME)
class MjsFrame(Container):
    """A frame: a pose of its content, without a body."""

    def attach_body(self, body: MjsBody, prefix: str = "", suffix: str = "") -> MjsBody:
        """Attach a copy of a body, usually of another specification; see ``MjSpec.attach``."""
        return self.spec.attach_part(self, body, prefix, suffix)


class InertialField(Field):
    """An attribute of the inertial frame, which is an element inside the body; setting one creates the frame."""

    def __get__(self, struct: Any, owner: type | None = None) -> Any:
        if struct is None:
            return self
        inertial = struct.inertial
        value = inertial.resolved()[self.row.name] if inertial else self.row.default
        return to_user(self.row, value, lambda new: self.__set__(struct, new))

    def __set__(self, struct: Any, value: Any) -> None:
        struct.make_inertial()
        set_inertial = set_orientation if self.row.name == "quat" else _write
        set_inertial(struct.inertial_struct, self.row, self.name, value)


def _write(struct: Any, row: Attribute, name: str, value: Any) -> None:
    struct.write(row, name, value)


@fields(BODY)
class MjsBody(Container):
    """A body. Setting ``mass``, ``ipos``, ``iquat``, ``inertia`` or ``fullinertia`` creates its inertial frame."""

    plugin = plugin_inside
    ipos = InertialField(INERTIAL.attributes["pos"], "ipos")
    iquat = InertialField(INERTIAL.attributes["quat"], "iquat")
    mass = InertialField(INERTIAL.attributes["mass"], "mass")
    inertia = InertialField(INERTIAL.attributes["diaginertia"], "inertia")
    fullinertia = InertialField(INERTIAL.attributes["fullinertia"], "fullinertia")

    @property
    def name(self) -> str:
        """Name of the body."""
        return WORLD if self.element.row.tag == "worldbody" else self.element.attributes.get("name") or ""

    @name.setter
    def name(self, value: str) -> None:
        self.write(BODY.attributes["name"], "name", value)

    # --- inertial frame ----------------------------------------------------------------------------------------------

    @property
    def inertial(self) -> Element | None:
        """The tree's element of the inertial frame, or None if the inertia follows from geoms."""
        return next((element for element, _ in self.element.content("inertial")), None)

    @property
    def inertial_struct(self) -> MjsOrientation:
        """The inertial frame as a struct whose orientation can be set."""
        inertial = self.inertial
        assert inertial is not None
        return MjsOrientation(self.spec, inertial)

    def make_inertial(self) -> None:
        """Create an inertial frame at the body's origin, unless the body has one."""
        if self.inertial is None:
            self.element.add("inertial", pos=(0.0, 0.0, 0.0))

    @property
    def ialt(self) -> MjsOrientation:
        """Orientation of the inertial frame in its other formats; access creates the inertial frame."""
        self.make_inertial()
        return self.inertial_struct

    @property
    def explicitinertial(self) -> bool:
        """Whether the body has an inertial frame of its own; False removes it."""
        return self.inertial is not None

    @explicitinertial.setter
    def explicitinertial(self, value: bool) -> None:
        inertial = self.inertial
        if value:
            self.make_inertial()
        elif inertial is not None and inertial.parent is not None:
            inertial.parent.children.remove(inertial)

    # --- content -----------------------------------------------------------------------------------------------------

    @property
    def frames(self) -> list[MjsFrame]:
        """The frames of this body, including nested frames."""
        found, stack = [], list(self.element.children[::-1])
        while stack:
            element = stack.pop()
            if element.tag == "frame":
                found.append(self.spec.struct(element))
                stack.extend(element.children[::-1])
        return found

    def find_all(self, kind: mjtObj | str) -> list[Any]:
        """Return all elements of a kind (``mjtObj`` or its word, ``"site"``) in this body's subtree, depth first."""
        word = kind if isinstance(kind, str) else kind.name.removeprefix("mjOBJ_").lower()
        known = ("body", "joint", "geom", "site", "camera", "light", "frame")
        if word not in known:
            raise ValueError(f"bodies hold no '{word}'" + suggestion(word, known))
        inside = self.element.descendants()
        return [self.spec.struct(element) for element in inside if element.row.kind == word]

    def find_child(self, name: str) -> MjsBody | None:
        """Return the body of this name in the subtree of this body, or None."""
        return next((body for body in self.find_all("body") if body.name == name), None)

    def attach_frame(self, frame: MjsFrame, prefix: str = "", suffix: str = "") -> MjsFrame:
        """Attach a copy of a frame, usually of another specification; see ``MjSpec.attach``."""
        return self.spec.attach_part(self, frame, prefix, suffix)


def _listing(tags: tuple[str, ...], doc: str) -> property:
    """Return a property that lists the content of a body by tag."""

    def get(self: MjsBody) -> list[Any]:
        return [self.spec.struct(element) for element, _ in self.element.content(*tags)]

    return property(get, doc=doc)


for _plural, _tags in CONTENT.items():
    setattr(MjsBody, _plural, _listing(_tags, f"The {_plural} that belong to this body, frames opened."))
