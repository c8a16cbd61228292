"""Many pictures in one call: several worlds, each seen by several cameras."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cardan.model import MjData, MjModel, internals
from cardan.threads import Crew
from cardan.visual import MjvCamera, MjvOption

if TYPE_CHECKING:
    from cardan.batch import Batch

Draw = Callable[[int, MjData, "int | str | MjvCamera", "MjvOption | None", np.ndarray], None]
"""Function that draws with a worker's renderer: worker, state, camera, option, array for the picture."""


class States(Protocol):
    """Sequence of states."""

    def __len__(self) -> int: ...

    def __getitem__(self, world: int, /) -> MjData: ...


class StatesOfBatch:
    """The states of a batch; the model of a state is that of its world.

    Args:
        batch: the batch; the state of a world is the result of its last call.
        m: the renderer's model.

    Raises:
        TypeError: `batch` is not a batch.
        ValueError: the batch belongs to a model with other sizes.
    """

    def __init__(self, batch: Batch, m: MjModel) -> None:
        if not hasattr(batch, "nsim"):
            raise TypeError(f"render_batch: data must be a sequence of MjData or a Batch, not {type(batch).__name__}")
        if internals.sizes(batch.model) != internals.sizes(m):
            raise ValueError("render_batch: the model of the batch has other sizes than the renderer's")
        self._batch, self._asking = batch, threading.Lock()

    def __len__(self) -> int:
        return self._batch.nsim

    def __getitem__(self, world: int) -> MjData:
        with self._asking:  # in single precision and on GPUs, the state is copied
            return self._batch.data(world)


def draw_batch(
    data: States,
    cameras: Sequence[int | str | MjvCamera],
    option: MjvOption | None,
    out: np.ndarray,
    crew: Crew,
    draw: Draw,
) -> None:
    """Draw each state from each camera into ``out[world, camera]``; several threads share the pictures."""

    def one(picture: int, worker: int) -> None:
        world, camera = divmod(picture, len(cameras))
        draw(worker, data[world], cameras[camera], option, out[world, camera])

    crew.each(one, len(data) * len(cameras))
