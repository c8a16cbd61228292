"""Functions that all commands use: load a model, choose an initial state."""

from __future__ import annotations

import cardan
from cardan.view.source import load_model

__all__ = ["keyframe_id", "load_model", "model_name", "start"]


def keyframe_id(m: cardan.MjModel, keyframe: str) -> int:
    """Return the number of a keyframe given by name or number.

    Raises:
        ValueError: the model has no such keyframe; the message lists its keyframes.
    """
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
    """Return the name of a model."""
    return m.names.partition(b"\0")[0].decode() or "(unnamed)"
