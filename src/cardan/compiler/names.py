"""Names of all objects with their hash tables (mjModel.names, mjModel.names_map), custom fields, and keyframes.

Every kind of object has a hash table with twice as many slots as objects. An id is stored in the slot given by the hash
of its name or, if that slot is taken, in the next free one. The hash is Bernstein's, in the exclusive-or form (64
bits).
"""

from __future__ import annotations

from itertools import accumulate, zip_longest
from math import isnan
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardan.compiler.build import KINDS
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.jit.memory.struct import Link
from cardan.maths.quaternion import normalize4
from cardan.maths.types import Quat
from cardan.model import internals
from cardan.model.kernel_views import Model
from cardan.spec.schema.keywords import OBJECT, OBJECT_KIND

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjmodel import MjModel
    from cardan.spec.element import Element

_START, _FACTOR = 5381, 33
_HALF = 2**32
_IN_MODEL = Link({"place": "names_map"})

NAMES = Struct(
    "Names",
    [
        Field("count", "i4", ("any",), "number of objects of each kind, in the order of their names in the text"),
        Field("place", "i4", ("any",), "hash tables of all kinds, concatenated, written"),
    ],
    readonly=False,
)


def put_names(build: Build) -> None:
    """Set ``names``, the text of all names, and the address of each name in this text."""
    names = [name for kind in KINDS for name in build.names[kind]]
    text = "\0".join((build.tree.model_name, *names, ""))
    build.columns["names"] = encoded = text.encode()
    lengths = map(len, names) if len(encoded) == len(text) else (len(name.encode()) for name in names)
    first = len(build.tree.model_name.encode()) + 1
    addresses = list(accumulate((length + 1 for length in lengths), initial=first))
    start = 0
    for kind, (_, field) in KINDS.items():
        end = start + build.count(kind)
        build.columns[field] = addresses[start:end]
        start = end
    build.sizes["nnames_map"] = 2 * len(names)


def fill_name_tables(build: Build, m: MjModel) -> None:
    """Fill the hash tables of a model whose names are complete."""
    memory = StructMemory(NAMES, {})
    memory.link(internals.memory(m), _IN_MODEL)
    memory.attach("count", np.array([build.count(kind) for kind in KINDS], np.int32))
    call(find_places, internals.memory(m), memory, len(build.tree.model_name.encode()) + 1)


@native_over("Model", "Names")
def find_places(m: Model, s: Any, first: int, _unused: int) -> int:
    """Fill the hash tables. `first` is the address of the first object's name, after the model's name. Return 0."""
    for k in range(len(s.place)):
        s.place[k] = -1
    at, table = first, 0
    for kind in range(len(s.count)):
        size = 2 * s.count[kind]
        for i in range(s.count[kind]):
            if m.names[at] != 0:
                place, at = _hash(m, at, size)
                while s.place[table + place] >= 0:
                    place = (place + 1) % size
                s.place[table + place] = i
            at += 1
        table += size
    return 0


