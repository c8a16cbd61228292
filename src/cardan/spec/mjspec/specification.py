"""The specification as a whole: adding, finding, listing, removing and attaching elements.

This is the part of ``MjSpec`` that needs no reader, writer or compiler; ``cardan.api.mjspec`` adds the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.compat import resolved
from cardan.errors import MjcfError, suggestion, with_article
from cardan.spec.layout import bodies_of, keys_kept
from cardan.spec.mjspec import actuators, assets, bodies, relations, settings
from cardan.spec.mjspec.attaching import Attaching
from cardan.spec.mjspec.authored import MjsAuthored, compiler_bits
from cardan.spec.mjspec.settings import MjsDefault
from cardan.spec.mjspec.struct import Struct
from cardan.spec.schema.body import BODY
from cardan.spec.schema.language import SCHEMA
from cardan.spec.schema.settings import COMPILER, SIZE
from cardan.spec.tree import ModelTree, remove

if TYPE_CHECKING:
    from cardan.spec.element import Element


_STATEFUL = ("joint", "freejoint")  # tags of elements in bodies with entries in keyframes


class Kind(NamedTuple):
    """One kind of object: its struct class and its plural.

    For objects outside the kinematic tree, ``section`` is the section of MJCF and ``tag`` the tag of a new element. If
    ``decided`` is false, a new element has a preliminary row until its type or first child is known, and its checks are
    postponed. If ids are in the order of the tree, ``size`` is the model's field with the number of objects.
    """

    struct: Any
    plural: str
    section: str = ""
    tag: str = ""
    decided: bool = True
    size: str = ""


KINDS: dict[str, Kind] = {
    "body": Kind(bodies.MjsBody, "bodies", size="nbody"),
    "frame": Kind(bodies.MjsFrame, "frames"),
    "joint": Kind(bodies.MjsJoint, "joints", size="njnt"),
    "geom": Kind(bodies.MjsGeom, "geoms", size="ngeom"),
    "site": Kind(bodies.MjsSite, "sites", size="nsite"),
    "camera": Kind(bodies.MjsCamera, "cameras", size="ncam"),
    "light": Kind(bodies.MjsLight, "lights", size="nlight"),
    "mesh": Kind(assets.MjsMesh, "meshes", "asset", "mesh", size="nmesh"),
    "hfield": Kind(assets.MjsHField, "hfields", "asset", "hfield", size="nhfield"),
    "texture": Kind(assets.MjsTexture, "textures", "asset", "texture", size="ntex"),
    "material": Kind(assets.MjsMaterial, "materials", "asset", "material", size="nmat"),
    "flex": Kind(assets.MjsFlex, "flexes", "deformable", "flex", size="nflex"),
    "skin": Kind(assets.MjsSkin, "skins", "deformable", "skin", size="nskin"),
    "pair": Kind(relations.MjsPair, "pairs", "contact", "pair"),
    "exclude": Kind(relations.MjsExclude, "excludes", "contact", "exclude"),
    "equality": Kind(relations.MjsEquality, "equalities", "equality", "connect", decided=False, size="neq"),
    "tendon": Kind(relations.MjsTendon, "tendons", "tendon", "spatial", decided=False, size="ntendon"),
    "actuator": Kind(actuators.MjsActuator, "actuators", "actuator", "general", size="nactuator"),
    "sensor": Kind(actuators.MjsSensor, "sensors", "sensor", "touch", decided=False, size="nsensor"),
    "numeric": Kind(assets.MjsNumeric, "numerics", "custom", "numeric", size="nnumeric"),
    "text": Kind(assets.MjsText, "texts", "custom", "text", size="ntext"),
    "tuple": Kind(assets.MjsTuple, "tuples", "custom", "tuple", size="ntuple"),
    "key": Kind(assets.MjsKey, "keys", "keyframe", "key", size="nkey"),
    "plugin": Kind(assets.MjsPlugin, "plugins"),
}


class Specification(Attaching):
    """A model that can be edited: a model tree and the structs of its elements.

    Args:
        tree: the model tree (``cardan.spec.ModelTree``). None: a new tree with only the world body.
        compat: version of MuJoCo whose behaviour compiled models have, ``"3.1"`` or ``"4.0"``. None: the tree's
            version or, for a new tree, the default of the process.
    """

    tree: ModelTree
    option: settings.MjsOption
    compiler: settings.MjsCompiler
    stat: Struct
    visual: settings.MjsVisual
    unprefixed: bool = False
    comment: str = ""
    """Comment of the model; not saved."""

    def __init__(self, tree: ModelTree | None = None, *, compat: str | None = None) -> None:
        self.tree = ModelTree(compat=compat) if tree is None else tree
        if compat is not None:
            self.tree.compat = resolved(compat)
        self._structs: dict[Element, Struct] = {}
        self._ids: dict[Element, int] = {}
        self._signature = 0
        self._taken: dict[str, dict[str, Element]] | None = None
        self._authored = MjsAuthored(self.tree)
        self._compiler_bits = compiler_bits(self.tree)
        self._parent: Specification | None = None
        self._shares: bool | None = None
        self.unprefixed = False  # whether a specification was attached without a prefix
        self._moved: dict[Element, tuple[Specification, Element]] = {}  # elements that another specification took over
        self._origins: dict[Element, Specification] = {}

    nemax: int = 0
    """Largest number of equality constraints, which MuJoCo ignores, too."""

    hasImplicitPluginElem: bool = False
    """Mark of plugin instances without names, which programs may set. It has no effect."""

    @property
    def compat(self) -> str:
        """Version of MuJoCo whose behaviour compiled models have: ``"3.1"`` or ``"4.0"``. Can be set.

        Macros such as ``flexcomp`` are expanded when a file is read, with the version that was given there.
        """
        return self.tree.compat

    @compat.setter
    def compat(self, version: str) -> None:
        self.tree.compat = resolved(version)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name != "tree" and not hasattr(type(self), name):
            raise AttributeError(f"MjSpec has no attribute '{name}'" + suggestion(name, dir(type(self))))
        object.__setattr__(self, name, value)

    # --- structs of elements -----------------------------------------------------------------------------------------

    def struct(self, element: Element) -> Any:
        """Return the struct of an element of the tree. Repeated calls return the same struct.

        If the element was attached to another specification without a copy, return the struct of the element there.
        """
        if element in self._moved:
            host, there = self._moved[element]
            return host.struct(there)
        struct = self._structs.get(element)
        if struct is None:
            kind = "body" if element is self.tree.worldbody else element.row.kind
            struct = self._structs[element] = KINDS[kind or ""].struct(self, element)
        return struct

    def find(self, kind: str, name: str) -> Any:
        """Return the struct of the object with this kind and name, or None."""
        element = self.tree.find(kind, name)
        return None if element is None else self.struct(element)

    def elements(self, kind: str) -> list[Element]:
        """Return all elements of a kind in model order (contact pairs: in the user's order)."""
        if kind == "body":
            return list(bodies_of(self.tree))
        if KINDS[kind].section:
            sections = ("asset", "deformable") if kind == "skin" else (KINDS[kind].section,)
            parts = (element for section in sections for element in self.tree.section(section).children)
            return [element for element in parts if element.row.kind == kind]
        if kind == "plugin":
            holders = self.tree.section("extension").all("plugin")
            return [element for holder in holders for element in holder.all("instance")]
        if kind == "frame":
            return [element for element in self.tree.worldbody.descendants() if element.row.kind == kind]
        tags = bodies.CONTENT[KINDS[kind].plural]
        return [element for body in bodies_of(self.tree) for element, _ in body.content(*tags)]

    def id_of(self, element: Element) -> int:
        """Return the id of an element in the most recently compiled model, or -1 if that model does not contain it."""
        return self._ids.get(element, -1)

    @property
    def signature(self) -> int:
        """Signature of the last compiled model (`MjModel.signature`). It is 0 after structural changes."""
        return self._signature

    @property
    def authored(self) -> MjsAuthored:
        """Marks of the settings that the file of the specification gives."""
        return self._authored

    def edited(self) -> None:
        """Record a structural change: elements were added, removed or moved."""
        self._signature = 0
        self._taken = None
        self.tree.changed()

    def check_name(self, element: Element, name: str) -> None:
        """Raise MjcfError if another element of the same kind has a name. Record that this element takes it."""
        kind = element.row.kind
        if not kind or element.row.is_entry:
            return
        if self._taken is None:
            self._taken = {}
        if kind not in self._taken:
            self._taken[kind] = {part.name: part for part in self.elements(kind) if part.name}
        taken = self._taken[kind]
        other = taken.get(name)
        if other is not None and other is not element and other.name == name and self.tree.root in other.around():
            raise element.error(f"Error: repeated name '{name}' in {kind}", "name")
        if name:
            taken[name] = element

    def origin(self, struct: Struct) -> Specification:
        """Return the specification in which an element was defined, before it was attached to this one."""
        return self._origins.get(struct.element, self)

    # --- adding ------------------------------------------------------------------------------------------------------

    def add_to(self, parent: Any, tag: str, default: Any, values: dict[str, Any]) -> Any:
        """Add an element with attributes ``values`` to the element ``parent``. Return the new element's struct.

        If an attribute is wrong, nothing is added. Keyframes are extended by the initial values of the new element.
        """
        self._signature = 0
        stateful = tag in _STATEFUL or parent.tag == "actuator" or "mocap" in values
        with keys_kept(self.tree) if stateful else nullcontext():
            element: Element = parent.add(tag)
            self.tree.uses_later |= element.row.later is not None
            struct = self.struct(element)
            try:
                if default is not None:
                    # the default class of a body or frame is that of its content
                    name = "childclass" if element.tag in ("body", "frame") else "classname"
                    if name == "classname" and "class" not in element.row.attributes:
                        raise element.error("takes no default class", "default")
                    setattr(struct, name, default)
                struct.assign(values)
            except Exception:
                parent.children.remove(element)
                del self._structs[element]
                self.tree.changed()
                raise
            return struct

    def activate_plugin(self, name: str) -> None:
        """Declare that the model uses an engine plugin, such as ``mujoco.pid``."""
        extension = self.tree.section("extension")
        if not any(part["plugin"] == name for part in extension.all("plugin")):
            extension.add("plugin", plugin=name)

    def add_plugin(
        self,
        plugin_name: str,
        name: str,
        config: Mapping[str, Any] | None = None,
        active: bool = True,
        info: str | None = None,
    ) -> assets.MjsPlugin:
        """Add an instance of an engine plugin, and declare the plugin.

        Args:
            plugin_name: the plugin, such as ``mujoco.pid``.
            name: name of the instance, by which elements refer to the instance (``actuator.plugin = "name"``).
            config: settings of the instance by key. Values are texts or numbers.
            active: whether elements use the instance; kept for programs that set it.
            info: place of the definition, for error messages.

        Raises:
            MjcfError: a name is missing, or the instance's name is already used.
        """
        extension = self.tree.section("extension")
        for word, value in (("plugin_name", plugin_name), ("name", name)):
            if not isinstance(value, str) or not value:
                raise extension.error(f"add_plugin needs a text as {word}, found {value!r}")
        if name in self.tree.names("plugin"):
            raise extension.error(f"there is a plugin instance '{name}' already", "name")
        holder = next((part for part in extension.all("plugin") if part["plugin"] == plugin_name), None)
        struct = self.struct((holder or extension.add("plugin", plugin=plugin_name)).add("instance", name=name))
        struct.config = config or {}
        struct.active = active
        if info is not None:
            struct.info = info
        self._signature = 0
        return struct

    def add_default(self, name: str, parent: MjsDefault | str | None = None) -> MjsDefault:
        """Add a default class inside ``parent`` (default: the global class). It starts with the parent's values."""
        around = self.default if parent is None else self.find_default(parent) if isinstance(parent, str) else parent
        if around is None:
            known = suggestion(str(parent), self.tree.defaults.names())
            raise MjcfError(f"there is no default class '{parent}'{known}")
        return MjsDefault(self, self.tree.defaults.add(name, around.cls))

    def find_default(self, name: str) -> MjsDefault | None:
        """Return the default class with this name, or None."""
        return MjsDefault(self, self.tree.defaults[name]) if name in self.tree.defaults else None

    @property
    def default(self) -> MjsDefault:
        """Global default class."""
        return MjsDefault(self, self.tree.defaults.main)

    def _keep_defaults(self, classes: Any) -> None:
        """Make the values that elements have from some default classes explicit, and remove the references to these."""
        parts = self.tree.root.descendants()
        for part in parts:
            if part.row.entry and not part.row.is_entry and part.default_class.name in classes:
                values = part.default_class.entries.get(part.row.entry, {})
                given = {name: value for name, value in values.items() if name in part.row.attributes}
                part.attributes.update({name: value for name, value in given.items() if name not in part.attributes})
        for part in parts:
            for name in ("class", "childclass"):
                if part.attributes.get(name) in classes and part.tag != "default":
                    del part.attributes[name]

    # --- removing and attaching --------------------------------------------------------------------------------------

    def delete(self, element: Struct | MjsDefault) -> None:
        """Remove an element with its content and all elements that refer to them, or remove a default class.

        If a material or texture is removed, elements that use it only lose the reference. With ``compat="4.0"``,
        references to other elements than bodies and frames are left, and compilation fails if they remain. Keyframes
        keep the values of the remaining elements.

        Raises:
            MjcfError: the element is the world body, or a default class in use (with ``compat="4.0"``, the elements
                keep its values).
            ValueError: the element belongs to another specification.
        """
        if isinstance(element, MjsDefault):
            inside = element.cls.names_inside()
            if self.compat == "4.0":
                self._keep_defaults(inside)
            for user in self.tree.root.descendants():
                for name in ("class", "childclass"):
                    if user.attributes.get(name) in inside and user.tag != "default":
                        raise user.error(f"is of the default class '{user.attributes[name]}'", name)
            self.tree.defaults.remove(element.cls)
            return
        if element.spec is not self:
            attached = any(host is element.spec for host, _ in self._moved.values())
            message = "Cannot delete element from an attached mjSpec."
            raise ValueError(message if attached else "the element belongs to another specification")
        if element.element is self.tree.worldbody:
            raise self.tree.worldbody.error("the world body can't be deleted")
        if self.tree.root not in element.element.around():
            raise ValueError(f"the {element.kind} is not in this model: it was deleted before")
        self._signature = 0
        alone = self.compat == "4.0" and element.element.tag not in ("body", "frame")
        with keys_kept(self.tree):
            remove(element.element, alone)

    # --- checks ------------------------------------------------------------------------------------------------------

    def check_pending(self) -> None:
        """Raise MjcfError if an element is incomplete, such as a tendon without a path."""
        inside: dict[Element, set[Element]] = {}
        for struct in list(self._structs.values()):
            parent: Any = struct.element.parent
            if parent is None or type(struct).pending is Struct.pending:
                continue
            if parent not in inside:
                inside[parent] = set(parent.children)
            error = struct.pending() if struct.element in inside[parent] else None
            if error is not None:
                raise error

    # --- settings ----------------------------------------------------------------------------------------------------

    @property
    def worldbody(self) -> bodies.MjsBody:
        """The world body."""
        return self.struct(self.tree.worldbody)

    @property
    def modelname(self) -> str:
        """Name of the model."""
        return self.tree.model_name

    @modelname.setter
    def modelname(self, value: str) -> None:
        self.tree.root["model"] = value

    @property
    def modelfiledir(self) -> str:
        """Folder of the file from which the model was read. Empty if there is none."""
        return "" if self.tree.folder is None else str(self.tree.folder)

    @property
    def assets(self) -> dict[str, bytes]:
        """Contents of files by name, used instead of files on disk."""
        return self.tree.assets

    @assets.setter
    def assets(self, value: dict[str, bytes]) -> None:
        self.tree.assets = dict(value)


def _complete(name: str, kind: Kind) -> None:
    """Add the methods and the list property of a kind to `Specification`, and its defaults to `MjsDefault`."""

    def find(self: Specification, name: str) -> Any:
        return self.find(find.__name__, name)

    def add(self: Specification, default: Any = None, **values: Any) -> Any:
        return self.add_to(self.tree.section(kind.section), kind.tag, default, values)

    find.__name__, find.__doc__ = name, f"Return the {name} of this name, or None."
    setattr(Specification, name, find)
    listing = property(lambda self: [*map(self.struct, self.elements(name))], doc=f"All {kind.plural}, in order.")
    setattr(Specification, kind.plural, listing)
    row = BODY.children.get(name)
    if kind.section:
        add.__name__ = f"add_{name}"
        add.__doc__ = f"Add {with_article(name)}, of a default class if it takes one, with attributes by name."
        setattr(Specification, add.__name__, add)
        row = SCHEMA.children[kind.section].children[kind.tag]
    if row is not None and row.entry:
        struct = settings.EqualityDefault if name == "equality" else kind.struct
        setattr(MjsDefault, name, settings.default_entry(name, row.entry, struct))


def _setting(section: str, row: Any) -> property:
    """Return a property of the specification, as in MuJoCo, for a setting that the tree holds in ``section``."""

    def get(self: Specification) -> Any:
        value = self.tree.section(section)[row.name]
        return "" if value is None else value

    def put(self: Specification, value: Any) -> None:
        Struct(self, self.tree.section(section)).write(row, row.name, value)

    return property(get, put, doc=row.meaning)


def _section(tag: str, struct: Any) -> property:
    """Return a property for a section of the tree. Its value is the struct ``struct`` of the section."""
    return property(lambda self: struct(self, self.tree.section(tag)), doc=struct.__doc__)


for _name, _kind in KINDS.items():
    _kind.struct.kind = _name
    _complete(_name, _kind)
for _row in SIZE.attributes.values():
    setattr(Specification, _row.name, _setting("size", _row))
for _name in ("meshdir", "texturedir", "strippath"):
    setattr(Specification, _name, _setting("compiler", COMPILER.attributes[_name]))
for _name, _tag, _struct in (
    ("option", "option", settings.MjsOption),
    ("compiler", "compiler", settings.MjsCompiler),
    ("stat", "statistic", settings.MjsStatistic),
    ("visual", "visual", settings.MjsVisual),
):
    setattr(Specification, _name, _section(_tag, _struct))
