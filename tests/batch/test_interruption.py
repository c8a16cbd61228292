"""Batches and what comes from outside: signals, forks, collision functions set later, data of other models."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest
from marks import takes_minutes_interpreted

import cardan
from cardan.batch.threads import raised_by_package

BALL = "<mujoco><worldbody><geom type='plane' size='9 9 1'/>{}</worldbody></mujoco>"
FREE = "<body name='{0}' pos='0 0 {1}'><freejoint/><geom name='{0}' size='.2'/></body>"
MODEL = BALL.format(FREE.format("a", 0.1))
MANY = BALL.format("".join(FREE.format(f"b{k}", 0.15 + 0.35 * k) for k in range(12)))


def raise_timeout(number: int, frame: Any) -> None:
    raise TimeoutError("the alarm")


@takes_minutes_interpreted
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signals")
@pytest.mark.parametrize("nthread", [1, 2, 3])
def test_the_exception_of_a_signal_handler_is_the_caller_s(nthread: int) -> None:
    b = cardan.Batch(cardan.MjModel.from_xml_string(MANY), 8, nthread=nthread)
    b.step()
    before = b.state.copy()
    handler = signal.signal(signal.SIGALRM, raise_timeout)
    try:
        for _ in range(5):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with pytest.raises(TimeoutError, match="the alarm"):
                b.step(nstep=10**7)
            times = [b.data(i).time for i in range(8)]
            time.sleep(0.01)
            assert [b.data(i).time for i in range(8)] == times  # nothing goes on
            np.testing.assert_array_equal(b.state, before)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    fresh = cardan.Batch(b.model, 8, nthread=1)
    fresh.state[:] = before
    for batch in (b, fresh):
        batch.step(nstep=3)
    np.testing.assert_array_equal(b.state, fresh.state)
    assert not b.status.any()


def test_exceptions_of_functions_of_the_user_are_told_apart() -> None:
    try:
        cardan.MjModel.from_xml_string("<mujoco")
    except ValueError as error:
        assert not raised_by_package(error)  # this function is a part of its traceback
        assert error.__traceback__ is not None
        assert raised_by_package(error.with_traceback(error.__traceback__.tb_next))
    try:
        raise_timeout(0, None)
    except TimeoutError as error:
        assert not raised_by_package(error)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_of_a_fork_steps_the_batch() -> None:
    b = cardan.Batch(cardan.MjModel.from_xml_string(MODEL), 8, nthread=2)
    b.step()
    pid = os.fork()
    if pid == 0:
        try:
            b.step()
            os._exit(0)
        finally:
            os._exit(1)
    end = time.monotonic() + 60.0
    ended, status = 0, -1
    while not ended and time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)
    if not ended:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert ended, "the child hangs"
    assert status == 0
    b.step()


@cardan.kernel
def nothing_touches(m, d, geom1, geom2, margin):
    return 0


@pytest.mark.parametrize("expanded", [False, True])
def test_a_collision_function_set_later_reaches_the_batch(expanded: bool) -> None:
    m = cardan.MjModel.from_xml_string(MODEL)
    b = cardan.Batch(m, 2, nthread=1)
    if expanded:
        b.expand("geom_size")
    b.forward()
    assert b.ncon.tolist() == [1, 1]
    types = int(cardan.mjtGeom.mjGEOM_PLANE), int(cardan.mjtGeom.mjGEOM_SPHERE)
    cardan.set_collider(*types, nothing_touches, m)
    b.forward()
    assert b.ncon.tolist() == [0, 0]
    cardan.set_collider(*types, None, m)
    b.forward()
    assert b.ncon.tolist() == [1, 1]


def test_data_of_another_model() -> None:
    m = cardan.MjModel.from_xml_string(MODEL)
    b = cardan.Batch(m, 2, nthread=1)
    b.step(nstep=3)
    for own in (m, b.model, b.get_model(1), cardan.MjModel.from_xml_string(MODEL)):
        assert b.get_data(1, cardan.MjData(own)).qpos[2] == b.qpos[1, 2]
    renamed = cardan.MjModel.from_xml_string(BALL.format(FREE.format("c", 0.1)))
    larger = cardan.MjModel.from_xml_string(BALL.format(FREE.format("a", 0.1) + FREE.format("b", 1.0)))
    for other, what in ((renamed, "names differs"), (larger, "its nq is 14, not 7")):
        d = cardan.MjData(other)
        with pytest.raises(ValueError, match=f"get_data: data was made for another model: {what}"):
            b.get_data(1, d)
        assert d.time == 0.0
    with pytest.raises(TypeError, match="get_data: data should be an MjData, got MjModel"):
        b.get_data(1, m)  # type: ignore[arg-type]
