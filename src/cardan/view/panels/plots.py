"""Plots: sensors, energy, and the profiler."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from cardan.api.callbacks import get_callback, set_callback
from cardan.enums import mjtEnableBit, mjtTimer
from cardan.model import MjData, MjModel
from cardan.view.panels.panel import Panel

STAGES = {
    "step": "STEP",
    "kinematics": "POS_KINEMATICS",
    "inertia": "POS_INERTIA",
    "collision": "POS_COLLISION",
    "make constraints": "POS_MAKE",
    "project": "POS_PROJECT",
    "velocity": "VELOCITY",
    "actuation": "ACTUATION",
    "solver": "CONSTRAINT",
    "advance": "ADVANCE",
}
"""Displayed timers, by title."""
TIMERS = [getattr(mjtTimer, f"mjTIMER_{name}").value for name in STAGES.values()]
SOLVER = ("iterations", "evaluations", "rows", "active rows", "contacts")
CONVERGENCE = ("improvement", "gradient", "line slope")
SMALLEST = 1e-15


class Profile:
    """Profiler of a model's stages. Its clock is installed for this model only, and only while profiling is on."""

    def __init__(self) -> None:
        self._model: MjModel | None = None
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def watch(self, m: MjModel, on: bool) -> None:
        """If `on`, install the clock for `m`, unless the user has installed a clock. If not `on`, remove the clock."""
        if on and get_callback(m, "time") is None:
            set_callback(m, "time", lambda: 1e6 * time.perf_counter())  # microseconds
            self._model, self._last = m, None
        elif not on:
            self.stop()

    def stop(self) -> None:
        """Remove the clock."""
        if self._model is not None:
            set_callback(self._model, "time", None)
            self._model = None

    def durations(self, d: MjData) -> np.ndarray:
        """Return the mean time per step of each of the `STAGES` since the last call, µs; 0 if a stage did not run.

        In the first call, and after a reset of the data, all times are 0.
        """
        total = np.array([float(d.timer[k].duration) for k in TIMERS])
        count = np.array([int(d.timer[k].number) for k in TIMERS])
        before, self._last = self._last, (total, count)
        if before is None or (count < before[1]).any():
            return np.zeros(len(TIMERS))
        steps = max(int(count[0] - before[1][0]), 1)
        return (total - before[0]) / steps


def solver_work(d: MjData) -> np.ndarray:
    """Return the quantities named in `SOLVER`, for the last step."""
    count = int(d.solver_niter[0])
    last = d.solver[min(count, len(d.solver)) - 1] if count else None
    evaluations = sum(int(d.solver[k].neval) for k in range(min(count, len(d.solver))))
    return np.array([count, evaluations, d.nefc, int(last.nactive) if last is not None else 0, d.ncon], float)


def convergence(d: MjData) -> tuple[np.ndarray, ...]:
    """Return the iteration numbers of the last step, and the log10 of each quantity named in `CONVERGENCE`.

    There are at least two points, because a plot needs two.
    """
    count = min(int(d.solver_niter[0]), len(d.solver))
    rows = [(d.solver[k].improvement, d.solver[k].gradient, d.solver[k].lineslope) for k in range(count)]
    values = np.log10(np.maximum(np.array(rows or [(0.0, 0.0, 0.0)]), SMALLEST))
    if len(values) == 1:
        values = np.repeat(values, 2, axis=0)
    return (np.arange(len(values), dtype=float), *(np.ascontiguousarray(values[:, k]) for k in range(3)))


LENGTH = 400


class Series:
    """Values of named quantities over time; only the last `length` values are kept."""

    def __init__(self, names: tuple[str, ...], length: int = LENGTH) -> None:
        self.names, self._length = names, length
        self._rows = np.zeros((0, 1 + len(names)))

    def add(self, time: float, values: np.ndarray) -> None:
        """Append one value for each name.

        If `time` is less than the last time, discard all earlier values; if it is equal, do nothing.
        """
        if len(self._rows) and time == self._rows[-1, 0]:
            return
        if len(self._rows) and time < self._rows[-1, 0]:
            self._rows = self._rows[:0]
        row = np.concatenate([[time], np.asarray(values, float).ravel()])
        self._rows = np.concatenate([self._rows[-self._length + 1 :], row[None]])

    def columns(self) -> tuple[np.ndarray, ...]:
        """Return the times, then the values of each quantity; at least two points, because a plot needs two."""
        rows = self._rows
        if len(rows) < 2:
            last = rows[-1:] if len(rows) else np.zeros((1, 1 + len(self.names)))
            rows = np.concatenate([last, last + np.eye(1, last.shape[1]) * 1e-9])
        return tuple(np.ascontiguousarray(rows[:, k]) for k in range(rows.shape[1]))


COLORS = ("#4dabf7", "#ff8787", "#69db7c", "#ffd43b", "#da77f2", "#ff922b", "#63e6be", "#adb5bd", "#f783ac", "#a9e34b")
HEIGHT = 220
ENERGY = mjtEnableBit.mjENBL_ENERGY.value


class PlotPanel(Panel):
    """A panel with plots, which are updated only while they are visible."""

    period = 0.2

    def plot(self, title: str, names: tuple[str, ...], data: tuple[np.ndarray, ...], across: str = "time") -> Any:
        """Add a plot of quantities over `across`."""
        series: list[Any] = [{"label": across}]
        for k, name in enumerate(names):
            series.append({"label": name, "stroke": COLORS[k % len(COLORS)], "width": 1.5})
        scales: Any = {"x": {"time": False, "auto": True}, "y": {"auto": True}}
        style: Any = {"scales": scales, "legend": {"show": True}, "height": HEIGHT, "visible": False}
        return self.gui.add_uplot(data, tuple(series), title=title, **style)


class SensorPanel(PlotPanel):
    """A plot of a sensor's values over time."""

    def _build(self) -> None:
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
        """Append the current values to the plot."""
        chart = self.chart
        if chart is None:
            return
        with self.session.lock:
            at, values = self.session.data.time, self.session.data.sensordata[self.part].copy()
        self.series.add(at, values)
        chart.data = self.series.columns()


class EnergyPanel(PlotPanel):
    """A plot of potential and kinetic energy."""

    def _build(self) -> None:
        self.series = Series(("potential", "kinetic", "total"))
        with self.gui.add_folder("Energy", expand_by_default=False):
            self.shown = self.checkbox("Plot the energy", False, self.show, "turns the flag `energy` on")
            self.chart = self.plot("Energy (J)", self.series.names, self.series.columns())

    def show(self, on: bool) -> None:
        """Show or hide the plot. If it is shown, turn the flag `energy` on."""
        self.chart.visible = on
        if on:
            self.ask(lambda m, d: setattr(m.opt, "enableflags", m.opt.enableflags | ENERGY))

    def refresh(self) -> None:
        """Append the current values to the plot."""
        if not self.shown.value:
            return
        with self.session.lock:
            at, energy = self.session.data.time, self.session.data.energy.copy()
        self.series.add(at, np.append(energy, energy.sum()))
        self.chart.data = self.series.columns()


class ProfilerPanel(PlotPanel):
    """Plots of the time of each stage, the solver's work, and the solver's convergence in the last step."""

    def _build(self) -> None:
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
        """Append the current values to the plots."""
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
