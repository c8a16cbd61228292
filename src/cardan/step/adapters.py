"""Adapters: convert user functions to functions of (m, d), or of (m, d, geom1, geom2) (spec: programming, callbacks).

For each place in the pipeline, `ADAPTERS` has an adapter of compiled functions and an adapter of Python functions.

- Actuators (mjcb_act_dyn, mjcb_act_gain, mjcb_act_bias; spec: computation, actuation model): a function of model, data
  and actuator that returns a number. It is called for each actuator of type "user", and computes an activation rate, a
  gain or a bias. For actuators of a disabled group, gain and bias are not computed. If an actuator has more than one
  activation, the returned rate is ignored, and the callback writes `d.act_dot` itself. Without callbacks, rates and
  biases are 0 and gains 1.
- Sensors (mjcb_sensor): a function of model, data and stage (`mjtStage`) that writes `d.sensordata`. It runs after the
  other sensors in each stage for which the model has user sensors. Without a callback, the values of user sensors do
  not change.
- The filter of pairs (mjcb_contactfilter): a function of model, data and two geoms. If it returns a number other than
  0, the geoms do not collide.
- Collision functions: functions of model, data, two geoms and the margin. A compiled function writes contacts with
  `put_contact` and returns their number. A Python function returns the contacts: `MjContact` objects, of which
  distance, position and frame are used, or tuples of distance, position and normal.
- Functions of plugins: functions of model, data and instance; `compute` also gets the capability.
- The clock (mjcb_time): a function without arguments that returns the time, called before and after timed parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cardan.collision.contact import MAXCONPAIR
from cardan.collision.contact import put_contact as put_row
from cardan.dynamics.actuation import USERS_MADE, actuator_disabled
from cardan.enums import mjtStage
from cardan.enums.codes import BIAS_USER, DSBL_SENSOR, DYN_USER, GAIN_USER, SENS_USER
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjContact
from cardan.sensor.output import apply_cutoff
from cardan.step import timers

Function = Callable[..., Any]
Adapter = Callable[..., Function]

# actuators ---------------------------------------------------------------------


def has_user_actuators(m: Any) -> bool:
    """Return whether any actuator is user-defined."""
    return bool(
        (internals.array(m, "actuator_dyntype") == DYN_USER).any()
        or (internals.array(m, "actuator_gaintype") == GAIN_USER).any()
        or (internals.array(m, "actuator_biastype") == BIAS_USER).any()
    )


@stage
def user_defaults(m: Model, d: Data) -> int:
    """Set rates to 0, gains to 1 and biases to 0 for user-defined actuators, before callbacks change them.

    Writes act_dot (na,), work.actuator_gain, work.actuator_gain_slope, work.actuator_bias (nactuator,).
    """
    d.work.actuation_made |= USERS_MADE
    for i in range(m.nactuator):
        if m.actuator_dyntype[i] == DYN_USER:
            for act in range(m.actuator_actadr[i], m.actuator_actadr[i] + m.actuator_actnum[i]):
                d.act_dot[act] = 0.0
        if m.actuator_gaintype[i] == GAIN_USER:
            d.work.actuator_gain[i] = 1.0
            d.work.actuator_gain_slope[i] = 0.0
        if m.actuator_biastype[i] == BIAS_USER:
            d.work.actuator_bias[i] = 0.0
    return OK


def _native_dyn(callback: Function) -> Function:
    kernel(callback)

    def act_dyn(m: Model, d: Data) -> int:
        for i in range(m.nactuator):
            if m.actuator_dyntype[i] == DYN_USER:
                rate = callback(m, d, i)
                if m.actuator_actnum[i] == 1:
                    d.act_dot[m.actuator_actadr[i]] = rate
        return OK

    return act_dyn


def _native_gain(callback: Function) -> Function:
    kernel(callback)

    def act_gain(m: Model, d: Data) -> int:
        for i in range(m.nactuator):
            if m.actuator_gaintype[i] == GAIN_USER and not actuator_disabled(m, i):
                d.work.actuator_gain[i] = callback(m, d, i)
        return OK

    return act_gain


def _native_bias(callback: Function) -> Function:
    kernel(callback)

    def act_bias(m: Model, d: Data) -> int:
        for i in range(m.nactuator):
            if m.actuator_biastype[i] == BIAS_USER and not actuator_disabled(m, i):
                d.work.actuator_bias[i] = callback(m, d, i)
        return OK

    return act_bias


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"mjcb_{name} callback did not return a number, but {type(value).__name__}") from None


def _python_dyn(callback: Function) -> Function:
    def act_dyn(m: Any, d: Any) -> None:
        for i in np.flatnonzero(internals.array(m, "actuator_dyntype") == DYN_USER).tolist():
            rate = _number("act_dyn", callback(m, d, i))
            if m.actuator_actnum[i] == 1:
                d.act_dot[m.actuator_actadr[i]] = rate

    return act_dyn


def _python_force(name: str, types: str, user: int, field: str) -> Adapter:
    def adapt(callback: Function) -> Function:
        def call(m: Any, d: Any) -> None:
            for i in np.flatnonzero(internals.array(m, types) == user).tolist():
                if not actuator_disabled(m, i):
                    internals.array(d, field)[i] = _number(name, callback(m, d, i))

        return call

    return adapt


# sensors -----------------------------------------------------------------------


def has_user_sensors(m: Any, when: int) -> bool:
    """Return whether the model has user sensors that are computed after the stage `when` (`mjtStage`)."""
    return bool(np.any((internals.array(m, "sensor_type") == SENS_USER) & (m.sensor_needstage == when)))


@cache
def user_cutoff(when: int) -> Callable[[Any, Any], int]:
    """Return the stage that clamps the values of user sensors to their cutoffs; `when` is their `mjtStage`."""

    def user_sensors(m: Model, d: Data) -> int:
        if not m.opt.disableflags & DSBL_SENSOR:
            for i in range(m.nsensor):
                if m.sensor_type[i] == SENS_USER and m.sensor_needstage[i] == when:
                    apply_cutoff(m, d, i)
        return OK

    user_sensors.__qualname__ = f"user_sensors_{mjtStage(when).name[8:].lower()}"
    return stage(user_sensors)


def _native_sensor(callback: Function, when: int) -> Function:
    kernel(callback)

    def sensor(m: Model, d: Data) -> int:
        callback(m, d, when)
        return OK

    return sensor


def _python_sensor(callback: Function, when: int) -> Function:
    return lambda m, d: callback(m, d, when)


# collision detection -----------------------------------------------------------


@kernel
def put_contact(d: Data, k: int, dist: float, pos: Vec3, normal: Vec3) -> None:
    """Write contact `k` of the pair, in a compiled collision function; contacts from number 50 on are ignored.

    Args:
        d: data.
        k: number of the contact, from 0.
        dist: distance between the surfaces, negative if they penetrate, m.
        pos: point midway between the surfaces, world frame, m.
        normal: unit vector from the first to the second geom, world frame.
    """
    if 0 <= k < MAXCONPAIR:
        put_row(d, k, dist, pos, normal)


def _native_filter(function: Function) -> Function:
    kernel(function)

    def contactfilter(m: Model, d: Data, geom1: int, geom2: int) -> int:
        return 1 if function(m, d, geom1, geom2) else 0

    return contactfilter


def _python_filter(function: Function) -> Function:
    def contactfilter(m: Any, d: Any, geom1: int, geom2: int) -> int:
        verdict = function(m, d, geom1, geom2)
        if not isinstance(verdict, int | np.integer):
            raise TypeError("mjcb_contactfilter callback did not return an integer")
        return int(verdict != 0)

    return contactfilter


def _native_collider(function: Function) -> Function:
    kernel(function)

    def own_collider(m: Model, d: Data, geom1: int, geom2: int) -> int:
        count = function(m, d, geom1, geom2, d.work.near_margin)
        return min(max(count, 0), MAXCONPAIR)

    return own_collider


def _python_collider(function: Function) -> Function:
    def own_collider(m: Any, d: Any, geom1: int, geom2: int) -> int:
        margin = internals.number(d, "work.near_margin")
        contacts = list(function(m, d, geom1, geom2, margin) or ())
        if len(contacts) > MAXCONPAIR:
            raise ValueError(f"a collision function returned {len(contacts)} contacts; at most {MAXCONPAIR} can be")
        arrays = internals.memory(d).arrays
        for k, contact in enumerate(contacts):
            dist, pos, frame = _parts(contact)
            arrays["work.near_dist"][k] = dist
            arrays["work.near_pos"][k] = pos
            arrays["work.near_frame"][k] = frame
        return len(contacts)

    return own_collider


def _parts(contact: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Return distance, position and frame of a contact that a Python function returned; raise an error if invalid."""
    if isinstance(contact, MjContact):
        contact = contact.dist, contact.pos, contact.frame[:3], contact.frame[3:6]
    try:
        dist, pos, normal, *tangent = (np.asarray(part, float) for part in contact)
    except TypeError:
        raise TypeError("a collision function must return MjContact objects or tuples (dist, pos, normal)") from None
    shapes = dist.shape, pos.shape, normal.shape
    if shapes != ((), (3,), (3,)) or not all(np.isfinite(part).all() for part in (dist, pos, normal)):
        raise ValueError("a collision function must return a finite distance, position (3,) and normal (3,)")
    return float(dist), pos, _frame(normal, *tangent)


