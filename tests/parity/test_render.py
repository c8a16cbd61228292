"""Pictures against the reference's, drawn in software by OSMesa; skipped where that isn't installed.

The bars: segments equal in 99.5 % of pixels, depths within 1e-3 in 99.5 %, colours within 8 of 255 in 95 %, a
structural similarity above 0.95. ``CARDAN_FULL_TESTS=1`` looks at all shared models; not all of them reach the bars, as
`docs/performance.md` says.
"""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import numpy as np
import osmesa_pictures
import pytest
from models import SHARED_MODELS, shared_model_files
from scipy.ndimage import uniform_filter

import cardan
from cardan.jit import jit_enabled

WIDTH, HEIGHT = 320, 240
FEW = ("cube/cube_3x3x3.xml", "cards/cards.xml", "composite/scene.xml", "plugin/sensor/touch_grid.xml")
FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"
FILES = shared_model_files() if FULL else tuple(SHARED_MODELS / "mujoco" / name for name in FEW)

pytestmark = [
    pytest.mark.skipif(find_library("OSMesa") is None, reason="OSMesa is not installed"),
    pytest.mark.skipif(not jit_enabled, reason="takes minutes in the interpreter"),
]


def similarity(a: np.ndarray, b: np.ndarray) -> float:
    """Structural similarity of two pictures (Wang et al. 2004), of their brightness, in windows of 7 pixels."""
    a, b = a.astype(float).mean(2), b.astype(float).mean(2)
    mean_a, mean_b = uniform_filter(a, 7), uniform_filter(b, 7)
    var_a, var_b = uniform_filter(a * a, 7) - mean_a**2, uniform_filter(b * b, 7) - mean_b**2
    both = uniform_filter(a * b, 7) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    top = (2 * mean_a * mean_b + c1) * (2 * both + c2)
    return float((top / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2))).mean())


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_pictures(path: Path, tmp_path: Path) -> None:
    if not path.exists():
        pytest.skip("the shared models are not there")
    out = tmp_path / "reference.npz"
    script = Path(osmesa_pictures.__file__)
    command = [sys.executable, str(script), str(path), str(out), str(WIDTH), str(HEIGHT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the reference can't draw it: {done.stderr.strip().splitlines()[-1:]}")
    ours = osmesa_pictures.pictures(cardan, str(path), WIDTH, HEIGHT)
    with np.load(out) as theirs:
        for number in range(len(osmesa_pictures.CAMERAS)):
            color, depth, segment = (f"{kind}{number}" for kind in ("color", "depth", "segment"))
            assert (ours[segment] == theirs[segment]).all(2).mean() > 0.995
            assert (np.abs(ours[depth] - theirs[depth]) <= 1e-3 * theirs[depth]).mean() > 0.995
            off = np.abs(ours[color].astype(int) - theirs[color]).max(2)
            assert (off <= 8).mean() > 0.95
            assert similarity(ours[color], theirs[color]) > 0.95
