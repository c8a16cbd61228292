"""The integrator discrete in every form: batches, single precision, GPU code, the interpreter, saved models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.fake_gpu import lent
from tests.step.test_discrete import FREE, ROWS, SLIDING, STATE

import cardan
from cardan.jit import jit_enabled

needs_jit = pytest.mark.skipif(not jit_enabled, reason="about native code")
TEXTS = {
    "coupled": SLIDING.format(option="", height=0.095),
    "coupled, sparse": SLIDING.format(option='jacobian="sparse"', height=0.095),
    "rows": ROWS.format(option='cone="elliptic"', solref=".0005 1", solimp=".9 .95 .001"),
    "no-slip": ROWS.format(option='noslip_iterations="3"', solref=".0005 1", solimp=".9 .95 .001"),
    "dual": ROWS.format(option='solver="PGS"', solref=".0005 1", solimp=".9 .95 .001"),
    "free": FREE.format(medium='density="9" viscosity=".1"', shape='fluidshape="ellipsoid"'),
}


def started(kind: str, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
    """A model, and its data in motion."""
    m = cardan.MjModel.from_xml_string(TEXTS[kind], compat=compat)
    d = cardan.MjData(m)
    if kind.startswith("coupled"):
        for name, value in STATE.items():
            getattr(d, name)[:] = value
    else:
        d.qvel[:] = np.random.default_rng(0).normal(0.0, 1.0, m.nv)
    return m, d


@needs_jit
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-3)])
def test_batches(kind: str, dtype: str, tolerance: float) -> None:
    m, d = started(kind)
    batch = cardan.Batch(m, 3, dtype=dtype)
    batch.qpos[:], batch.qvel[:] = d.qpos, d.qvel
    if m.nu:
        batch.ctrl[:] = d.ctrl
    for _ in range(10):
        cardan.mj_step(m, d)
        batch.step()
    np.testing.assert_allclose(np.asarray(batch.qpos), np.tile(d.qpos, (3, 1)), rtol=tolerance, atol=tolerance)


@needs_jit
@pytest.mark.parametrize("kind", ["coupled, sparse", "free"])
def test_on_a_gpu(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU code of all stages gives the same as threads."""
    m, d = started(kind)
    with lent(monkeypatch):
        batches = cardan.Batch(m, 2, device="cuda"), cardan.Batch(m, 2)
        for batch in batches:
            batch.qpos[:], batch.qvel[:] = d.qpos, d.qvel
            for _ in range(5):
                batch.step()
        np.testing.assert_allclose(np.asarray(batches[0].qvel), np.asarray(batches[1].qvel), atol=1e-9)
        batches[0].close()


@pytest.mark.parametrize("kind", ["coupled", "free"])
def test_in_the_interpreter(kind: str) -> None:
    """Steps with JIT off, where every index is checked, give the same."""
    if not jit_enabled:
        return
    code = f"import test_discrete_forms as t, cardan; m, d = t.started('{kind}'); cardan.mj_step(m, d); "
    code += "cardan.mj_inverse(m, d); print(*map(repr, [*d.qvel.tolist(), *d.qfrc_inverse.tolist()]))"
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), str(folder.parent), str(folder.parents[1]), *sys.path])
    environment = os.environ | {"CARDAN_JIT": "0", "PYTHONPATH": path}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    m, d = started(kind)
    cardan.mj_step(m, d)
    cardan.mj_inverse(m, d)
    found = [float(word) for word in result.stdout.split()]
    np.testing.assert_allclose(found, [*d.qvel, *d.qfrc_inverse], rtol=1e-9, atol=1e-9)


def test_saved_models(tmp_path: Path) -> None:
    """The integrator survives XML, binary files and `MjSpec`."""
    m, _ = started("coupled")
    cardan.mj_saveLastXML(str(tmp_path / "m.xml"), m)
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"), None)
    spec = cardan.MjSpec.from_string(TEXTS["coupled"])
    again = cardan.MjModel.from_xml_path(str(tmp_path / "m.xml")), spec.compile()
    for model in (*again, cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb"))):
        assert model.opt.integrator == cardan.mjtIntegrator.mjINT_DISCRETE
    spec.option.integrator = cardan.mjtIntegrator.mjINT_EULER
    assert spec.compile().opt.integrator == cardan.mjtIntegrator.mjINT_EULER
