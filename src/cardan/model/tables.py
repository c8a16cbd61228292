"""The structures MODEL and DATA, made from their tables of fields."""

from __future__ import annotations

from functools import cache
from itertools import chain
from math import prod
from types import ModuleType

from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.layout import fields_of
from cardan.model import fields_arena as arena
from cardan.model import fields_assets as assets
from cardan.model import fields_bodies as bodies
from cardan.model import fields_data as data
from cardan.model import fields_later as later
from cardan.model import fields_later_data as later_data
from cardan.model import fields_options as options
from cardan.model import fields_own as own
from cardan.model import fields_relations as relations
from cardan.model.fields_work import DERIVED, WORK

Tables = dict[str, tuple[Field, ...]]


def _tables_of(*modules: ModuleType) -> Tables:
    """Return the tables of fields in modules, by name, in the order of definition."""
    members = [item for module in modules for item in vars(module).items()]
    return {name: value for name, value in members if name.isupper() and isinstance(value, tuple)}


_EARLY = _tables_of(options, bodies, assets, relations)
_OWN_DATA = ("OWN_STATE", "OWN_CONTACT")
_LATER = {name: table for name, table in _tables_of(later, own).items() if name not in _OWN_DATA}
MODEL_TABLES = _EARLY | _LATER
_EARLY_DATA = _tables_of(data, arena)
_LATER_PUBLIC: Tables = {
    name: getattr(later_data, name) for name in ("LATER_STATE", "LATER_CONTACT", "LATER_FORCES", "LATER_SLEEP")
}
_OWN_PUBLIC: Tables = {name: getattr(own, name) for name in _OWN_DATA}
DATA_TABLES = _EARLY_DATA | _LATER_PUBLIC | _OWN_PUBLIC
"""Public tables of the data; `MODEL_TABLES` are those of the model."""

MODEL = Struct("Model", [*chain(*_EARLY.values()), *DERIVED, *chain(*_LATER.values())], readonly=True)
_LATER_DATA = (*chain(*_LATER_PUBLIC.values()), *later_data.LATER_WORK, *chain(*_OWN_PUBLIC.values()))
DATA = Struct("Data", [*chain(*_EARLY_DATA.values()), *WORK, *_LATER_DATA], readonly=False)

SIZE_NAMES: tuple[str, ...] = tuple(f.name for f in (*options.SIZES, *later.LATER_SIZES, *own.OWN_SIZES))

# capacities of the arena: a stage that lacks room returns the number (from 1) of the capacity that must grow
CAPACITIES: tuple[str, ...] = ("ncon", "nefc", "nnzJ", "nefc_dual", "nisland", "nJ", "nH", "ncandidate", "nstatistic")
CAPACITIES += ("nB_dual", "nAR", "nsolution")
GROW_CON, GROW_EFC, GROW_NNZJ, GROW_DUAL, GROW_ISLAND, GROW_J, GROW_H, GROW_CANDIDATE = range(1, 9)
GROW_HALF, GROW_AR, GROW_SOLUTION = 10, 11, 12
LIMITED: tuple[str, ...] = ("ncon", "nefc", "nnzJ")
"""Capacities whose use the user may limit (``<size memory>``)."""

COUNT_BYTES = 8 * len(LIMITED)
"""Bytes of the counts of the limited capacities, which are always allocated."""


@cache
def bytes_of_one(capacity: str) -> int:
    """Return the number of bytes of one element of `capacity` (contact, row, ...) in an arena in double precision.

    Fields of contacts that MuJoCo 3.1 does not have are left out, so that limits of memory stay the same.
    """
    fields = fields_of(DATA, frozenset(CAPACITIES), capacity)
    counted = [field for field in fields if field not in (*later_data.LATER_CONTACT, *own.OWN_CONTACT)]
    return sum(field.numpy_dtype.itemsize * prod(int(n) for n in field.shape[1:]) for field in counted)


COUNTERS: dict[str, str] = {"ncon": "ncon", "nefc": "nefc", "nnzJ": "nnzJ", "nefc_dual": "nefc", "nisland": "nisland"}
