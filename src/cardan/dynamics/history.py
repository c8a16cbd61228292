"""Histories of controls and sensor values: reading the past, and adding samples (spec 4.0: modeling, "Delays").

`cardan.model.histories` describes the layout. Between samples a value is that of the last sample (zoh), linear or
cubic. Cubic means a Hermite polynomial with the slopes of Catmull and Rom (1974). At both ends the slope is 0, and
outside values are constant.
"""

from __future__ import annotations

from typing import Any

from cardan.enums.codes import DSBL_SENSOR
from cardan.jit import OK, kernel, stage
from cardan.model.histories import HEAD, cursor_of
from cardan.model.kernel_views import Data, Model

SAME_TIME = 1e-15
"""A time this close below that of a sample counts as the time of the sample, s."""
NEAR_ONE = 1.0 + 2.0**-52
"""Becomes 1 plus the tolerance of single precision there (`cardan.jit.front.precision`)."""
ZOH, LINEAR, CUBIC = 0, 1, 2


def has_history(m: Any) -> bool:
    """Return whether an actuator or a sensor of the model keeps past values."""
    return m.nhistory > 0


@kernel
def _time(d: Data, adr: int, n: int, oldest: int, k: int) -> float:
    """Return the time of the `k`-th sample, in order of time, of `n`; `oldest` is the place of the first."""
    return d.history[adr + HEAD + (oldest + k) % n]


@kernel
def _value(d: Data, adr: int, n: int, dim: int, oldest: int, k: int, j: int) -> float:
    """Return element `j` of the value of the `k`-th sample; arguments as in `_time`."""
    return d.history[adr + HEAD + n + dim * ((oldest + k) % n) + j]


@kernel
def _first_from(d: Data, adr: int, n: int, oldest: int, time: float) -> int:
    """Return the number of the first sample that is not before `time`. The last one must not be before it."""
    low, high = -1, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if _time(d, adr, n, oldest, middle) >= time:
            high = middle
        else:
            low = middle
    return high


@kernel
def _rounding(time: float) -> float:
    """Return the distance at which times near `time` are the same in single precision; 0 in double precision."""
    size = abs(time)
    return max(0.0, NEAR_ONE * size - size - 5e-16 * size)


@kernel
def _slope(d: Data, adr: int, n: int, dim: int, oldest: int, k: int, j: int) -> float:
    """Return the slope of element `j` at the `k`-th sample: that of the line through its neighbours; 0 at the ends."""
    if k <= 0 or k >= n - 1:
        return 0.0
    span = _time(d, adr, n, oldest, k + 1) - _time(d, adr, n, oldest, k - 1)
    if span == 0.0:
        return 0.0
    return (_value(d, adr, n, dim, oldest, k + 1, j) - _value(d, adr, n, dim, oldest, k - 1, j)) / span


@kernel
def _between(
    d: Data, adr: int, n: int, dim: int, oldest: int, k: int, time: float, interp: int, out: Any, at: int
) -> None:
    """Interpolate between the samples `k - 1` and `k`, at a `time` after the former; arguments as in `read_history`."""
    before = _time(d, adr, n, oldest, k - 1)
    dt = _time(d, adr, n, oldest, k) - before
    s = (time - before) / dt
    s2 = s * s
    s3 = s2 * s
    for j in range(dim):
        a, b = _value(d, adr, n, dim, oldest, k - 1, j), _value(d, adr, n, dim, oldest, k, j)
        if interp == LINEAR:
            out[at + j] = a + s * (b - a)
        else:
            slope_a = _slope(d, adr, n, dim, oldest, k - 1, j)
            slope_b = _slope(d, adr, n, dim, oldest, k, j)
            out[at + j] = (
                (2.0 * s3 - 3.0 * s2 + 1.0) * a
                + (s3 - 2.0 * s2 + s) * dt * slope_a
                + (-2.0 * s3 + 3.0 * s2) * b
                + (s3 - s2) * dt * slope_b
            )


@kernel
def read_history(d: Data, adr: int, n: int, dim: int, time: float, interp: int, out: Any, at: int) -> None:
    """Write the value that a history had at a time to ``out[at:]``.

    Args:
        d: data.
        adr: start of the history.
        n: its number of samples, at least 1.
        dim: number of values in a sample.
        time: the time, s. Before the first and after the last sample the value is constant.
        interp: how values between samples are found: `ZOH`, `LINEAR` or `CUBIC`.
        out: array that is written.
        at: index of the first value in it.
    """
    cursor = cursor_of(d, adr, n)
    oldest = (cursor + 1) % n
    k = n - 1
    exact = True
    if time <= _time(d, adr, n, oldest, 0):
        k = 0
    elif time < _time(d, adr, n, oldest, n - 1):
        k = _first_from(d, adr, n, oldest, time)
        if _time(d, adr, n, oldest, k) - time >= SAME_TIME + _rounding(d.history[adr + HEAD + cursor]):
            exact = interp == ZOH
            if exact:
                k -= 1
    if exact:
        for j in range(dim):
            out[at + j] = _value(d, adr, n, dim, oldest, k, j)
    else:
        _between(d, adr, n, dim, oldest, k, time, interp, out, at)


