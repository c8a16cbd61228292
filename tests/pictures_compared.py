"""Pictures of both engines, compared: the measures and their bars, for tests and benchmarks."""

from __future__ import annotations

import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import numpy as np
import osmesa_pictures
from scipy.ndimage import uniform_filter

import cardan

WIDTH, HEIGHT = 320, 240
CAMERAS = range(len(osmesa_pictures.CAMERAS))
BARS = {"segments": 0.995, "depths": 0.995, "colours": 0.95, "similarity": 0.95}
"""What each measure must exceed."""
DEPTH_OFF, COLOUR_OFF = 1e-3, 8
"""How far a pixel may be off: depth relative to the reference's, colour of 255."""
SHIFTS = ("1e-7 0 0", "0 1e-7 0", "0 0 1e-7")
"""How far the camera moves, in extents of the model, to see how much the reference's own pictures scatter."""

can_draw_reference = find_library("OSMesa") is not None

Pictures = dict[str, np.ndarray]


class CannotDraw(Exception):
    """The reference can't draw a model."""


def reference_pictures(path: Path, out: Path, shift: str = "0 0 0") -> Pictures:
    """Pictures of the reference, in a process of its own.

    Raises:
        CannotDraw: the reference can't draw the model.
    """
    command = [sys.executable, osmesa_pictures.__file__, str(path), str(out), str(WIDTH), str(HEIGHT), shift]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotDraw(done.stderr.strip().splitlines()[-1:])
    with np.load(out) as arrays:
        return dict(arrays)


def own_pictures(path: Path) -> Pictures:
    """Our pictures of a model."""
    return osmesa_pictures.pictures(cardan, str(path), WIDTH, HEIGHT)


def similarity(a: np.ndarray, b: np.ndarray) -> float:
    """Structural similarity of two pictures (Wang et al. 2004), of their brightness, in windows of 7 pixels."""
    a, b = a.astype(float).mean(2), b.astype(float).mean(2)
    mean_a, mean_b = uniform_filter(a, 7), uniform_filter(b, 7)
    var_a, var_b = uniform_filter(a * a, 7) - mean_a**2, uniform_filter(b * b, 7) - mean_b**2
    both = uniform_filter(a * b, 7) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    top = (2 * mean_a * mean_b + c1) * (2 * both + c2)
    return float((top / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2))).mean())


def compare(ours: Pictures, theirs: Pictures, camera: int) -> dict[str, float]:
    """The measures of `BARS` for the pictures of one camera."""
    color, depth, segment = (f"{kind}{camera}" for kind in ("color", "depth", "segment"))
    off = np.abs(ours[color].astype(int) - theirs[color]).max(2)
    return {
        "segments": float((ours[segment] == theirs[segment]).all(2).mean()),
        "depths": float((np.abs(ours[depth] - theirs[depth]) <= DEPTH_OFF * theirs[depth]).mean()),
        "colours": float((off <= COLOUR_OFF).mean()),
        "similarity": similarity(ours[color], theirs[color]),
    }


def reaches(row: dict[str, float]) -> bool:
    """Whether a pair of pictures reaches every bar."""
    return all(row[name] > bar for name, bar in BARS.items())
