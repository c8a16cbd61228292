"""The model under construction: ids of named objects, and one growing column of values for each field."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.maths.types import Pose
from cardan.model.named import NAME_FIELDS, SHORT_KINDS
from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.compiler.columns import Resolved
    from cardan.compiler.meshes.base import Mesh
    from cardan.compiler.nodes import Attached, Body
    from cardan.compiler.plugins import Instance
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

_LONG_KINDS = {short: kind for kind, short in SHORT_KINDS.items()}

KINDS: dict[str, tuple[str, str]] = {
    _LONG_KINDS.get(short, short): (str(MODEL.by_name[name].shape[0]), name) for short, name in NAME_FIELDS.items()
}
"""Map from each kind of object to the size that counts these objects and the field with their names' addresses.

The kinds are in the order of their names in ``mjModel.names``.
"""


class Build:
    """State shared by all modules of the compiler: names and ids, columns of fields, sizes, settings."""

    def __init__(self, tree: ModelTree) -> None:
        self.tree = tree
        self.settings: dict[str, Any] = tree.section("compiler").resolved()
        self.size: dict[str, Any] = tree.section("size").resolved()
        self.angle = pi / 180.0 if self.settings["angle"] == "degree" else 1.0  # the unit of angles, rad
        self.bodies: list[Body] = []  # in model order, world first
        self.columns: defaultdict[str, Any] = defaultdict(list)  # of each array field: columns["geom_pos"][3]
        self.names: dict[str, list[str]] = {kind: [] for kind in KINDS}  # in model order; "" if an object has no name
        self.ids: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
        self.blocks: defaultdict[str, list[np.ndarray]] = defaultdict(list)  # consecutive bulk data of each field
        self._rows: defaultdict[str, int] = defaultdict(int)  # number of rows in the blocks of each field
        self.sizes: dict[str, int] = {}  # sizes that do not follow from a column
        self.frame_poses: dict[Element, Pose] = {}
        self.meshes: dict[str, Mesh] = {}
        # for each geom with a mesh: its pose without the mesh's pose, and the mesh's pose
        self.mesh_poses: dict[int, tuple[Pose, Pose]] = {}
        self.declared: set[str] = set()  # plugins in the section ``extension``
        self.instances: dict[str, Instance] = {}  # named plugin instances
        self.own_instances: dict[Element, Instance] = {}  # of actuators, sensors, bodies and geoms
        self.plugin_names: list[str] = []  # name of the plugin of each instance
        self.plugin_elements: list[Element] = []  # element that defines each instance
        # the last element ``inertial`` that was read, the frames around it, and its values
        self.last_inertial: tuple[Element, tuple[Element, ...], Any] | None = None
        self.fuses = False  # whether bodies without joints become frames of their parents
        self.pieces: dict[str, list[str]] = {}  # names of the convex pieces of decomposed meshes
        self.distances: dict[str, Instance] = {}  # instances that compute the exact distance of meshes
        self.discarded: set[Element] = set()  # elements that the model leaves out
        self.kept: set[Element] = set()  # bodies that are not fused with their parents, even if they are static

    def enter(self, kind: str, name: str | None) -> int:
        """Register an object under its name and return its id, the next free id of this kind."""
        names = self.names[kind]
        number = len(names)
        names.append(name or "")
        if name:
            self.ids[kind][name] = number
        return number

    def enter_all(self, kind: str, names: Sequence[str | None]) -> int:
        """Register several objects of one kind, which get consecutive ids; return the first id."""
        known = self.names[kind]
        first = len(known)
        known += [name or "" for name in names]
        self.ids[kind].update({name: number for number, name in enumerate(names, first) if name})
        return first

    def count(self, kind: str) -> int:
        """Return the number of objects of a kind that are registered so far."""
        return len(self.names[kind])

    def put(self, **values: Any) -> None:
        """Append one row: a value to the column of each of the named fields."""
        columns = self.columns
        for field, value in values.items():
            columns[field].append(value)

    def put_attached(self, kind: str, prefix: str, found: Attached, columns: dict[str, list[Any]]) -> int:
        """Register the objects of one kind on all bodies, fill their columns, and return the first object's id.

        ``prefix`` is the first word of the fields' names, like ``jnt``. ``columns`` maps each field to one value per
        element.
        """
        first = self.enter_all(kind, found.names)
        self.columns.update({name: found.repeated(column) for name, column in columns.items()})
        self.columns[f"{prefix}_bodyid"] = [body.id for body in found.bodies]
        return first

    def add_block(self, field: str, rows: np.ndarray) -> int:
        """Append rows to a field whose data is too large for a column; return the address of the first of these rows.

        The size that counts the field's rows is updated.
        """
        start = self._rows[field]
        self.blocks[field].append(rows)
        self._rows[field] = self.sizes[str(MODEL.by_name[field].shape[0])] = start + len(rows)
        return start

    def reserve(self, field: str, count: int) -> None:
        """Reserve the first ``count`` rows of a field for data that is computed later. Blocks follow these rows."""
        self._rows[field] = count

    def dropped(self, element: Element) -> bool:
        """Return whether ``discardvisual`` removes the element from the model."""
        return element in self.discarded

    def checked_user(self, part: str, element: Element, values: Any) -> Any:
        """Return the user values of an element. Raises MjcfError if there are more than ``nuser_<part>`` allows."""
        allowed = self.size[f"nuser_{part}"]
        if values and 0 <= allowed < len(values):
            raise element.error(f"{len(values)} values are more than <size nuser_{part}>, which is {allowed}", "user")
        return values or ()

    def users(self, part: str, resolved: Resolved) -> list[Any]:
        """Return the user values of elements, each checked by `checked_user`."""
        if not resolved.any("user"):
            return [()] * len(resolved)
        return [
            self.checked_user(part, element, values)
            for element, values in zip(resolved.elements, resolved["user"], strict=True)
        ]

    def references(self, kind: str, names: Sequence[str | None]) -> list[int]:
        """Return the ids of objects of a kind by name; -1 for None and for unknown names."""
        ids = self.ids[kind]
        return [ids.get(name or "", -1) for name in names] if ids else [-1] * len(names)

    def limits(self, resolved: Resolved, attribute: str, flag: str) -> list[bool]:
        """Return for each element whether its range is active (see `is_limited`)."""
        if not resolved.any_but(flag, "auto") and not resolved.any_but(attribute, (0.0, 0.0)):
            return [False] * len(resolved)
        if not resolved.any_but(flag, "auto") and self.settings["autolimits"]:
            return [bounds[0] < bounds[1] for bounds in resolved[attribute]]
        return [
            self.is_limited(element, word, bounds, attribute, flag)
            for element, word, bounds in zip(resolved.elements, resolved[flag], resolved[attribute], strict=True)
        ]

    def is_limited(
        self, element: Element, word: str, bounds: tuple[float, float], attribute: str, flag: str, ordered: bool = True
    ) -> bool:
        """Return whether a range is active. ``word`` is "true", "false" or "auto" (active if bounds increase).

        Raises:
            MjcfError: an active range is empty (unless ``ordered`` is false), or ``word`` is "auto", a range is given,
                and autolimits is off.
        """
        if word == "auto":
            if any(bounds) and not self.settings["autolimits"]:
                raise element.error(f"{attribute} is given, but not {flag}: set {flag} or compiler autolimits", flag)
            return bounds[0] < bounds[1]
        limited = word == "true"
        if limited and ordered and not bounds[0] < bounds[1]:
            found = f"{bounds[0]:g} {bounds[1]:g}"
            raise element.error(f"the lower bound must be below the upper bound, found {found}", attribute)
        return limited
