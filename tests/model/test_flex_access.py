"""Named access to flexes, copies, binary files and MJCF text of models with flexes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from fields_compared import differences
from models_soft import soft_model

import cardan

TWO = """<mujoco><worldbody>
  <flexcomp name="rope" dim="1" count="3 1 1"/>
  <flexcomp name="cloth" dim="2" count="3 4 1" pos="0 0 1">
    <contact selfcollide="none"/><edge equality="true"/>
  </flexcomp>
  <flexcomp name="rock" dim="3" count="2 2 2" rigid="true"/>
</worldbody></mujoco>"""


def test_named_access() -> None:
    m = cardan.MjModel.from_xml_string(TWO)
    cloth = m.flex("cloth")
    assert (cloth.id, cloth.dim[0], cloth.selfcollide[0], cloth.rigid[0]) == (1, 2, 0, 0)
    assert (cloth.vert.shape, cloth.edge.shape, cloth.elem.shape) == ((12, 3), (23, 2), (36,))
    assert np.array_equal(cloth.vertbodyid, np.arange(4, 16))
    assert np.array_equal(cloth.xvert0, m.flex_xvert0[3:15])
    assert m.flex("rock").shell.shape == (36,)
    assert m.flex("rope").shell.tolist() == [0, 2]
    cloth.radius[:] = 0.5
    assert m.flex_radius.tolist() == [0.005, 0.5, 0.005]
    assert cardan.MjData(m).flex("cloth").vert_xpos.shape == (12, 3)
    assert cardan.mj_name2id(m, cardan.mjtObj.mjOBJ_FLEX, "rock") == 2
    with pytest.raises(KeyError):
        m.flex("silk")


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 6, 7, 8, 11, 12, 15])
def test_round_trips(seed: int, tmp_path) -> None:
    m = cardan.MjModel.from_xml_string(soft_model(seed))
    assert not differences(m, cardan.MjModel.from_xml_string(m.to_xml()))
    assert not differences(m, copy.copy(m), ())
    assert not differences(m, pickle.loads(pickle.dumps(m)), ())
    cardan.mj_saveModel(m, str(tmp_path / "soft.mjb"))
    assert not differences(m, cardan.MjModel.from_binary_path(str(tmp_path / "soft.mjb")), ())


def test_text_holds_what_was_changed() -> None:
    m = cardan.MjModel.from_xml_string(TWO)
    m.flex("cloth").edgedamping[:] = 0.25
    m.flex("cloth").condim[:] = 6
    text = m.to_xml()
    assert '<edge damping="0.25"/>' in text
    assert '<contact condim="6" selfcollide="none"/>' in text
