"""Largest numbers of contacts, the cache of assets, and other names of MuJoCo 4.0, compared with 4.0.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan

SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
XML = f"""
<mujoco>
  <option><flag multiccd="{{}}" nativeccd="{{}}"/></option>
  <asset>
    <hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 0 0 1"/>
    <mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/><geom type="hfield" hfield="h"/>
    {"".join(f'<body><freejoint/><geom type="{t}" size=".1 .1 .1"/></body>' for t in SHAPES[:-1])}
    <body><freejoint/><geom type="mesh" mesh="m"/></body>
  </worldbody>
</mujoco>
"""
COUNT = """
m = mujoco.MjModel.from_xml_string(xml)
out = [[mujoco.mj_maxContact(m, i, j, -1) for j in range(m.ngeom)] for i in range(m.ngeom)]
"""


@pytest.mark.parametrize("multiccd", ["enable", "disable"])
@pytest.mark.parametrize("nativeccd", ["enable", "disable"])
def test_numbers_of_contacts(multiccd: str, nativeccd: str) -> None:
    """All pairs of shapes."""
    xml = XML.format(multiccd, nativeccd)
    names: dict[str, Any] = {"mujoco": cardan, "xml": xml}
    exec(COUNT, names)
    assert names["out"] == later_run(COUNT, xml=xml)


def test_geoms_that_do_not_exist() -> None:
    m = cardan.MjModel.from_xml_string(XML.format("enable", "enable"))
    with pytest.raises(ValueError, match="g2 is 8; the model has geoms 0 to 7"):
        cardan.mj_maxContact(m, 0, 8, 0)


def test_cache_of_assets() -> None:
    """It is empty, and keeps its capacity."""
    cache = cardan.mj_getCache()
    before = cardan.mj_getCacheCapacity(cache)
    assert cardan.mj_getCacheSize(cache) == 0
    assert cardan.mj_setCacheCapacity(cache, 1000) == cardan.mj_getCacheCapacity(cache) == 1000
    cardan.mj_clearCache(cache)
    cardan.mj_setCacheCapacity(cache, before)
    with pytest.raises(TypeError, match="mj_getCache"):
        cardan.mj_getCacheSize(None)


def test_renderer() -> None:
    info = cardan.MjrRendererInfo()
    assert (info.renderer, info.backend) == ("classic", "")
    cardan.mjr_getRendererInfo(info)
    assert info.backend == "software"
    cardan.mjr_defaultRendererInfo(info)
    assert info.backend == ""


def test_rollouts_refuse_data_with_threads() -> None:
    m = cardan.MjModel.from_xml_string(XML.format("enable", "enable"))
    d = cardan.MjData(m)
    cardan.mju_threadpool(d, 2)
    state = np.zeros(cardan.mj_stateSize(m, cardan.mjtState.mjSTATE_FULLPHYSICS))
    with pytest.raises(ValueError, match="thread pool"):
        cardan.rollout.rollout(m, d, state, nstep=1)
    cardan.mju_threadpool(d, 0)
    cardan.rollout.rollout(m, d, state, nstep=1)
