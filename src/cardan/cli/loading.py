"""Functions that several commands use: load a model, choose an initial state, read controls, count steps."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import cardan
from cardan.view.source import load_model

__all__ = ["keyframe_id", "load_model", "model_name", "number_of_steps", "read_controls", "start"]


def keyframe_id(m: cardan.MjModel, keyframe: str) -> int:
    """Return the number of a keyframe given by name or number. An unknown keyframe raises an error that lists all."""
    number = cardan.mj_name2id(m, cardan.mjtObj.mjOBJ_KEY, keyframe)
    if number < 0 and keyframe.isdigit() and int(keyframe) < m.nkey:
        number = int(keyframe)
    if number < 0:
        names = ", ".join(m.key(k).name or str(k) for k in range(m.nkey)) or "none"
        raise ValueError(f"the model has no keyframe {keyframe!r}; its keyframes: {names}")
    return number


def start(m: cardan.MjModel, keyframe: str | None) -> cardan.MjData:
    """Make data in the default state, or in the state of a keyframe."""
    d = cardan.MjData(m)
    if keyframe is not None:
        cardan.mj_resetDataKeyframe(m, d, keyframe_id(m, keyframe))
    return d


def model_name(m: cardan.MjModel) -> str:
    """Return the name of a model, or ``(unnamed)``."""
    return m.names.partition(b"\0")[0].decode() or "(unnamed)"


def read_controls(path: Path, nu: int) -> np.ndarray:
    """Read controls from a .npy file: finite numbers of shape (steps, nu), or (nu,) for one row."""
    try:
        stored = np.load(path, allow_pickle=False)
        if np.iscomplexobj(stored):
            raise TypeError
        controls = np.atleast_2d(np.asarray(stored, np.float64))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file of controls {path}") from None
    except (ValueError, TypeError, EOFError):
        raise ValueError(f"{path}: not a .npy file of numbers") from None
    if controls.ndim != 2 or controls.shape[1] != nu or not len(controls):
        shape = np.shape(stored)
        raise ValueError(f"{path}: expected an array of shape (nu,) or (steps, nu) with nu = {nu}, found {shape}")
    if not np.isfinite(controls).all():
        row, column = np.argwhere(~np.isfinite(controls))[0]
        raise ValueError(
            f"{path}: controls must be finite, found {controls[row, column]} in row {row}, column {column}"
        )
    return controls


def number_of_steps(duration: float, timestep: float) -> int:
    """Return the number of steps in `duration` seconds.

    Raises:
        ValueError: the duration is not finite, or the timestep is not positive.
    """
    if not math.isfinite(duration):
        raise ValueError(f"the duration must be a finite number of seconds, not {duration}")
    if not timestep > 0.0:
        raise ValueError(f"the model's timestep (option timestep) must be positive, not {timestep}")
    return round(duration / timestep)
