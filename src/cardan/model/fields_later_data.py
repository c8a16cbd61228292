"""Tables of data fields that MuJoCo 3.1 does not have. They come last, so that all other slots stay fixed."""

from cardan.jit.memory.fields import Field

LATER_STATE: tuple[Field, ...] = (
    Field("history", "f8", ("nhistory",), "past controls, then past sensor values: user slot, cursor, times, values"),
)

LATER_WORK: tuple[Field, ...] = (
    Field("work.history_value", "f8", ("nhistory",), "delayed controls and values of delayed sensors before the delay"),
)
