"""Rows that no user sees: index tables derived from the model, and scratch memory of the data.

Rows of `DERIVED` are attached to the model by `cardan.model.derived`; rows of `WORK` belong to the data and hold what a stage needs while
it runs, or what one stage hands to the next outside the public fields. New rows go to the end of their table.
"""

from cardan.jit.fields import Field

DERIVED: tuple[Field, ...] = ()

WORK: tuple[Field, ...] = (
    Field("work.need", "i8", (), "size that a stage needs a capacity to have, when it asks the driver to grow it"),
    Field("work.buffer", "f8", ("any",), "all fixed-size arrays of the data as one array of words"),
)
