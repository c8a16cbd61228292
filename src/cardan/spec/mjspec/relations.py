"""Relations between objects as structs: contact pairs and exclusions, equality constraints, tendons."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.enums import mjtEq, mjtObj, mjtWrap
from cardan.spec.mjspec.struct import Field, Named, Struct, fields
from cardan.spec.mjspec.values import LiveArray, live_array
from cardan.spec.schema.keywords import OBJECT
from cardan.spec.schema.relations import CONTACT, EQUALITY, EQUALITY_SHARED, FIXED, PAIR, SPATIAL
from cardan.spec.schema.rows import Attribute, ElementRow, element

_NDATA = 11


@fields(PAIR, geom1="geomname1", geom2="geomname2")
class MjsPair(Named):
    """A pair of geoms that may collide."""


@fields(CONTACT.children["exclude"], body1="bodyname1", body2="bodyname2")
class MjsExclude(Named):
    """A pair of bodies whose geoms do not collide."""


# --- equality constraints --------------------------------------------------------------------------------------------

_EQ_TAG: dict[int, str] = {
    mjtEq.mjEQ_CONNECT: "connect",
    mjtEq.mjEQ_WELD: "weld",
    mjtEq.mjEQ_JOINT: "joint",
    mjtEq.mjEQ_TENDON: "tendon",
    mjtEq.mjEQ_FLEX: "flex",
}
_EQ_TYPE = {tag: mjtEq(number) for number, tag in _EQ_TAG.items()}
# indices of the attributes of each kind in ``data``
_EQ_DATA: dict[str, dict[str, slice]] = {
    "connect": {"anchor": slice(0, 3)},
    "weld": {"anchor": slice(0, 3), "relpose": slice(3, 10), "torquescale": slice(10, 11)},
    "joint": {"polycoef": slice(0, 5)},
    "tendon": {"polycoef": slice(0, 5)},
    "flex": {},
}


def _objects(row: ElementRow) -> list[Attribute]:
    """Return the attributes that name the two objects of a constraint."""
    return [attribute for attribute in row.references if attribute.name != "class"]


@fields(element("equality", "", EQUALITY_SHARED))
class EqualityDefault(Named):
    """Attributes that all equality constraints share and a default class can hold."""


class MjsEquality(EqualityDefault):
    """An equality constraint; ``data`` holds the values specific to its type, as in ``mjModel.eq_data``."""

    @property
    def type(self) -> mjtEq:
        """Kind of the constraint."""
        return _EQ_TYPE[self.element.row.tag]

    @type.setter
    def type(self, value: int) -> None:
        tag = _EQ_TAG.get(value)
        if tag is None:
            known = ", ".join(kind.name for kind in _EQ_TYPE.values())
            raise self.element.error(f"{value!r} can't be made; expected one of {known}", "type")
        old, new = self.element.row, EQUALITY.children[tag]
        given = self.element.attributes
        names = [given.pop(row.name, None) for row in _objects(old)]
        for name in [name for name in given if name not in new.attributes]:
            del given[name]
        self.element.row = new
        # a flex has no second object, all others have two
        for row, name in zip(_objects(new), names, strict=False):
            self.element[row.name] = name

    @property
    def objtype(self) -> mjtObj:
        """Kind of the two objects; it follows from ``type``."""
        return mjtObj(OBJECT[_objects(self.element.row)[0].kind or ""])

    @objtype.setter
    def objtype(self, value: int) -> None:
        if value not in (self.objtype, mjtObj.mjOBJ_UNKNOWN):
            raise self.element.error(f"a {self.element.row.tag} constraint is between {self.objtype.name}", "objtype")

    def _object(self, number: int) -> str:
        rows = _objects(self.element.row)
        return self.element.attributes.get(rows[number].name) or "" if number < len(rows) else ""

    @property
    def name1(self) -> str:
        """Name of the first object."""
        return self._object(0)

    @name1.setter
    def name1(self, value: Any) -> None:
        self.write(_objects(self.element.row)[0], "name1", value)

    @property
    def name2(self) -> str:
        """Name of the second object, empty if there is none."""
        return self._object(1)

    @name2.setter
    def name2(self, value: Any) -> None:
        rows = _objects(self.element.row)
        if len(rows) > 1:
            self.write(rows[1], "name2", value)
        elif value:
            raise self.element.error(f"a {self.element.row.tag} constraint has one object", "name2")

    @property
    def data(self) -> LiveArray:
        """The 11 numbers of the constraint: anchor, relative pose and torque scale, or coefficients."""
        values, data = self.element.resolved(), np.zeros(_NDATA)
        data[10] = 1.0
        for name, part in _EQ_DATA[self.element.row.tag].items():
            data[part] = 0.0 if values[name] is None else values[name]
        return live_array(data, float, lambda new: setattr(self, "data", new))

    @data.setter
    def data(self, value: Any) -> None:
        numbers = np.asarray(value, float).ravel()
        if len(numbers) > _NDATA:
            raise self.element.error(f"expected at most {_NDATA} numbers, found {len(numbers)}", "data")
        full = np.array(self.data)
        full[: len(numbers)] = numbers
        row = self.element.row
        for name, part in _EQ_DATA[row.tag].items():
            self.write(row.attributes[name], "data", full[part])


# --- tendons ---------------------------------------------------------------------------------------------------------

_WRAP_TYPE = {
    "joint": mjtWrap.mjWRAP_JOINT,
    "pulley": mjtWrap.mjWRAP_PULLEY,
    "site": mjtWrap.mjWRAP_SITE,
    "geom": mjtWrap.mjWRAP_SPHERE,
}


class MjsWrap(Struct):
    """One element of a tendon's path."""

    coef = Field(FIXED.children["joint"].attributes["coef"], "coef")
    divisor = Field(SPATIAL.children["pulley"].attributes["divisor"], "divisor")
    sidesite = Field(SPATIAL.children["geom"].attributes["sidesite"], "sidesite")

    @property
    def type(self) -> mjtWrap:
        """Kind of element; for a geom ``mjWRAP_SPHERE``, since its shape is known only after compilation."""
        return _WRAP_TYPE[self.element.row.tag]

    @property
    def target(self) -> Any:
        """The joint, site or geom; None for a pulley, or if there is no object of this name."""
        tag = self.element.row.tag
        return None if tag == "pulley" else self.spec.find(tag, self.element.attributes[tag])