@kernel
def _hash(m: Model, at: int, size: int) -> Any:
    """Return the slot (hash modulo `size`) of the name that begins at address `at`, and the address of the name's end.

    The 64 bits of the hash are kept in two halves, so that no number exceeds the range of signed integers.
    """
    high, low = 0, _START
    while m.names[at] != 0:
        low *= _FACTOR
        high = (high * _FACTOR + low // _HALF) % _HALF
        low = low % _HALF ^ (m.names[at] & 255)
        at += 1
    return (high % size * (_HALF % size) + low) % size, at


def add_custom(build: Build) -> None:
    """Add custom numeric fields (padded with zeros), texts (terminated by a zero), and the names of tuples."""
    section, columns = build.tree.section("custom"), build.columns
    for element in section.all("numeric"):
        values = element.resolved()
        data = values["data"]
        size = len(data) if values["size"] is None else values["size"]
        build.enter("numeric", element.name)
        build.put(numeric_adr=len(columns["numeric_data"]), numeric_size=size)
        columns["numeric_data"].extend((*data, *[0.0] * (size - len(data))))
    for element in section.all("text"):
        text = element.attributes["data"].encode() + b"\0"
        build.enter("text", element.name)
        build.put(text_adr=len(columns["text_data"]), text_size=len(text))
        columns["text_data"].extend(text)
    for element in section.all("tuple"):
        build.enter("tuple", element.name)


def put_tuples(build: Build) -> None:
    """Fill the content of custom tuples. All objects that the tuples refer to must have ids."""
    for element in build.tree.section("custom").all("tuple"):
        build.put(tuple_adr=len(build.columns["tuple_objtype"]), tuple_size=len(element.children))
        for part in element.children:
            values = part.resolved()
            word = values["objtype"]
            build.put(
                tuple_objtype=OBJECT[word],
                tuple_objid=build.ids[OBJECT_KIND[word]][values["objname"]],
                tuple_objprm=values["prm"],
            )


def add_keyframes(build: Build) -> None:
    """Add keyframes, in the user's order. Quaternions are normalised.

    Missing parts, and missing keyframes up to ``nkey``, are filled from the initial configuration.
    """
    columns = build.columns
    mocap = [body for body, number in zip(build.bodies, columns["body_mocapid"], strict=True) if number >= 0]
    defaults: dict[str, tuple[float, ...]] = {
        "qpos": tuple(columns["qpos0"]),
        "qvel": (0.0,) * len(columns["dof_bodyid"]),
        "act": (0.0,) * build.sizes.get("na", 0),
        "mpos": tuple(value for body in mocap for value in body.pos),
        "mquat": tuple(value for body in mocap for value in body.quat),
        "ctrl": (0.0,) * len(columns["actuator_ctrlrange"]),
    }
    wanted, adr, shift = build.size["nkey"], columns["jnt_qposadr"], {"free": 3, "ball": 0}
    # addresses in qpos of the quaternions of free and ball joints
    turns = [adr[j.id] + shift[j.type] for body in build.bodies for j in body.joints if j.type in shift]
    elements = list(build.tree.section("keyframe").children)
    for element in elements:
        values = element.resolved()
        build.enter("key", element.name)
        row: dict[str, Any] = {"key_time": values["time"]}
        for part, default in defaults.items():
            row[f"key_{part}"] = _state(element, part, values[part], default)
        row["key_qpos"] = _unit_quaternions(row["key_qpos"], turns)
        row["key_mquat"] = _unit_quaternions(row["key_mquat"], range(0, len(row["key_mquat"]), 4))
        build.put(**row)
    for _ in range(wanted - len(elements)):
        build.enter("key", None)
        build.put(key_time=0.0, **{f"key_{part}": default for part, default in defaults.items()})


_WHOLE = {"mpos": 3, "mquat": 4}
"""Number of values per body in those parts of a keyframe that can only be given for whole bodies."""


def _state(
    element: Element, part: str, given: tuple[float, ...] | None, default: tuple[float, ...]
) -> tuple[float, ...]:
    """Return one part of a keyframe. Missing and NaN entries are taken from ``default``.

    MuJoCo 3.1 rejects keyframes with missing entries, and 4.0 accepts them. Cardan accepts them with a warning. Raises
    MjcfError if there are too many entries.
    """
    if not given:
        return default
    if len(given) > len(default):
        raise element.error(f"{len(given)} values, but the model has {len(default)}", part)
    if len(given) < len(default):
        element.warn(f"{len(given)} values, but the model has {len(default)}: the others are initial values", part)
        given = given[: len(given) - len(given) % _WHOLE.get(part, 1)]
    return tuple(initial if value is None or isnan(value) else value for value, initial in zip_longest(given, default))


def _unit_quaternions(values: tuple[float, ...], addresses: Any) -> tuple[float, ...]:
    """Return the values, with the quaternion at each address normalised."""
    changed = list(values)
    for adr in addresses:
        changed[adr : adr + 4] = normalize4(cast("Quat", values[adr : adr + 4]))
    return tuple(changed)
