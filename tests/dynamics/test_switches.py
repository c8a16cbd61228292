"""The flags ``spring`` and ``damper``, against MuJoCo 4.0.0."""

import itertools

import numpy as np
import pytest
from later import later_states

import cardan

FORCES = ("qfrc_spring", "qfrc_damper", "qfrc_fluid", "qfrc_gravcomp", "qfrc_passive", "qfrc_actuator", "energy")
CHOICES = list(itertools.product(("enable", "disable"), repeat=2))

ARM = """<mujoco><option integrator="{integrator}" density="1.2" viscosity=".1" timestep=".01">
<flag spring="{spring}" damper="{damper}" energy="enable"/></option>
<worldbody><body gravcomp=".5">
<joint name="a" axis="0 1 0" stiffness="3" damping=".7" springref="20" actuatorgravcomp="true"/>
<geom size=".1" pos=".3 0 0"/>
<body pos=".5 0 0" gravcomp=".2"><joint type="slide" axis="1 0 0" stiffness="30" damping="2.7"/>
<geom size=".1" pos=".3 0 0"/></body></body></worldbody>
<tendon><fixed stiffness="3" damping="2" springlength=".3 .4"><joint joint="a" coef="2"/></fixed></tendon></mujoco>"""

STRING = """<mujoco><option density="1.2" timestep=".001"><flag spring="{spring}" damper="{damper}" energy="enable"/>
</option><worldbody><flexcomp name="f" type="grid" count="5 1 1" spacing=".1 .1 .1" mass="1" dim="1" radius=".01">
<edge stiffness="20" damping="3"/><contact selfcollide="none"/></flexcomp></worldbody></mujoco>"""


def run(xml: str, steps: int, state: dict[str, np.ndarray], compat: str = "3.1") -> cardan.MjData:
    """The data after some steps (0: forward dynamics) from a state."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    for name, value in state.items():
        getattr(d, name)[:] = value
    if steps == 0:
        cardan.mj_forward(m, d)
    for _ in range(steps):
        cardan.mj_step(m, d)
    return d


@pytest.mark.parametrize(("spring", "damper"), CHOICES)
def test_forces(spring: str, damper: str) -> None:
    """Each flag disables its forces of joints and tendons; both disable everything that is passive."""
    xml, state = ARM.format(integrator="Euler", spring=spring, damper=damper), {"qpos": [0.3, 0.1], "qvel": [1.0, 2.0]}
    there, d = later_states(xml, 0, state, FORCES), run(xml, 0, state)
    for name in FORCES:
        np.testing.assert_allclose(getattr(d, name), there[name], rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast"])
@pytest.mark.parametrize(("spring", "damper"), CHOICES)
def test_steps(spring: str, damper: str, integrator: str) -> None:
    """Disabled dampers are not treated implicitly either."""
    xml = ARM.format(integrator=integrator, spring=spring, damper=damper)
    state = {"qpos": [0.3, 0.1], "qvel": [1.0, 2.0]}
    np.testing.assert_allclose(run(xml, 10, state).qvel, later_states(xml, 10, state)["qvel"], rtol=1e-9)


@pytest.mark.parametrize(("spring", "damper"), CHOICES)
def test_edges_of_flexes(spring: str, damper: str) -> None:
    """Edges of a flex are springs and dampers."""
    xml = STRING.format(spring=spring, damper=damper)
    rng = np.random.default_rng(3)
    state = {"qpos": rng.normal(scale=0.02, size=15), "qvel": rng.normal(size=15)}
    there, d = later_states(xml, 0, state, FORCES), run(xml, 0, state)
    for name in FORCES:
        np.testing.assert_allclose(getattr(d, name), there[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_passive_of_3_1() -> None:
    """The flag ``passive`` leaves the implicit treatment of joint damping in 3.1; in 4.0, it means both flags."""
    xml = ARM.format(integrator="Euler", spring="enable", damper="enable")
    xml = xml.replace('spring="enable" damper="enable"', 'passive="disable"')
    state = {"qpos": [0.3, 0.1], "qvel": [1.0, 2.0]}
    both = ARM.format(integrator="Euler", spring="disable", damper="disable")
    later = later_states(both, 10, state)["qvel"]
    np.testing.assert_allclose(run(xml, 10, state, "4.0").qvel, later, rtol=1e-9)
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
    mujoco.mj_step(m, d, 10)
    np.testing.assert_allclose(run(xml, 10, state).qvel, d.qvel, rtol=1e-9)
    assert np.abs(d.qvel - later).max() > 1e-4
