"""Compile parity of flexes: every field of the model, 1e-9, on random soft models and on the shared ones.

``CARDAN_FULL_TESTS=1`` tries 400 random models, else a share of them.
"""

from __future__ import annotations

import os

import mujoco
import pytest
from fields_compared import differences
from models import SUITE
from models_soft import soft_model

import cardan
from cardan.errors import MjcfError

FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"
SHARED = (SUITE / "mujoco-warp/mujoco_warp/test_data/flex/rope.xml",)


@pytest.mark.parametrize("seed", range(400 if FULL else 24))
def test_random_soft_model(seed: int) -> None:
    xml = soft_model(seed)
    try:
        expected = mujoco.MjModel.from_xml_string(xml)
    except ValueError as error:
        with pytest.raises(MjcfError):
            cardan.MjModel.from_xml_string(xml)
        pytest.skip(f"both refuse it: {error}")
    assert not differences(expected, cardan.MjModel.from_xml_string(xml))


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.stem)
def test_shared_model(path) -> None:
    if not path.exists():
        pytest.skip("the shared models are not beside the checkout")
    expected = mujoco.MjModel.from_xml_path(str(path))
    assert not differences(expected, cardan.MjModel.from_xml_path(str(path)))
