"""Structs for assets, flexes, custom data, keyframes and plugin instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtObj
from cardan.errors import suggestion
from cardan.formats.raw import MeshDataError
from cardan.spec.builtins import builtin_mesh, has_volume
from cardan.spec.mjspec.generated import GeneratedMesh
from cardan.spec.mjspec.struct import Named, fields, struct_class
from cardan.spec.mjspec.values import (
    FixedList,
    LiveList,
    MjStringVec,
    letters_property,
    live_array,
    shown,
    to_tree,
)
from cardan.spec.schema.actuator import PLUGIN_ACTUATOR
from cardan.spec.schema.asset import (
    CUSTOM,
    DEFORMABLE,
    HFIELD_ROW,
    LAYERS,
    MATERIAL_ROW,
    MESH_ROW,
    TEXTURE_ROW,
    TUPLE_ELEMENT,
)
from cardan.spec.schema.keywords import OBJECT, TEXTURE_ROLE
from cardan.spec.schema.relations import KEYFRAME
from cardan.spec.tree import USER_TEXTURE

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.schema.rows import Attribute

# --- plugins ---------------------------------------------------------------------------------------------------------


class MjsPlugin(Named):
    """An instance of an engine plugin: its name, its plugin, its settings."""

    active = True

    @property
    def plugin_name(self) -> str:
        """Name of the instance's plugin, such as ``mujoco.pid``."""
        return self.element.parent["plugin"]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "active":
            object.__setattr__(self, name, bool(value))
        else:
            super().__setattr__(name, value)

    @property
    def config(self) -> dict[str, str]:
        """Copy of the settings, as text by key. Assign a mapping to replace all of them."""
        return {part["key"]: part["value"] or "" for part in self.element.all("config")}

    @config.setter
    def config(self, value: Mapping[str, Any]) -> None:
        settings = {str(key): _text(part) for key, part in dict(value).items()}
        self.element.children = [part for part in self.element.children if part.tag != "config"]
        for key, text in settings.items():
            self.element.add("config", key=key, value=text)


