"""Base class of the panels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.model import MjData, MjModel
from cardan.view.session import Command

if TYPE_CHECKING:
    from cardan.view.app import Viewer

DECIMALS = 15
"""Largest number of decimals in a field for a real number. By default, viser uses that of the first value."""


class Panel:
    """A group of controls of a viewer, which `_build` makes and `refresh` updates every `period` seconds."""

    period = 0.1

    def __init__(self, viewer: Viewer) -> None:
        self.due = 0.0
        self.viewer, self.session = viewer, viewer.session
        self.gui, self.inputs = viewer.server.viser.gui, viewer.inputs
        self._generation = self.session.generation
        self._build()

    def _build(self) -> None:
        raise NotImplementedError

    def refresh(self) -> None:
        """Update the controls; the session's lock is not held."""

    def discard(self) -> None:
        """Release resources other than the controls."""

    def button(self, label: str, act: Callable[[], None], hint: str | None = None) -> Any:
        """Add a button."""
        handle = self.gui.add_button(label, hint=hint)

        @handle.on_click
        async def _clicked(event: Any) -> None:
            self.inputs.do(act)

        return handle

    def checkbox(self, label: str, value: bool, act: Callable[[bool], None], hint: str | None = None) -> Any:
        """Add a check box; `act` is called when a user changes the check box, not when a script does."""
        return self._changed(self.gui.add_checkbox(label, value, hint=hint), act)

    def dropdown(self, label: str, options: list[str], value: str, act: Callable[[str], None]) -> Any:
        """Add a drop-down list."""
        return self._changed(self.gui.add_dropdown(label, options, initial_value=value), act)

    def number(self, label: str, value: float, act: Callable[[float], None], step: float | None = None) -> Any:
        """Add a field for a number. Real numbers keep all decimals that a user enters."""
        handle = self.gui.add_number(label, value, step=step)
        if not isinstance(value, int):
            handle.precision = DECIMALS
        return self._changed(handle, act)

    def vector(self, label: str, value: np.ndarray, act: Callable[[tuple[float, float, float]], None]) -> Any:
        """Add a field for three real numbers."""
        handle = self.gui.add_vector3(label, value)
        handle.precision = DECIMALS
        return self._changed(handle, act)

    def slider(
        self, label: str, low: float, high: float, value: float, act: Callable[[float], None], step: float | None = None
    ) -> Any:
        """Add a slider; by default it has a thousand steps."""
        step = step or (high - low) / 1000.0
        handle = self.gui.add_slider(label, low, high, step, within(value, low, high))
        return self._changed(handle, lambda value: act(within(value, low, high)))  # the field accepts any number

    def put(self, handle: Any, value: Any) -> None:
        """Show a value in a control, unless a user's change of the control has not reached the session yet."""
        self.inputs.show(handle, value)

    def ask(self, command: Command) -> None:
        """Post a command that changes the model or the data for which this panel was made.

        If the session shows another model by then, the command is ignored.
        """

        def made(m: MjModel, d: MjData) -> None:
            if self.session.generation == self._generation:
                command(m, d)

        self.session.post(made)

    def _changed(self, handle: Any, act: Callable[[Any], None]) -> Any:
        self.inputs.listen(handle, act)
        return handle


def within(value: float, low: float, high: float) -> float:
    """Clamp `value` to the range `low` to `high` of a slider; NaN becomes the lower limit."""
    return min(max(low, value), high)  # in this order: max(low, nan) is low
