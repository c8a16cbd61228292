"""Plots: sensors, energy, and the profiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.enums import mjtEnableBit
from cardan.model import MjData, MjModel
from cardan.view.panels.panel import Panel
from cardan.view.profile import CONVERGENCE, SOLVER, STAGES, Profile, convergence, solver_work
from cardan.view.series import Series

COLORS = ("#4dabf7", "#ff8787", "#69db7c", "#ffd43b", "#da77f2", "#ff922b", "#63e6be", "#adb5bd", "#f783ac", "#a9e34b")
PERIOD = 0.2
HEIGHT = 220
ENERGY = mjtEnableBit.mjENBL_ENERGY.value


class PlotPanel(Panel):
    """A panel with plots, which are updated only while they are visible."""

    period = PERIOD

    def plot(self, title: str, names: tuple[str, ...], data: tuple[np.ndarray, ...], across: str = "time") -> Any:
        """Add a plot of quantities over `across`."""
        series: list[Any] = [{"label": across}]
        for k, name in enumerate(names):
            series.append({"label": name, "stroke": COLORS[k % len(COLORS)], "width": 1.5})
        scales: Any = {"x": {"time": False, "auto": True}, "y": {"auto": True}}
        legend: Any = {"show": True}
        return self.gui.add_uplot(
            data, tuple(series), title=title, scales=scales, legend=legend, height=HEIGHT, visible=False
        )


class SensorPanel(PlotPanel):
    """A plot of a sensor's values over time."""

    def build(self) -> None:
        """Make the controls."""
        m = self.session.model
        self.names = [m.sensor(k).name or f"sensor {k}" for k in range(m.nsensor)]
        self.folder = self.gui.add_folder("Sensors", expand_by_default=bool(self.names))
        self.chart: Any = None
        with self.folder:
            if not self.names:
                self.gui.add_markdown("The model has no sensors.")
                return
            options = ["none", *(f"{k}: {name}" for k, name in enumerate(self.names))]
            self.dropdown("Sensor", options, "none", self.choose)
        self.chosen = -1

    def choose(self, name: str) -> None:
        """Plot another sensor, or none."""
        self.chosen = -1 if name == "none" else int(name.partition(":")[0])
        if self.chart is not None:
            self.chart.remove()
            self.chart = None
        if self.chosen < 0:
            return
        m = self.session.model
        adr, dim = int(m.sensor_adr[self.chosen]), int(m.sensor_dim[self.chosen])
        self.part = slice(adr, adr + dim)
        self.series = Series(tuple(f"{self.names[self.chosen]}[{k}]" for k in range(dim)))
        with self.folder:
            chart = self.plot(self.names[self.chosen], self.series.names, self.series.columns())
        chart.visible = True
        self.chart = chart

    def refresh(self) -> None:
        """Append the current values."""
        chart = self.chart
        if chart is None:
            return
        with self.session.lock:
            at, values = self.session.data.time, self.session.data.sensordata[self.part].copy()
        self.series.add(at, values)
        chart.data = self.series.columns()


class EnergyPanel(PlotPanel):
    """A plot of potential and kinetic energy."""

    def build(self) -> None:
        """Make the controls."""
        self.series = Series(("potential", "kinetic", "total"))
        with self.gui.add_folder("Energy", expand_by_default=False):
            self.shown = self.checkbox("Plot the energy", False, self.show, "turns the flag `energy` on")
            self.chart = self.plot("Energy (J)", self.series.names, self.series.columns())

    def show(self, on: bool) -> None:
        """Show or hide the plot."""
        self.chart.visible = on
        if on:

            def command(m: MjModel, d: MjData) -> None:
                m.opt.enableflags |= ENERGY

            self.ask(command)

    def refresh(self) -> None:
        """Append the current values."""
        if not self.shown.value:
            return
        with self.session.lock:
            at, energy = self.session.data.time, self.session.data.energy.copy()
        self.series.add(at, np.append(energy, energy.sum()))
        self.chart.data = self.series.columns()


class ProfilerPanel(PlotPanel):
    """Plots of the time of stages, the solver's work, and its convergence in the last step."""

    def build(self) -> None:
        """Make the controls."""
        self.profile = Profile()
        self.times, self.work = Series(tuple(STAGES)), Series(SOLVER)
        with self.gui.add_folder("Profiler", expand_by_default=False):
            self.shown = self.checkbox("Profile", False, self.show, "measures each stage, which takes some time itself")
            self.charts = [
                self.plot("Time of stages (µs a step)", self.times.names, self.times.columns()),
                self.plot("Solver", SOLVER, self.work.columns()),
                self.plot("Convergence (log10)", CONVERGENCE, (np.arange(2.0), *np.zeros((3, 2))), "iteration"),
            ]

    def show(self, on: bool) -> None:
        """Switch the profiler on or off."""
        for chart in self.charts:
            chart.visible = on
        self.ask(lambda m, d: self.profile.watch(m, on))

    def discard(self) -> None:
        """Stop measuring."""
        self.profile.stop()

    def refresh(self) -> None:
        """Append the current values."""
        if not self.shown.value:
            return
        with self.session.lock:
            d = self.session.data
            at, work, steps = d.time, solver_work(d), convergence(d)
            times = self.profile.durations(d)
        self.times.add(at, times)
        self.work.add(at, work)
        for chart, data in zip(self.charts, (self.times.columns(), self.work.columns(), steps), strict=True):
            chart.data = data
