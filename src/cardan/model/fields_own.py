"""Tables of fields that MuJoCo does not have.

Like the fields of `fields_later`, they come last in memory, so that a new field does not move other fields.
"""

from cardan.jit.memory.fields import Field

OWN: tuple[Field, ...] = (
    Field(
        "geom_piece",
        "i4",
        ("ngeom",),
        "k: k-th convex piece (from 1) of the geom whose id is smaller by k; 0: no piece",
    ),
)

OWN_SIZES: tuple[Field, ...] = (
    Field("nstick", "i8", (), "number of contacts that are remembered from step to step; 0: none"),
)

OWN_CONTACTS: tuple[Field, ...] = (
    Field("geom_stick", "u1", ("ngeom",), "whether contacts of the geom stick"),
    Field("geom_lagged", "u1", ("ngeom",), "whether normal forces of the last step limit friction of the geom"),
    Field("pair_stick", "u1", ("npair",), "whether contacts of the pair stick"),
    Field("pair_lagged", "u1", ("npair",), "whether normal forces of the last step limit friction of the pair"),
)

OWN_RELATIONS: tuple[Field, ...] = (
    Field("eq_relative", "u1", ("neq",), "4.0: whether a weld keeps its pose at qpos0, the 12th number of eq_data"),
)

REMEMBERED = frozenset(field.name for field in OWN_CONTACTS)
"""Arrays that have an effect only if the model remembers contacts."""
MEMORY_WIDTH = 16
"""Numbers that are remembered of a contact; `cardan.constraint.stick` lists them."""

OWN_STATE: tuple[Field, ...] = (
    Field("stick", "f8", ("nstick", MEMORY_WIDTH), "remembered contacts: geoms, points, deformation, normal force"),
)

OWN_CONTACT: tuple[Field, ...] = (
    Field("contact.law", "i4", ("ncon",), "bits: 1 sticks, 2 lagged normal force", "collision"),
    Field(
        "contact.deformation",
        "f8",
        ("ncon", 5),
        "deformation of contacts that stick: sliding (2, m), twist (rad), rolling (2, rad)",
        "collision",
    ),
    Field("contact.lagged", "f8", ("ncon",), "normal force of the last step, N; -1: unused", "collision"),
)
