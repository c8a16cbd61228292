"""Polynomial springs and dampers of joints and tendons: against MuJoCo 4.0.0, formulas, and in every form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run, later_states
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

XML = """<mujoco><option timestep="0.005" integrator="{}"><flag energy="enable"/></option><worldbody>
<body pos="0 0 1"><joint type="ball" stiffness="2 3 5" damping=".1 .2 .3"/><geom size=".1" pos=".2 0 .1"/>
  <body pos=".4 0 0"><joint name="hinge" axis="0 1 0" stiffness="1 0 2" damping="0 .2" springref="20"/>
    <joint name="slide" type="slide" axis="1 0 0" stiffness="20 -5" damping=".5"/>
    <geom type="capsule" size=".05 .1" pos="0 .1 0"/><site name="a" pos="0 .1 .1"/></body></body>
<body pos="1 0 1"><joint type="free" stiffness="10 3 5" damping=".1 0 .4"/><geom type="box" size=".1 .2 .15"/>
  <site name="b" pos=".1 .1 0"/></body></worldbody>
<tendon><fixed springlength="-.1 .2" stiffness="4 3 5" damping=".2 .3 .4">
  <joint joint="hinge" coef="1"/><joint joint="slide" coef="-2"/></fixed>
<spatial stiffness="0 0 6" damping="0 .3"><site site="a"/><site site="b"/></spatial></tendon></mujoco>"""
INTEGRATORS = ("Euler", "implicit", "implicitfast", "RK4")
FIELDS = ("jnt_stiffness", "jnt_stiffnesspoly", "dof_damping", "dof_dampingpoly", "tendon_stiffness")
FIELDS += ("tendon_stiffnesspoly", "tendon_damping", "tendon_dampingpoly")
SLIDE = '<mujoco><worldbody><body><joint type="slide" {}/><geom size=".1" mass="1"/></body></worldbody></mujoco>'


def started(integrator: str, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
    """A model and data in motion."""
    m = cardan.MjModel.from_xml_string(XML.format(integrator), compat=compat)
    d = cardan.MjData(m)
    d.qvel[:] = np.random.default_rng(3).normal(size=m.nv)
    d.qpos[-4:] = 0.8, 0.2, 0.3, -0.4
    return m, d


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps(integrator: str) -> None:
    m, d = started(integrator)
    state = {"qpos": d.qpos.copy(), "qvel": d.qvel.copy()}
    wanted = later_states(XML.format(integrator), 100, state, ("qpos", "qvel", "energy", "qfrc_passive"))
    for _ in range(100):
        cardan.mj_step(m, d)
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(d, name), values, rtol=1e-9, atol=1e-10, err_msg=name)


_INVERSE = """
m = mujoco.MjModel.from_xml_string(xml)
m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_INVDISCRETE
d = mujoco.MjData(m)
d.qpos[:], d.qvel[:], d.qacc[:] = qpos, qvel, qacc
mujoco.mj_inverse(m, d)
out = d.qfrc_inverse.copy()
"""


@pytest.mark.parametrize("integrator", INTEGRATORS[:3])
def test_inverse(integrator: str) -> None:
    m, d = started(integrator)
    m.opt.enableflags |= cardan.mjtEnableBit.mjENBL_INVDISCRETE
    d.qacc[:] = np.random.default_rng(4).normal(size=m.nv)
    given = {name: getattr(d, name).copy() for name in ("qpos", "qvel", "qacc")}
    cardan.mj_inverse(m, d)
    wanted = later_run(_INVERSE, xml=XML.format(integrator), **given)
    np.testing.assert_allclose(d.qfrc_inverse, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_derivatives(integrator: str, compat: str) -> None:
    m, d = started(integrator, compat)
    for _ in range(5):
        cardan.mj_step(m, d)
    assert_same_jacobians(m, d)


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives_at_rest() -> None:
    """The length of a ball's displacement has no derivative at 0; that of the force is the linear stiffness."""
    m = cardan.MjModel.from_xml_string(XML.format("Euler"))
    A = np.empty((2 * m.nv, 2 * m.nv))
    cardan.mjd_transition(m, cardan.MjData(m), A, np.empty((2 * m.nv, 0)), None, None)
    assert np.isfinite(A).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_formula(sign: float) -> None:
    m = cardan.MjModel.from_xml_string(SLIDE.format('stiffness="2 3 5" damping="1 2 3"'))
    d = cardan.MjData(m)
    x, v = sign * 0.3, sign * 0.7
    d.qpos[0], d.qvel[0] = x, v
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.qfrc_spring, -(2 * x + 3 * x**2 + 5 * x**3), rtol=1e-14)
    np.testing.assert_allclose(d.qfrc_damper, -(v + 2 * v * abs(v) + 3 * v**3), rtol=1e-14)


