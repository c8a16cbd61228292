"""Threads that share out work: each part is done once, and what goes wrong is told."""

import threading
import time

import pytest

from cardan.render.workers import Workers


@pytest.mark.parametrize(("count", "most"), [(1, 1), (3, 3), (3, 2), (3, 1)])
def test_each_part_is_done_once(count, most):
    workers = Workers(count)
    done, lock = [], threading.Lock()

    def work(part, worker):
        time.sleep(0.001)
        with lock:
            done.append((part, worker))

    workers.each(work, 20, most)
    workers.close()
    assert sorted(part for part, _ in done) == list(range(20))
    assert {worker for _, worker in done} <= set(range(min(count, most)))


def test_two_parts_run_at_the_same_time():
    workers = Workers(2)
    both = threading.Barrier(2, timeout=60.0)
    workers.each(lambda part, worker: both.wait(), 2, 2)  # a thread alone would wait for ever
    workers.close()


def test_nothing_to_do():
    workers = Workers(2)
    workers.each(lambda part, worker: pytest.fail("there is no part"), 0, 2)
    workers.close()


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_errors_are_raised(bad):
    workers = Workers(2)

    def work(part, worker):
        time.sleep(0.01)
        if part == bad:
            raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match=f"part {bad}"):
        workers.each(work, 3, 2)
    workers.close()
