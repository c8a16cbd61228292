"""Effect of the mouse on the physics: the selected body is pulled, rotated, or moved."""

from __future__ import annotations

from cardan.model import MjData, MjModel
from cardan.visual import MjvPerturb, mjv_applyPerturbForce, mjv_applyPerturbPose


class Pusher:
    """Applies a perturbation, and removes the force that it left in the data."""

    def __init__(self) -> None:
        self._body = 0

    def clear(self, d: MjData) -> None:
        """Remove the force."""
        if self._body:
            d.xfrc_applied[self._body] = 0.0
            self._body = 0

    def apply(self, m: MjModel, d: MjData, pert: MjvPerturb, paused: bool) -> bool:
        """Pull or rotate the selected body by a force; while physics is paused, move it.

        Returns:
            Whether the data changed.
        """
        had = self._body
        self.clear(d)
        if not (pert.active | pert.active2) or not 0 < pert.select < m.nbody:
            return bool(had)
        mjv_applyPerturbPose(m, d, pert, int(paused))
        if not paused:
            mjv_applyPerturbForce(m, d, pert)
            self._body = int(pert.select)
        return True
