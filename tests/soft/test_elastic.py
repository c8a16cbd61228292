"""Elasticity of flexes: parity with 4.0.0 (fields, forces, steps), the material of the manual, derivatives, errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run
from tests.batch.test_lanes import POSITION
from tests.lanes_compared import compare

import cardan
from cardan.batch import Batch
from cardan.errors import FatalError, MjcfError, UnsupportedFeature
from cardan.jit import jit_enabled

SOLID = 3, "0 1 2 3 1 2 3 4 2 3 4 5 3 4 5 6"
SHELL = 2, "0 1 2 1 3 2 2 4 3 3 4 5 4 5 6"
MATERIALS = {
    "solid": (*SOLID, ""),
    "stretch": (*SHELL, 'thickness=".1" elastic2d="stretch"'),
    "bend": (*SHELL, 'thickness=".1" elastic2d="bend"'),
    "both": (*SHELL, 'thickness=".1" elastic2d="both"'),
}
QUIET = '<contact selfcollide="none" contype="0" conaffinity="0"/>'
MODEL = """<mujoco><option gravity="0 0 -1" timestep="1e-4" {option}><flag {flag}/></option><worldbody>
<body name="base" pos="0 0 1"><joint axis="0 1 0"/><geom size=".1" contype="0" conaffinity="0"/>
<flexcomp name="f" type="direct" dim="{dim}" point="{points}" element="{elements}" radius=".01" mass="1">
<elasticity young="20" poisson=".25" damping=".3" {more}/>{quiet}<pin id="0 2"/></flexcomp></body>
</worldbody></mujoco>"""
FIELDS = (
    *("nflexelemedge", "nflexstiffness", "nflexbending", "flex_damping", "flex_elemedgeadr", "flex_stiffnessadr"),
    *("flex_bendingadr", "flex_edgeflap", "flex_elemedge", "flex_stiffness", "flex_bending", "flexedge_invweight0"),
)
FORCES = "qfrc_spring", "qfrc_damper", "qfrc_passive", "flexedge_length", "flexedge_velocity", "qacc"
LATER = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qpos, d.qvel = qpos, qvel
mujoco.mj_forward(m, d)
out = {name: np.array(getattr(m, name)) for name in fields}
out |= {name: np.array(getattr(d, name)) for name in forces}
for _ in range(20):
    mujoco.mj_step(m, d)
out["after"] = np.array(d.qpos)
"""


def model_text(name: str, option: str = "", disabled: str = "") -> str:
    """A flex of irregular elements, partly on a body that turns."""
    flag = f'{disabled}="disable"' if disabled else ""
    dim, elements, more = MATERIALS[name]
    points = np.random.default_rng(1).normal(size=(7, 3)).round(3)
    words = " ".join(map(str, points.ravel()))
    return MODEL.format(option=option, flag=flag, dim=dim, points=words, elements=elements, more=more, quiet=QUIET)


def deformed(m: cardan.MjModel) -> cardan.MjData:
    """A random state."""
    rng = np.random.default_rng(2)
    d = cardan.MjData(m)
    d.qpos[:] = 0.2 * rng.normal(size=m.nq)
    d.qvel[:] = rng.normal(size=m.nv)
    return d


def grid(dim: int, count: str, material: str, more: str = "") -> cardan.MjModel:
    """A regular flex without contacts and gravity."""
    sizes = f'dim="{dim}" count="{count}" spacing=".1 .1 .1" radius=".01" mass="1"'
    flex = f'<flexcomp name="f" type="grid" {sizes}><elasticity {material}/>{QUIET}{more}</flexcomp>'
    return cardan.MjModel.from_xml_string(f'<mujoco><option gravity="0 0 0"/><worldbody>{flex}</worldbody></mujoco>')


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("name", MATERIALS)
def test_fields_forces_and_steps(name: str, jacobian: str, compat: str) -> None:
    xml = model_text(name, f'jacobian="{jacobian}"')
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = deformed(m)
    theirs = later_run(LATER, xml=xml, qpos=d.qpos.copy(), qvel=d.qvel.copy(), fields=FIELDS, forces=FORCES)
    for field in FIELDS:
        np.testing.assert_allclose(getattr(m, field), theirs[field], rtol=1e-9, atol=1e-12, err_msg=field)
    cardan.mj_forward(m, d)
    for field in FORCES:
        np.testing.assert_allclose(getattr(d, field), theirs[field], rtol=1e-9, atol=1e-9, err_msg=field)
    assert np.abs(d.qfrc_spring).max() > 0.01
    assert np.abs(d.qfrc_damper).max() > 0.01
    for _ in range(20):
        cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qpos, theirs["after"], atol=1e-9)


