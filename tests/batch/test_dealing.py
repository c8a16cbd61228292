"""Blocks of worlds dealt to workers that get lost: every block counts once, few are in flight, errors say where."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.batch.dealing import Block, ClusterError, Dealing, WorkerLost


class Workers:
    """Workers of this process: tickets are answered last come, first served; `losses` tickets lose their worker."""

    def __init__(self, losses=(), poison=None):
        self.losses = set(losses)
        self.poison = poison
        self.started = 0
        self.dead = set()
        self.submitted = []
        self.open = set()
        self.most = 0
        self.cancelled = []

    def start(self):
        self.started += 1
        return self.started

    def submit(self, worker, block):
        ticket = len(self.submitted)
        self.submitted.append((worker, block))
        self.open.add(ticket)
        self.most = max(self.most, len(self.open))
        return ticket

    def wait(self, tickets):
        return tickets[-1]

    def result(self, ticket):
        self.open.discard(ticket)
        worker, block = self.submitted[ticket]
        if block == self.poison:
            raise ValueError("bad numbers")
        if worker in self.dead or ticket in self.losses:
            self.dead.add(worker)
            raise WorkerLost(f"worker {worker} died")
        return [world * world for world in range(block.begin, block.end)]

    def cancel(self, ticket):
        self.cancelled.append(ticket)


def blocks_of(count, size):
    return [Block(begin, min(begin + size, count)) for begin in range(0, count, size)]


def dealt(port, count, nworker, size, **kwargs):
    """Worlds with their results, in the order of arrival."""
    workers = [port.start() for _ in range(nworker)]
    seen = []
    deal = Dealing(port, workers, lambda b, rows: seen.extend(zip(range(b.begin, b.end), rows, strict=True)), **kwargs)
    deal.run(blocks_of(count, size))
    return seen, workers


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(
    st.integers(0, 40), st.integers(1, 4), st.integers(1, 7), st.integers(1, 3), st.sets(st.integers(0, 30), max_size=6)
)
def test_every_world_is_done_once_whatever_is_lost(count, nworker, size, ahead, losses):
    port = Workers(losses)
    seen, workers = dealt(port, count, nworker, size, ahead=ahead, tries=100)
    assert sorted(seen) == [(world, world * world) for world in range(count)]
    assert port.most <= ahead * nworker
    assert not port.open
    assert not port.dead & set(workers)  # in the place of each lost worker stands another
    assert port.started == nworker + len(port.dead)


def test_work_is_spread():
    port = Workers()
    dealt(port, 12, 3, 1)
    assert {worker for worker, _ in port.submitted} == {1, 2, 3}


def test_worlds_that_end_every_worker_are_named():
    port = Workers(range(100))
    with pytest.raises(ClusterError, match=r"worlds \d+ to \d+: 3 workers were lost on them, the last one so: worker"):
        dealt(port, 8, 2, 2)
    assert {t for t in port.open} <= set(port.cancelled)


def test_an_error_names_the_worlds_and_ends_the_deal():
    port = Workers(poison=Block(4, 6))
    with pytest.raises(ValueError, match="bad numbers") as caught:
        dealt(port, 12, 2, 2)
    assert caught.value.__notes__ == ["in worlds 4 to 5"]
    assert port.open == set(port.cancelled)
