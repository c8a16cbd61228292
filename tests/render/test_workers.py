"""Threads that share out work: each part is done once, and what goes wrong is told."""

import gc
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


def renderers() -> int:
    """Threads that wait for parts of pictures."""
    return sum(thread.name == "cardan-render" for thread in threading.enumerate())


@pytest.mark.parametrize("closed", [True, False])
def test_threads_end_with_their_workers(closed):
    before = renderers()
    workers, both = Workers(2), threading.Barrier(2, timeout=60.0)
    workers.each(lambda part, worker: both.wait(), 2, 2)
    assert renderers() == before + 1
    if closed:
        workers.close()
    del workers
    gc.collect()
    end = time.monotonic() + 60.0
    while renderers() > before and time.monotonic() < end:
        time.sleep(0.001)
    assert renderers() == before


def test_workers_that_were_closed_work_alone():
    workers, done = Workers(3), []
    workers.close()
    workers.close()
    workers.each(lambda part, worker: done.append((part, worker)), 4, 3)
    assert done == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_work_goes_on_after_errors_and_in_turn():
    workers = Workers(2)
    for turn in range(50):
        done, lock = [], threading.Lock()

        def work(part, worker, done=done, lock=lock, turn=turn):
            with lock:
                done.append(part)
            if turn % 2 and part == 3:
                raise ValueError("as it should be")

        if turn % 2:
            with pytest.raises(ValueError, match="as it should be"):
                workers.each(work, 20, 2)
        else:
            workers.each(work, 20, 2)
            assert sorted(done) == list(range(20))
    workers.close()
