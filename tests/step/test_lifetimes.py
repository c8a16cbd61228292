"""Callbacks that are set again and again: what was made for the old ones goes away."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import cardan
from cardan import mjtGeom
from cardan.jit import jit_enabled
from cardan.jit.driver.loader import Address
from cardan.jit.driver.program import _ADDRESSES

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 .05"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""
SETS = 3
PLANE, SPHERE = mjtGeom.mjGEOM_PLANE, mjtGeom.mjGEOM_SPHERE


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    cardan.mj_resetCallbacks()
    cardan.set_collider(PLANE, SPHERE, None)


def pushing(force: float) -> Callable[..., Any]:
    """A control callback, a new one each time."""

    def push(m: Any, d: Any) -> None:
        d.qfrc_applied[2] = force

    return push


def touching(dist: float) -> Callable[..., Any]:
    """A collision function, a new one each time."""

    def touch(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
        cardan.put_contact(d, 0, dist, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        return 1

    return touch


def held() -> tuple[int, int]:
    """Number of stages that have an address, and of pieces of native code that are loaded."""
    gc.collect()
    return len(_ADDRESSES), sum(type(thing) is Address for thing in gc.get_objects())


def stepped(m: Any, d: Any, force: float, wrap: Callable[..., Any], local: bool) -> None:
    cardan.set_mjcb_control(None if local else wrap(pushing(force)))
    cardan.set_callback(m, "control", wrap(pushing(force)) if local else None)
    cardan.mj_forward(m, d)
    cardan.mj_kinematics(m, d)
    assert d.qfrc_applied[2] == force


@pytest.mark.parametrize("local", [False, True])
def test_programs_of_old_callbacks_are_forgotten(local: bool) -> None:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    for k in range(100):
        stepped(m, d, float(k), lambda function: function, local)
    assert len(m._programs) <= 4


def set_callbacks(m: Any, d: Any, local: bool) -> None:
    for k in range(SETS):
        stepped(m, d, float(k), cardan.kernel, local)


def set_colliders(m: Any, d: Any, local: bool) -> None:
    for k in range(1, SETS + 1):
        cardan.set_collider(PLANE, SPHERE, cardan.kernel(touching(-0.01 * k)), *([m] if local else []))
        gc.collect()
        cardan.mj_forward(m, d)
        assert d.contact.dist.tolist() == [-0.01 * k]


@pytest.mark.skipif(not jit_enabled, reason="about native code")
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("set_all", [set_callbacks, set_colliders])
def test_code_of_old_callbacks_is_unloaded(set_all: Callable[..., Any], local: bool) -> None:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    for _ in range(2):  # compiles, then loads: the compiler itself keeps its last 128 functions
        set_all(m, d, local)
    before = held()
    for _ in range(3):
        set_all(m, d, local)
        assert held() == before


def test_python_callbacks_live_as_long_as_programs_that_call_them() -> None:
    """A program that another thread may be running still calls the callback that it was made with."""
    from cardan.step.programs import program
    from cardan.step.run import run

    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    cardan.set_mjcb_control(pushing(3.0))
    old = program(m, "mj_forward")
    for k in range(50):
        cardan.set_mjcb_control(pushing(float(k)))
        cardan.mj_forward(m, d)
    gc.collect()
    run(old, m, d)
    assert d.qfrc_applied[2] == 3.0
