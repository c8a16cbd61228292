"""``shellinertia`` of primitive geoms, which later versions of MuJoCo have: masses and moments as in 4.0.0."""

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

BODY = '<body><geom type="{0}" size="{1}" shellinertia="true" {2}/><geom size=".1" pos="1 0 0" mass="1"/></body>'
FETCH = "m = mujoco.MjModel.from_xml_string(xml); out = m.body_mass, m.body_inertia, m.body_ipos"


@pytest.mark.parametrize("mass", ['density="10"', 'mass="2"'])
@pytest.mark.parametrize(
    ("kind", "size"),
    [("sphere", ".5"), ("box", ".1 .2 .3"), ("capsule", ".2 .3"), ("cylinder", ".2 .3"), ("ellipsoid", ".1 .2 .3")],
)
@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_primitives(kind: str, size: str, mass: str, compat: str) -> None:
    xml = f"<mujoco><worldbody>{BODY.format(kind, size, mass)}</worldbody></mujoco>"
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    for found, wanted in zip((m.body_mass, m.body_inertia, m.body_ipos), later_run(FETCH, xml=xml), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-12)


def test_height_fields() -> None:
    asset = '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>'
    body = '<body><joint/><geom type="hfield" hfield="h" shellinertia="true"/></body>'
    with pytest.raises(MjcfError, match="a hfield can't have its mass on the surface"):
        cardan.MjModel.from_xml_string(f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>")


@pytest.mark.parametrize(
    "xml",
    [
        '<mujoco><compiler boundinertia=".3"/><worldbody><body name="a"/></worldbody></mujoco>',
        '<mujoco><worldbody><body simple="false"><freejoint/><geom size=".1"/></body></worldbody></mujoco>',
    ],
)
def test_saved_bodies(xml: str) -> None:
    """Inertia without mass, and ``simple``, are saved."""
    saved = cardan.MjModel.from_xml_string(xml, compat="4.0").to_xml()
    code = "m = mujoco.MjModel.from_xml_string(xml); out = m.body_inertia, m.M_rownnz"
    for found, wanted in zip(later_run(code, xml=saved), later_run(code, xml=xml), strict=True):
        np.testing.assert_array_equal(found, wanted)
