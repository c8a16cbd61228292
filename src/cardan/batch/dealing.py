"""Distribute blocks of worlds to workers that may be lost; the result of each block is used exactly once.

This is the part of `cardan.batch.ray` that does not depend on Ray. A worker has at most `ahead` blocks at a time, so
that only the inputs and results of a few blocks are in transit. The blocks of a lost worker are computed again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Block(NamedTuple):
    """Consecutive worlds, from `begin` to `end` (exclusive)."""

    begin: int
    end: int

    def __str__(self) -> str:
        return f"worlds {self.begin} to {self.end - 1}"


class WorkerLost(Exception):
    """Raised if a worker ended before its result arrived: it was killed, ran out of memory, or its machine was lost."""


class ClusterError(RuntimeError):
    """Raised if too many workers were lost while they computed one block of worlds."""


class Dealing:
    """Distribution of the blocks of one call to workers.

    Args:
        port: access to workers. ``start()`` returns a new worker; ``submit(worker, block)`` gives it a block and
            returns a ticket; ``wait(tickets)`` returns a finished ticket; ``result(ticket)`` returns its result, or
            raises `WorkerLost` or the error of the worker; ``cancel(ticket)`` cancels the work of a ticket.
        workers: the workers; a lost worker is replaced in this list.
        done: called with each block and its result, in the order of arrival.
        ahead: largest number of blocks that a worker has at a time.
        tries: the call fails once this many workers were lost while they computed one block.
    """

    def __init__(
        self, port: Any, workers: list[Any], done: Callable[[Block, Any], None], ahead: int = 2, tries: int = 3
    ) -> None:
        self.port, self.workers, self.done = port, workers, done
        self.ahead, self.tries = ahead, tries
        self._flying: dict[Any, tuple[int, Any, Block]] = {}  # by ticket: index of the worker, the worker, its block
        self._lost: dict[Block, int] = {}

    def run(self, blocks: Sequence[Block]) -> None:
        """Distribute all blocks and wait for their results; raise ClusterError if a block lost `tries` workers."""
        waiting = deque(blocks)
        try:
            while waiting or self._flying:
                self._fill(waiting)
                ticket = self.port.wait(list(self._flying))
                place, worker, block = self._flying.pop(ticket)
                try:
                    result = self.port.result(ticket)
                except WorkerLost as error:
                    self._replace(place, worker, block, error)
                    waiting.appendleft(block)
                except Exception as error:
                    error.add_note(f"in {block}")
                    raise
                else:
                    self.done(block, result)
        finally:
            for ticket in self._flying:
                self.port.cancel(ticket)
            self._flying.clear()

    def _fill(self, waiting: deque[Block]) -> None:
        """Submit waiting blocks, each to the worker with the fewest blocks, until every worker has `ahead` blocks."""
        load = [0] * len(self.workers)
        for place, _, _ in self._flying.values():
            load[place] += 1
        while waiting and min(load) < self.ahead:
            place = load.index(min(load))
            block = waiting.popleft()
            ticket = self.port.submit(self.workers[place], block)
            self._flying[ticket] = place, self.workers[place], block
            load[place] += 1

    def _replace(self, place: int, worker: Any, block: Block, error: WorkerLost) -> None:
        """Count a loss for `block`, and replace the lost worker unless another of its blocks has already done so.

        Raises:
            ClusterError: `tries` workers were lost while they computed the block.
        """
        self._lost[block] = self._lost.get(block, 0) + 1
        if self._lost[block] >= self.tries:
            raise ClusterError(f"{block}: {self.tries} workers were lost on them, the last one so: {error}") from error
        if self.workers[place] is worker:
            self.workers[place] = self.port.start()
