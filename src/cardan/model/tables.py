"""The structures MODEL and DATA, made from their tables of fields."""

from __future__ import annotations

from functools import cache
from math import prod

from cardan.jit.memory.struct import Struct, fields_of
from cardan.model import fields_arena as arena
from cardan.model import fields_assets as assets
from cardan.model import fields_bodies as bodies
from cardan.model import fields_data as data
from cardan.model import fields_options as options
from cardan.model import fields_relations as relations
from cardan.model.fields_work import DERIVED, WORK

MODEL_TABLES = (
    options.SIZES,
    options.OPTIONS,
    options.VISUAL,
    options.STATISTICS,
    bodies.QPOS,
    bodies.BODY,
    bodies.BVH,
    bodies.JOINT,
    bodies.DOF,
    bodies.GEOM,
    bodies.SITE,
    bodies.CAMERA,
    bodies.LIGHT,
    assets.FLEX,
    assets.MESH,
    assets.SKIN,
    assets.HFIELD,
    assets.TEXTURE,
    assets.MATERIAL,
    relations.PAIR,
    relations.EXCLUDE,
    relations.EQUALITY,
    relations.TENDON,
    relations.WRAP,
    relations.ACTUATOR,
    relations.SENSOR,
    relations.PLUGIN,
    relations.NUMERIC,
    relations.TEXT,
    relations.TUPLE,
    relations.KEY,
    relations.NAME,
    relations.PATHS,
)
DATA_TABLES = (
    data.SCALARS,
    data.DIAGNOSTICS,
    data.ARRAYS,
    arena.CONTACT,
    arena.CONSTRAINT,
    arena.DUAL,
    arena.ISLAND,
)

MODEL = Struct("Model", [f for table in MODEL_TABLES for f in table] + list(DERIVED), readonly=True)
DATA = Struct("Data", [f for table in DATA_TABLES for f in table] + list(WORK), readonly=False)

SIZE_NAMES: tuple[str, ...] = tuple(f.name for f in options.SIZES)

# capacities of the arena: a stage that finds no room returns the number (from 1) of the capacity that must grow
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
    """Bytes of one contact, one row or one element of the Jacobian in the arena, in double precision."""
    fields = fields_of(DATA, frozenset(CAPACITIES), capacity)
    return sum(field.numpy_dtype.itemsize * prod(int(n) for n in field.shape[1:]) for field in fields)


COUNTERS: dict[str, str] = {"ncon": "ncon", "nefc": "nefc", "nnzJ": "nnzJ", "nefc_dual": "nefc", "nisland": "nisland"}
