"""Which collision functions a model gets: the pairs that it leaves out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cardan.collision.table import _are_excluded


@pytest.mark.parametrize("count", [0, 1, 50])
def test_excluded_pairs_are_those_of_the_list(count: int) -> None:
    rng = np.random.default_rng(count)
    m: Any = SimpleNamespace(exclude_signature=rng.integers(0, 2**31 - 1, count).astype(np.int32))
    some = np.append(m.exclude_signature.astype(np.int64), rng.integers(0, 2**40, 200)).reshape(-1, 1)
    assert np.array_equal(_are_excluded(m, some), np.isin(some, m.exclude_signature))
