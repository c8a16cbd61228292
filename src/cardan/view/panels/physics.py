"""Options of the physics: the members and flags of `option`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cardan.constants import mjDISABLESTRING, mjENABLESTRING
from cardan.enums import mjtCone, mjtIntegrator, mjtJacobian, mjtSolver
from cardan.enums.base import MjEnum
from cardan.model import MjData, MjModel
from cardan.view.panels.panel import Panel

CHOICES: dict[str, type[MjEnum]] = {
    "integrator": mjtIntegrator,
    "cone": mjtCone,
    "jacobian": mjtJacobian,
    "solver": mjtSolver,
}
NUMBERS = (
    *("timestep", "iterations", "tolerance", "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance"),
    *("impratio", "density", "viscosity", "o_margin"),
)
VECTORS = ("gravity", "wind", "magnetic")


def _words(kinds: type[MjEnum]) -> list[str]:
    """Convert names of an enumeration: ``mjINT_RK4`` -> ``rk4``."""
    return [name.partition("_")[2].lower() for name in kinds.__members__]


class PhysicsPanel(Panel):
    """Algorithms, numbers, vectors, and flags of `option`."""

    period = 0.5

    def build(self) -> None:
        """Make the controls."""
        opt = self.session.model.opt
        self.handles: dict[str, Any] = {}
        with self.gui.add_folder("Algorithms"):
            for name, kinds in CHOICES.items():
                words = _words(kinds)
                now = words[int(getattr(opt, name))]
                self.handles[name] = self.dropdown(name, words, now, partial(self._choose, name, words))
        with self.gui.add_folder("Parameters"):
            for name in NUMBERS:
                self.handles[name] = self.number(name, getattr(opt, name), partial(self.set, name), None)
            for name in VECTORS:
                self.handles[name] = self.vector(name, np.array(getattr(opt, name)), partial(self.set_vector, name))
        self.flags: list[tuple[str, int, Any]] = []
        for title, member, names in (
            ("Disable flags", "disableflags", mjDISABLESTRING),
            ("Enable flags", "enableflags", mjENABLESTRING),
        ):
            with self.gui.add_folder(title, expand_by_default=False):
                for k, name in enumerate(names):
                    on = bool(getattr(opt, member) >> k & 1)
                    self.flags.append((member, k, self.checkbox(name, on, partial(self.set_bit, member, k))))

    def _choose(self, name: str, words: list[str], word: str) -> None:
        self.set(name, words.index(word))

    def set(self, name: str, value: float) -> None:
        """Set a number; a time step must be positive."""

        def command(m: MjModel, d: MjData) -> None:
            if name != "timestep" or value > 0.0:
                setattr(m.opt, name, type(getattr(m.opt, name))(value))

        self.ask(command)

    def set_vector(self, name: str, value: tuple[float, float, float]) -> None:
        """Set a vector."""

        def command(m: MjModel, d: MjData) -> None:
            getattr(m.opt, name)[:] = value

        self.ask(command)

    def set_bit(self, member: str, bit: int, on: bool) -> None:
        """Set or clear a flag."""

        def command(m: MjModel, d: MjData) -> None:
            old = int(getattr(m.opt, member))
            setattr(m.opt, member, old | 1 << bit if on else old & ~(1 << bit))

        self.ask(command)

    def refresh(self) -> None:
        """Show the current options, which a script may have changed."""
        with self.session.lock:
            opt = self.session.model.opt
            values: dict[str, Any] = {name: getattr(opt, name) for name in (*CHOICES, *NUMBERS)}
            values |= {name: tuple(float(x) for x in getattr(opt, name)) for name in VECTORS}
            bits = {member: int(getattr(opt, member)) for member in ("disableflags", "enableflags")}
        for name, kinds in CHOICES.items():
            values[name] = _words(kinds)[int(values[name])]
        for name, handle in self.handles.items():
            self.put(handle, values[name])
        for member, bit, handle in self.flags:
            self.put(handle, bool(bits[member] >> bit & 1))
