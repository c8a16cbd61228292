"""Rays against flexes and skins: parity with the functions of the C library."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
import pytest
from reference import copy_state, model_from_reference
from soft.comparison import random_state
from soft.flex_models import QUIET, grid, text

import cardan

# the Python interface of the reference takes single numbers for points, directions and triangles
(LIBRARY,) = Path(mujoco.__file__).parent.glob("libmujoco.so*")
FLAGS = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 1, 0), (0, 0, 1, 1), (0, 0, 0, 0))
COUNTS = {1: "4 1 1", 2: "4 3 1", 3: "5 5 5"}


def function(name: str) -> ctypes._NamedFuncPointer:
    """A function of the C library that returns a double."""
    found = getattr(ctypes.CDLL(str(LIBRARY)), name)
    found.restype = ctypes.c_double
    return found


def doubles(values: Sequence[float]) -> ctypes.Array:
    """An array of the C library."""
    return (ctypes.c_double * len(values))(*values)


def ray_of_reference(
    rm: mujoco.MjModel, rd: mujoco.MjData, layer: int, flags: tuple, p: np.ndarray, v: np.ndarray
) -> tuple[float, int]:
    """Distance and vertex that the reference finds for flex 0."""
    vertex = ctypes.c_int(-7)
    model, data = ctypes.c_void_p(rm._address), ctypes.c_void_p(rd._address)
    bits = [ctypes.c_ubyte(flag) for flag in flags]
    target = ctypes.byref(vertex)
    dist = function("mju_rayFlex")(
        model, data, ctypes.c_int(layer), *bits, ctypes.c_int(0), doubles(p), doubles(v), target
    )
    return dist, vertex.value


@pytest.mark.parametrize("dim", COUNTS)
def test_flex(dim: int) -> None:
    rm = mujoco.MjModel.from_xml_string(text(grid("f", dim, COUNTS[dim], QUIET)))
    m, rd, rng = model_from_reference(rm), mujoco.MjData(rm), np.random.default_rng(dim)
    d = cardan.MjData(m)
    random_state(rm, rd, 1, 0.01)
    copy_state(rd, d)
    mujoco.mj_forward(rm, rd)
    cardan.mj_forward(m, d)
    hits = 0
    for i in range(60):
        p, v = rng.uniform(-0.25, 0.25, 3), rng.standard_normal(3)
        if i % 2:
            p, v = 4 * p, 0.5 * (rng.uniform(-0.2, 0.2, 3) - 4 * p)
        for layer in (0, 1):
            for flags in FLAGS:
                vertex = np.full(1, -7, np.int32)
                dist = cardan.mju_rayFlex(m, d, layer, *flags, 0, p, v, vertex)
                expected = ray_of_reference(rm, rd, layer, flags, p, v)
                assert (dist, vertex[0]) == pytest.approx(expected, abs=1e-9)
                hits += dist >= 0
    assert hits > 3


def test_skin() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(-1, 1, (30, 3)).astype(np.float32)
    faces = rng.integers(0, 30, (40, 3)).astype(np.int32)
    pointer = ctypes.POINTER(ctypes.c_int)
    for _ in range(100):
        p, v = rng.uniform(-1, 1, 3), rng.standard_normal(3)
        expected, vertex = ctypes.c_int(-7), np.full(1, -7, np.int32)
        dist = function("mju_raySkin")(
            ctypes.c_int(40),
            ctypes.c_int(30),
            faces.ctypes.data_as(pointer),
            points.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
            doubles(p),
            doubles(v),
            ctypes.byref(expected),
        )
        assert cardan.mju_raySkin(40, 30, faces.ravel(), points.ravel(), p, v, vertex) == pytest.approx(dist, abs=1e-9)
        assert vertex[0] == expected.value


def test_bad_arguments() -> None:
    m = model_from_reference(mujoco.MjModel.from_xml_string(text(grid("f", 2, "3 3 1", QUIET))))
    d, vertex = cardan.MjData(m), np.zeros(1, np.int32)
    with pytest.raises(IndexError, match="flex 1 does not exist"):
        cardan.mju_rayFlex(m, d, 0, 1, 1, 1, 1, 1, np.zeros(3), np.ones(3), vertex)
    with pytest.raises(TypeError, match="vertid"):
        cardan.mju_rayFlex(m, d, 0, 1, 1, 1, 1, 0, np.zeros(3), np.ones(3), np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="face should hold ids"):
        cardan.mju_raySkin(1, 3, [0, 1, 3], np.zeros(9), np.zeros(3), np.ones(3), vertex)
