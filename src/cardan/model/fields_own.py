"""Rows of the model that MuJoCo does not have.

Like the rows of `fields_later`, they come last in the memory of a model, so that a new row does not move other rows.
"""

from cardan.jit.memory.fields import Field

OWN: tuple[Field, ...] = (
    Field("geom_piece", "i4", ("ngeom",), "k: convex piece number k, from 1, of the geom k ids before; 0: not a piece"),
)