@kernel
def _place_for(d: Data, adr: int, n: int, dim: int, time: float) -> int:
    """Return the place for a new sample of a time; make room for it in place of the oldest sample, and set its time.

    If there is a sample of the same time, its place is returned. Samples between are moved, so that all are in order.
    """
    cursor = cursor_of(d, adr, n)
    if time > d.history[adr + HEAD + cursor]:
        place = (cursor + 1) % n
        d.history[adr + HEAD + place] = time
        d.history[adr + 1] = place
        return place
    oldest = (cursor + 1) % n
    k = _first_from(d, adr, n, oldest, time)
    if _time(d, adr, n, oldest, k) - time < SAME_TIME + _rounding(time):
        return (oldest + k) % n
    for later in range(1, k):
        source, target = (oldest + later) % n, (oldest + later - 1) % n
        d.history[adr + HEAD + target] = d.history[adr + HEAD + source]
        for j in range(dim):
            d.history[adr + HEAD + n + dim * target + j] = d.history[adr + HEAD + n + dim * source + j]
    place = (oldest + max(k - 1, 0)) % n
    d.history[adr + HEAD + place] = time
    return place


@kernel
def push_sample(d: Data, adr: int, n: int, dim: int, time: float, source: Any, at: int) -> None:
    """Add the sample ``source[at:at + dim]`` of a time to the history of `n` samples at `adr`."""
    place = _place_for(d, adr, n, dim, time)
    for j in range(dim):
        d.history[adr + HEAD + n + dim * place + j] = source[at + j]


@kernel
def is_due(m: Model, d: Data, sensor: int, time: float) -> bool:
    """Return whether a sensor is computed at a time: its period (if any) has passed since its last interval began."""
    if m.sensor_history[sensor, 0] <= 0 or m.sensor_interval[sensor, 0] <= 0.0:
        return True
    next = d.history[m.sensor_historyadr[sensor]] + m.sensor_interval[sensor, 0]
    return next - _rounding(time) <= time


@kernel
def delay_values(m: Model, d: Data, sensor: int, due: bool) -> None:
    """Replace the values of a sensor, if it has a history, by those that it shows now.

    Values that were just computed (`due`) are kept for the history if they are shown later. A sensor with a period and
    without a delay shows the values of its last period.
    """
    n, delay = m.sensor_history[sensor, 0], m.sensor_delay[sensor]
    if n <= 0 or (due and delay <= 0.0):
        return
    adr, dim, at = m.sensor_historyadr[sensor], m.sensor_dim[sensor], m.sensor_adr[sensor]
    if due:
        for j in range(dim):
            d.work.history_value[adr + j] = d.sensordata[at + j]
    read_history(d, adr, n, dim, d.time - max(delay, 0.0), m.sensor_history[sensor, 1], d.sensordata, at)


@stage
def read_controls(m: Model, d: Data) -> int:
    """Read the delayed controls from their histories; writes the entries of work.history_value at their addresses."""
    for i in range(m.nactuator):
        n = m.actuator_history[i, 0]
        if n > 0 and m.actuator_delay[i] > 0.0:
            adr, time = m.actuator_historyadr[i], d.time - m.actuator_delay[i]
            read_history(d, adr, n, m.actuator_ctrlnum[i], time, m.actuator_history[i, 1], d.work.history_value, adr)
    return OK


@kernel
def control_of(m: Model, d: Data, actuator: int, k: int) -> float:
    """Return the `k`-th control of an actuator that has its effect now: with a delay, that of `read_controls`."""
    if m.nhistory > 0 and m.actuator_history[actuator, 0] > 0 and m.actuator_delay[actuator] > 0.0:
        return d.work.history_value[m.actuator_historyadr[actuator] + k]
    return d.ctrl[m.actuator_ctrladr[actuator] + k]


@kernel
def _push_all(m: Model, d: Data, time: float, sensors: bool) -> None:
    """Add the controls and, if `sensors` is set, the values of sensors that are due at `time` to the histories."""
    for i in range(m.nactuator):
        if m.actuator_history[i, 0] > 0:
            dim = m.actuator_ctrlnum[i]
            push_sample(d, m.actuator_historyadr[i], m.actuator_history[i, 0], dim, time, d.ctrl, m.actuator_ctrladr[i])
    for i in range(m.nsensor if sensors else 0):
        n = m.sensor_history[i, 0]
        if n > 0 and is_due(m, d, i, time):
            adr, dim = m.sensor_historyadr[i], m.sensor_dim[i]
            if m.sensor_delay[i] > 0.0:
                push_sample(d, adr, n, dim, time, d.work.history_value, adr)
            else:
                push_sample(d, adr, n, dim, time, d.sensordata, m.sensor_adr[i])
            if m.sensor_interval[i, 0] > 0.0:
                d.history[adr] = d.history[adr] + m.sensor_interval[i, 0]


@stage
def push_histories(m: Model, d: Data) -> int:
    """Add the controls and sensor values of this step to the histories, before the time advances; writes history."""
    _push_all(m, d, d.time, not m.opt.disableflags & DSBL_SENSOR)
    return OK


@stage
def push_histories_of_start(m: Model, d: Data) -> int:
    """Do as `push_histories`, at the end of a Runge-Kutta step: samples are of the time at its start, rk_time."""
    _push_all(m, d, d.work.rk_time, not m.opt.disableflags & DSBL_SENSOR)
    return OK
