"""Actuators and sensors as structs. Their attributes differ from the attributes of MJCF.

The struct of an actuator always has the general form, even if the text uses a shortcut. The target of an actuator, and
the object and the reference of a sensor, have a kind and a name; MJCF has one attribute for each kind instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cardan.enums import mjtActuator, mjtObj, mjtSensor, mjtTrn
from cardan.errors import with_article
from cardan.spec.mjspec.assets import plugin_instance
from cardan.spec.mjspec.relations import tag_of
from cardan.spec.mjspec.struct import Named, fields
from cardan.spec.mjspec.values import LiveArray, engine_number, live_array, shown, to_tree
from cardan.spec.schema.actuator import ACTUATOR, DYNAMICS, GENERAL
from cardan.spec.schema.keywords import CHART_NUMBERS, INPUT_BITS, OBJECT, REDUCE, TRANSMISSION
from cardan.spec.schema.keywords import SENSOR as SENSOR_TYPE
from cardan.spec.schema.sensor import CONTACT_DATA, OBJECT_NAMES, RANGE_DATA, SENSOR

if TYPE_CHECKING:
    from cardan.spec.schema.rows import Attribute, ElementRow

_INHERITRANGE = ACTUATOR.children["position"].attributes["inheritrange"]
_FORM = (*(row.name for row in DYNAMICS), "actdim")  # attributes that a shortcut determines


@fields(GENERAL, drop=tuple(TRANSMISSION))
class MjsActuator(Named):
    """An actuator. ``trntype`` and ``target`` specify its target."""

    plugin = plugin_instance
    absent: ClassVar[Mapping[Any, str]] = {
        "ctrlspec": "actuators of several inputs are a feature that is not built yet (docs/status.md)"
    }

    @property
    def type(self) -> mjtActuator:
        """Shortcut of the actuator (`mjtActuator`). Only ``set_to_motor`` and the like convert the actuator."""
        if self._mark is not None:
            return self._mark
        return getattr(mjtActuator, f"mjACTUATOR_{self.element.row.tag.upper()}", mjtActuator.mjACTUATOR_GENERAL)

    @type.setter
    def type(self, value: int) -> None:
        object.__setattr__(self, "_mark", mjtActuator(engine_number(mjtActuator, value)))

    @property
    def inheritrange(self) -> float:
        """Fraction of the target's range that a servo takes over as its control range; 0: none."""
        return self.element.attributes.get("inheritrange", 0.0)

    @inheritrange.setter
    def inheritrange(self, value: float) -> None:
        super().write(self.element.row.attributes.get("inheritrange") or _INHERITRANGE, "inheritrange", value)

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        found = next((name for name in TRANSMISSION if name in element.attributes), None)
        aim = {"trntype": mjtTrn(TRANSMISSION[found]) if found else mjtTrn.mjTRN_UNDEFINED,
               "target": element.attributes[found] if found else ""}  # fmt: skip
        object.__setattr__(self, "_aim", aim)
        object.__setattr__(self, "_mark", None)

    # --- target ------------------------------------------------------------------------------------------------------

    def _take_aim(self, **changed: Any) -> None:
        """Change the kind or the name of the target. Write the target to the element when both are known."""
        self._aim.update(changed)
        kind, target = TRANSMISSION.words.get(self._aim["trntype"]), self._aim["target"]
        for name in TRANSMISSION:
            self.element.attributes.pop(name, None)
        if kind is not None:
            self._reach(kind)
            self.write(self.element.row.attributes[kind], "target", target)

    @property
    def trntype(self) -> mjtTrn:
        """Kind of the target (`mjtTrn`)."""
        return shown(mjtTrn, int(self._aim["trntype"]))

    @trntype.setter
    def trntype(self, value: int) -> None:
        value = engine_number(mjtTrn, value)
        if value not in TRANSMISSION.values():
            known = ", ".join(mjtTrn(number).name for number in TRANSMISSION.values())
            raise self.element.error(f"{value!r} is not a transmission; expected one of {known}", "trntype")
        self._take_aim(trntype=mjtTrn(value))

    @property
    def target(self) -> str:
        """Name of the actuator's target."""
        return getattr(self._aim["target"], "name", self._aim["target"])

    @target.setter
    def target(self, value: Any) -> None:
        self._take_aim(target=value)

    def pending(self) -> Any:
        """Return an error about a missing target, or None."""
        for name, value in self._aim.items():
            if not value or value == mjtTrn.mjTRN_UNDEFINED:
                return self.element.error("an actuator needs trntype and target", name)
        return None

    # --- form --------------------------------------------------------------------------------------------------------

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Write an attribute. If the actuator's shortcut lacks it, convert to a general actuator first."""
        if not self.element.row.is_entry:
            self._reach(row.name)
        super().write(row, name, value, part)

    def _reach(self, attribute: str) -> None:
        """Convert a shortcut to the equivalent general actuator, if ``attribute`` exists only in the general form."""
        element: Any = self.element
        if attribute in element.row.attributes or attribute not in GENERAL.attributes:
            return
        values = element.resolved()
        given = {name: value for name, value in element.attributes.items() if name in GENERAL.attributes}
        given.update({name: values[name] for name in _FORM if name in values})
        element.attributes.clear()
        element.attributes.update(given)
        element.row = GENERAL

    def set_to(self, tag: str, **values: Any) -> None:
        """Convert the actuator to the shortcut ``tag`` with attributes ``values``. Negative values mean the defaults.

        Raises:
            MjcfError: the actuator has attributes that the shortcut lacks, or it is an entry of a default class.
        """
        row = ACTUATOR.children[tag]
        element: Any = self.element
        object.__setattr__(self, "_mark", None)
        if element.row.is_entry:
            raise element.error("default classes of actuators are set by gaintype, gainprm, biastype, ...")
        self.spec.tree.uses_later |= row.later is not None
        given = {name: value for name, value in element.attributes.items() if name not in (*_FORM, "inheritrange")}
        lost = next((name for name in given if name not in row.attributes and name in GENERAL.attributes), None)
        if lost is not None:
            raise element.error(f"{with_article(tag)} actuator has no {lost}", lost)
        element.attributes.clear()
        element.attributes.update({name: value for name, value in given.items() if name in GENERAL.attributes})
        element.row = row
        spec = int(values.pop("ctrlspec", 0))
        if spec:
            words = CHART_NUMBERS if tag == "orientation" else INPUT_BITS
            element.attributes["input"] = " ".join(word for word, bit in words.items() if spec & bit)
        for name, value in values.items():
            if name not in row.attributes:  # timeconst of intvelocity, which MJCF cannot express
                if value >= 0:
                    element.attributes[name] = float(value)
                continue
            if name == "bias":
                value = np.broadcast_to(value, 3) if np.ndim(value) else (value, 0.0, 0.0)
            if name == "bias" or np.any(np.asarray(value) >= 0):
                super().write(row.attributes[name], name, value)
        element.tree.changed()


