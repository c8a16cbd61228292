"""Assets, keyframes and custom data as structs."""

from __future__ import annotations

from typing import Any

from cardan.spec.mjspec.plugin import plugin_inside
from cardan.spec.mjspec.struct import Named, fields
from cardan.spec.mjspec.values import LiveList, to_tree
from cardan.spec.schema.asset import CUSTOM, HFIELD_ROW, MATERIAL_ROW, MESH_ROW, TEXTURE_ROW, TUPLE_ELEMENT
from cardan.spec.schema.keywords import OBJECT
from cardan.spec.schema.relations import KEYFRAME

_SIDES = tuple(f"file{side}" for side in ("right", "left", "up", "down", "front", "back"))
_RGB_ROLE, _ROLES = 1, 10  # number of the colour texture among the textures of a material, and of all of them


@fields(MESH_ROW, vertex="uservert", normal="usernormal", texcoord="usertexcoord", face="userface")
class MjsMesh(Named):
    """A triangle mesh."""

    plugin = plugin_inside


@fields(HFIELD_ROW, elevation="userdata")
class MjsHField(Named):
    """A height field."""


@fields(TEXTURE_ROW, drop=_SIDES)
class MjsTexture(Named):
    """A texture."""

    @property
    def cubefiles(self) -> LiveList:
        """Files of the six sides: right, left, up, down, front, back."""
        values = self.element.resolved()
        return LiveList([values[side] or "" for side in _SIDES], lambda new: setattr(self, "cubefiles", new))

    @cubefiles.setter
    def cubefiles(self, value: list[str]) -> None:
        if len(value) != len(_SIDES):
            raise self.element.error(f"expected {len(_SIDES)} file names, found {len(value)}", "cubefiles")
        for side, file in zip(_SIDES, value, strict=True):
            self.write(TEXTURE_ROW.attributes[side], "cubefiles", file)


@fields(MATERIAL_ROW)
class MjsMaterial(Named):
    """A material. It has one texture: ``texture``, which is also ``textures[1]``, the role of the colour."""

    @property
    def textures(self) -> LiveList:
        """Names of the textures by role; only the colour (1) is supported."""
        names: list[Any] = [""] * _ROLES
        names[_RGB_ROLE] = self.texture
        return LiveList(names, lambda new: setattr(self, "textures", new))

    @textures.setter
    def textures(self, value: list[str]) -> None:
        other = next((role for role, name in enumerate(value) if name and role != _RGB_ROLE), None)
        if other is not None:
            raise self.element.error(f"materials have a colour texture ({_RGB_ROLE}), no role {other}", "textures")
        self.texture = value[_RGB_ROLE] if len(value) > _RGB_ROLE else None


@fields(KEYFRAME.children["key"])
class MjsKey(Named):
    """A keyframe. NaN in a state means "as in the initial configuration"."""


@fields(CUSTOM.children["numeric"])
class MjsNumeric(Named):
    """Numbers under a name."""


@fields(CUSTOM.children["text"])
class MjsText(Named):
    """A text under a name."""


class MjsTuple(Named):
    """A list of objects: ``objtype``, ``objname`` and ``objprm`` are lists of equal length."""

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        parts = [part.resolved() for part in element.children]
        columns = {name: [part[name] for part in parts] for name in ("objtype", "objname", "prm")}
        object.__setattr__(self, "_columns", columns)

    def _column(self, name: str) -> LiveList:
        return LiveList(self._columns[name], lambda new: self._set(name, new))

    def _set(self, name: str, values: Any) -> None:
        """Store one list, and write the content when all lists have the same length."""
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

    @property
    def objtype(self) -> LiveList:
        """Kinds of the objects (``mjtObj``)."""
        return LiveList([OBJECT[word] for word in self._columns["objtype"]], lambda new: self._set("objtype", new))

    @objtype.setter
    def objtype(self, value: Any) -> None:
        self._set("objtype", value)

    @property
    def objname(self) -> LiveList:
        """Names of the objects."""
        return self._column("objname")

    @objname.setter
    def objname(self, value: Any) -> None:
        self._set("objname", value)

    @property
    def objprm(self) -> LiveList:
        """Parameters of the objects."""
        return self._column("prm")

    @objprm.setter
    def objprm(self, value: Any) -> None:
        self._set("prm", value)

    def pending(self) -> Any:
        """An error if the lists differ in length, else None."""
        lengths = [len(column) for column in self._full_columns()]
        if len(set(lengths)) == 1:
            return None
        return self.element.error(f"objtype, objname and objprm have {lengths} entries: they must have equally many")
