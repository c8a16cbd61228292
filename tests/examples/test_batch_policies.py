"""The examples of batches: on processors at a short size; on a GPU, what they say without one."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cardan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_a_policy_is_scored() -> None:
    example = runpy.run_path(str(EXAMPLES / "batch_policy.py"))
    batch = cardan.Batch(cardan.MjModel.from_xml_string(example["CART_POLE"]), 2)
    good = np.array([[0.3, 3.0, 0.5, 0.6], [0.0, 0.0, 0.0, 0.0]])
    scores = example["returns"](batch, good, 0)
    assert scores.shape == (2,)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("missing", [True, False])
def test_without_a_gpu_it_says_so(missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = None if missing else SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", torch)
    example = runpy.run_path(str(EXAMPLES / "batch_policy_cuda.py"))
    with pytest.raises(SystemExit, match=r"batch_policy\.py does the same on processors"):
        example["main"]()