def _frame(normal: np.ndarray, tangent: np.ndarray | None = None) -> np.ndarray:
    """Return the frame (9,) of a contact: its normal, a tangent perpendicular to it, and the third axis."""
    length = np.linalg.norm(normal)
    if length == 0.0:
        raise ValueError("a collision function returned a normal of no length")
    x = normal / length
    y = np.zeros(3) if tangent is None else tangent - x * (x @ tangent)
    if np.linalg.norm(y) < 0.5:
        y = np.array((0.0, 1.0, 0.0) if -0.5 < x[1] < 0.5 else (0.0, 0.0, 1.0))
        y -= x * (x @ y)
    y /= np.linalg.norm(y)
    return np.concatenate([x, y, np.cross(x, y)])


# plugins -----------------------------------------------------------------------


def _native_plugin(function: Function, kind: str) -> Function:
    """Return a native function of (m, d, instance, argument) that calls a compiled function of a plugin."""
    kernel(function)

    def plugin_compute(m: Model, d: Data, instance: int, capability: int) -> int:
        function(m, d, instance, capability)
        return OK

    def plugin_call(m: Model, d: Data, instance: int, argument: int) -> int:
        function(m, d, instance)
        return OK

    adapted = plugin_compute if kind == "compute" else plugin_call
    adapted.__qualname__ = f"{kind}_{function.__module__}_{function.__qualname__}".replace(".", "_")
    return adapted


