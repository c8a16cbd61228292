"""Table of model fields that MuJoCo does not have.

Like the fields of `fields_later`, they come last in a model's memory, so that a new field does not move other fields.
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
