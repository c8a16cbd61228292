"""Worlds side by side in memory: each has, bit by bit, what it has alone.

``CARDAN_FULL_TESTS=1`` takes steps of all models and of random ones, else parts of the step of one are taken.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lane_memory import Lanes
from tests.batch.test_batch import CART, PILE
from tests.lane_worlds import LaneWorlds
from tests.lanes_compared import compare, perturbed
from tests.models_random import random_model
from tests.verdicts import FULL

import cardan
from cardan.jit import jit_enabled
from cardan.model.tables import CAPACITIES, DATA
from cardan.step.pipeline import PROGRAMS

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")
FULL_ONLY = pytest.mark.skipif(not FULL, reason="takes long: CARDAN_FULL_TESTS=1")
POSITION = (*PROGRAMS["mj_fwdPosition"], *PROGRAMS["mj_fwdVelocity"])


ROLLING = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .095">
      <freejoint/>
      <geom size=".1"/>
      <body pos="0 0 .3"><joint axis="0 1 0"/><geom size=".1"/></body>
    </body>
  </worldbody>
</mujoco>
"""  # few stages and one collision function, since they are all compiled twice


@pytest.fixture(scope="module")
def cart() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(CART)


def test_worlds_side_by_side_are_worlds_alone() -> None:
    assert compare(cardan.MjModel.from_xml_string(ROLLING), POSITION) == []


def test_capacities_grow_for_all_worlds() -> None:
    m = cardan.MjModel.from_xml_string(PILE)
    datas = perturbed(m, 0, 2)
    lanes = LaneWorlds(m, datas, exact=True)
    before = lanes.memory.sizes["ncon"]
    for _ in range(400):
        cardan.mj_step(m, datas[1])  # this world has far more contacts than the other
    lanes.memory.view("qpos")[1] = datas[1].qpos
    lanes.run(PROGRAMS["mj_kinematics"] + PROGRAMS["mj_comPos"] + PROGRAMS["mj_collision"])
    for d in datas:
        cardan.mj_fwdPosition(m, d)
    assert lanes.memory.view("ncon").tolist() == [d.ncon for d in datas]
    assert lanes.memory.sizes["ncon"] >= datas[1].ncon > before
    np.testing.assert_allclose(lanes.memory.view("contact.dist")[1][: datas[1].ncon], datas[1].contact.dist)


def test_the_layout_is_as_described(cart: cardan.MjModel) -> None:
    lanes = Lanes(DATA, cardan.MjData(cart)._memory.sizes, CAPACITIES, 3)
    lanes.view("xpos")[1, 2] = 7, 8, 9
    lanes.view("time")[:] = 1, 2, 3
    slot = lanes.slots[DATA.slot["xpos"]]
    assert slot[1:].tolist() == [cart.nbody, 3]
    assert lanes.view("xpos").strides == (8, 72, 24)
    assert lanes.numbers()[lanes.offset("xpos") + 6].tolist() == [0, 7, 0]
    lanes.clear(np.array([1]))
    assert not lanes.view("xpos").any()
    assert lanes.view("time").tolist() == [1, 2, 3]  # scalars stay
    with pytest.raises(ValueError, match="3 worlds"):
        lanes.attach("work.batch_row", np.zeros((4, 2)))


def test_growing_keeps_what_is_there(cart: cardan.MjModel) -> None:
    lanes = Lanes(DATA, cardan.MjData(cart)._memory.sizes, CAPACITIES, 2)
    before = np.random.default_rng(0).normal(size=lanes.view("contact.pos").shape)
    lanes.view("contact.pos")[:] = before
    count = lanes.sizes["ncon"]
    lanes.grow("ncon", 2 * count)
    assert np.array_equal(lanes.view("contact.pos")[:, :count], before)
    assert lanes.slots[DATA.slot["contact.pos"], 1] == 2 * count


def test_what_lanes_don_t_do_is_an_error(cart: cardan.MjModel) -> None:
    d = cardan.MjData(cart)
    d.qvel[0] = np.nan
    with pytest.raises(RuntimeError, match="in world 1 with status"):
        LaneWorlds(cart, [cardan.MjData(cart), d], exact=True).run(PROGRAMS["mj_checkVel"])


@FULL_ONLY
def test_steps_of_models(model_file: Path) -> None:
    try:
        m = cardan.MjModel.from_xml_path(str(model_file))
    except ValueError:
        pytest.skip("a part of a model")
    assert compare(m, PROGRAMS["mj_step"]) == []


@FULL_ONLY
@pytest.mark.parametrize("seed", range(20))
def test_steps_of_random_models(seed: int) -> None:
    assert compare(cardan.MjModel.from_xml_string(random_model(seed)), PROGRAMS["mj_step"], seed) == []
