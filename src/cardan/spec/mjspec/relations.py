"""Structs for relations between objects: contact pairs and exclusions, equality constraints, tendons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan.enums import mjtEq, mjtObj, mjtWrap
from cardan.enums.numbering import is_later
from cardan.spec.mjspec.settings import EqualityDefault
from cardan.spec.mjspec.struct import Field, Named, Struct, fields, struct_class
from cardan.spec.mjspec.values import LiveArray, engine_number, live_array, shown
from cardan.spec.schema import keywords
from cardan.spec.schema.relations import CONTACT, EQUALITY, EQUALITY_DATA, FIXED, PAIR, SPATIAL, equality_objects
from cardan.spec.schema.rows import Attribute, ElementRow

MjsPair = struct_class("MjsPair", PAIR, geom1="geomname1", geom2="geomname2")
MjsExclude = struct_class("MjsExclude", CONTACT.children["exclude"], body1="bodyname1", body2="bodyname2")


# --- equality constraints --------------------------------------------------------------------------------------------


def tag_of(words: keywords.Words, struct: Struct, value: Any, message: str) -> str:
    """Return the tag for a number assigned to a struct's ``type``. Raises MjcfError if the number is unknown."""
    tag = words.words.get(engine_number(words.enumeration, value))
    if tag is None:
        assert words.enumeration is not None
        known = ", ".join(words.enumeration(number).name for number in words.values())
        raise struct.element.error(f"{value!r} {message}; expected one of {known}", "type")
    return tag


def _kinds(row: ElementRow) -> list[str]:
    """Return the kinds of objects that a constraint can connect, the usual kind first."""
    return [*dict.fromkeys(attribute.kind or "" for attribute in row.references if attribute.name != "class")]


def _count() -> int:
    """Return the length of ``data``: 11, or 12 in a process with compat 4.0. The twelfth number has no effect."""
    return 12 if is_later() else 11


def _object_name(number: int) -> property:
    """Return a property for the name of a constraint's first (``number`` 0) or second (1) object."""

    def get(self: MjsEquality) -> str:
        rows = self.objects()
        return self.element.attributes.get(rows[number].name) or "" if number < len(rows) else ""

    def put(self: MjsEquality, value: Any) -> None:
        rows, name = self.objects(), f"name{number + 1}"
        if number < len(rows):
            self.write(rows[number], name, value)
        elif value:
            raise self.element.error(f"a {self.element.row.tag} constraint has one object", name)

    return property(get, put, doc=f"Name of object {number + 1}, empty if there is none.")


class MjsEquality(EqualityDefault):
    """An equality constraint. ``data`` holds the values specific to the type, as in ``mjModel.eq_data``."""

    name1 = _object_name(0)
    name2 = _object_name(1)

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        given = {attribute.kind for attribute in element.row.references if attribute.name in element.attributes}
        kinds = _kinds(element.row)
        object.__setattr__(self, "_kind", next((kind for kind in kinds if kind in given), kinds[0]))

    def objects(self) -> list[Attribute]:
        """Return the attributes that name the objects of the constraint."""
        return equality_objects(self.element.row, self._kind)

    @property
    def type(self) -> mjtEq:
        """Kind of the constraint (`mjtEq`). Raises UnsupportedFeature if Cardan does not support it yet."""
        if self.element.row.later:
            raise self.element.unsupported(self.element.row.later, "type")
        return shown(mjtEq, keywords.EQUALITY[self.element.row.tag])

    @type.setter
    def type(self, value: int) -> None:
        new = EQUALITY.children[tag_of(keywords.EQUALITY, self, value, "can't be made")]
        given = self.element.attributes
        names = [given.pop(row.name, None) for row in self.objects()]
        for name in [name for name in given if name not in new.attributes]:
            del given[name]
        self.element.row = new
        if self._kind not in _kinds(new):
            object.__setattr__(self, "_kind", _kinds(new)[0])
        # a flex has no second object, all others have two
        for row, name in zip(self.objects(), names, strict=False):
            self.element[row.name] = name

    @property
    def objtype(self) -> mjtObj:
        """Kind of the objects (`mjtObj`): for connect and weld, body or site; for others, it follows from ``type``."""
        return shown(mjtObj, keywords.OBJECT[self._kind])

    @objtype.setter
    def objtype(self, value: int) -> None:
        kinds = {keywords.OBJECT[kind]: kind for kind in _kinds(self.element.row)}
        value = engine_number(mjtObj, value)
        if value == mjtObj.mjOBJ_UNKNOWN:
            return
        if value not in kinds:
            known = " or ".join(mjtObj(number).name for number in kinds)
            raise self.element.error(f"a {self.element.row.tag} constraint is between {known}", "objtype")
        names = [self.element.attributes.pop(row.name, None) for row in self.objects()]
        object.__setattr__(self, "_kind", kinds[value])
        for row, name in zip(self.objects(), names, strict=True):
            self.element[row.name] = name

    @property
    def data(self) -> LiveArray:
        """Data of the constraint: anchor, relative pose and torque scale, or polynomial coefficients.

        These are 11 numbers, in a process with compat 4.0 12.
        """
        values, data = self.element.resolved(), np.zeros(_count())
        data[10] = 1.0
        for name, part in EQUALITY_DATA[self.element.row.tag].items():
            data[part] = 0.0 if values[name] is None else values[name]
        return live_array(data, float, lambda new: setattr(self, "data", new))

    @data.setter
    def data(self, value: Any) -> None:
        numbers = np.asarray(value, float).ravel()
        if len(numbers) > _count():
            raise self.element.error(f"expected at most {_count()} numbers, found {len(numbers)}", "data")
        full = np.array(self.data)
        full[: len(numbers)] = numbers
        row = self.element.row
        for name, part in EQUALITY_DATA[row.tag].items():
            if self._kind == "site" and name != "torquescale":
                continue  # the sites are the anchors
            self.write(row.attributes[name], "data", full[part])


