"""Thread pool that batches, rollouts, derivatives and pictures share.

The calling thread works as well, and its call returns only when all threads have finished the work. An exception in any
thread, even from a signal handler (Ctrl-C), cancels the work: each thread stops at the end of its current part. So
memory that the work uses can always be freed after the call.

Signal handlers run in the main thread, between two instructions of Python: after calls, at the start of functions and
at the end of loops. Therefore the code that waits for threads is written so that an exception can't skip it, and `Job`
keeps alive the objects that the threads use.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

LOOK = 0.02
"""Interval, s, at which a waiting thread wakes up, so that signal handlers can run."""
CLOSED = 1 << 62
"""Value of a job's counter from which on no parts are left."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Thing = TypeVar("Thing")


class _Living(Generic[Thing]):
    """Weak set of objects. Unlike `weakref.WeakSet`, it runs no Python code when an object is freed.

    If a signal handler raised an exception in such code, the exception would be lost.
    """

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[Thing]] = {}
        self._most = 64

    def add(self, thing: Thing) -> None:
        """Add an object."""
        if len(self._known) >= self._most:
            for key, known in list(self._known.items()):
                if known() is None:
                    self._known.pop(key, None)
            self._most = 2 * len(self._known) + 64
        self._known[id(thing)] = weakref.ref(thing)

    def all(self) -> list[Thing]:
        """Return all objects that are still alive."""
        return [thing for known in list(self._known.values()) if (thing := known()) is not None]


class Locked:
    """Base class of objects that have a lock, the attribute `lock`.

    The child of a fork gets a new lock, because the thread that held the old one does not exist there.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        _LOCKED.add(self)


_LOCKED = _Living[Locked]()


class Job:
    """Work that threads share.

    Each thread does a share: it calls ``work(job, number)``; `number` is the thread's number, 0 for the caller's
    thread. Native code takes parts by incrementing `counter`; cancelling sets `counter` to `CLOSED`. A share should
    end soon once the job is `cancelled`.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self.counter = ctypes.c_int64(0)
        self.cancelled = False
        self.error: BaseException | None = None  # first exception of a helper
        self.running: set[int] = set()  # numbers of the helpers at work
        self.locks: list[Any] = []  # a lock for each helper that was asked
        self.joined = False
        self.abandoned = False  # whether the caller has returned before the helpers finished
        self._numbers = itertools.count()

    def parts(self, count: int) -> Iterator[int]:
        """Yield numbers below `count`, each to one thread only, until none are left or the job is cancelled."""
        while not self.cancelled and (part := next(self._numbers)) < count:
            yield part

    def help(self, number: int, lock: Any) -> None:
        """Do a share of the work in a helper thread, unless the caller has already finished the work."""
        if not lock.acquire(blocking=False):
            return
        self.running.add(number)
        try:
            self.work(self, number)
        except BaseException as error:
            self.cancel()
            if self.error is None:
                self.error = error
        finally:
            self.running.discard(number)
            lock.release()

    def cancel(self) -> None:
        """Make all threads stop at the end of their current part."""
        self.cancelled = True
        self.counter.value = CLOSED

    def join(self) -> None:
        """Wait for the helpers that have begun, and prevent all other helpers from beginning.

        If this method raises, call it again: a thread may acquire each lock several times. A signal that reaches
        another thread does not wake the waiting thread, so the wait is interrupted every `LOOK` seconds.
        """
        for lock in self.locks:
            while not lock.acquire(timeout=LOOK):
                pass
        self.joined = True

    def run(self, inboxes: list[SimpleQueue[Any]]) -> None:
        """Share the work with helpers, and wait for them.

        If there was an exception in this thread, raise it; else raise the first exception of a helper, if any.
        """
        error: BaseException | None = None
        begun = False
        self.locks = [threading.RLock() for _ in inboxes]
        while True:
            try:
                if not begun:
                    begun = True
                    for inbox, lock in zip(inboxes, self.locks, strict=True):
                        inbox.put((self, lock))
                    self.work(self, 0)
                self.join()
                break
            except BaseException as caught:
                self.cancelled = True
                self.counter.value = CLOSED
                if error is None:
                    error = caught
        if error is None:
            error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                error = None  # the exception's traceback refers to this frame


Work = Callable[[Job, int], object]


def _nothing(job: Job, worker: int) -> None:
    """Do nothing; this function replaces the work of a job that has ended."""


