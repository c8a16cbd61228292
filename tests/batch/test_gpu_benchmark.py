"""The benchmark for GPUs, against the fake driver, and what it says without a GPU."""

from __future__ import annotations

import gc
import math

import pytest
from benchmarks import gpu
from tests.batch.test_gpu import XML
from tests.fake_gpu import Lanes

import cardan
from cardan.jit import jit_enabled
from cardan.jit.driver.cuda import CudaError

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")


def test_it_needs_a_gpu() -> None:
    try:
        gpu.need_gpu()
    except CudaError as error:
        assert any(word in str(error) for word in ("driver", "no GPU", "cardan[cuda]"))


def test_all_figures_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Lanes().install(monkeypatch)
    m = cardan.MjModel.from_xml_string(XML)
    row = gpu.measure(m, "float64", worlds=(1, 3), at=2, steps=2)
    assert row["difference after a step"] < gpu.CLOSE["float64"]
    assert {"1", "3", "kB a world", "cold start", "µs dynamics.kinematics.kinematics"} <= set(row)
    assert all(math.isfinite(value) and value >= 0 for value in row.values())
    gc.collect()
    assert driver.left() == {}


def test_models_that_do_not_fit_are_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    driver = Lanes().install(monkeypatch)
    m = cardan.MjModel.from_xml_string(XML)
    with gpu.batch_on_gpu(m, 2, "float64") as batch:
        driver.total = 20 * batch.memory_per_world * 128
    row = gpu.measure(m, "float64", worlds=(1, 10**6), at=2, steps=1)
    assert "1" in row and "1000000" not in row
    assert "would fit" in capsys.readouterr().out


def test_three_humanoids_are_three() -> None:
    one, three = gpu.load(gpu.HUMANOID_FILE), gpu.load(gpu.three_humanoids)
    for size in ("nq", "nv", "nu", "ntendon", "nexclude"):
        assert getattr(three, size) == 3 * getattr(one, size), size