# --- tendons ---------------------------------------------------------------------------------------------------------


class _OfTag(Field):
    """Descriptor of an attribute that only parts of a path with one tag have. It is None for other parts."""

    def __init__(self, row: Attribute, name: str, tag: str) -> None:
        super().__init__(row, name)
        self.tag = tag

    def __get__(self, struct: Struct | None, owner: type | None = None) -> Any:
        if struct is not None and struct.element.row.tag != self.tag:
            return None
        return super().__get__(struct, owner)


class MjsTendonPath(Sequence[Any]):
    """The parts of a tendon's path (`MjsWrap`), in order. Indices must not be negative."""

    def __init__(self, parts: list[MjsWrap]) -> None:
        self._parts = parts

    def __repr__(self) -> str:
        return repr(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice) and not 0 <= place < len(self._parts):
            raise IndexError(f"index {place} is out of range: the path has {len(self._parts)} parts")
        return self._parts[place]


class MjsWrap(Struct):
    """One object on a tendon's path: a site, a geom, a joint or a pulley.

    ``coef`` of other objects than joints, and ``divisor`` of other objects than pulleys, are None.
    """

    coef = _OfTag(FIXED.children["joint"].attributes["coef"], "coef", "joint")
    divisor = _OfTag(SPATIAL.children["pulley"].attributes["divisor"], "divisor", "pulley")
    info = Named.info

    @property
    def type(self) -> mjtWrap:
        """Kind of object (`mjtWrap`). For a geom, its shape: ``mjWRAP_CYLINDER`` for cylinders, else a sphere."""
        tag = self.element.row.tag
        if tag == "geom":
            target = self.target
            tag = "cylinder" if target is not None and target.element["type"] == "cylinder" else "sphere"
        return shown(mjtWrap, getattr(mjtWrap, f"mjWRAP_{tag.upper()}"))

    @property
    def target(self) -> Any:
        """Joint, site or geom of this part of the path. None for a pulley, or if the name is unknown."""
        tag = self.element.row.tag
        return None if tag == "pulley" else self.spec.find(tag, self.element.attributes[tag])

    @property
    def sidesite(self) -> Any:
        """Site that determines the side on which the path wraps around a geom, or None. Assign a site or a name."""
        name = self.element.attributes.get("sidesite")
        return self.spec.find("site", name) if name else None

    @sidesite.setter
    def sidesite(self, value: Any) -> None:
        self.write(SPATIAL.children["geom"].attributes["sidesite"], "sidesite", value)


@fields(
    SPATIAL,
    single=("rgba",),
    solreflimit="solref_limit",
    solimplimit="solimp_limit",
    solreffriction="solref_friction",
    solimpfriction="solimp_friction",
    actuatorfrclimited="actfrclimited",
    actuatorfrcrange="actfrcrange",
)
class MjsTendon(Named):
    """A tendon: fixed if its path consists of joints, else spatial."""

    @property
    def path(self) -> MjsTendonPath:
        """Parts of the path, in order."""
        return MjsTendonPath([MjsWrap(self.spec, part) for part in self.element.children])

    def default(self) -> Any:
        """Return the default class of the tendon (`MjsDefault`)."""
        return self.classname

    def _wrap(self, tag: str, **values: Any) -> MjsWrap:
        """Add a part to the path. The first part determines whether the tendon is fixed or spatial."""
        tree_element: Any = self.element
        row = FIXED if tag == "joint" else SPATIAL
        if tree_element.row is not row:
            if tree_element.children:
                raise tree_element.error(f"a {tree_element.tag} tendon has no <{tag}>")
            alien = next((name for name in tree_element.attributes if name not in row.attributes), None)
            if alien is not None:
                raise tree_element.error(f"a {row.tag} tendon has no {alien}", alien)
            tree_element.row = row
        wrap = MjsWrap(self.spec, tree_element.add(tag))
        for name, value in values.items():
            wrap.write(wrap.element.row.attributes[name], name, value)
        return wrap

    def wrap_site(self, name: Any) -> MjsWrap:
        """Add a site to the path."""
        return self._wrap("site", site=name)

    def wrap_geom(self, name: Any, sidesite: Any = "") -> MjsWrap:
        """Let the path wrap around a sphere or a cylinder. The site ``sidesite`` determines the side."""
        return self._wrap("geom", geom=name, sidesite=sidesite)

    def wrap_joint(self, name: Any, coef: float) -> MjsWrap:
        """Add a joint to a fixed tendon. The tendon's length is the sum of coefficients times joint positions."""
        return self._wrap("joint", joint=name, coef=coef)

    def wrap_pulley(self, divisor: float) -> MjsWrap:
        """Start a new branch of the path after a pulley, which divides the branch's length by ``divisor``."""
        return self._wrap("pulley", divisor=divisor)

    def pending(self) -> Any:
        """Return an error about an empty path, or None."""
        return None if self.element.children else self.element.error("a tendon needs a path: wrap sites or joints")
