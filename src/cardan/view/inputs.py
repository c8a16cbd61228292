"""Handling of the controls: the order of users' changes, and the values that the controls show.

When a page sends a value, viser stores the value in the control and calls the control's callbacks in several threads.
These threads may run out of order, or read a newer value. Therefore this module takes the values from the messages
themselves, and one thread handles the messages in order. Until a change has been handled, the control is not updated
from the session, because the session's value is older than the user's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from math import inf
from queue import Queue
from typing import TYPE_CHECKING, Any

from cardan.step.report import tell
from cardan.view.session import Session

if TYPE_CHECKING:
    from viser import ViserServer
    from viser._messages import GuiUpdateMessage


Act = Callable[[], None]


class Worker:
    """Thread that executes tasks in order. If a task fails, the thread reports the error and continues."""

    def __init__(self, name: str) -> None:
        self._queue: Queue[Act | None] = Queue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether some task is waiting or running."""
        return self._queue.unfinished_tasks > 0

    def do(self, act: Act) -> None:
        """Queue a task, to be executed after all earlier tasks; return at once."""
        self._queue.put(act)

    def _run(self) -> None:
        while (act := self._queue.get()) is not None:
            try:
                act()
            except Exception as error:
                tell(f"The viewer had trouble: {type(error).__name__}: {error}")
            self._queue.task_done()

    def close(self, timeout: float | None = None) -> None:
        """End the thread after all tasks; wait at most `timeout` seconds, unless called from the thread itself."""
        self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)


CROSSING = 10.0
"""Longest time, s, during which a value sent to a page and a value sent by that page may cross in transit."""
QUIET = 0.5
"""Time, s, after a user's last change at which the control's value is sent again, if values may have crossed."""

Clock = Callable[[], float]


class Touch:
    """Recent changes of a control by users: time `at` of the last change, s; number `pending` of unhandled changes.

    The session shows the changes once it has executed `due` commands. `crossed` is set if another value may have been
    in transit to a page when the user made a change.
    """

    def __init__(self) -> None:
        self.pending, self.due = 0, 0
        self.at, self.crossed = 0.0, False


class Inputs:
    """Controls in the pages. Both users and the viewer of a session set their values."""

    def __init__(self, server: ViserServer, session: Session, clock: Clock = time.perf_counter) -> None:
        from viser._messages import GuiUpdateMessage

        self._server, self._session, self._clock = server, session, clock
        self._lock = threading.Lock()
        self._controls: dict[str, tuple[Any, Callable[[Any], None]]] = {}
        self._touched: dict[str, Touch] = {}  # controls that are not updated now
        self._again: dict[str, Touch] = {}  # controls whose values are sent again after a quiet time
        self._shown: dict[str, float] = {}  # time when a value was last sent to pages
        self._messages = server._websock_server  # viser has no public access to a message's own value
        self._messages.register_handler(GuiUpdateMessage, self._heard)
        self._worker = Worker("cardan controls")

    # actions of users

    def listen(self, handle: Any, act: Callable[[Any], None]) -> None:
        """Call `act` with each value that a user gives to a control."""
        self._controls[handle._impl.uuid] = (handle, act)

    def do(self, act: Act) -> None:
        """Queue a user's action, to be performed after all earlier actions; return at once."""
        self._worker.do(act)

    def forget(self) -> None:
        """Remove all controls."""
        with self._lock:
            for table in (self._controls, self._touched, self._again, self._shown):
                table.clear()

    def _heard(self, client_id: int, message: GuiUpdateMessage) -> None:
        """Handle a value sent by a page. The server's thread calls this function, so it must not wait."""
        uuid = message.uuid
        found = self._controls.get(uuid)
        if found is None or "value" not in message.updates:
            return
        handle, act = found
        value = like(handle.value, message.updates["value"])
        now = self._clock()
        with self._lock:
            touch = self._touched.setdefault(uuid, Touch())
            touch.crossed |= now - self._shown.get(uuid, -inf) < CROSSING
            touch.pending, touch.at = touch.pending + 1, now
            self._again.pop(uuid, None)
            if len(self._server.get_clients()) > 1:
                self._shown[uuid] = now  # viser sends it to the other pages
        self.do(partial(self._act, uuid, act, value))

    def _act(self, uuid: str, act: Callable[[Any], None], value: Any) -> None:
        """Perform a user's change, and store the number of commands after which the session shows the change."""
        try:
            act(value)
        finally:
            with self._lock:
                touch = self._touched.get(uuid)
                if touch is not None:
                    touch.pending -= 1
                    touch.due = self._session.posted

    def close(self, timeout: float | None = None) -> None:
        """End the thread after all requested actions."""
        self._worker.close(timeout)

    # values that controls show

    def settle(self) -> None:
        """Resume updating the controls for which the session now shows the users' changes.

        After a quiet time, send the values again that may have crossed in transit. Call this before reading the
        session's values.
        """
        obeyed, now = self._session.obeyed, self._clock()
        with self._lock:
            done = [uuid for uuid, touch in self._touched.items() if not touch.pending and touch.due <= obeyed]
            for uuid in done:
                touch = self._touched.pop(uuid)
                if touch.crossed:
                    self._again[uuid] = touch
            quiet = [uuid for uuid, touch in self._again.items() if now - touch.at > QUIET]
            handles = [self._controls[uuid][0] for uuid in quiet]
            for uuid in quiet:
                del self._again[uuid]
        from viser._messages import GuiUpdateMessage

        for handle in handles:  # viser regards the value as sent, but the page may show an older one
            self._messages.queue_message(GuiUpdateMessage(handle._impl.uuid, {"value": handle.value}))

    def show(self, handle: Any, value: Any) -> None:
        """Show a value in a control, unless a user's change of the control has not reached the session yet."""
        uuid = handle._impl.uuid
        if uuid not in self._touched and handle.value != value:
            self._shown[uuid] = self._clock()
            handle.value = value


def like(old: Any, new: Any) -> Any:
    """Convert a value `new` from a page to the type of the control's value `old`: pages have no integers or tuples."""
    if isinstance(old, tuple):
        return tuple(type(old[0])(part) for part in new) if old else tuple(new)
    return type(old)(new)
