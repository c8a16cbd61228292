"""Ten thousand contacts: found and solved without a setting by the user."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.jit.front.stage import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled, reason="ten thousand contacts take long in the interpreter")
GRAVITY = 9.81


def raft() -> str:
    """One body on 10,000 feet."""
    feet = "".join(
        f'<geom size=".1" mass=".01" pos="{0.21 * (k % 100)} {0.21 * (k // 100)} 0"/>' for k in range(10_000)
    )
    return f'<body pos="0 0 .0999"><freejoint/>{feet}</body>'


def boxes() -> str:
    """2,500 boxes side by side, with four contacts each."""
    return "".join(
        f'<body pos="{0.25 * (k % 50)} {0.25 * (k // 50)} .0999"><freejoint/>'
        '<geom type="box" size=".1 .1 .1" mass="1"/></body>'
        for k in range(2_500)
    )


def weight_on_contacts(m: cardan.MjModel, d: cardan.MjData) -> float:
    """Sum of the normal forces of all contacts."""
    force = np.zeros(6)
    total = 0.0
    for k in range(d.ncon):
        cardan.mj_contactForce(m, d, k, force)
        total += force[0]
    return total


@pytest.mark.parametrize(("bodies", "mass"), [(raft, 100.0), (boxes, 2500.0)])
def test_ten_thousand_contacts_carry_the_weight(bodies, mass):
    m = cardan.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom type="plane" size="9 9 .1"/>{bodies()}</worldbody></mujoco>'
    )
    d = cardan.MjData(m)
    for _ in range(30):
        cardan.mj_step(m, d)
        assert d.ncon == 10_000
    assert d.nefc == 40_000
    assert not np.any(d.warning.number)
    assert weight_on_contacts(m, d) == pytest.approx(GRAVITY * mass, rel=0.02)
    assert np.abs(d.qvel).max() < 0.01
