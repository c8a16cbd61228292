"""How fast simulated time goes against the wall clock."""

from __future__ import annotations

MISALIGNED = 0.1
"""Seconds of the wall clock by which the simulation may be late or early before it starts counting anew."""


class Pace:
    """Keeps simulated time at a multiple of real time; time that was lost is not caught up on.

    Args:
        speed: simulated seconds a second.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._start: tuple[float, float] | None = None
        self._measured: tuple[float, float] | None = None
        self.achieved = 0.0

    def restart(self) -> None:
        """Count from the next call of `due` on."""
        self._start = self._measured = None

    def due(self, wall: float, simulated: float) -> float:
        """Simulated time that should be reached by now, s.

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
        """Find the speed that is achieved, every half second, into `achieved`."""
        if self._measured is None or simulated < self._measured[1]:
            self._measured = (wall, simulated)
        elif wall - self._measured[0] > 0.5:
            self.achieved = (simulated - self._measured[1]) / (wall - self._measured[0])
            self._measured = (wall, simulated)
