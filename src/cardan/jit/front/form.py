"""What native code is made of a stage: the layout of the data, the precision, and the processor."""

from __future__ import annotations

from dataclasses import dataclass

from cardan.jit.memory.struct import Struct

WORLD, INTERLEAVED = "world", "interleaved"
DOUBLE, SINGLE = "float64", "float32"

WORLD_INDEX, WORLD_COUNT, CALL = "cardan_world", "cardan_nworld", "cardan_call"
"""What interleaved code refers to: functions without arguments that return the number of the world that runs (int64)
and the number of worlds (int64); and one that calls a function of a table by its number, with the arguments (number,
address of the model, address of the data, two integers), all int64, and an int64 result. The target defines them."""
RAISE = "raise "
"""What begins the names of symbols that stand where a kernel would raise something; nobody defines them."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to compile a stage. With the list of its stages, it is what tells one program from another.

    Attributes:
        layout: `WORLD`: the arrays of each world stand by themselves. `INTERLEAVED`: worlds stand side by side; the
            element ``i`` of world ``w`` is number ``i * nworld + w`` of the field, and scalars are arrays of one number
            a world. The model is one for all worlds, and laid out as ever.
        precision: of what the tables of fields call ``f8``: `DOUBLE` or `SINGLE`.
        target: two words for the processor, if that isn't the one of this process.
    """

    layout: str = WORLD
    precision: str = DOUBLE
    target: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.layout not in (WORLD, INTERLEAVED) or self.precision not in (DOUBLE, SINGLE):
            raise ValueError(f"no such form of native code: {self.layout}, {self.precision}")

    def struct(self, struct: Struct) -> Struct:
        """A structure in the precision of the form."""
        return struct.single if self.precision == SINGLE else struct

    @property
    def is_interleaved(self) -> bool:
        """Whether worlds stand side by side."""
        return self.layout == INTERLEAVED


HERE = Form()
"""The form of all code that runs one world at a time on this processor, in double precision."""
