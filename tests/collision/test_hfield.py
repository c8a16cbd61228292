"""Height fields: prisms that are passed over because they are certainly apart from the geom."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.collision import distance, hfield

SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")
ELEVATIONS = " ".join(f"{value:.3f}" for value in np.random.default_rng(3).random(49))


def field(shape: str, compat: str) -> cardan.MjModel:
    """A bumpy height field and a free geom."""
    return cardan.MjModel.from_xml_string(
        f"""<mujoco><asset><hfield name="h" nrow="7" ncol="7" size="1 1 .4 .1" elevation="{ELEVATIONS}"/></asset>
        <worldbody><geom type="hfield" hfield="h"/>
        <body><freejoint/><geom type="{shape}" size=".1 .15 .07" margin=".02"/></body></worldbody></mujoco>""",
        compat=compat,
    )


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("height", [0.4, 1.2])
def test_elevations_beyond_the_size_of_the_field_are_found(height, compat):
    m = field("sphere", compat)
    m.hfield_data[:] = height / m.hfield_size[0, 2]
    d = cardan.MjData(m)
    d.qpos[:3] = 0.1, 0.1, height + 0.09
    cardan.mj_fwdPosition(m, d)
    assert d.ncon > 0
    np.testing.assert_allclose(d.contact.dist.min(), -0.01, atol=3e-3)
    d.qpos[2] = height + 0.13
    cardan.mj_fwdPosition(m, d)
    assert d.ncon == 0


@pytest.mark.parametrize("function", [hfield.hfield_convex, distance.exact_hfield])
@pytest.mark.parametrize("shape", SHAPES)
def test_prisms_that_are_passed_over_touch_nothing(shape, function, monkeypatch):
    """In the interpreter, with and without the tests before the search."""
    m = field(shape, "3.1")
    d = cardan.MjData(m)
    rng = np.random.default_rng(5)
    counts = []
    for _ in range(6):
        d.qpos[:3] = rng.uniform([-1.1, -1.1, 0.0], [1.1, 1.1, 0.5])
        d.qpos[3:] = rng.normal(size=4)
        cardan.mj_kinematics(m, d)
        d.view.work.near_margin = 0.02
        found = function(m.view, d.view, 0, 1)
        near = [d.view.work.near_dist[k] for k in range(found)]
        with monkeypatch.context() as patch:
            patch.setattr(hfield, "is_off_field", lambda *_: False)
            patch.setattr(distance, "is_off_field", lambda *_: False)
            patch.setattr(hfield, "is_over_prism", lambda *_: False)
            assert function(m.view, d.view, 0, 1) == found
        np.testing.assert_array_equal([d.view.work.near_dist[k] for k in range(found)], near)
        counts.append(found)
    assert any(counts)
    assert min(counts) == 0 or len(set(counts)) > 1
