"""Signed-distance shapes of the reference, through the public structure of its plugins (mjplugin.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

_WORD = ctypes.c_void_p
_REALS = ctypes.POINTER(ctypes.c_double)
_DISTANCE = ctypes.CFUNCTYPE(ctypes.c_double, _REALS, _WORD, ctypes.c_int)
_GRADIENT = ctypes.CFUNCTYPE(None, _REALS, _REALS, _WORD, ctypes.c_int)
_STATIC = ctypes.CFUNCTYPE(ctypes.c_double, _REALS, _REALS)
_TEXTS = ctypes.POINTER(ctypes.c_char_p)
_ATTRIBUTE = ctypes.CFUNCTYPE(None, _REALS, _TEXTS, _TEXTS)
_BOX = ctypes.CFUNCTYPE(None, _REALS, _REALS)


class _Plugin(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("nattribute", ctypes.c_int),
        ("attributes", _TEXTS),
        ("capabilityflags", ctypes.c_int),
        ("needstage", ctypes.c_int),
        ("others", _WORD * 11),
        ("distance", _DISTANCE),
        ("gradient", _GRADIENT),
        ("static_distance", _STATIC),
        ("attribute", _ATTRIBUTE),
        ("aabb", _BOX),
    )


def _library() -> Any:
    library = ctypes.CDLL(str(next(Path(mujoco.__file__).parent.glob("libmujoco.so*"))))
    library.mjp_getPlugin.restype = ctypes.POINTER(_Plugin)
    return library


def plugin(name: str) -> _Plugin:
    """The plugin of a name."""
    return _library().mjp_getPlugin(name.encode(), None).contents


def attribute_names(name: str) -> list[str]:
    """Names of the attributes of a shape, in order."""
    found = plugin(name)
    return [found.attributes[k].decode() for k in range(found.nattribute)]


def _reals(values: Any) -> Any:
    return (ctypes.c_double * len(values))(*values)


def attributes(name: str, config: dict[str, str]) -> list[float]:
    """All attributes of a shape as numbers, with defaults."""
    names = attribute_names(name)
    texts = [config.get(key, "").encode() for key in names]
    values = _reals([0.0] * max(1, len(names)))
    count = len(names)
    plugin(name).attribute(
        values, (ctypes.c_char_p * count)(*[n.encode() for n in names]), (ctypes.c_char_p * count)(*texts)
    )
    return list(values)[:count]


def box(name: str, values: list[float]) -> np.ndarray:
    """Centre and half sides of the box around a shape."""
    found = _reals([0.0] * 6)
    plugin(name).aabb(found, _reals(values))
    return np.array(list(found))


def static_distance(name: str, values: list[float]) -> Callable[[Any], float]:
    """The distance function of a shape, for the given attributes."""
    call, numbers = plugin(name).static_distance, _reals(values)
    return lambda point: call(_reals(point), numbers)


def distance_and_gradient(name: str, d: mujoco.MjData, instance: int, point: Any) -> tuple[float, np.ndarray]:
    """Distance and gradient that an instance in a model gives."""
    found, at, gradient = plugin(name), _reals(point), _reals([0.0] * 3)
    found.gradient(gradient, at, d._address, instance)
    return found.distance(at, d._address, instance), np.array(list(gradient))
