"""What users do with the controls, in the order in which it came; and what the controls show.

viser puts a value that a page sends into its control at once, and calls functions for it in threads that may overtake
each other and find a value there that was put in since. So values are taken from the pages' messages here, and one
thread acts on them, one after the other. Until a change is acted on, its control is left alone: what the session says
is older than what the user did.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from cardan.view.session import Session
from cardan.view.worker import Act, Worker

if TYPE_CHECKING:
    from viser import ViserServer
    from viser._messages import GuiUpdateMessage

CROSSING = 10.0
"""Time within which a value on its way to a page and one on its way from it may cross, s."""
QUIET = 0.5
"""Time after a user's last change after which a control's value is sent again, if values may have crossed, s."""

Clock = Callable[[], float]


class Touch:
    """What a user did with a control.

    Attributes:
        pending: changes that are not acted on yet.
        due: number of commands that the session must have obeyed before it shows them.
        at: time of the last one, s.
        crossed: whether another value may have been on its way to a page then.
    """

    def __init__(self) -> None:
        self.pending, self.due = 0, 0
        self.at, self.crossed = 0.0, False


class Inputs:
    """The controls whose values both users and the viewer set.

    Args:
        server: viser's server.
        session: what the controls change.
        clock: the wall clock, s.
    """

    def __init__(self, server: ViserServer, session: Session, clock: Clock = time.perf_counter) -> None:
        from viser._messages import GuiUpdateMessage

        self._server, self._session, self._clock = server, session, clock
        self._lock = threading.Lock()
        self._controls: dict[str, tuple[Any, Callable[[Any], None]]] = {}
        self._touched: dict[str, Touch] = {}  # those that are left alone
        self._again: dict[str, Touch] = {}  # those whose values are sent again when it is quiet
        self._shown: dict[str, float] = {}  # when a value was last sent to pages
        self._messages = server._websock_server  # viser has no public way to a message's own value
        self._messages.register_handler(GuiUpdateMessage, self._heard)
        self._worker = Worker("cardan controls")

    # what users do

    def listen(self, handle: Any, act: Callable[[Any], None]) -> None:
        """Call `act` with each value that a user gives to a control."""
        self._controls[handle._impl.uuid] = (handle, act)

    def do(self, act: Act) -> None:
        """Do something that a user asked for, after all that was asked for before; returns at once."""
        self._worker.do(act)

    def forget(self) -> None:
        """Forget all controls."""
        with self._lock:
            for table in (self._controls, self._touched, self._again, self._shown):
                table.clear()

    def _heard(self, client_id: int, message: GuiUpdateMessage) -> None:
        """A page sent a value; the server's thread, which must not wait."""
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
                self._shown[uuid] = now  # viser tells the other pages
        self.do(partial(self._act, uuid, act, value))

    def _act(self, uuid: str, act: Callable[[Any], None], value: Any) -> None:
        try:
            act(value)
        finally:
            with self._lock:
                touch = self._touched.get(uuid)
                if touch is not None:
                    touch.pending -= 1
                    touch.due = self._session.posted

    def close(self, timeout: float | None = None) -> None:
        """End the thread, after what was asked for."""
        self._worker.close(timeout)

    # what controls show

    def settle(self) -> None:
        """Let controls follow the session again whose changes it shows by now; called before it is read for them."""
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
        for handle in handles:
            self._send_again(handle)

    def show(self, handle: Any, value: Any) -> None:
        """Let a control show a value, unless a user changed it and the session does not show that yet."""
        uuid = handle._impl.uuid
        if uuid not in self._touched and handle.value != value:
            self._shown[uuid] = self._clock()
            handle.value = value

    def _send_again(self, handle: Any) -> None:
        """Send what viser takes for known: a page whose own value met an older one on the way shows that one."""
        from viser._messages import GuiUpdateMessage

        self._messages.queue_message(GuiUpdateMessage(handle._impl.uuid, {"value": handle.value}))


def like(old: Any, new: Any) -> Any:
    """A value from a page as the control has it: pages know no integers and no tuples."""
    if isinstance(old, tuple):
        return tuple(type(old[0])(part) for part in new) if old else tuple(new)
    return type(old)(new)
