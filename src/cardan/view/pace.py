"""Speed of simulated time relative to the wall clock."""

from __future__ import annotations

MISALIGNED = 0.1
"""Largest deviation of the simulation from the wall clock, s; beyond it, counting starts again."""


class Pace:
    """Keeps simulated time at a multiple of real time; lost time is not made up for.

    Args:
        speed: simulated seconds per second.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._start: tuple[float, float] | None = None
        self._measured: tuple[float, float] | None = None
        self.achieved = 0.0

    def restart(self) -> None:
        """Start counting again at the next call of `due`."""
        self._start = self._measured = None

    def due(self, wall: float, simulated: float) -> float:
        """Return the simulated time that should be reached now, s.

        Args:
            wall: the wall clock, s.
            simulated: time of the simulation, s.
        """
        if self._start is not None:
            wall0, simulated0 = self._start
            due = simulated0 + self.speed * (wall - wall0)
            if abs(due - simulated) <= MISALIGNED * self.speed:
                return due
        self._start = (wall, simulated)
        return simulated

    def measure(self, wall: float, simulated: float) -> None:
        """Measure the achieved speed every half second, and store it in `achieved`."""
        if self._measured is None or simulated < self._measured[1]:
            self._measured = (wall, simulated)
        elif wall - self._measured[0] > 0.5:
            self.achieved = (simulated - self._measured[1]) / (wall - self._measured[0])
            self._measured = (wall, simulated)
