"""Reading and setting the histories of controls and sensors (spec 4.0: modeling, "Delays").

An actuator or a sensor with `nsample` keeps that many past values, with their times, in `d.history`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import check_pair, require, valid_id, vector_of, writable_vector
from cardan.api.native_call import native_by
from cardan.dynamics.history import CUBIC, read_history
from cardan.errors import FatalError
from cardan.jit import OK, kernel
from cardan.jit.binding.arguments import ANY, Integer, Number, element, target
from cardan.model.histories import HEAD, cursor_of
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

OWN = -1  # the interpolation of the actuator or sensor itself


@kernel
def _read_control(m: Model, d: Data, id: int, time: float, result: Any, interp: int) -> int:
    n, dim = m.actuator_history[id, 0], m.actuator_ctrlnum[id]
    if len(result) != dim or not OWN <= interp <= CUBIC:
        return 1
    if n <= 0:
        for j in range(dim):
            result[j] = d.ctrl[m.actuator_ctrladr[id] + j]
        return OK
    chosen = m.actuator_history[id, 1] if interp == OWN else interp
    read_history(d, m.actuator_historyadr[id], n, dim, time - m.actuator_delay[id], chosen, result, 0)
    return OK


@kernel
def _read_sensor(m: Model, d: Data, id: int, time: float, result: Any, interp: int) -> int:
    n, dim = m.sensor_history[id, 0], m.sensor_dim[id]
    if len(result) != dim or not OWN <= interp <= CUBIC:
        return 1
    if n <= 0:
        for j in range(dim):
            result[j] = d.sensordata[m.sensor_adr[id] + j]
        return OK
    chosen = m.sensor_history[id, 1] if interp == OWN else interp
    read_history(d, m.sensor_historyadr[id], n, dim, time - m.sensor_delay[id], chosen, result, 0)
    return OK


def _check_read(name: str, kind: str, count: str) -> Callable[..., None]:
    """Make a function that checks the arguments of a read; it raises IndexError, TypeError or FatalError."""

    def check(m: MjModel, id: int, result: np.ndarray, interp: int, **_: Any) -> None:
        dims = m.sensor_dim if kind == "sensor" else m.actuator_ctrlnum
        dim = int(dims[valid_id(kind, id, len(dims))])
        writable_vector(name, "result", result, dim, f"the number of values, {dim}")
        if not OWN <= int(interp) <= CUBIC:
            raise FatalError(f"{name}: interp must be 0, 1, 2, or -1 for that of the {kind}, got {int(interp)}")

    return check


def _reads(name: str, kernel: Callable[..., int], kind: str, count: str) -> Callable[..., None]:
    """Make the native function that reads the history of an actuator or sensor."""

    def read(m: MjModel, d: MjData, id: int, time: float, result: np.ndarray, interp: int) -> None: ...

    read.__name__ = read.__qualname__ = name
    check = _check_read(name, kind, count)
    more = {"time": Number(), "result": target(ANY), "interp": Integer()}
    return native_by(kernel, check=check, refuses=True, public=False, id=element(kind, count), **more)(read)


_read_ctrl = _reads("mj_readCtrl", _read_control, "actuator", "nactuator")
_read_values = _reads("mj_readSensor", _read_sensor, "sensor", "nsensor")


def mj_readCtrl(m: MjModel, d: MjData, id: int, time: float, result: np.ndarray, interp: int) -> np.ndarray:
    """Read the control that an actuator has, or had, at a time; the actuator's delay is subtracted from the time.

    Args:
        m: model.
        d: data.
        id: the actuator.
        time: the time, s. Before the first and after the last sample, controls are constant.
        result: (actuator_ctrlnum,), written.
        interp: 0: the last value, 1: linear, 2: cubic; -1: the `interp` of the actuator.

    Returns:
        `result`. Without a history, it has the current control.

    Raises:
        IndexError: there is no such actuator.
    """
    _read_ctrl(m, d, id, time, result, interp)
    return result


def mj_readSensor(m: MjModel, d: MjData, id: int, time: float, result: np.ndarray, interp: int) -> np.ndarray:
    """Read the values that a sensor has, or had, at a time; the sensor's delay is subtracted from the time.

    Args:
        m: model.
        d: data.
        id: the sensor.
        time: the time, s. Before the first and after the last sample, values are constant.
        result: (sensor_dim,), written.
        interp: 0: the last value, 1: linear, 2: cubic; -1: the `interp` of the sensor.

    Returns:
        `result`. Without a history, it has the current values.

    Raises:
        IndexError: there is no such sensor.
    """
    _read_values(m, d, id, time, result, interp)
    return result


def _fill(name: str, d: MjData, adr: int, samples: int, dim: int, times: Any, values: Any) -> None:
    """Set times (unless None) and values, in order of time, of the history at `adr`.

    Raises:
        TypeError: an array has a wrong size.
        FatalError: times do not increase.
    """
    given = np.ascontiguousarray(values, float)
    size = samples * dim
    require(given.size == size, f"{name}: values should have {samples} x {dim} numbers, got shape {given.shape}")
    where = adr + HEAD
    if times is not None:
        new = vector_of("times", times, samples, f"nsample = {samples}")
        early = np.nonzero(~(new[1:] > new[:-1]))[0]
        if len(early):
            found = f"times {new[early[0]]:g} and {new[early[0] + 1]:g} follow each other"
            raise FatalError(f"{name}: times must be strictly increasing, but {found}")
        d.history[where : where + samples] = new
        d.history[adr + 1] = samples - 1
    places = np.roll(np.arange(samples), -1 - cursor_of(d.view, adr, samples))  # type: ignore[arg-type]
    d.history[where + samples : where + samples + size].reshape(samples, dim)[places] = given.reshape(samples, dim)


def mj_initCtrlHistory(m: MjModel, d: MjData, id: int, times: np.ndarray | None, values: np.ndarray) -> None:
    """Set the history of an actuator's controls.

    Args:
        m: model.
        d: data.
        id: the actuator.
        times: times of the samples, increasing, s (nsample,). None keeps the times that are there.
        values: the controls (nsample, actuator_ctrlnum), in order of time.

    Raises:
        IndexError: there is no such actuator.
        FatalError: the actuator has no history, or times do not increase.
    """
    name = "mj_initCtrlHistory"
    check_pair(name, m, d)
    id = valid_id("actuator", id, m.nactuator)
    samples = int(m.actuator_history[id, 0])
    if samples <= 0:
        raise FatalError(f"{name}: actuator {id} has no history: set its nsample")
    _fill(name, d, int(m.actuator_historyadr[id]), samples, int(m.actuator_ctrlnum[id]), times, values)


def mj_initSensorHistory(
    m: MjModel, d: MjData, id: int, times: np.ndarray | None, values: np.ndarray, phase: float
) -> None:
    """Set the history of a sensor's values.

    Args:
        m: model.
        d: data.
        id: the sensor.
        times: times of the samples, increasing, s (nsample,). None keeps the times that are there.
        values: the values (nsample, sensor_dim), in order of time.
        phase: time at which the last interval began, s; the sensor is computed a period later.

    Raises:
        IndexError: there is no such sensor.
        FatalError: the sensor has no history, or times do not increase.
    """
    name = "mj_initSensorHistory"
    check_pair(name, m, d)
    id = valid_id("sensor", id, m.nsensor)
    samples, adr = int(m.sensor_history[id, 0]), int(m.sensor_historyadr[id])
    if samples <= 0:
        raise FatalError(f"{name}: sensor {id} has no history: set its nsample")
    _fill(name, d, adr, samples, int(m.sensor_dim[id]), times, values)
    d.history[adr] = phase


__all__ = ["mj_initCtrlHistory", "mj_initSensorHistory", "mj_readCtrl", "mj_readSensor"]
