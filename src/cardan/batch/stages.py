"""The stages that carry a world's state between its row of the batch's table and its data."""

from __future__ import annotations

from cardan.batch.worlds import read_row, write_row
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model


@stage
def load_state(m: Model, d: Data) -> int:
    """Set the state from the world's row."""
    read_row(d, d.work.batch_part, d.work.batch_row, 0)
    return OK


@stage
def save_state(m: Model, d: Data) -> int:
    """Write the state to the world's row."""
    write_row(d, d.work.batch_part, d.work.batch_row, 0)
    return OK
