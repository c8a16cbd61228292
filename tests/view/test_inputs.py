"""What users do with controls: in order, by the values of their messages, and not overwritten meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import cardan
from cardan.view.inputs import QUIET, Inputs, like
from cardan.view.session import Session

pytest.importorskip("viser", reason="the viewer needs the package viser")


class Control:
    """A control as viser has it: a page's value is put in before anybody is told."""

    def __init__(self, value: Any) -> None:
        self.value, self._impl = value, SimpleNamespace(uuid=str(id(self)))


class Server:
    """As much of viser's server as `Inputs` needs."""

    def __init__(self) -> None:
        self._websock_server = self
        self.handlers: list[Callable] = []
        self.sent: list[Any] = []
        self.clients = {0: None}

    def register_handler(self, kind: type, handler: Callable) -> None:
        """Call this with each message."""
        self.handlers.append(handler)

    def queue_message(self, message: Any) -> None:
        """A message to all pages."""
        self.sent.append(message.updates["value"])

    def get_clients(self) -> dict:
        """The pages."""
        return self.clients

    def hear(self, control: Control, value: Any) -> None:
        """A message of a page."""
        control.value = value
        for handler in self.handlers:
            handler(0, SimpleNamespace(uuid=control._impl.uuid, updates={"value": value}))


class Rig:
    """Inputs with a clock that stands still, and a thread that can be held."""

    def __init__(self) -> None:
        m = cardan.MjModel.from_xml_string("<mujoco/>")
        self.session, self.server, self.now = Session(m, cardan.MjData(m)), Server(), 100.0
        self.inputs = Inputs(self.server, self.session, lambda: self.now)  # type: ignore[arg-type]

    def hold(self) -> threading.Event:
        """Let nothing be acted on until the event is set."""
        event = threading.Event()

        def wait() -> None:
            event.wait(60.0)

        self.inputs.do(wait)
        return event

    def wait(self) -> None:
        """Until all is acted on that was asked for so far."""
        done = threading.Event()
        self.inputs.do(done.set)
        assert done.wait(60.0)


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.inputs.close(10.0)


def test_values_of_messages_in_their_order(rig: Rig) -> None:
    box, values = Control(False), []
    rig.inputs.listen(box, values.append)
    held = rig.hold()
    for value in (True, False, True):
        rig.server.hear(box, value)
    box.value = False  # by somebody else, before anything is acted on
    held.set()
    rig.wait()
    assert values == [True, False, True]


def test_a_control_is_left_alone_until_its_change_is_acted_on(rig: Rig) -> None:
    box, state = Control(False), [False]
    rig.inputs.listen(box, lambda value: state.__setitem__(0, value))
    held = rig.hold()
    rig.server.hear(box, True)
    rig.inputs.settle()
    rig.inputs.show(box, state[0])
    assert box.value and not state[0]
    held.set()
    rig.wait()
    before = False  # read a moment ago, before the change
    rig.inputs.show(box, before)
    assert box.value
    rig.inputs.settle()
    rig.inputs.show(box, state[0])
    assert box.value and state[0]
    rig.inputs.show(box, False)  # changed by somebody else
    assert not box.value


def test_a_control_waits_for_the_command_that_it_became(rig: Rig) -> None:
    slider, session = Control(0.0), rig.session
    rig.inputs.listen(slider, lambda value: session.post(lambda m, d: setattr(d, "time", value)))
    rig.server.hear(slider, 2.0)
    rig.wait()
    rig.inputs.settle()
    rig.inputs.show(slider, session.data.time)
    assert slider.value == 2.0
    session.obey(session.model, session.data)
    rig.inputs.settle()
    rig.inputs.show(slider, session.data.time)
    assert slider.value == session.data.time == 2.0
    rig.inputs.show(slider, 3.0)
    assert slider.value == 3.0


def test_values_that_may_have_crossed_are_sent_again(rig: Rig) -> None:
    box = Control(False)
    rig.inputs.listen(box, lambda value: None)
    rig.server.hear(box, True)
    rig.wait()
    rig.now += 2.0 * QUIET
    rig.inputs.settle()
    rig.inputs.settle()
    assert rig.server.sent == []  # nothing was on its way to the page
    rig.inputs.show(box, False)
    rig.server.hear(box, True)
    rig.wait()
    rig.inputs.settle()
    assert rig.server.sent == []  # the user may go on
    rig.now += 2.0 * QUIET
    rig.inputs.settle()
    rig.inputs.settle()
    assert rig.server.sent == [True]


def test_pages_see_each_others_last_value(rig: Rig) -> None:
    box = Control(False)
    rig.server.clients[1] = None
    rig.inputs.listen(box, lambda value: None)
    for value in (True, False):
        rig.server.hear(box, value)
    rig.wait()
    rig.now += 2.0 * QUIET
    rig.inputs.settle()
    rig.inputs.settle()
    assert rig.server.sent == [False]


def test_trouble_ends_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    box, heard = Control(0.0), []
    monkeypatch.setattr("cardan.view.inputs.tell", heard.append)
    rig.inputs.listen(box, lambda value: 1.0 / value)  # type: ignore[arg-type, return-value]
    rig.server.hear(box, 0.0)
    rig.wait()
    assert "ZeroDivisionError" in heard[0]
    rig.inputs.settle()
    rig.inputs.show(box, 5.0)
    assert box.value == 5.0


def test_values_have_the_types_of_their_controls() -> None:
    assert like(1.5, 2) == 2.0 and isinstance(like(1.5, 2), float)
    assert like(100, 3.0) == 3 and isinstance(like(100, 3.0), int)
    assert like((0.0, 0.0), [1, 2]) == (1.0, 2.0)
    assert like("a", "b") == "b" and like(False, True) is True
