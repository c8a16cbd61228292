"""Names of all objects, and the hash tables that find them (mjModel.names, mjModel.names_map).

Every kind of object has a hash table with twice as many slots as objects. An id is stored in the slot given by the
hash of its name or, if that slot is taken, in the next free one. The hash is Bernstein's, in the exclusive-or form, on
64 bits.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.build import KINDS
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.direct import call, native_over
from cardan.jit.memory.struct import Link
from cardan.model import internals
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjmodel import MjModel

_START, _FACTOR = 5381, 33
_HALF = 2**32
_IN_MODEL = Link({"place": "names_map"})

NAMES = Struct(
    "Names",
    [
        Field("count", "i4", ("any",), "number of objects of each kind, in the order of their names in the text"),
        Field("place", "i4", ("any",), "the tables one after the other, written"),
    ],
    readonly=False,
)


def put_names(build: Build) -> None:
    """Write the text of all names, and their addresses in it."""
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
    """Fill the hash tables of a model that has its names."""
    memory = StructMemory(NAMES, {})
    memory.link(internals.memory(m), _IN_MODEL)
    memory.attach("count", np.array([build.count(kind) for kind in KINDS], np.int32))
    call(find_places, internals.memory(m), memory, len(build.tree.model_name.encode()) + 1)


@native_over("Model", "Names")
def find_places(m: Model, s: Any, first: int, _unused: int) -> int:
    """Fill the tables, reading the text from the name of the `first` object on."""
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
    """Return the hash of the name at an address, modulo `size`, and the address of its end.

    The 64 bits are stored in two halves, so that no number exceeds the range of signed integers.
    """
    high, low = 0, _START
    while m.names[at] != 0:
        low *= _FACTOR
        high = (high * _FACTOR + low // _HALF) % _HALF
        low = low % _HALF ^ (m.names[at] & 255)
        at += 1
    return (high % size * (_HALF % size) + low) % size, at