@pytest.mark.parametrize("flag", ["spring", "damper"])
def test_flags(flag: str) -> None:
    xml = model_text("both", disabled=flag)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = deformed(m)
    state = {"qpos": d.qpos.copy(), "qvel": d.qvel.copy()}
    theirs = later_run(LATER, xml=xml, **state, fields=(), forces=FORCES)
    cardan.mj_forward(m, d)
    assert not np.any(d.qfrc_spring if flag == "spring" else d.qfrc_damper)
    np.testing.assert_allclose(d.qfrc_passive, theirs["qfrc_passive"], rtol=1e-9, atol=1e-9)


def test_uniform_strain_of_a_solid() -> None:
    """A block with constant strain: inner forces vanish, those on its faces are those of the stress."""
    young, poisson, stretch = 1e4, 0.3, 1.1
    m = grid(3, "4 4 4", f'young="{young}" poisson="{poisson}"')
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    rest = d.flexvert_xpos.copy()
    d.qpos.reshape(-1, 3)[:, 0] = (stretch - 1.0) * rest[:, 0]
    cardan.mj_forward(m, d)
    force = d.qfrc_spring.reshape(-1, 3)
    inside = (np.abs(rest) < 0.14).all(axis=1)
    assert np.abs(force[inside]).max() < 1e-9
    green = 0.5 * (stretch**2 - 1.0)
    shear, first = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    pull = stretch * (2.0 * shear + first) * green * 0.3**2  # first Piola-Kirchhoff stress times the face
    assert force[rest[:, 0] > 0.14, 0].sum() == pytest.approx(-pull)
    side = first * green * 0.3**2
    assert force[rest[:, 1] > 0.14, 1].sum() == pytest.approx(-side)


def test_uniform_strain_of_a_shell() -> None:
    young, poisson, thickness, stretch = 1e4, 0.3, 0.02, 1.1
    m = grid(2, "4 4 1", f'young="{young}" poisson="{poisson}" thickness="{thickness}" elastic2d="stretch"')
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    rest = d.flexvert_xpos.copy()
    d.qpos.reshape(-1, 3)[:, 0] = (stretch - 1.0) * rest[:, 0]
    cardan.mj_forward(m, d)
    green = 0.5 * (stretch**2 - 1.0)
    pull = stretch * young / (1.0 - poisson**2) * green * thickness * 0.3  # plane stress
    assert d.qfrc_spring.reshape(-1, 3)[rest[:, 0] > 0.14, 0].sum() == pytest.approx(-pull)


def test_bending_energy_of_a_cylinder() -> None:
    """A flat sheet that is bent into a cylinder does the work of the plate energy, D curvature^2 / 2 per area."""
    young, poisson, thickness, curvature = 1e5, 0.3, 0.01, 0.5
    m = grid(2, "21 5 1", f'young="{young}" poisson="{poisson}" thickness="{thickness}" elastic2d="bend"')
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    rest = d.flexvert_xpos.copy()

    def bend(kappa: float) -> np.ndarray:
        """Positions of the vertices on a cylinder."""
        angle = kappa * rest[:, 0]
        x, z = (np.sin(angle) / kappa, (1.0 - np.cos(angle)) / kappa) if kappa else (rest[:, 0], 0.0 * angle)
        return (np.stack([x, rest[:, 1], z], axis=1) - rest).ravel()

    work, steps = 0.0, 40
    for k in range(steps):
        low, high = bend(curvature * k / steps), bend(curvature * (k + 1) / steps)
        d.qpos[:] = 0.5 * (low + high)
        cardan.mj_forward(m, d)
        work -= d.qfrc_spring @ (high - low)
    plate = 0.5 * young * thickness**3 / (12 * (1 - poisson**2)) * curvature**2
    hinged = 0.4 * 1.9  # the outer half of the first and last row of squares has no hinge across
    assert work == pytest.approx(plate * hinged, rel=0.05)


def test_rest_and_rigid_motion() -> None:
    m = grid(3, "3 3 3", 'young="1e4" poisson=".3" damping=".1"')
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert np.abs(d.qfrc_passive).max() < 1e-9
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rest = d.flexvert_xpos.copy()
    d.qpos[:] = (rest @ turn.T - rest).ravel()
    cardan.mj_forward(m, d)
    assert np.abs(d.qfrc_passive).max() < 1e-9


@pytest.mark.parametrize("name", MATERIALS)
def test_derivatives(name: str) -> None:
    m = cardan.MjModel.from_xml_string(model_text(name))
    d = deformed(m)
    cardan.mj_forward(m, d)
    assert_same_jacobians(m, d)


