"""Centre and extent of models with planes, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

SCENE = """<mujoco><worldbody><geom type="plane" size="{0}"/><geom type="plane" size="{1}" pos="-3 0 0"/>
<body pos="1 2 3"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
SIZES = [("0 0 .1", "1 1 .1"), ("0 3 .1", "5 3 .1"), ("0 0 2", "0 0 .01"), (".2 .1 7", "0 .3 5")]


def statistics(m: object) -> np.ndarray:
    """Centre, extent and mean size."""
    return np.array([*m.stat.center, m.stat.extent, m.stat.meansize])


@pytest.mark.parametrize("sizes", SIZES)
def test_extent_as_in_4_0(sizes: tuple[str, str]) -> None:
    """Finite planes, planes that are infinite in one direction, and infinite ones."""
    text = SCENE.format(*sizes)
    code = "m = mujoco.MjModel.from_xml_string(xml); out = [*m.stat.center, m.stat.extent, m.stat.meansize]"
    there = later_run(code, xml=text)
    np.testing.assert_allclose(statistics(cardan.MjModel.from_xml_string(text, compat="4.0")), there, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
def test_extent_as_in_3_1(sizes: tuple[str, str]) -> None:
    """Finite planes, planes that are infinite in one direction, and infinite ones."""
    mujoco = pytest.importorskip("mujoco")
    text = SCENE.format(*sizes)
    there = statistics(mujoco.MjModel.from_xml_string(text))
    np.testing.assert_allclose(statistics(cardan.MjModel.from_xml_string(text)), there, atol=1e-12)
