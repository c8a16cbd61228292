"""Options and callbacks that another thread changes while a program of the same model is made, or runs."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.step import programs
from cardan.step.run import run

XML = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 .1"><freejoint/><geom size=".2"/></body>
</worldbody></mujoco>"""


class Filter:
    """A contact filter that keeps all pairs, and counts them."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, m: Any, d: Any, geom1: int, geom2: int) -> bool:
        self.calls.append(d)
        return False


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    cardan.mj_resetCallbacks()


def test_program_for_options_set_meanwhile_is_not_kept_for_earlier_options(monkeypatch: pytest.MonkeyPatch) -> None:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    plan_of = programs.plan_of
    setting = threading.Thread(target=lambda: setattr(m.opt, "integrator", cardan.mjtIntegrator.mjINT_RK4))

    def plan_with_delay(*args: Any) -> Any:
        if not setting.ident:
            setting.start()
            setting.join(0.2)  # it waits for the table of programs, after it has set the option
        return plan_of(*args)

    monkeypatch.setattr(programs, "plan_of", plan_with_delay)
    cardan.mj_step(m, d)
    setting.join()
    m.opt.integrator = cardan.mjtIntegrator.mjINT_EULER
    expected = plan_of(m, programs.PROGRAMS["mj_step"])
    assert programs.step_program(m).plan == expected


def test_python_filter_is_called_by_a_program_made_before() -> None:
    m = cardan.MjModel.from_xml_string(XML)
    d, other = cardan.MjData(m), cardan.MjData(m)
    old = programs.program(m, "mj_forward")
    keep = Filter()
    cardan.set_mjcb_contactfilter(keep)
    cardan.mj_forward(m, other)  # writes the filter into the table of the model
    del keep.calls[:]
    run(old, m, d)  # as another thread does that is inside mj_forward
    assert keep.calls == [d]
    assert d.ncon == other.ncon == 1
    np.testing.assert_array_equal(d.qacc, other.qacc)


def test_functions_installed_later_live_as_long_as_earlier_programs() -> None:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    old = programs.program(m, "mj_forward")
    keep = Filter()
    cardan.set_mjcb_contactfilter(keep)
    cardan.mj_forward(m, d)
    alive = weakref.ref(keep)
    keep.calls.clear()
    del keep
    cardan.set_mjcb_contactfilter(None)
    cardan.mj_forward(m, d)
    gc.collect()
    assert alive() is not None  # a thread that runs `old` may be inside it
    del old
    gc.collect()
    assert alive() is None
