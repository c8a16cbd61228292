"""Models nobody wrote for Cardan: each compiles as in the reference, or is refused with an error that says why."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from models import SHARED_MODELS

import cardan
from cardan.errors import MjcfError

PATHS = sorted(SHARED_MODELS.rglob("*.xml")) if SHARED_MODELS.exists() else []
COMPARED = ("body_mass", "body_inertia", "body_ipos", "jnt_range", "geom_size", "dof_M0", "actuator_gainprm", "qpos0")

pytestmark = pytest.mark.skipif(not PATHS, reason="the shared models are not beside the checkout")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_compiles_or_says_why(path: Path) -> None:
    try:
        found = cardan.MjModel.from_xml_path(str(path))
    except MjcfError as error:
        assert error.line is not None and str(error)
        return
    expected = mujoco.MjModel.from_xml_path(str(path))
    for name in COMPARED:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-9, err_msg=name)