def test_rk4() -> None:
    xml = model_text("both", 'integrator="RK4"')
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = deformed(m)
    state = {"qpos": d.qpos.copy(), "qvel": d.qvel.copy()}
    theirs = later_run(LATER, xml=xml, **state, fields=(), forces=())
    for _ in range(20):
        cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qpos, theirs["after"], atol=1e-9)


def test_batch_in_both_precisions() -> None:
    m = cardan.MjModel.from_xml_string(model_text("both"))
    d = deformed(m)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
        batch = Batch(m, 2, dtype=dtype)
        batch.qpos[:], batch.qvel[:] = d.qpos, d.qvel
        batch.forward()
        cardan.mj_forward(m, d)
        np.testing.assert_allclose(batch.qfrc_passive[1], d.qfrc_passive, atol=tolerance * np.abs(d.qfrc_passive).max())


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_worlds_side_by_side() -> None:
    assert compare(cardan.MjModel.from_xml_string(model_text("both")), POSITION) == []


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_interpreter() -> None:
    """A step with JIT off, where every index is checked, gives the same."""
    code = "import sys, numpy as np, cardan; m = cardan.MjModel.from_xml_string(sys.argv[1]); d = cardan.MjData(m); "
    code += "d.qpos[:] = .1 * np.sin(np.arange(m.nq)); d.qvel[:] = np.cos(np.arange(m.nv)); "
    code += "cardan.mj_step(m, d); print(*map(repr, d.qvel.tolist()))"
    results = []
    for jit in ("0", "1"):
        environment = os.environ | {"CARDAN_JIT": jit}
        command = [sys.executable, "-c", code, model_text("both")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=True)
        results.append([*map(float, done.stdout.split())])
    np.testing.assert_allclose(*results, rtol=1e-10)


def test_saving_and_editing() -> None:
    m = cardan.MjModel.from_xml_string(model_text("both"))
    again = cardan.MjModel.from_xml_string(m.to_xml())
    np.testing.assert_allclose(again.flex_stiffness, m.flex_stiffness, rtol=1e-9)
    np.testing.assert_allclose(again.flex_bending, m.flex_bending, rtol=1e-9, atol=1e-12)
    assert again.flex_damping == m.flex_damping == 0.3
    spec = cardan.MjSpec.from_string(model_text("both"))
    next(iter(spec.flexes)).young *= 2.0
    next(iter(spec.flexes)).damping = 0.1
    twice = spec.compile()
    np.testing.assert_allclose(twice.flex_stiffness, 2.0 * m.flex_stiffness)
    assert twice.flex_damping == 0.1


