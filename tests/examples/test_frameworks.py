"""The examples for PyTorch and JAX, at a short size; skipped where these aren't installed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> dict[str, Any]:
    """The names of an example."""
    return runpy.run_path(str(EXAMPLES / name))


def test_torch_policy() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra cardan[torch])")
    losses = example("torch_policy.py")["train"](rounds=5, nworld=4)
    assert losses[-1] < 0.5 * losses[0]


def test_jax_fit() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra cardan[jax])")
    try:
        found, truth = example("jax_fit.py")["fit"](nstep=40)
    finally:
        jax.config.update("jax_enable_x64", False)
    np.testing.assert_allclose(found[-1], truth, rtol=0.01)
