"""Flexes as structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.spec.mjspec.struct import Field, Named, fields
from cardan.spec.mjspec.values import LiveList, to_tree, to_user
from cardan.spec.schema.asset import DEFORMABLE

if TYPE_CHECKING:
    from cardan.spec.mjspec.struct import Struct
    from cardan.spec.schema.rows import Attribute

_ROW = DEFORMABLE.children["flex"]


class PartField(Field):
    """An attribute of a struct that is an attribute of a child element: ``contact`` or ``edge`` of a flex."""

    def __init__(self, tag: str, row: Attribute, name: str) -> None:
        super().__init__(row, name)
        self.tag = tag

    def __get__(self, struct: Struct | None, owner: type | None = None) -> Any:
        if struct is None:
            return self
        part = struct.element.child(self.tag)
        value = self.row.default if part is None else part[self.row.name]
        return to_user(self.row, value, lambda new: self.__set__(struct, new))

    def __set__(self, struct: Struct, value: Any) -> None:
        try:
            converted = to_tree(self.row, value)
        except (TypeError, ValueError) as error:
            raise struct.element.error(str(error), self.name) from None
        part = struct.element.child(self.tag) or struct.element.add(self.tag)
        part[self.row.name] = converted


@fields(_ROW, drop=("body",), vertex="vert", element="elem")
class MjsFlex(Named):
    """A deformable object: elements between vertices, each of which follows a body."""

    @property
    def vertbody(self) -> LiveList:
        """Names of the vertices' bodies; a single name applies to all vertices."""
        names = self.element.attributes.get("body", "").split()
        return LiveList(names, lambda new: setattr(self, "vertbody", new))

    @vertbody.setter
    def vertbody(self, value: Any) -> None:
        names = [value] if isinstance(value, str) else list(value)
        if not all(isinstance(name, str) and name.split() == [name] for name in names):
            raise self.element.error("expected names of bodies, without white space", "vertbody")
        self.element["body"] = " ".join(names) or None


for _tag, _prefix in (("contact", ""), ("edge", "edge")):
    for _attribute in _ROW.children[_tag].attributes.values():
        setattr(MjsFlex, _prefix + _attribute.name, PartField(_tag, _attribute, _prefix + _attribute.name))