# parameters of the methods that convert to shortcuts; -1: undefined
_SHORTCUTS: dict[str, dict[str, Any]] = {
    "motor": {},
    "position": {"kp": ..., "kv": -1, "dampratio": -1, "timeconst": -1, "inheritrange": 0},
    "intvelocity": {"kp": ..., "kv": -1, "dampratio": -1, "timeconst": -1, "inheritrange": 0},
    "orientation": {"kp": ..., "kv": -1, "dampratio": -1, "ctrlspec": 0},
    "pid": {
        "kp": ...,
        **dict.fromkeys(("kv", "dampratio", "ki", "imax", "slewmax"), -1),
        "inheritrange": 0,
        "ctrlspec": 0,
    },
    "dcmotor": {
        "motorconst": ...,
        "resistance": ...,
        "nominal": (0.0,) * 3,
        "saturation": (0.0,) * 3,
        "inductance": (0.0,) * 2,
        "cogging": (0.0,) * 3,
        "controller": (0.0,) * 6,
        "thermal": (0.0,) * 6,
        "lugre": (0.0,) * 5,
        "ctrlspec": 0,
    },
    "velocity": {"kv": ...},
    "damper": {"kv": ...},
    "cylinder": {"timeconst": ..., "bias": ..., "area": ..., "diameter": -1},
    "muscle": dict.fromkeys(
        ("timeconst", "tausmooth", "range", "force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"), -1
    ),
    "adhesion": {"gain": ...},
}


def _converter(tag: str, parameters: dict[str, Any]) -> Any:
    """Return a method that converts an actuator to a shortcut.

    ``parameters`` maps names of parameters to default values; the value ``...`` means that the parameter is required.
    """
    signature = Signature([
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=Parameter.empty if value is ... else value)
        for name, value in {"self": ..., **parameters}.items()
    ])  # fmt: skip

    def set_to(*args: Any, **values: Any) -> None:
        given = signature.bind(*args, **values)
        given.apply_defaults()
        given.arguments.pop("self").set_to(tag, **given.arguments)

    vars(set_to).update(__signature__=signature)
    set_to.__name__ = f"set_to_{tag}"
    set_to.__doc__ = f"Convert to the shortcut ``{tag}``: {ACTUATOR.children[tag].meaning}. -1 means undefined."
    return set_to


