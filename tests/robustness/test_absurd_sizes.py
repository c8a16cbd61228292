"""Sizes that nobody can mean: a clear error, before memory of that size is asked for."""

from __future__ import annotations

import resource

import pytest

import cardan
from cardan.errors import MjcfError

BODY = '<worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody>'
HUGE = 2_000_000_000
BRANCHES = '<replicate count="1000">'

ABSURD: dict[str, str] = {
    "texture": f'<asset><texture name="t" type="2d" builtin="flat" width="{HUGE}" height="{HUGE}"/></asset>',
    "cube": '<asset><texture name="t" type="cube" builtin="flat" width="60000" height="360000"/></asset>',
    "hfield": f'<asset><hfield name="h" nrow="{HUGE}" ncol="{HUGE}" size="1 1 1 1"/></asset>',
    "numeric": f'<custom><numeric name="n" size="{HUGE}" data="1"/></custom>',
    "userdata": f'<size nuserdata="{HUGE}"/>',
    "nkey": f'<size nkey="{HUGE}"/>{BODY}',
    "nuser": f'<size nuser_body="{HUGE}"/>{BODY}',
    "sensor": f'<sensor><user dim="{HUGE}"/></sensor>{BODY}',
    "actdim": f'<actuator><general joint="j" dyntype="user" actdim="{HUGE}"/></actuator>{BODY}',
    "replicate": f'<worldbody>{BRANCHES * 5}<geom size="1"/>{"</replicate>" * 5}</worldbody>',
    "nesting": f"<worldbody>{'<frame>' * 50_000}{'</frame>' * 50_000}</worldbody>",
    "numbers": '<worldbody><body><joint/><geom size="1e300"/></body></worldbody>',
    "memory": '<size memory="3"/>',
    "lengthrange": '<compiler><lengthrange mode="all" inttotal="1e300" timestep="1e-300"/></compiler>'
    f'{BODY}<actuator><motor joint="j"/></actuator>',
}


@pytest.mark.parametrize("content", ABSURD.values(), ids=ABSURD)
def test_absurd_sizes_are_refused(content: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MjcfError):
        cardan.MjModel.from_xml_string(f"<mujoco>{content}</mujoco>")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


@pytest.mark.parametrize("levels", [100, 400])
def test_deep_models_compile(levels: int) -> None:
    link = '<body pos="0 0 .1"><joint/><geom size=".05"/>'
    m = cardan.MjModel.from_xml_string(f"<mujoco><worldbody>{link * levels}{'</body>' * levels}</worldbody></mujoco>")
    assert m.nv == levels