def _text(value: Any) -> str:
    """Convert a setting to MJCF text. Several values are separated by spaces."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else " ".join(map(str, value)) if hasattr(value, "__iter__") else str(value)


def _get_instance(struct: Any) -> MjsPlugin | None:
    """Return the plugin instance of an element, or None if it has none or is an entry of a default class."""
    element: Element = struct.element
    if element.row.is_entry:
        return None
    user = element if "instance" in element.row.attributes else element.child("plugin")
    name = user["instance"] if user is not None else None
    return struct.spec.plugin(name) if name else None


def _set_instance(struct: Any, value: Any) -> None:
    """Set the plugin instance of an element, by struct or name.

    None removes the plugin of a body, geom or mesh. An actuator with a plugin loses its gains and biases, since the
    plugin computes its force.
    """
    element, kind = struct.element, struct.element.row.kind
    if element.row.is_entry:
        if value is not None:
            raise element.error("default classes have no plugins", "plugin")
        return
    name, known = getattr(value, "name", value), struct.spec.tree.names("plugin")
    if name not in known and (name is not None or kind in ("actuator", "sensor")):
        raise element.error(f"there is no plugin instance '{name}'{suggestion(str(name), known)}", "plugin")
    if kind == "actuator":
        element.row = PLUGIN_ACTUATOR
        element.attributes = {key: part for key, part in element.attributes.items() if key in element.row.attributes}
    if "instance" in element.row.attributes:
        element["instance"] = name
    elif kind == "sensor":
        raise element.error("only sensors of the type mjSENS_PLUGIN have a plugin: set the type first", "plugin")
    else:
        element.children = [part for part in element.children if part.tag != "plugin"]
        if name is not None:
            element.add("plugin", instance=name)
        struct.spec.tree.changed()


plugin_instance = property(
    _get_instance,
    _set_instance,
    doc="The plugin instance (`MjsPlugin`), or None; may be set to an instance or its name.",
)


# --- assets ----------------------------------------------------------------------------------------------------------

_SIDES = tuple(f"file{side}" for side in ("right", "left", "up", "down", "front", "back"))
_TEXTURES = ("", "texture", *(f"layer {role}" for role in TEXTURE_ROLE if role not in ("user", "rgb")))
"""Attributes of a material for its textures, in the order of their roles."""


def _volume_property(name: str, kind: type[np.generic], doc: str) -> property:
    """Return a property for points or tetrahedra of a mesh, which MJCF cannot express."""

    def get(self: MjsMesh) -> np.ndarray:
        held = self.spec.tree.beside.get(self.element, {}).get(name, ())
        return live_array(held, kind, lambda new: put(self, new), fixed=False)

    def put(self: MjsMesh, value: Any) -> None:
        numbers = np.asarray(value, float).ravel()
        self.spec.tree.beside.setdefault(self.element, {})[name] = numbers.astype(kind)

    return property(get, put, doc=doc)


@fields(
    MESH_ROW,
    drop=("builtin", "params"),
    single=("vertex", "normal", "texcoord"),
    vertex="uservert",
    normal="usernormal",
    texcoord="usertexcoord",
    face="userface",
)
class MjsMesh(GeneratedMesh, Named):
    """A triangle mesh. ``usernode`` and ``usertet`` are points and tetrahedra for flexes.

    If the compiler generates the mesh (``builtin`` in MJCF), the struct has the generated vertices, normals and faces.
    Setting one of these turns the element into an ordinary mesh with the same data.
    """

    plugin = plugin_instance
    absent = dict.fromkeys(
        ("needsdf", "octree_maxdepth"), "meshes have no octrees of signed distances"
    ) | dict.fromkeys(
        ("userfacenormal", "userfacetexcoord"),
        "faces use the vertices' indices also for normals and texture coordinates",
    )

    def read(self, row: Attribute, part: str | None = None) -> Any:
        """Return the resolved value of an attribute in the tree's form; see `Struct.read`."""
        values = self.element.resolved()
        if row.name in _MESH_DATA and values.get("builtin"):
            return self._made(values)[row.name]
        return super().read(row, part)

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Set an attribute of the element; see `Struct.write`."""
        values = self.element.resolved()
        if row.name in _MESH_DATA and values.get("builtin"):
            made = self._made(values)
            if values["inertia"] == "legacy" and not has_volume(values["builtin"], values["params"]):
                self.element["inertia"] = "shell"
            self.element["builtin"] = self.element["params"] = None
            for data, numbers in made.items():
                self.element[data] = numbers or None
        super().write(row, name, value, part)

    usernode = _volume_property("usernode", np.float64, "Points of the volume, x, y, z of each, m.")
    usertet = _volume_property("usertet", np.int32, "Numbers of the points of each tetrahedron.")

    def _made(self, values: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
        """Return vertices, normals, texture coordinates and faces of a generated mesh, as flat tuples.

        Raises:
            MjcfError: the parameters are invalid.
        """
        try:
            made = builtin_mesh(values["builtin"], values["params"])
        except MeshDataError as error:
            raise self.element.error(str(error), error.attribute) from None
        return {name: tuple(getattr(made, name).ravel().tolist()) for name in _MESH_DATA}


_MESH_DATA = ("vertex", "normal", "texcoord", "face")


MjsHField = struct_class("MjsHField", HFIELD_ROW, single=("elevation",), elevation="userdata")


@fields(TEXTURE_ROW, drop=_SIDES)
class MjsTexture(Named):
    """A texture. ``data`` has its pixels if a program gives them; they take the place of a file."""

    gridlayout = letters_property(TEXTURE_ROW.attributes["gridlayout"], 12, exact=True)

    @property
    def data(self) -> bytes:
        """Pixels, row by row, with ``nchannel`` bytes each; empty if the texture is generated or read from a file."""
        return self.spec.tree.beside.get(self.element, {}).get("data", b"")

    @data.setter
    def data(self, value: bytes) -> None:
        if not isinstance(value, bytes | bytearray | memoryview | np.ndarray):
            raise self.element.error(f"expected bytes, found {type(value).__name__}", "data")
        self.spec.tree.beside[self.element] = {"data": bytes(value)}

    @property
    def cubefiles(self) -> LiveList:
        """Files of the six sides of a cube texture: right, left, up, down, front, back."""
        values = self.element.resolved()
        return FixedList([values[side] or "" for side in _SIDES], lambda new: setattr(self, "cubefiles", new))

    @cubefiles.setter
    def cubefiles(self, value: list[str]) -> None:
        if len(value) != len(_SIDES):
            raise self.element.error(f"expected {len(_SIDES)} file names, found {len(value)}", "cubefiles")
        for side, file in zip(_SIDES, value, strict=True):
            self.write(TEXTURE_ROW.attributes[side], "cubefiles", file)


@fields(
    MATERIAL_ROW,
    drop=tuple(LAYERS),
    single=(*("texrepeat", "emission", "specular", "shininess", "reflectance", "metallic", "roughness", "rgba"),),
)
class MjsMaterial(Named):
    """A material. ``texture`` is the texture of its colour, ``textures`` has the textures of all roles."""

    @property
    def textures(self) -> LiveList:
        """Names of the textures by role: user, rgb, occlusion, roughness, metallic, normal, opacity, ..."""
        values = self.element.resolved()
        names = [values.get(name) or "" for name in _TEXTURES]
        names[0] = self.spec.tree.beside.get(self.element, {}).get(USER_TEXTURE, "")
        return FixedList(names, lambda new: setattr(self, "textures", new))

    @textures.setter
    def textures(self, value: list[str]) -> None:
        if len(value) != len(_TEXTURES):
            raise self.element.error(f"must have exactly {len(_TEXTURES)} elements, got {len(value)}", "textures")
        if value[0]:
            self.spec.tree.beside[self.element] = {USER_TEXTURE: value[0]}
        else:
            self.spec.tree.beside.pop(self.element, None)
        names = dict(zip(_TEXTURES, value, strict=False))
        for name in _TEXTURES[1:]:
            self.write(MATERIAL_ROW.attributes[name], "textures", names.get(name) or None)


_FLEX = DEFORMABLE.children["flex"]


@fields(_FLEX.children["elasticity"], part="elasticity")
@fields(_FLEX.children["edge"], part="edge", prefix="edge")
@fields(_FLEX.children["contact"], part="contact")
@fields(_FLEX, drop=("body",), single=("rgba", "texcoord"), vertex="vert", element="elem")
class MjsFlex(Named):
    """A deformable object: elements between vertices. Each vertex follows a body."""

    absent = dict.fromkeys(
        ("order", "size", "nodebody"), "interpolated flexes are a feature that is not built yet (docs/status.md)"
    ) | dict.fromkeys(
        ("elastic3d", "stressyield"), "this elasticity is a feature that is not built yet (docs/status.md)"
    )

    @property
    def material(self) -> Any:
        """Name of the material. With ``compat="4.0"``, a list: one name, or one for each element."""
        names = self.element.attributes.get("material") or ""
        if self.spec.compat != "4.0":
            return names
        return MjStringVec(names.split(), lambda new: setattr(self, "material", new))

    @material.setter
    def material(self, value: Any) -> None:
        names = value if isinstance(value, str) or not isinstance(value, Sequence) else " ".join(value)
        self.write(_FLEX.attributes["material"], "material", names)

    @property
    def vertbody(self) -> LiveList:
        """Names of the bodies of the vertices. A single name applies to all vertices."""
        names = self.element.attributes.get("body", "").split()
        return MjStringVec(names, lambda new: setattr(self, "vertbody", new))

    @vertbody.setter
    def vertbody(self, value: Any) -> None:
        names = [value] if isinstance(value, str) else list(value)
        if not all(isinstance(name, str) and name.split() == [name] for name in names):
            raise self.element.error("expected names of bodies, without white space", "vertbody")
        self.element["body"] = " ".join(names) or None


_SKIN = DEFORMABLE.children["skin"]
_BONES = {
    "bodyname": "body",
    "bindpos": "bindpos",
    "bindquat": "bindquat",
    "vertid": "vertid",
    "vertweight": "vertweight",
}
_BIND = {"bindpos": 3, "bindquat": 4}  # numbers of each bone in a flat list


def _of_bones(name: str, doc: str) -> property:
    """Return a property for a list with an entry for each bone of a skin."""

    def get(self: MjsSkin) -> LiveList:
        values = [list(value) if isinstance(value, tuple) else value for value in self.columns[name]]
        flat = [number for value in values for number in value] if name in _BIND else values
        return LiveList(flat, lambda new: setattr(self, name, new))

    return property(get, lambda self, value: self.set_column(name, value), doc=doc)


@fields(_SKIN, single=("rgba", "inflate", "vertex", "texcoord"), vertex="vert")
class MjsSkin(Named):
    """A surface whose vertices follow bones. Lists have an entry, or some numbers, for each bone."""

    bodyname = _of_bones("bodyname", "Names of the bodies of the bones.")
    bindpos = _of_bones("bindpos", "Positions of the bones at binding, three numbers each, m.")
    bindquat = _of_bones("bindquat", "Orientations of the bones at binding, four numbers each.")
    vertid = _of_bones("vertid", "Lists of the vertices that each bone moves.")
    vertweight = _of_bones("vertweight", "Lists of the weights of these vertices.")

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        bones = [part.attributes for part in element.children]
        object.__setattr__(self, "columns", {key: [bone.get(name) for bone in bones] for key, name in _BONES.items()})

    def set_column(self, name: str, values: Any) -> None:
        """Store one of the lists. If all lists are complete, write the bones to the element."""
        row = _SKIN.children["bone"].attributes[_BONES[name]]
        if name in _BIND:
            values = np.asarray(values, float).reshape(-1, _BIND[name])
        try:
            self.columns[name] = [to_tree(row, value) for value in values]
        except (TypeError, ValueError) as error:
            raise self.element.error(str(error), name) from None
        if self.pending() is None:
            self.element.children.clear()
            for bone in zip(*self.columns.values(), strict=True):
                self.element.add("bone", **dict(zip(_BONES.values(), bone, strict=True)))

    def pending(self) -> Any:
        """Return an error if the lists have entries for different numbers of bones, or None."""
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) == 1:
            return None
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        return self.element.error(f"the lists are for different numbers of bones: {text}")


# --- keyframes and custom data ---------------------------------------------------------------------------------------


@fields(KEYFRAME.children["key"])
class MjsKey(Named):
    """State that a program can load. NaN in the state: as in the initial configuration."""

    def read(self, row: Attribute, part: str | None = None) -> Any:
        """Return the resolved value of an attribute in the tree's form; see `Struct.read`."""
        self.element.tree.section("keyframe")  # rewrites keyframes after changes
        return super().read(row, part)

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Set an attribute of the element; see `Struct.write`."""
        self.element.tree.section("keyframe")
        super().write(row, name, value, part)


MjsNumeric = struct_class("MjsNumeric", CUSTOM.children["numeric"])
MjsText = struct_class("MjsText", CUSTOM.children["text"])


def _column(name: str, doc: str) -> property:
    """Return a property for one of the three lists of a tuple."""

    def get(self: MjsTuple) -> LiveList:
        column = self._columns[name]
        values = [shown(mjtObj, OBJECT[word]) for word in column] if name == "objtype" else column
        return LiveList(values, lambda new: self.set_column(name, new))

    return property(get, lambda self, value: self.set_column(name, value), doc=doc)


class MjsTuple(Named):
    """A list of objects: ``objtype``, ``objname`` and ``objprm`` are lists of equal length."""

    objtype = _column("objtype", "Kinds of the objects (``mjtObj``).")
    objname = _column("objname", "Names of the objects.")
    objprm = _column("prm", "Parameters of the objects.")

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        parts = [part.resolved() for part in element.children]
        columns = {name: [part[name] for part in parts] for name in ("objtype", "objname", "prm")}
        object.__setattr__(self, "_columns", columns)

    def set_column(self, name: str, values: Any) -> None:
        """Store one of the lists. If all lists have equal lengths, write the tuple's content to the element."""
        row = TUPLE_ELEMENT.attributes[name]
        try:
            self._columns[name] = [to_tree(row, value) for value in values]
        except (TypeError, ValueError) as error:
            raise self.element.error(str(error), name) from None
        if self.pending() is None:
            self.element.children.clear()
            for kind, target, prm in zip(*self._full_columns(), strict=True):
                self.element.add("element", objtype=kind, objname=target, prm=prm)

    def _full_columns(self) -> tuple[list[Any], list[Any], list[Any]]:
        kinds, names, prm = self._columns.values()
        return kinds, names, prm or [0.0] * len(names)

    def pending(self) -> Any:
        """Return an error if the lists differ in length, or None."""
        lengths = [len(column) for column in self._full_columns()]
        if len(set(lengths)) == 1:
            return None
        return self.element.error(f"objtype, objname and objprm have {lengths} entries: they must have equally many")
