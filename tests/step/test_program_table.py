"""Programs that a model keeps: threads that share it, options that are set meanwhile, callbacks that are struck."""

from __future__ import annotations

import copy
import gc
import signal
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from marks import takes_minutes_interpreted

import cardan
from cardan.jit.binding.functions import ProgramTable

XML = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 .1"><freejoint/><geom size=".2"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads take turns as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@takes_minutes_interpreted
def test_threads_share_a_model_while_callbacks_come_and_go(quick_switches: None) -> None:
    m = cardan.MjModel.from_xml_string(XML)
    errors: list[BaseException] = []
    names = ("step", "forward", "kinematics", "inverse", "step1", "comPos", "crb", "comVel", "passive", "fwdPosition")
    functions = [getattr(cardan, f"mj_{name}") for name in names]

    def work(k: int) -> None:
        try:
            d = cardan.MjData(m)
            for turn in range(400):
                functions[(turn + k) % len(functions)](m, d)
                if k == 0:
                    cardan.mj_resetCallbacks()  # a new version
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_what_is_made_for_settings_of_before_is_not_kept() -> None:
    table = ProgramTable(np.zeros(500, np.int64))

    def make() -> str:
        table.leave()  # as a signal handler that sets an option
        return "old"

    assert table.of("step", 1, make) == "old"
    assert table.get("step", 1) is None
    assert table.of("step", 1, lambda: "new") == "new"
    assert table.of("step", 1, lambda: "never") == "new"
    assert table.of("forward", 2, lambda: "of a later version") and len(table) == 1


def test_what_fails_to_be_made_is_not_kept_and_leaves_no_lock() -> None:
    table = ProgramTable(np.zeros(500, np.int64))
    with pytest.raises(KeyboardInterrupt):
        table.of("step", 1, lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(table.of("step", 1, lambda: "made")))
    thread.start()
    thread.join(60.0)
    assert found == ["made"]


class Struck(Exception):
    """What the handler of a signal raises."""


@takes_minutes_interpreted
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signals")
@pytest.mark.parametrize("place", ["control", "contactfilter"])
def test_a_signal_before_a_callback_comes_out(place: str) -> None:
    """Its handler runs at the start of the callback, which native code has called."""
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    calls: list[int] = []

    def callback(m: object, d: object, *geoms: int) -> int:
        calls.append(1)
        return 0

    def strike(number: int, frame: object) -> None:
        raise Struck

    cardan.set_callback(m, place, callback)
    cardan.mj_step(m, d)
    assert calls
    before = signal.signal(signal.SIGALRM, strike)
    gc.disable()  # Hypothesis is called by the garbage collector, and Python drops what is raised there
    try:
        for _ in range(20):
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            with pytest.raises(Struck):
                cardan.mj_step(m, d, nstep=10**8)
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    twin = copy.copy(d)
    for each in (d, twin):
        cardan.mj_step(m, each, nstep=3)
    np.testing.assert_array_equal(d.qpos, twin.qpos)
    gc.collect()
