"""Many pictures in one call: several worlds, each seen by several cameras."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cardan.model import MjData
from cardan.visual import MjvCamera, MjvOption

Draw = Callable[[int, MjData, "int | str | MjvCamera", "MjvOption | None", np.ndarray], None]
"""Draws with a worker's renderer: worker, state, camera, option, where the picture goes."""


def draw_batch(
    data: Sequence[MjData],
    cameras: Sequence[int | str | MjvCamera],
    option: MjvOption | None,
    out: np.ndarray,
    workers: int,
    draw: Draw,
) -> None:
    """Draw each state from each camera into ``out[world, camera]``; the pictures are shared out among threads."""

    def work(worker: int, rest: Iterator[tuple[int, int]]) -> None:
        for world, camera in rest:
            draw(worker, data[world], cameras[camera], option, out[world, camera])

    pictures = list(itertools.product(range(len(data)), range(len(cameras))))
    shares = [iter(pictures[k::workers]) for k in range(workers)]
    if workers == 1:
        work(0, shares[0])
        return
    with ThreadPoolExecutor(workers) as pool:
        for task in [pool.submit(work, k, share) for k, share in enumerate(shares)]:
            task.result()
