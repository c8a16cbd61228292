"""Derivatives by differences, as a reference for exact ones: centred, with Richardson's extrapolation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import cardan

STEP = 1e-6
"""Half-width of differences: contacts have impedances that change within a millimetre."""
ROUGH = 1e-5
"""Difference of wide and narrow differences, relative, from which a function has a corner between them."""


@dataclass(frozen=True)
class Outcome:
    """Numbers that are compared, and what must be the same for them to belong to one smooth piece."""

    values: np.ndarray
    piece: bytes


def richardson(outcome: Callable[[float], Outcome], step: float = STEP) -> tuple[np.ndarray, bool]:
    """Derivative at 0 of the values of `outcome`, with an error of order step^4.

    Returns:
        The derivative, and whether all evaluations lie on one smooth piece: it says so, and wide and narrow differences
        agree as they do where a function is smooth (a collision function may change the faces that it looks at), and
        so do sums: where the search of a collision function ends elsewhere at 0 than on both sides of it, the same jump
        on both sides leaves differences as they are.
    """
    here = outcome(0.0)
    up, down, near_up, near_down = (outcome(s * step) for s in (1.0, -1.0, 0.5, -0.5))
    if not all(other.piece == here.piece for other in (up, down, near_up, near_down)):
        return np.zeros_like(here.values), False
    wide = (up.values - down.values) / (2.0 * step)
    narrow = (near_up.values - near_down.values) / step
    # of order step^2, so that a quarter is left at half the step
    wide_sum = (up.values + down.values - 2.0 * here.values) / step
    narrow_sum = (near_up.values + near_down.values - 2.0 * here.values) / step
    most = ROUGH * max(1.0, np.abs(narrow).max(initial=0.0))
    rough = max(np.abs(narrow - wide).max(initial=0.0), np.abs(4.0 * narrow_sum - wide_sum).max(initial=0.0)) > most
    return (4.0 * narrow - wide) / 3.0, not rough


def moved(d: cardan.MjData, direction: int, step: float) -> cardan.MjData:
    """A data whose state is that of `d`, moved along a direction: dofs as positions, then as velocities."""
    m = d.model
    e = cardan.MjData(m)
    forces = ("qfrc_applied", "xfrc_applied")
    for name in ("qpos", "qvel", "act", "ctrl", *forces, "mocap_pos", "mocap_quat", "plugin_state"):
        getattr(e, name)[...] = getattr(d, name)
    e._memory.arrays["work.plugin_number"][...] = d._memory.arrays["work.plugin_number"]
    e.time = d.time
    e.qacc_warmstart[:] = d.qacc
    along = np.zeros(m.nv)
    along[direction % m.nv] = 1.0
    if direction < m.nv:
        cardan.mj_integratePos(m, e.qpos, along, step)
    else:
        e.qvel += step * along
    return e
