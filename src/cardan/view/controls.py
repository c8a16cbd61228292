"""The controls of the pages: panels in tabs, made for a model and kept up to date."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from cardan.view.keys import listen
from cardan.view.panels.panel import Panel
from cardan.view.panels.rendering import RenderingPanel
from cardan.view.panels.simulation import SimulationPanel
from cardan.view.panels.sliders import ActuatorPanel, JointPanel

if TYPE_CHECKING:
    from cardan.view.app import Viewer

PERIOD = 0.1
"""Time between two looks at the state, s."""
PANELS: tuple[tuple[str, tuple[type[Panel], ...]], ...] = (
    ("Simulation", (SimulationPanel,)),
    ("Rendering", (RenderingPanel,)),
    ("Control", (ActuatorPanel,)),
    ("Joints", (JointPanel,)),
)
"""The tabs and what is in them."""


class Controls:
    """All controls.

    Args:
        viewer: what they control.

    Attributes:
        panels: the panels by their class.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._generation, self._due = -1, 0.0
        self.panels: dict[type[Panel], Panel] = {}
        self._keys: list[Any] = []
        self._viewer.controls = self
        self.refresh()

    def _build(self) -> None:
        gui = self._viewer.server.viser.gui
        gui.reset()
        gui.main_panel.dock_right()
        self.panels = {}
        tabs = gui.add_tab_group()
        for title, kinds in PANELS:
            with tabs.add_tab(title):
                for kind in kinds:
                    self.panels[kind] = kind(self._viewer)
        for key in self._keys:
            key.remove()
        self._keys = listen(self._viewer, self._viewer.key_callback)

    def refresh(self) -> None:
        """Bring the controls up to date, if it is time."""
        session = self._viewer.session
        if session.generation != self._generation:
            self._generation = session.generation
            self._build()
        now = time.perf_counter()
        if now >= self._due:
            self._due = now + PERIOD
            for panel in self.panels.values():
                panel.refresh()
