"""Level 2 (forward): every field of the smooth dynamics against the reference, at random states."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from dynamics.feature_models import MODELS
from dynamics.stage_fields import KEPT, STAGE_FIELDS, ZEROED
from dynamics.states import forward
from models import model_path
from reference import data_from_reference, model_from_reference

from cardan.jit import Program, jit_enabled

FILES = ("humanoid", "crowd", "clutter")
TOLERANCE = 1e-11
ALL_FIELDS = " ".join(STAGE_FIELDS.values()).split()


def compare_stages(ref: mujoco.MjModel, seed: int) -> None:
    """Wipe what the stages write, run them all, compare with the reference."""
    expected = forward(ref, seed)
    m = model_from_reference(ref)
    d = data_from_reference(m, expected)
    for name in ALL_FIELDS:
        if name not in KEPT:
            getattr(d, name)[...] = 0 if name in ZEROED else 7
    assert Program(list(STAGE_FIELDS)).run(m, d) == 0
    for name in ALL_FIELDS:
        want = np.asarray(getattr(expected, name))
        scale = max(1.0, np.abs(want).max(initial=0))
        np.testing.assert_allclose(getattr(d, name), want, rtol=0, atol=TOLERANCE * scale, err_msg=name)


@pytest.mark.skipif(not jit_enabled, reason="models of real size are too slow in the interpreter")
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", FILES)
def test_models(name: str, seed: int) -> None:
    compare_stages(mujoco.MjModel.from_xml_path(str(model_path(name))), seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MODELS)
def test_features(name: str, seed: int) -> None:
    compare_stages(mujoco.MjModel.from_xml_string(MODELS[name]), seed)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("forces")])
def test_force_models_have_contacts_and_equalities(name: str) -> None:
    expected = forward(mujoco.MjModel.from_xml_string(MODELS[name]), 0)
    assert expected.ncon > 0
    assert expected.ne == 18


@pytest.mark.parametrize("group", (1, 2))
def test_disabled_groups(group: int) -> None:
    ref = mujoco.MjModel.from_xml_string(MODELS["actuators"])
    ref.opt.disableactuator = 1 << group
    compare_stages(ref, 0)


@pytest.mark.parametrize("flag", ("mjDSBL_GRAVITY", "mjDSBL_PASSIVE", "mjDSBL_ACTUATION", "mjDSBL_CLAMPCTRL"))
@pytest.mark.parametrize("name", ("tendons-dense", "gravcomp-by-actuators", "actuators"))
def test_disable_flags(name: str, flag: str) -> None:
    ref = mujoco.MjModel.from_xml_string(MODELS[name])
    ref.opt.disableflags |= getattr(mujoco.mjtDisableBit, flag)
    compare_stages(ref, 0)
