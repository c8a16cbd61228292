"""Threads that share work: each part is done once, exceptions come out, and nothing goes on afterwards."""

import gc
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import contextmanager

import pytest

from cardan.threads import Crew


@pytest.mark.parametrize(("count", "most"), [(1, 1), (3, 3), (3, 2), (3, 1)])
def test_each_part_is_done_once(count, most):
    crew = Crew(count)
    done, lock = [], threading.Lock()

    def work(part, worker):
        time.sleep(0.001)
        with lock:
            done.append((part, worker))

    crew.each(work, 20, most)
    crew.close()
    assert sorted(part for part, _ in done) == list(range(20))
    assert {worker for _, worker in done} <= set(range(min(count, most)))


def test_two_parts_run_at_the_same_time():
    crew = Crew(2)
    both = threading.Barrier(2, timeout=60.0)
    crew.each(lambda part, worker: both.wait(), 2, 2)  # a thread alone would wait for ever
    crew.close()


def test_nothing_to_do():
    crew = Crew(2)
    crew.each(lambda part, worker: pytest.fail("there is no part"), 0, 2)
    crew.close()


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_errors_are_raised(bad):
    crew = Crew(2)

    def work(part, worker):
        time.sleep(0.01)
        if part == bad:
            raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match=f"part {bad}"):
        crew.each(work, 3, 2)
    crew.close()


def helpers(name: str) -> int:
    """Number of threads of a name."""
    return sum(thread.name == name for thread in threading.enumerate())


@pytest.mark.parametrize("closed", [True, False])
def test_threads_end_with_their_crew(closed):
    name = f"cardan-counted-{closed}"
    before = helpers(name)
    crew, both = Crew(2, name), threading.Barrier(2, timeout=60.0)
    crew.each(lambda part, worker: both.wait(), 2, 2)
    assert helpers(name) == before + 1
    if closed:
        crew.close()
    del crew
    gc.collect()
    end = time.monotonic() + 60.0
    while helpers(name) > before and time.monotonic() < end:
        time.sleep(0.001)
    assert helpers(name) == before


def test_a_crew_that_was_closed_works_alone():
    crew, done = Crew(3), []
    crew.close()
    crew.close()
    crew.each(lambda part, worker: done.append((part, worker)), 4, 3)
    assert done == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_work_goes_on_after_errors_and_in_turn():
    crew = Crew(2)
    for turn in range(50):
        done, lock = [], threading.Lock()

        def work(part, worker, done=done, lock=lock, turn=turn):
            with lock:
                done.append(part)
            if turn % 2 and part == 3:
                raise ValueError("as it should be")

        if turn % 2:
            with pytest.raises(ValueError, match="as it should be"):
                crew.each(work, 20, 2)
        else:
            crew.each(work, 20, 2)
            assert sorted(done) == list(range(20))
    crew.close()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
in_main_thread = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signals")


class Struck(Exception):
    """What the handler of a signal raises."""


@contextmanager
def alarms(first: float, others: float = 0.0):
    """Raise `Struck` in the main thread after some seconds of processor time or sleep, and every so often from then."""

    def strike(number, frame):
        raise Struck(number)

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, first, others)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@in_main_thread
@pytest.mark.parametrize("others", [0.0, 0.0005])
def test_an_exception_of_a_signal_handler_comes_out_when_all_threads_are_done(others):
    crew = Crew(3)
    for _ in range(5):
        inside: set[int] = set()
        left: set[int] = set()

        def work(job, worker, inside=inside):
            inside.add(worker)
            while not job.cancelled:
                time.sleep(0.001)
            if worker:
                time.sleep(0.02)  # what can't be cancelled
            inside.discard(worker)

        with pytest.raises(Struck), alarms(0.01, others):
            try:
                crew.share(work)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                left = inside - {0}
        assert not left
    done: list[int] = []
    crew.each(lambda part, worker: done.append(part), 20)
    assert sorted(done) == list(range(20))
    crew.close()


def test_an_exception_of_one_thread_cancels_the_others():
    crew, both = Crew(2), threading.Barrier(2, timeout=60.0)

    def work(job, worker):
        both.wait()
        if worker:
            raise ValueError("a helper")
        while not job.cancelled:
            time.sleep(0.001)

    with pytest.raises(ValueError, match="a helper"):
        crew.share(work)
    crew.close()


def test_a_helper_that_wakes_up_late_has_nothing_to_do_and_keeps_nothing():
    crew, busy = Crew(2), threading.Event()
    crew._helpers.append(_blocked(busy))

    class Big:
        """Something large that the work uses."""

    big = Big()
    gone, done = weakref.ref(big), []
    crew.share(lambda job, worker, big=big: done.append(worker))
    del big
    gc.collect()
    assert done == [0]
    assert gone() is None
    busy.set()
    crew.close()
    time.sleep(0.01)
    assert done == [0]


def _blocked(busy):
    """A helper that is busy until an event."""
    from cardan.threads import Job, _Helper

    helper = _Helper(1, "cardan-late")
    job = Job(lambda job, worker: busy.wait(60.0))
    helper.inbox.put((job, threading.Lock()))
    helper.start()
    return helper


def in_child(work: Callable[[], object]) -> int:
    """Exit status of a child of a fork that does some work; -1 if it hangs."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -1


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_of_a_fork_starts_threads_of_its_own():
    crew = Crew(2)

    def both_work() -> None:
        both = threading.Barrier(2, timeout=60.0)
        crew.each(lambda part, worker: both.wait(), 2)

    both_work()
    assert in_child(both_work) == 0
    both_work()
    crew.close()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_threads_work():
    crew, busy, statuses = Crew(2), threading.Event(), []

    def work(job, worker):
        if worker:
            busy.wait(60.0)
        else:
            statuses.append(in_child(lambda: crew.each(lambda part, worker: None, 4)))
            busy.set()

    crew.share(work)
    assert statuses == [0]
    crew.close()
