"""What all panels have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.model import MjData, MjModel
from cardan.view.session import Command

if TYPE_CHECKING:
    from cardan.view.app import Viewer

DECIMALS = 15
"""Most digits after the point of a field for a real number; viser's own count is that of its first value."""


class Panel:
    """A group of controls.

    Args:
        viewer: what they control.
    """

    period = 0.1
    """Time between two looks at the state, s."""

    def __init__(self, viewer: Viewer) -> None:
        self.due = 0.0
        self.viewer, self.session = viewer, viewer.session
        self.gui, self.inputs = viewer.server.viser.gui, viewer.inputs
        self._generation = self.session.generation
        self.build()

    def build(self) -> None:
        """Make the controls."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Bring the controls up to date; the session's lock is not held."""

    def discard(self) -> None:
        """Let go of what is held beyond the controls."""

    def button(self, label: str, act: Callable[[], None], hint: str | None = None) -> Any:
        """A button."""
        handle = self.gui.add_button(label, hint=hint)

        @handle.on_click
        async def _clicked(event: Any) -> None:
            self.inputs.do(act)

        return handle

    def checkbox(self, label: str, value: bool, act: Callable[[bool], None], hint: str | None = None) -> Any:
        """A box to tick; `act` is called when a user, not a script, changes it."""
        handle = self.gui.add_checkbox(label, value, hint=hint)
        return self._changed(handle, act)

    def dropdown(self, label: str, options: list[str], value: str, act: Callable[[str], None]) -> Any:
        """A choice."""
        return self._changed(self.gui.add_dropdown(label, options, initial_value=value), act)

    def number(self, label: str, value: float, act: Callable[[float], None], step: float | None = None) -> Any:
        """A number; real ones have as many decimals as a user wants."""
        handle = self.gui.add_number(label, value, step=step)
        if not isinstance(value, int):
            handle.precision = DECIMALS
        return self._changed(handle, act)

    def vector(self, label: str, value: np.ndarray, act: Callable[[tuple[float, float, float]], None]) -> Any:
        """Three real numbers."""
        handle = self.gui.add_vector3(label, value)
        handle.precision = DECIMALS
        return self._changed(handle, act)

    def slider(
        self, label: str, low: float, high: float, value: float, act: Callable[[float], None], step: float | None = None
    ) -> Any:
        """A slider; it has a thousand steps unless something else is said."""
        step = step or (high - low) / 1000.0
        handle = self.gui.add_slider(label, low, high, step, within(value, low, high))
        return self._changed(handle, lambda value: act(within(value, low, high)))  # its field takes any number

    def put(self, handle: Any, value: Any) -> None:
        """Show a value, unless a user changed it and the session does not show that yet."""
        self.inputs.show(handle, value)

    def ask(self, command: Command) -> None:
        """Ask for a change of the model or the data that this panel was made for."""

        def made(m: MjModel, d: MjData) -> None:
            if self.session.generation == self._generation:
                command(m, d)

        self.session.post(made)

    def _changed(self, handle: Any, act: Callable[[Any], None]) -> Any:
        self.inputs.listen(handle, act)
        return handle


def within(value: float, low: float, high: float) -> float:
    """The nearest value that a slider can show; its lowest for what is no number."""
    return min(max(low, value), high)  # in this order: max(low, nan) is low
