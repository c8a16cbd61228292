"""Timers: numbers of runs as in the reference, durations by the clock of the user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from reference import model_from_reference

import cardan
from cardan.jit import jit_enabled

XML = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .09"><joint name="j" type="slide"
 axis="0 0 1"/><geom size=".1"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
FUNCTIONS = (
    "mj_step", "mj_step1", "mj_step2", "mj_forward", "mj_inverse", "mj_fwdPosition", "mj_fwdVelocity",
    "mj_fwdActuation", "mj_fwdAcceleration", "mj_fwdConstraint", "mj_invPosition", "mj_invVelocity",
    "mj_invConstraint", "mj_kinematics", "mj_comPos", "mj_crb", "mj_factorM", "mj_collision",
    "mj_makeConstraint", "mj_projectConstraint", "mj_passive", "mj_Euler", "mj_sensorPos", "mj_compareFwdInv",
    "mj_tendon", "mj_transmission",
)  # fmt: skip
OPTIONS = {
    "plain": {},
    "implicit": {"integrator": 2},
    "RK4": {"integrator": 1},
    "PGS": {"solver": 0},
    "no contacts": {"disableflags": int(mujoco.mjtDisableBit.mjDSBL_CONTACT)},
    "no actuators": {"disableflags": int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)},
    "fwdinv": {"enableflags": int(mujoco.mjtEnableBit.mjENBL_FWDINV)},
}


@pytest.fixture(autouse=True)
def no_clock() -> Iterator[None]:
    yield
    cardan.set_mjcb_time(None)


def models(**options: int) -> tuple[Any, Any]:
    ref = mujoco.MjModel.from_xml_string(XML)
    for name, value in options.items():
        setattr(ref.opt, name, value)
    return ref, model_from_reference(ref)


def numbers(d: Any) -> dict[str, int]:
    return {mujoco.mjtTimer(k).name: int(d.timer[k].number) for k in range(len(d.timer)) if d.timer[k].number}


def count(engine: Any, m: Any, name: str, arguments: tuple[int, ...] = ()) -> dict[str, int]:
    d = engine.MjData(m)
    engine.mj_forward(m, d)
    for k in range(len(d.timer)):
        d.timer[k].number = 0
    getattr(engine, name)(m, d, *arguments)
    return numbers(d)


@pytest.mark.parametrize("options", OPTIONS)
def test_numbers(options: str) -> None:
    ref, m = models(**OPTIONS[options])
    for name in FUNCTIONS:
        if name == "mj_compareFwdInv" and options == "no contacts":
            continue  # the reference does nothing without rows
        assert count(cardan, m, name) == count(mujoco, ref, name), name
    for name in ("mj_forwardSkip", "mj_inverseSkip"):
        for skip in range(3):
            assert count(cardan, m, name, (skip, 1)) == count(mujoco, ref, name, (skip, 1)), (name, skip)
    assert count(cardan, m, "mj_step", (4,)) == count(mujoco, ref, "mj_step", (4,))


@pytest.mark.parametrize("field", ["qpos", "qfrc_applied"])
@pytest.mark.filterwarnings("ignore:Nan")
def test_numbers_after_a_reset(field: str) -> None:
    ref, m = models()
    found = []
    mujoco.set_mju_user_warning(lambda text: None)
    for engine, model in ((mujoco, ref), (cardan, m)):
        d = engine.MjData(model)
        engine.mj_step(model, d, 3)
        getattr(d, field)[0] = np.nan
        engine.mj_step(model, d)
        found.append(numbers(d))
    mujoco.set_mju_user_warning(None)
    assert found[0] == found[1]


def test_durations() -> None:
    _, m = models()
    ticks = iter(range(10**6))
    d = cardan.MjData(m)
    cardan.mj_step(m, d)
    assert not d.timer.duration.any()
    cardan.set_mjcb_time(lambda: next(ticks))
    assert cardan.get_mjcb_time() is not None
    cardan.mj_step(m, d, 2)
    timer = {
        kind.name[8:]: d.timer[int(kind)].duration
        for kind in cardan.mjtTimer.__members__.values()
        if kind.name.startswith("mjTIMER")
    }
    parts = ("POS_KINEMATICS", "POS_INERTIA", "POS_COLLISION", "POS_MAKE", "POS_PROJECT")
    assert 0 < sum(timer[part] for part in parts) < timer["POSITION"] < timer["FORWARD"] < timer["STEP"]
    cardan.set_mjcb_time(lambda: "x")
    with pytest.raises(TypeError, match="mjcb_time callback did not return a number"):
        cardan.mj_step(m, d)


@pytest.mark.skipif(not jit_enabled, reason="compiles")
def test_a_compiled_clock() -> None:
    from numba import njit

    _, m = models()
    d = cardan.MjData(m)
    cardan.set_mjcb_time(njit(lambda: 2.5))
    cardan.mj_step(m, d)
    assert not d.timer.duration.any()
    assert d.timer[0].number == 1