WRONG = {
    "young": ('young="-1"', 3, MjcfError, "not negative, found -1"),
    "poisson": ('young="1" poisson=".5"', 3, MjcfError, "below 0.5, found 0.5"),
    "thickness": ('young="1" elastic2d="both"', 2, MjcfError, "must be positive if a shell is elastic, found -1"),
    "elastic2d": ('young="1" thickness="1" elastic2d="bend"', 3, MjcfError, "dimension 2, found dimension 3"),
    "rod": ('young="1"', 1, UnsupportedFeature, "elastic rods"),
    "yield": ('young="1" yield=".1"', 3, UnsupportedFeature, "plasticity of flexes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_materials(name: str) -> None:
    material, dim, kind, words = WRONG[name]
    with pytest.raises(kind, match=re.escape(words)):
        grid(dim, "3 3 3" if dim == 3 else "3 3 1" if dim == 2 else "3 1 1", material)


def test_flat_elements() -> None:
    text = model_text("solid").replace("<body name", "<body name", 1)
    flat = re.sub(r'point="[^"]*"', 'point="0 0 0 1 0 0 0 1 0 1 1 0 2 1 0 3 1 0 4 4 0"', text)
    with pytest.raises(MjcfError, match="no volume"):
        cardan.MjModel.from_xml_string(flat)


def test_constraints_and_elasticity() -> None:
    """Edges that keep their lengths exclude stretching, not bending."""
    shell = 'young="1" thickness="1" elastic2d="{}"'
    edge = '<edge equality="true"/>'
    assert grid(2, "3 3 1", shell.format("bend"), edge).neq == 1
    with pytest.raises(MjcfError, match="both constrained edges and elasticity"):
        grid(2, "3 3 1", shell.format("both"), edge)


IMPLICIT = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qpos, d.qvel = qpos, qvel
mujoco.mj_forward(m, d)
out = {name: np.array(getattr(d, name)) for name in ("qacc", "qacc_smooth")}
for _ in range(20):
    mujoco.mj_step(m, d)
out["after"] = np.array(d.qpos)
"""


def stiff_text(name: str, option: str = "", disabled: str = "") -> str:
    """A model for large steps of the integrator discrete."""
    text = model_text(name, f'integrator="discrete" tolerance="1e-14" iterations="500" {option}', disabled)
    return text.replace("1e-4", "5e-3").replace('young="20"', 'young="2000"').replace('damping=".3"', 'damping=".01"')


@pytest.mark.parametrize("flag", ["", "spring", "damper"])
@pytest.mark.parametrize("solver", ["Newton", "CG"])
@pytest.mark.parametrize("name", MATERIALS)
def test_implicit_steps(name: str, solver: str, flag: str) -> None:
    xml = stiff_text(name, f'jacobian="{"sparse" if flag else "dense"}" solver="{solver}"', flag)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = deformed(m)
    state = {"qpos": d.qpos.copy(), "qvel": d.qvel.copy()}
    theirs = later_run(IMPLICIT, xml=xml, **state)
    cardan.mj_forward(m, d)
    for field in ("qacc", "qacc_smooth"):
        np.testing.assert_allclose(getattr(d, field), theirs[field], atol=1e-9 * np.abs(theirs[field]).max())
    cardan.mj_inverse(m, d)
    assert np.abs(d.qfrc_inverse).max() < 1e-9 * np.abs(d.qfrc_passive).max()
    for _ in range(20):
        cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qpos, theirs["after"], atol=1e-9)


@pytest.mark.parametrize("name", MATERIALS)
def test_implicit_derivatives(name: str) -> None:
    m = cardan.MjModel.from_xml_string(stiff_text(name))
    d = deformed(m)
    cardan.mj_forward(m, d)
    assert_same_jacobians(m, d, tolerance=1e-5)


@pytest.mark.parametrize("name", ["solid", "both"])
def test_contacts_of_implicit_flexes(name: str) -> None:
    """A soft block and a sheet on a plane: constraints are scaled as in 4.0.0."""
    dim, count = (3, "3 3 3") if name == "solid" else (2, "5 5 1")
    more = "" if name == "solid" else 'thickness=".01" elastic2d="both"'
    height = ".105" if name == "solid" else ".009"
    xml = f"""<mujoco><option integrator="discrete" tolerance="1e-13" iterations="300"/><worldbody>
    <geom type="plane" size="2 2 .1"/><flexcomp name="f" type="grid" dim="{dim}" count="{count}" spacing=".1 .1 .1"
    radius=".01" mass="1" pos="0 0 {height}"><elasticity young="5e4" poisson=".2" damping=".005" {more}/>
    <contact selfcollide="none"/></flexcomp></worldbody></mujoco>"""
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    state = {"qpos": np.zeros(m.nq), "qvel": np.zeros(m.nv)}
    theirs = later_run(IMPLICIT, xml=xml, **state)
    cardan.mj_forward(m, d)
    assert d.ncon > 0
    np.testing.assert_allclose(d.qacc, theirs["qacc"], atol=1e-8)
    for _ in range(20):
        cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qpos, theirs["after"], atol=1e-8)


def test_stability_at_large_steps() -> None:
    """A stiff block whose explicit integration would need steps of less than 0.1 ms."""
    m = grid(3, "3 3 3", 'young="1e7" poisson=".3" damping=".001"')
    m.opt.timestep, m.opt.integrator = 0.004, cardan.mjtIntegrator.mjINT_DISCRETE
    d = cardan.MjData(m)
    d.qpos[:] = 0.005 * np.random.default_rng(3).normal(size=m.nq)
    for _ in range(100):
        cardan.mj_step(m, d)
    assert np.abs(d.qvel).max() < 0.1
    assert np.abs(d.qfrc_spring).max() < 1.0


@pytest.mark.parametrize("option", ['solver="PGS"', 'noslip_iterations="3"'])
def test_solvers_that_need_a_factor(option: str) -> None:
    m = cardan.MjModel.from_xml_string(model_text("solid", f'integrator="discrete" {option}'))
    with pytest.raises(FatalError, match="PGS and noslip_iterations"):
        cardan.mj_step(m, cardan.MjData(m))


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_integrators_without_stiffness(integrator: str) -> None:
    m = cardan.MjModel.from_xml_string(model_text("solid", f'integrator="{integrator}"'))
    with pytest.raises(FatalError, match="elastic flexes"):
        cardan.mj_step(m, cardan.MjData(m))
