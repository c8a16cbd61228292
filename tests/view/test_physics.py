"""The thread of the physics: pace, commands, history, the mouse's forces; without a page."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.view.physics import History, Pace, Physics
from cardan.view.session import Session

SLIDER = """<mujoco><option timestep="0.01"/><worldbody><body name="ball"><freejoint/><geom size=".1"/></body>
<body name="hand" mocap="true"><geom size=".1" contype="0" conaffinity="0"/></body></worldbody>
<keyframe><key name="up" qpos="0 0 1 1 0 0 0"/></keyframe></mujoco>"""


class Clock:
    """A clock that goes on by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1e-6  # so that a loop that waits for it ends
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def physics(clock: Clock) -> Physics:
    m = cardan.MjModel.from_xml_string(SLIDER)
    return Physics(Session(m, cardan.MjData(m)), clock)


def run(physics: Physics, clock: Clock, seconds: float) -> None:
    """Turns of the thread over some time."""
    end = clock.now + seconds
    while clock.now < end:
        physics.turn()
        clock.now += 1 / 60


def test_real_time(physics: Physics, clock: Clock) -> None:
    run(physics, clock, 2.0)
    assert physics.session.data.time == pytest.approx(2.0, abs=0.05)
    physics.session.speed = 0.5
    run(physics, clock, 2.0)
    assert physics.session.data.time == pytest.approx(3.0, abs=0.1)
    assert physics.pace.achieved == pytest.approx(0.5, abs=0.05)


def test_lost_time_is_not_caught_up_on(physics: Physics, clock: Clock) -> None:
    run(physics, clock, 1.0)
    clock.now += 100.0
    run(physics, clock, 1.0)
    assert physics.session.data.time == pytest.approx(2.0, abs=0.1)


def test_a_pause_and_single_steps(physics: Physics, clock: Clock) -> None:
    session = physics.session
    run(physics, clock, 0.5)
    session.paused, before = True, session.data.time
    run(physics, clock, 0.5)
    assert session.data.time == before
    physics.steps = 3
    physics.turn()
    physics.turn()
    assert session.data.time == pytest.approx(before + 0.03)


def test_commands_run_between_steps(physics: Physics) -> None:
    physics.session.paused = True

    def command(m: cardan.MjModel, d: cardan.MjData) -> None:
        d.qpos[0] = 0.7

    physics.session.post(command)
    physics.turn()
    d = physics.session.data
    assert d.xpos[1, 0] == pytest.approx(0.7)  # what follows from the state is computed


def test_another_model_is_taken(physics: Physics, clock: Clock) -> None:
    run(physics, clock, 0.1)
    m = cardan.MjModel.from_xml_string("<mujoco/>")
    physics.session.load(m, cardan.MjData(m))
    run(physics, clock, 0.1)
    assert physics.session.data.time > 0.0
    assert len(physics.history) < 20


def test_the_mouse_pulls_and_lets_go(physics: Physics, clock: Clock) -> None:
    session = physics.session
    m, d, pert = session.model, session.data, session.perturb
    pert.select, pert.active, pert.localmass = 1, cardan.mjtPertBit.mjPERT_TRANSLATE.value, float(m.body_mass[1])
    pert.refselpos = pert.refpos = (1.0, 0.0, 0.0)
    run(physics, clock, 0.2)
    assert d.xfrc_applied[1, 0] != 0.0 and d.qpos[0] > 0.0
    pert.active = 0
    run(physics, clock, 0.1)
    assert not d.xfrc_applied.any()


def test_the_mouse_places_what_stands_still(physics: Physics) -> None:
    session = physics.session
    session.paused = True
    pert = session.perturb
    pert.select, pert.active = 1, cardan.mjtPertBit.mjPERT_TRANSLATE.value
    pert.refpos = (0.3, 0.2, 0.1)
    physics.turn()
    assert session.data.qpos[:3] == pytest.approx([0.3, 0.2, 0.1])
    assert not session.data.xfrc_applied.any()


def test_history_goes_back(physics: Physics, clock: Clock) -> None:
    session = physics.session
    run(physics, clock, 1.0)
    m, d, history = session.model, session.data, physics.history
    last = d.time
    count = len(history)
    assert count == pytest.approx(60, abs=2)
    assert history.restore(m, [d], 30)
    assert d.time == pytest.approx(last - 0.5, abs=0.05)
    assert not history.restore(m, [d], count)
    physics.age = 30
    physics.resume()
    assert len(history) == count - 30 and physics.age == 0


def test_history_is_bounded() -> None:
    m = cardan.MjModel.from_xml_string(SLIDER)
    d = cardan.MjData(m)
    history = History(m, 10)
    for k in range(25):
        d.qpos[0] = k
        history.add(m, d)
    assert len(history) == history.capacity == 10
    assert history.restore(m, [d], 9)
    assert d.qpos[0] == 15.0
    history.clear()
    assert not history.restore(m, [d], 0)


def test_pace_begins_anew_after_a_jump() -> None:
    pace = Pace()
    assert pace.due(10.0, 5.0) == 5.0
    assert pace.due(10.05, 5.0) == pytest.approx(5.05)
    assert pace.due(10.06, 0.0) == 0.0  # the simulation was reset
    assert pace.due(10.10, 0.0) == pytest.approx(0.04)
    pace.restart()
    assert pace.due(20.0, 0.0) == 0.0


def test_worlds_go_their_own_ways(clock: Clock) -> None:
    m = cardan.MjModel.from_xml_string(SLIDER)
    physics = Physics(Session(m, cardan.MjData(m), worlds=3), clock)
    physics.session.others[1].qpos[0] = 1.0
    run(physics, clock, 0.3)
    times = [d.time for d in (physics.session.data, *physics.session.others)]
    assert len(set(times)) == 1 and times[0] > 0.0
    assert [d.qpos[0] for d in physics.session.others] == [0.0, 1.0]
    assert np.shares_memory(physics.session.data.qpos, physics.session.others[0].qpos) is False


def test_history_keeps_all_worlds(clock: Clock) -> None:
    m = cardan.MjModel.from_xml_string(SLIDER)
    physics = Physics(Session(m, cardan.MjData(m), worlds=2), clock)
    session = physics.session
    session.others[0].qpos[2] = 5.0
    run(physics, clock, 0.5)
    late = [d.qpos[2] for d in session.worlds]
    assert physics.history.restore(m, session.worlds, 15)
    assert session.data.time == session.others[0].time < 0.4
    assert session.data.qpos[2] > late[0] and session.others[0].qpos[2] > late[1] > 3.0
    assert History(m, 10**9, worlds=1).capacity == 2 * History(m, 10**9, worlds=2).capacity
