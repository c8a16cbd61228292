"""The user's limit on memory (`<size memory>`; spec: modeling, size) and growth without one."""

import numpy as np
import pytest

import cardan
from cardan.model.tables import COUNT_BYTES, bytes_of_one
from cardan.step.report import SimulationWarning

BALLS = "".join(f'<body pos="{0.3 * i} 0 .09"><freejoint/><geom size=".1"/></body>' for i in range(30))
SCENE = (
    '<mujoco><size memory="{memory}"/><worldbody><geom type="plane" size="9 9 .1"/>'
    f'<body pos="0 3 1"><joint type="slide" frictionloss="1"/><geom size=".1"/></body>{BALLS}</worldbody></mujoco>'
)


def stepped(memory, steps=3):
    m = cardan.MjModel.from_xml_string(SCENE.format(memory=memory))
    d = cardan.MjData(m)
    for _ in range(steps):
        cardan.mj_step(m, d)
    return m, d


def test_without_a_limit_nothing_is_left_out():
    _, d = stepped("-1")
    assert d.ncon == 30
    assert d.maxuse_arena == COUNT_BYTES + sum(
        getattr(d, name) * bytes_of_one(name) for name in ("ncon", "nefc", "nnzJ")
    )
    assert d.nefc == 1 + 30 * 4
    assert not np.any(d.warning.number)


@pytest.mark.filterwarnings("ignore:.*arena memory")
@pytest.mark.parametrize("memory", ["2K", "5K", "20K"])
def test_a_limit_holds_and_warns(memory):
    m, d = stepped(memory)
    assert d.ncon < 30 or d.nefc == 0
    assert d.maxuse_arena <= m.narena == d.narena
    full = d.warning.number[int(cardan.mjtWarning.mjWARN_CONTACTFULL)]
    rows = d.warning.number[int(cardan.mjtWarning.mjWARN_CNSTRFULL)]
    assert full + rows > 0
    assert np.all(np.isfinite(d.qpos))


@pytest.mark.filterwarnings("ignore:Too many contacts")
@pytest.mark.filterwarnings("ignore:.*arena memory")
def test_what_is_left_out_depends_on_what_is_used_alone():
    """Memory that grew for a step before, or that another world needed, leaves no more room."""
    m, d = stepped("10K", steps=1)
    most = m.narena // bytes_of_one("ncon")
    assert d.ncon == most < 30
    assert d._memory.scalars["work.left_out"][0] == 30 - most
    assert d.maxuse_arena <= m.narena
    d.grow("ncon", 100)
    cardan.mj_step(m, d)
    assert d.ncon == most
    cardan.mj_resetData(m, d)
    assert d.maxuse_arena == COUNT_BYTES


def test_the_warning_says_what_to_raise():
    with pytest.warns(SimulationWarning, match="Too many contacts"):
        stepped("1K")


def test_without_room_for_rows_the_step_has_no_constraints():
    with pytest.warns(SimulationWarning, match="Insufficient arena memory"):
        _, d = stepped("1K", steps=1)
    assert (d.ne, d.nf, d.nl, d.nefc) == (0, 0, 0, 0)
    np.testing.assert_array_equal(d.qacc, d.qacc_smooth)


def test_a_generous_limit_changes_nothing():
    _, free = stepped("-1")
    _, limited = stepped("10M")
    np.testing.assert_array_equal(free.qpos, limited.qpos)
    assert not np.any(limited.warning.number)
