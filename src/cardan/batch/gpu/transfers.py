"""Copies to, from and on a GPU: the driver copies contiguous memory, a kernel copies arrays with any strides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from cardan.jit.driver.cuda import Gpu, Memory
from cardan.jit.target.gpu_kernels import ITEM_SIZES, move_text
from cardan.jit.target.ptx import ptx_of_text

THREADS = 128
"""Threads in a block of the copying kernel."""
NDIM = 3
"""Largest number of dimensions that the copying kernel handles."""


@cache
def move_source(itemsize: int) -> str:
    """Return the PTX of the copying kernel for elements of `itemsize` bytes."""
    return ptx_of_text(move_text(itemsize))


class Transfers:
    """Copies on one GPU."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self._kernels: dict[int, Any] = {}
        self._staging: Memory | None = None
        self._lists: Memory | None = None

    def _kernel(self, itemsize: int) -> Any:
        if itemsize not in self._kernels:
            if itemsize not in ITEM_SIZES:
                raise ValueError(f"elements of {itemsize} bytes can't be moved on a GPU")
            self._kernels[itemsize] = self.gpu.kernel(f"move_{itemsize}", move_source(itemsize))
        return self._kernels[itemsize]

    def staging(self, nbytes: int) -> Memory:
        """Return staging memory of at least `nbytes` bytes; the next call may return the same memory."""
        if self._staging is None or self._staging.nbytes < nbytes:
            self._staging = self.gpu.allocate(max(2 * nbytes, 1 << 16))
        return self._staging

    def rows(self, ids: np.ndarray | None) -> int:
        """Upload a list of rows and return its address (0: all rows). The next call may overwrite the list."""
        if ids is None:
            return 0
        if self._lists is None or self._lists.nbytes < ids.nbytes:
            self._lists = self.gpu.allocate(max(2 * ids.nbytes, 1 << 12))
        self._lists.write(ids.astype(np.int64))
        return self._lists.address

    def move(
        self,
        shape: Sequence[int],
        itemsize: int,
        target: tuple[int, Sequence[int]],
        source: tuple[int, Sequence[int]] | int,
        target_ids: int = 0,
        source_ids: int = 0,
    ) -> None:
        """Start copying an array, or filling it with a number.

        Args:
            shape: number of copied elements along each dimension.
            itemsize: bytes of an element.
            target: address, and bytes from one element to the next along each dimension.
            source: address and strides of the source, as in `target`; or the bits of a number for all elements.
            target_ids: address of the list of rows to write in the target; 0: the first rows.
            source_ids: address of the list of rows to read in the source; 0: the first rows.
        """
        if 0 in shape:
            return
        address, strides = (0, (0,) * len(shape)) if isinstance(source, int) else source
        counts, to, fro = _joined(shape, target[1], strides)
        value = source if isinstance(source, int) else 0
        words = (target[0], address, value, target_ids, source_ids, *counts, *to, *fro)
        blocks = -(-int(np.prod(counts)) // THREADS)
        self.gpu.launch(self._kernel(itemsize), blocks, THREADS, *words)


def _joined(
    shape: Sequence[int], target: Sequence[int], source: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Reduce a copy to `NDIM` dimensions, by merging dimensions with matching strides (never the first dimension).

    Return the number of elements, the target's strides and the source's strides along each dimension. Raise ValueError
    if too many dimensions remain.
    """
    counts, to, fro = [shape[0]], [target[0]], [source[0]]
    for n, t, s in zip(shape[1:], target[1:], source[1:], strict=True):
        if n == 1:
            continue
        if len(counts) > 1 and to[-1] == n * t and fro[-1] == n * s:
            counts[-1] *= n
            to[-1], fro[-1] = t, s
        else:
            counts, to, fro = [*counts, n], [*to, t], [*fro, s]
    if len(counts) > NDIM:
        raise ValueError(f"an array of shape {tuple(shape)} with such strides can't be copied on a GPU")
    missing = NDIM - len(counts)
    return counts + [1] * missing, to + [0] * missing, fro + [0] * missing
