"""Columns of the compiler become arrays of the model, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.compiler.columns import fill_columns
from cardan.model.mjmodel import MjModel


def test_numbers_of_each_type() -> None:
    m = MjModel({"nq": 2, "ngeom": 2, "nnames": 3})
    fill_columns(
        m._memory,
        {
            "qpos0": [0.1, np.float64(0.2)],
            "geom_type": [2, True],
            "geom_rgba": [(1.0, 0.5, 0.25, 1e300), (0, 0, 0, 1)],
            "names": b"a\0\xff",
            "remarks": [1, 2, 3],
        },
    )
    assert m.qpos0.tolist() == [0.1, 0.2]
    assert m.geom_type.tolist() == [2, 1]
    # beyond the range of single precision is infinite, as elsewhere
    assert m.geom_rgba[0].tolist() == [1.0, 0.5, 0.25, np.inf]
    assert m.names == b"a\0\xff"


def test_columns_of_wrong_length_are_refused() -> None:
    m = MjModel({"nq": 2})
    with pytest.raises(ValueError, match=r"qpos0 has the shape .* but its column holds 3 numbers"):
        fill_columns(m._memory, {"qpos0": [1.0, 2.0, 3.0]})
