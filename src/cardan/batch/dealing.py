"""Blocks of worlds dealt to workers that may be lost: results by block, whatever worker did it and how often.

This is the part of `cardan.batch.ray` that knows nothing of Ray. A worker has at most `ahead` blocks at a time, so that
inputs and results of a few blocks are in flight, not those of all. The blocks of a lost worker are done again by the
one that takes its place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

Worker = TypeVar("Worker")
Ticket = TypeVar("Ticket")


class Block(NamedTuple):
    """Consecutive worlds, from `begin` up to `end`."""

    begin: int
    end: int

    def __str__(self) -> str:
        return f"worlds {self.begin} to {self.end - 1}"


class WorkerLost(Exception):
    """A worker ended before its result was there: killed, out of memory, or its machine is gone."""


class ClusterError(RuntimeError):
    """Workers were lost again and again on the same worlds."""


class Port(Protocol[Worker, Ticket]):
    """How workers are reached."""

    def start(self) -> Worker:
        """A new worker."""
        ...

    def submit(self, worker: Worker, block: Block) -> Ticket:
        """Give a worker a block; returns at once."""
        ...

    def wait(self, tickets: Sequence[Ticket]) -> Ticket:
        """One of the tickets whose result, or whose failure, is there."""
        ...

    def result(self, ticket: Ticket) -> Any:
        """The result of a ticket; raises `WorkerLost`, or what the worker raised."""
        ...

    def cancel(self, ticket: Ticket) -> None:
        """Say that nobody waits for a ticket any more."""
        ...


class Dealing(Generic[Worker, Ticket]):
    """One deal of blocks to workers.

    Args:
        port: how workers are reached.
        workers: the workers; one that is lost is replaced in this list.
        done: called with each block and its result, in the order in which they come.
        ahead: blocks that a worker has at a time.
        tries: how often a block is tried before its worlds are taken to be the cause.
    """

    def __init__(
        self,
        port: Port[Worker, Ticket],
        workers: list[Worker],
        done: Callable[[Block, Any], None],
        ahead: int = 2,
        tries: int = 3,
    ) -> None:
        self.port = port
        self.workers = workers
        self.done = done
        self.ahead = ahead
        self.tries = tries
        self._flying: dict[Ticket, tuple[int, Worker, Block]] = {}  # by ticket: place of the worker, the worker, block
        self._lost: dict[Block, int] = {}

    def run(self, blocks: Sequence[Block]) -> None:
        """Have all blocks done.

        Raises:
            ClusterError: a block lost its worker `tries` times.
        """
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
        """Give blocks to those workers that have the fewest."""
        load = [0] * len(self.workers)
        for place, _, _ in self._flying.values():
            load[place] += 1
        while waiting and min(load) < self.ahead:
            place = load.index(min(load))
            block = waiting.popleft()
            ticket = self.port.submit(self.workers[place], block)
            self._flying[ticket] = place, self.workers[place], block
            load[place] += 1

    def _replace(self, place: int, worker: Worker, block: Block, error: WorkerLost) -> None:
        """Put a new worker in the place of a lost one, once: its other blocks fail as well."""
        self._lost[block] = self._lost.get(block, 0) + 1
        if self._lost[block] >= self.tries:
            raise ClusterError(f"{block}: {self.tries} workers were lost on them, the last one so: {error}") from error
        if self.workers[place] is worker:
            self.workers[place] = self.port.start()
