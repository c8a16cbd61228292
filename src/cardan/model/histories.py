"""Layout and initial values of the histories of actuators and sensors (spec 4.0: modeling, "Delays").

A history of ``n`` samples of ``dim`` values is a part of ``mjData.history``: the user slot, the cursor, ``n`` times,
``n * dim`` values. The cursor is the place of the newest sample; the samples after it, cyclically, are in order of
time, from the oldest on. The user slot of a sensor has the time at which its interval began.
"""

from __future__ import annotations

from math import ceil

from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model

HEAD = 2
"""Numbers in front of a history's times: user slot, cursor."""
ON_STEP = 1e-12
"""Relative distance from a multiple of the time step that counts as rounding."""


@kernel
def cursor_of(d: Data, adr: int, n: int) -> int:
    """Return the place of the newest of the `n` samples of the history at `adr`; 0 if the stored one is invalid."""
    place = d.history[adr + 1]
    return int(place) if 0.0 <= place < n else 0


@kernel
def _start(d: Data, adr: int, n: int, user: float, period: float, last: float, h: float) -> None:
    """Set user slot, cursor and times of an empty history; its last sample is of the time `last`, `period` apart.

    Times are rounded up to multiples of the time step `h`, since samples are taken at these.
    """
    d.history[adr] = user
    d.history[adr + 1] = n - 1
    for k in range(n):
        steps = (last - (n - 1 - k) * period) / h if h > 0.0 else 0.0
        d.history[adr + HEAD + k] = ceil(steps - ON_STEP * abs(steps)) * h


@kernel
def start_histories(m: Model, d: Data) -> None:
    """Set the histories of all actuators and sensors at time 0; their values must be 0 already."""
    h = m.opt.timestep
    for i in range(m.nactuator):
        if m.actuator_history[i, 0] > 0:
            _start(d, m.actuator_historyadr[i], m.actuator_history[i, 0], 0.0, h, -h, h)
    for i in range(m.nsensor):
        if m.sensor_history[i, 0] > 0:
            period, phase = m.sensor_interval[i, 0], m.sensor_interval[i, 1]
            spacing = max(period, h)
            user = phase
            if phase == 0.0:
                user = -period if period > 0.0 else -h
            last = phase if period > 0.0 and phase != 0.0 else -spacing
            _start(d, m.sensor_historyadr[i], m.sensor_history[i, 0], user, spacing, last, h)
