"""States as keyframes: conversion to MJCF, and storage in a model's keyframes."""

from __future__ import annotations

import numpy as np

from cardan.model import MjData, MjModel

PARTS = ("qpos", "qvel", "act", "ctrl")


def keyframe_names(m: MjModel) -> list[str]:
    """Names of the keyframes, or their numbers; all distinct."""
    names = [m.key(k).name or str(k) for k in range(m.nkey)]
    return [name if names.index(name) == k else f"{name} ({k})" for k, name in enumerate(names)]


def keyframe_xml(m: MjModel, d: MjData) -> str:
    """MJCF of a keyframe with the current state; parts that are zero are omitted, except positions."""
    values = {part: np.asarray(getattr(d, part)).ravel() for part in PARTS}
    values |= {"mpos": d.mocap_pos.ravel(), "mquat": d.mocap_quat.ravel()}
    words = [f'time="{d.time:.17g}"'] if d.time else []
    for name, numbers in values.items():
        if numbers.size and (name in ("qpos", "mpos", "mquat") or np.any(numbers)):
            words.append(f'{name}="{" ".join(f"{number:.17g}" for number in numbers)}"')
    return f"<key {' '.join(words)}/>"


def store_keyframe(m: MjModel, d: MjData, number: int) -> None:
    """Store the current state in a keyframe of the model."""
    m.key_time[number] = d.time
    for part in PARTS:
        getattr(m, f"key_{part}")[number] = getattr(d, part)
    m.key_mpos[number], m.key_mquat[number] = d.mocap_pos.ravel(), d.mocap_quat.ravel()
