"""Rows of the model that MuJoCo does not have.

They come last in the memory of a model, as those of `fields_later`, so that a new row does not move any other.
"""

from cardan.jit.memory.fields import Field

OWN: tuple[Field, ...] = (
    Field("geom_piece", "i4", ("ngeom",), "k: convex piece number k, from 1, of the geom k ids before; 0: not a piece"),
)