for _tag, _parameters in _SHORTCUTS.items():
    setattr(MjsActuator, f"set_to_{_tag}", _converter(_tag, _parameters))


# --- sensors ---------------------------------------------------------------------------------------------------------


def _attributes(row: ElementRow) -> tuple[dict[str, str], dict[str, str]]:
    """Return two tables of kind → attribute: for the object of a sensor, and for its reference.

    The key ``@`` means any kind. The kind is then given by another attribute (``objtype`` or ``reftype``).
    """
    names = [(attribute.kind or "", attribute.name) for attribute in row.references]
    names = [("xbody" if name.startswith("subtree") else kind, name) for kind, name in names]
    if any(kind.startswith("@") for kind, _ in names):
        others = {kind: name for kind, name in names if not kind.startswith("@")}
        return ({"@": "objname"}, {"@": "refname"} if "refname" in row.attributes else others)
    half = OBJECT_NAMES.get(row.tag, len(names) - len(names) // 2)
    return dict(names[:half]), dict(names[half:])


_NINTPRM = 3
_DATA = {"contact": CONTACT_DATA, "rangefinder": RANGE_DATA}
"""Words for the data of sensors, in the order of their bits, by the tag of the sensor."""
_OF_USER = ("needstage", "datatype", "dim")  # attributes that only user sensors have


def _part(name: str, doc: str) -> property:
    """Return a property for one of ``objtype``, ``objname``, ``reftype`` and ``refname``."""

    def get(self: MjsSensor) -> Any:
        value = self._aims[name]
        return getattr(value, "name", value) if name.endswith("name") else shown(mjtObj, int(value))

    def put(self: MjsSensor, value: Any) -> None:
        self._aims[name] = value if name.endswith("name") else mjtObj(engine_number(mjtObj, value))
        self._write_aims()

    return property(get, put, doc=doc)


@fields(SENSOR.children["clock"])
@fields(SENSOR.children["user"], drop=("objtype", "objname"))
class MjsSensor(Named):
    """A sensor: its ``type``, its object (``objtype``, ``objname``) and its reference (``reftype``, ``refname``)."""

    plugin = plugin_instance
    objtype = _part("objtype", "Kind of the object.")
    objname = _part("objname", "Name of the object.")
    reftype = _part("reftype", "Kind of the reference.")
    refname = _part("refname", "Name of the reference.")

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        aims = []
        for attributes, holder in zip(_attributes(element.row), ("objtype", "reftype"), strict=True):
            found = next(((kind, name) for kind, name in attributes.items() if name in element.attributes), None)
            kind, name = found or ("", "")
            word = element.attributes.get(holder, "") if kind == "@" else kind
            aims += [mjtObj(OBJECT.get(word, 0)), element.attributes.get(name, "")]
        object.__setattr__(self, "_kept", {})
        object.__setattr__(self, "_intprm", (0,) * _NINTPRM)
        object.__setattr__(self, "_has_new_type", False)
        object.__setattr__(self, "_aims", dict(zip(("objtype", "objname", "reftype", "refname"), aims, strict=True)))

    def read(self, row: Attribute, part: str | None = None) -> Any:
        """Read an attribute as `Struct.read` does. Attributes that only user sensors have are kept for them."""
        return self._kept.get(row.name) if row.name in self._kept else super().read(row, part)

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Write an attribute as `Struct.write` does. Attributes that only user sensors have are kept for them."""
        if row.name in _OF_USER and row.name not in self.element.row.attributes:
            self._kept[row.name] = to_tree(row, value)
        else:
            super().write(row, name, value, part)

    @property
    def type(self) -> mjtSensor:
        """Kind of sensor (`mjtSensor`). Raises UnsupportedFeature if Cardan does not support it yet."""
        row = self.element.row
        if row.later:
            raise self.element.unsupported(row.later, "type")
        return shown(mjtSensor, SENSOR_TYPE[row.tag])

    @type.setter
    def type(self, value: int) -> None:
        row, element = SENSOR.children[tag_of(SENSOR_TYPE, self, value, "is not a sensor")], self.element
        self.spec.tree.uses_later |= row.later is not None
        self._clear_aims()
        for name in [name for name in element.attributes if name not in row.attributes]:
            del element.attributes[name]
        element.row = row
        for name in [name for name in self._kept if name in row.attributes]:
            element[name] = self._kept.pop(name)
        object.__setattr__(self, "_has_new_type", True)
        self._write_aims()
        self._write_intprm()

    @property
    def intprm(self) -> LiveArray:
        """Integer parameters of contact sensors: bits of the data (`mjtConDataField`), reduction, number of contacts.

        Rangefinders have the bits of their data (`mjtRayDataField`), sensors ``insidesite`` the flag ``enclosed``.
        Other sensors have three zeros.
        """
        values, row = self.element.resolved(), self.element.row
        numbers = self._intprm
        if row.tag in _DATA:
            words, given = _DATA[row.tag], values["data"].split()
            numbers = (sum(1 << words.index(word) for word in given if word in words), *numbers[1:])
        elif row.tag == "insidesite":
            numbers = (int(values["enclosed"]), *numbers[1:])
        if row.tag == "contact":
            numbers = (numbers[0], REDUCE[values["reduce"]], values["num"])
        return live_array(numbers, np.int32, lambda new: setattr(self, "intprm", new))

    @intprm.setter
    def intprm(self, value: Any) -> None:
        numbers = [index(number) for number in np.ravel(value)]
        if len(numbers) != _NINTPRM:
            raise ValueError(f"intprm should be a list/array of size {_NINTPRM}.")
        object.__setattr__(self, "_intprm", tuple(numbers))
        self._write_intprm()

    def _write_intprm(self) -> None:
        """Write the integer parameters to the element, if its type has attributes for them and they are valid."""
        row, (bits, reduction, number) = self.element.row, self._intprm
        if row.tag == "insidesite":
            super().write(row.attributes["enclosed"], "intprm", bool(bits))
        words = _DATA.get(row.tag)
        if words is None or not any(self._intprm) or self._wrong_intprm() is not None:
            return
        super().write(row.attributes["data"], "intprm", " ".join(w for i, w in enumerate(words) if bits >> i & 1))
        if row.tag == "contact":
            super().write(row.attributes["reduce"], "intprm", REDUCE.words[reduction])
            super().write(row.attributes["num"], "intprm", number)

    def _wrong_intprm(self) -> Any:
        """Return an error about integer parameters that have no meaning for this type of sensor, or None.

        In MuJoCo 4.0, a program that makes a sensor must give its data; else they are as in MJCF.
        """
        row, (bits, reduction, _) = self.element.row, self._intprm
        words = _DATA.get(row.tag, ())
        must_give = self._has_new_type and self.spec.compat == "4.0"
        if not words or not (must_give or any(self._intprm)):
            return None
        if bits <= 0:
            return self.element.error(f"data spec (intprm[0]) must be positive, got {bits}", "intprm")
        if bits >> len(words):
            return self.element.error(f"{bits:#x} is not a combination of the {len(words)} bits of the data", "intprm")
        if row.tag == "contact" and reduction not in REDUCE.words:
            return self.element.error(f"{reduction} is not a reduction; expected 0 to {len(REDUCE) - 1}", "intprm")
        return None

    def _clear_aims(self) -> None:
        for name in ("objtype", "reftype", *(n for names in _attributes(self.element.row) for n in names.values())):
            self.element.attributes.pop(name, None)

    def _aim(self, holder: str, attributes: dict[str, str]) -> tuple[str, str] | None:
        """Return the kind of the object or reference, and the attribute that names it, or None.

        None means that this type of sensor has no attribute for the kind. ``holder`` is "objtype" or "reftype";
        ``attributes`` is the corresponding result of `_attributes`.
        """
        word = OBJECT.words.get(self._aims[holder], "")
        if "@" in attributes:
            kinds = self.element.row.attributes[holder].keywords
            return (word, attributes["@"]) if word in kinds else None
        if not word and len(attributes) == 1:
            word = next(iter(attributes))
        return (word, attributes[word]) if word in attributes else None

    def _write_aims(self) -> None:
        """Write the object and the reference to the element, each only if its kind matches the sensor's type."""
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
        """Return an error if the object or the reference does not match the sensor's type, or None."""
        wrong = self._wrong_intprm()
        if wrong is not None:
            return wrong
        for attributes, side in zip(_attributes(self.element.row), ("obj", "ref"), strict=True):
            if self._aims[side + "name"] and self._aim(side + "type", attributes) is None:
                names = ["an object of a kind" if kind == "@" else mjtObj(OBJECT[kind]).name for kind in attributes]
                kinds = ", ".join(names) or "nothing"
                return self.element.error(
                    f"{with_article(self.element.row.tag)} sensor takes {kinds} here", side + "type"
                )
        return None