def _serve(inbox: SimpleQueue[Any], number: int) -> None:
    """Run in a helper thread: help with the jobs in the inbox until None arrives."""
    while (asked := inbox.get()) is not None:
        job, lock = asked
        job.help(number, lock)
        del asked, job, lock
    inbox.put(None)  # for a second thread of this inbox, which exists if starting the first one was interrupted


class _Helper:
    """A thread, with a number and a name, that waits for jobs."""

    def __init__(self, number: int, name: str) -> None:
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        self._number, self._name = number, name
        self._started = False

    def start(self) -> None:
        """Start the thread, unless it was started before."""
        if not self._started:
            arguments = (self.inbox, self._number)
            threading.Thread(target=_serve, args=arguments, name=self._name, daemon=True).start()
            self._started = True


def _end(helpers: list[_Helper]) -> None:
    """Ask helper threads to end, and empty the list."""
    while helpers:
        helpers.pop().inbox.put(None)


class Crew:
    """Pool of helper threads that work together with the calling thread.

    Helpers are started when they are first needed, also in the child of a fork. Several threads may use the same pool:
    the helpers do one job after the other, and callers don't wait for helpers that are busy.

    Args:
        count: number of threads, the caller's included.
        name: name of the helper threads.
    """

    def __init__(self, count: int, name: str = "cardan") -> None:
        self.count = count
        self._name = name
        self._helpers: list[_Helper] = []
        self._jobs: list[Job] = []  # jobs of current callers, and abandoned jobs
        self._finalizer = weakref.finalize(self, _end, self._helpers)
        _CREWS.add(self)

    def share(self, work: Work, most: int | None = None) -> None:
        """Run `work` in the caller's thread and in helpers, in at most `most` threads (see `Job`).

        Raises:
            BaseException: the exception that `work` raised in the caller's thread, or else first in a helper.
        """
        if self._jobs:
            self._settle()
        job = Job(work)
        count = self.count if most is None else min(most, self.count)
        inboxes = self._ready(count - 1) if count > 1 else []
        if not inboxes:
            work(job, 0)
            return
        try:
            self._jobs.append(job)
            job.run(inboxes)
        except BaseException:
            job.cancelled = True
            job.counter.value = CLOSED
            while not job.joined:  # several signals came at once
                try:
                    job.join()
                except BaseException:
                    continue
            raise
        finally:
            if job.joined:
                job.work = _nothing  # a helper that wakes up late must not keep the work alive
                self._jobs.remove(job)
            else:
                job.abandoned = True

    def each(self, work: Callable[[int, int], object], parts: int, most: int | None = None) -> None:
        """Call ``work(part, thread)`` for each part number below `parts`, in at most `most` threads.

        Raises:
            BaseException: the exception that `work` raised; parts that no thread had begun are then skipped.
        """
        most = min(parts, self.count if most is None else most)
        if most < 2 or self.count < 2:
            for part in range(parts):
                work(part, 0)
            return

        def share(job: Job, worker: int) -> None:
            for part in job.parts(parts):
                work(part, worker)

        self.share(share, most)

    def close(self) -> None:
        """End the helpers. Afterwards, jobs run in the caller's thread alone."""
        self.count = 1
        self._finalizer()

    def forget(self) -> None:
        """Discard the helpers. This is called in the child of a fork, where the helpers' threads do not exist."""
        self._helpers.clear()
        for job in self._jobs:
            job.running.clear()
            job.locks.clear()

    def _ready(self, count: int) -> list[SimpleQueue[Any]]:
        """Start helpers as needed and return `count` inboxes, or fewer if the system can't start more threads."""
        while len(self._helpers) < count:
            self._helpers.append(_Helper(len(self._helpers) + 1, self._name))
        helpers = self._helpers[:count]
        for k, helper in enumerate(helpers):
            try:
                helper.start()
            except RuntimeError:  # no more threads, or the interpreter ends
                return [ready.inbox for ready in helpers[:k]]
        return [helper.inbox for helper in helpers]

    def _settle(self) -> None:
        """Wait for helpers that still run because several signals interrupted an earlier call almost at once."""
        for job in [job for job in self._jobs if job.abandoned]:
            while job.running:
                time.sleep(0.001)
            self._jobs.remove(job)


_CREWS = _Living[Crew]()


def _forget_threads() -> None:
    """Renew locks and forget helpers in the child of a fork, where only the thread that forked exists."""
    for owner in _LOCKED.all():
        owner.lock = threading.RLock()
    for crew in _CREWS.all():
        crew.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