def test_energy_is_kept() -> None:
    """Without damping, total energy stays constant."""
    m, d = started("RK4")
    m.dof_damping[:], m.dof_dampingpoly[:], m.tendon_damping[:], m.tendon_dampingpoly[:] = 0, 0, 0, 0
    m.opt.timestep = 1e-3
    cardan.mj_forward(m, d)
    start = d.energy.sum()
    for _ in range(200):
        cardan.mj_step(m, d)
    assert abs(d.energy.sum() - start) < 1e-6 * abs(start)


def test_edits_count() -> None:
    """Coefficients that a program sets in a model without polynomials have their effect in the next step."""
    edited = cardan.MjModel.from_xml_string(SLIDE.format(""))
    written = cardan.MjModel.from_xml_string(SLIDE.format('stiffness="0 0 5" damping="0 2"'))
    pair = cardan.MjData(edited), cardan.MjData(written)
    cardan.mj_step(edited, pair[0])
    cardan.mj_step(written, pair[1])
    edited.jnt_stiffnesspoly[0, 1], edited.dof_dampingpoly[0, 0] = 5.0, 2.0
    for d in pair:
        d.qpos[0], d.qvel[0] = 0.5, 1.0
    for _ in range(10):
        cardan.mj_step(edited, pair[0])
        cardan.mj_step(written, pair[1])
    assert pair[0].qpos == pair[1].qpos


def test_forms_of_a_model(tmp_path: Path) -> None:
    m, _ = started("Euler")
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec = cardan.MjSpec.from_string(XML.format("Euler"))
    again = [cardan.MjModel.from_xml_string(m.to_xml(), compat="4.0"), spec.compile()]
    again.append(cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb")))
    wanted = later_run(
        "m = mujoco.MjModel.from_xml_string(xml); out = {k: np.array(getattr(m, k)) for k in names}",
        xml=XML.format("Euler"),
        names=FIELDS,
    )
    for model in (m, *again):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(model, name), wanted[name], err_msg=name)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-3)])
def test_batches(dtype: str, tolerance: float) -> None:
    m, d = started("implicitfast")
    batch = cardan.Batch(m, 3, dtype=dtype)
    batch.qpos[:], batch.qvel[:] = d.qpos, d.qvel
    for _ in range(20):
        cardan.mj_step(m, d)
        batch.step()
    np.testing.assert_allclose(batch.qpos, np.tile(d.qpos, (3, 1)), rtol=tolerance, atol=tolerance)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU code of all stages gives the same as threads."""
    m, d = started("implicitfast")
    with lent(monkeypatch):
        batches = cardan.Batch(m, 2, device="cuda"), cardan.Batch(m, 2)
        for batch in batches:
            batch.qpos[:], batch.qvel[:] = d.qpos, d.qvel
            for _ in range(5):
                batch.step()
        np.testing.assert_allclose(np.asarray(batches[0].qvel), np.asarray(batches[1].qvel), atol=1e-9)
        batches[0].close()


def test_in_the_interpreter() -> None:
    """Steps with JIT off, where every index is checked, give the same."""
    if not jit_enabled:
        return
    code = "import sys, test_powers as t, cardan; m, d = t.started('implicitfast'); cardan.mj_step(m, d); "
    code += "print(*map(repr, d.qvel.tolist()))"
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), str(folder.parent), str(folder.parents[1]), *sys.path])
    environment = os.environ | {"CARDAN_JIT": "0", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100, check=True
    )
    m, d = started("implicitfast")
    cardan.mj_step(m, d)
    np.testing.assert_allclose([*map(float, done.stdout.split())], d.qvel, rtol=1e-10)


@pytest.mark.parametrize("words", ['stiffness="1 2 3 4"', 'damping="1 2 3 4"', 'damping="1 two"', 'stiffness=""'])
def test_bad_input(words: str) -> None:
    with pytest.raises(MjcfError, match=r"stiffness|damping"):
        cardan.MjModel.from_xml_string(SLIDE.format(words))