@fields(SPATIAL)
class MjsTendon(Named):
    """A tendon: spatial, or fixed if it has joints."""

    @property
    def path(self) -> list[MjsWrap]:
        """The elements of the path, in order."""
        return [MjsWrap(self.spec, part) for part in self.element.children]

    def _wrap(self, tag: str, **values: Any) -> MjsWrap:
        """Add one element to the path; the first one determines the kind of the tendon."""
        tree_element: Any = self.element
        row = FIXED if tag == "joint" else SPATIAL
        if tree_element.row is not row:
            if tree_element.children:
                raise tree_element.error(f"a {tree_element.tag} tendon has no <{tag}>")
            alien = next((name for name in tree_element.attributes if name not in row.attributes), None)
            if alien is not None:
                raise tree_element.error(f"a {row.tag} tendon has no {alien}", alien)
            tree_element.row = row
        if row.later:
            raise tree_element.unsupported(row.later)
        wrap = MjsWrap(self.spec, tree_element.add(tag))
        for name, value in values.items():
            wrap.write(wrap.element.row.attributes[name], name, value)
        return wrap

    def wrap_site(self, name: Any) -> MjsWrap:
        """Add a site to the path."""
        return self._wrap("site", site=name)

    def wrap_geom(self, name: Any, sidesite: Any = "") -> MjsWrap:
        """Wrap the path around a sphere or a cylinder, on the side of a site."""
        return self._wrap("geom", geom=name, sidesite=sidesite)

    def wrap_joint(self, name: Any, coef: float) -> MjsWrap:
        """Add a joint with its coefficient to a fixed tendon."""
        return self._wrap("joint", joint=name, coef=coef)

    def wrap_pulley(self, divisor: float) -> MjsWrap:
        """Start a new branch after a pulley."""
        return self._wrap("pulley", divisor=divisor)

    def pending(self) -> Any:
        """An error if the path is empty, else None."""
        return None if self.element.children else self.element.error("a tendon needs a path: wrap sites or joints")
