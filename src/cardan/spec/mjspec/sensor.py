"""Sensors as structs: type, object and reference, independent of their attributes in the language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums import mjtObj, mjtSensor
from cardan.spec.mjspec.plugin import plugin_of_sensor
from cardan.spec.mjspec.struct import Named, fields
from cardan.spec.schema.keywords import OBJECT
from cardan.spec.schema.sensor import SENSOR

if TYPE_CHECKING:
    from cardan.spec.schema.rows import ElementRow

# tags of sensors whose type has another name
_OTHER_NAMES = {
    "jointactuatorfrc": "JOINTACTFRC",
    "distance": "GEOMDIST",
    "normal": "GEOMNORMAL",
    "fromto": "GEOMFROMTO",
}
_TYPE = {tag: getattr(mjtSensor, "mjSENS_" + _OTHER_NAMES.get(tag, tag.upper())) for tag in SENSOR.children}
_TAG = {number: tag for tag, number in _TYPE.items()}
_WORD = {number: word for word, number in OBJECT.items()}


def _attributes(row: ElementRow) -> tuple[dict[str, str], dict[str, str]]:
    """Return the attributes that name the object and the reference of a sensor, by the kind that each names.

    The key ``@`` represents any kind; another attribute then holds the kind.
    """
    names = [(attribute.kind or "", attribute.name) for attribute in row.references]
    if any(kind.startswith("@") for kind, _ in names):
        return ({"@": "objname"}, {"@": "refname"} if "refname" in row.attributes else {})
    half = len(names) - len(names) // 2
    return dict(names[:half]), dict(names[half:])


@fields(SENSOR.children["user"], drop=("objtype", "objname"))
class MjsSensor(Named):
    """A sensor: ``type``, then the object (``objtype``, ``objname``) and the reference (``reftype``, ``refname``)."""

    plugin = plugin_of_sensor

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        aims = []
        for attributes, holder in zip(_attributes(element.row), ("objtype", "reftype"), strict=True):
            found = next(((kind, name) for kind, name in attributes.items() if name in element.attributes), None)
            kind, name = found or ("", "")
            word = element.attributes.get(holder, "") if kind == "@" else kind
            aims += [mjtObj(OBJECT.get(word, 0)), element.attributes.get(name, "")]
        object.__setattr__(self, "_aims", dict(zip(("objtype", "objname", "reftype", "refname"), aims, strict=True)))

    @property
    def type(self) -> mjtSensor:
        """Kind of sensor."""
        return _TYPE[self.element.row.tag]

    @type.setter
    def type(self, value: int) -> None:
        tag = _TAG.get(value)
        if tag is None:
            known = ", ".join(mjtSensor.__members__)
            raise self.element.error(f"{value!r} is no sensor; expected one of {known}", "type")
        row, element = SENSOR.children[tag], self.element
        if row.later:
            raise element.unsupported(row.later, "type")
        self._clear_aims()
        for name in [name for name in element.attributes if name not in row.attributes]:
            del element.attributes[name]
        element.row = row
        self._write_aims()

    def _clear_aims(self) -> None:
        for attributes in _attributes(self.element.row):
            for name in (*attributes.values(), "objtype", "reftype"):
                self.element.attributes.pop(name, None)

    def _aim(self, holder: str, attributes: dict[str, str]) -> tuple[str, str] | None:
        """Return the kind of the object or reference and the attribute that names it, or None if they do not match."""
        word = _WORD.get(int(self._aims[holder]), "")
        if "@" in attributes:
            return (word, attributes["@"]) if word else None
        if not word and len(attributes) == 1:
            word = next(iter(attributes))
        return (word, attributes[word]) if word in attributes else None

    def _write_aims(self) -> None:
        """Write object and reference if they match the type."""
        self._clear_aims()
        row = self.element.row
        for attributes, side in zip(_attributes(row), ("obj", "ref"), strict=True):
            aim, name = self._aim(side + "type", attributes), self._aims[side + "name"]
            if aim is not None and name:
                self.write(row.attributes[aim[1]], side + "name", name)
                if "@" in attributes:
                    self.write(row.attributes[side + "type"], side + "type", aim[0])
        self.element.tree.changed()

    def pending(self) -> Any:
        """An error if object or reference do not match the type, else None."""
        for attributes, side in zip(_attributes(self.element.row), ("obj", "ref"), strict=True):
            if self._aims[side + "name"] and self._aim(side + "type", attributes) is None:
                kinds = ", ".join(_kinds_of(attributes)) or "nothing"
                return self.element.error(f"a {self.element.row.tag} sensor takes {kinds} here", side + "type")
        return None


def _kinds_of(attributes: dict[str, str]) -> list[str]:
    """Return the names of the kinds that the attributes accept."""
    return ["an object of a kind" if kind == "@" else mjtObj(OBJECT[kind]).name for kind in attributes]


def _part(name: str, doc: str) -> property:
    """Return a property for one of the four parts of object and reference."""

    def get(self: MjsSensor) -> Any:
        value = self._aims[name]
        return getattr(value, "name", value) if name.endswith("name") else value

    def put(self: MjsSensor, value: Any) -> None:
        self._aims[name] = value if name.endswith("name") else mjtObj(value)
        self._write_aims()

    return property(get, put, doc=doc)


for _name, _doc in {
    "objtype": "Kind of the object.",
    "objname": "Name of the object.",
    "reftype": "Kind of the reference.",
    "refname": "Name of the reference.",
}.items():
    setattr(MjsSensor, _name, _part(_name, _doc))