def _python_plugin(function: Function, kind: str) -> Function:
    def plugin(m: Any, d: Any, instance: int, argument: int) -> int:
        function(m, d, instance, *([argument] if kind == "compute" else []))
        return OK

    return plugin


ADAPTERS: dict[str, tuple[Adapter, Adapter]] = {
    "act_dyn": (_native_dyn, _python_dyn),
    "act_gain": (_native_gain, _python_force("act_gain", "actuator_gaintype", GAIN_USER, "work.actuator_gain")),
    "act_bias": (_native_bias, _python_force("act_bias", "actuator_biastype", BIAS_USER, "work.actuator_bias")),
    "sensor": (_native_sensor, _python_sensor),
    "contactfilter": (_native_filter, _python_filter),
    "collider": (_native_collider, _python_collider),
    "plugin_compute": (lambda f: _native_plugin(f, "compute"), lambda f: _python_plugin(f, "compute")),
    "plugin_call": (lambda f: _native_plugin(f, "call"), lambda f: _python_plugin(f, "call")),
    "time": (timers.native_clock, timers.python_clock),
}
"""Adapters of compiled and of Python functions, by place. Some also take arguments that select one variant."""

OF_PAIRS = frozenset(("contactfilter", "collider", "plugin_compute", "plugin_call"))
"""Places whose functions have two integer arguments, in addition to model and data."""
