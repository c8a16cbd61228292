"""The controls of the pages: panels in tabs, made for a model and updated regularly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cardan.view.keys import listen
from cardan.view.panels.capture import CapturePanel
from cardan.view.panels.files import FilePanel
from cardan.view.panels.panel import Panel
from cardan.view.panels.physics import PhysicsPanel
from cardan.view.panels.plots import EnergyPanel, ProfilerPanel, SensorPanel
from cardan.view.panels.rendering import RenderingPanel
from cardan.view.panels.simulation import SimulationPanel
from cardan.view.panels.sliders import ActuatorPanel, JointPanel
from cardan.view.panels.warnings import WarningPanel

if TYPE_CHECKING:
    from cardan.view.app import Viewer

PANELS: tuple[tuple[str, tuple[type[Panel], ...]], ...] = (
    ("Simulation", (SimulationPanel, FilePanel, CapturePanel, WarningPanel)),
    ("Physics", (PhysicsPanel,)),
    ("Rendering", (RenderingPanel,)),
    ("Control", (ActuatorPanel,)),
    ("Joints", (JointPanel,)),
    ("Plots", (SensorPanel, EnergyPanel, ProfilerPanel)),
)
"""The tabs and their panels."""


class Controls:
    """All controls.

    Args:
        viewer: the viewer that they control.

    Attributes:
        panels: the panels by their class.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._generation = -1
        self.panels: dict[type[Panel], Panel] = {}
        self._viewer.controls = self
        self.refresh()

    def _build(self) -> None:
        gui = self._viewer.server.viser.gui
        self.discard()
        self._viewer.inputs.forget()
        gui.reset()
        gui.main_panel.dock_right()
        self.panels = {}
        tabs = gui.add_tab_group()
        for title, kinds in PANELS:
            with tabs.add_tab(title):
                for kind in kinds:
                    self.panels[kind] = kind(self._viewer)
        listen(self._viewer, self._viewer.key_callback)

    def discard(self) -> None:
        """Release resources of the panels other than their controls."""
        for panel in self.panels.values():
            panel.discard()

    def refresh(self) -> None:
        """Update the controls of all panels that are due."""
        session = self._viewer.session
        if session.generation != self._generation:
            self._generation = session.generation
            self._build()
        self._viewer.inputs.settle()
        now = time.perf_counter()
        due = [panel for panel in self.panels.values() if now >= panel.due]
        if due:
            # in one message: otherwise each value wakes the server's thread
            with self._viewer.server.viser.atomic():
                for panel in due:
                    panel.due = now + panel.period
                    panel.refresh()
