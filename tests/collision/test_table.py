"""Which collision functions a model gets: the pairs that it leaves out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.collision import table
from cardan.collision.table import _are_excluded, _first_pair, _passing


@pytest.mark.parametrize("count", [0, 1, 50])
def test_excluded_pairs_are_those_of_the_list(count: int) -> None:
    rng = np.random.default_rng(count)
    m: Any = SimpleNamespace(exclude_signature=rng.integers(0, 2**31 - 1, count).astype(np.int32))
    some = np.append(m.exclude_signature.astype(np.int64), rng.integers(0, 2**40, 200)).reshape(-1, 1)
    assert np.array_equal(_are_excluded(m, some), np.isin(some, m.exclude_signature))


@pytest.mark.parametrize("first", [0, 1, 30, 59, 60])
def test_the_first_pair_that_passes_is_found(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the blocks are; geoms from `first` on may collide."""
    bodies = "".join(
        f'<body pos="0 0 {i}"><freejoint/><geom size=".1" contype="{int(i >= first)}" conaffinity="0"/></body>'
        for i in range(60)
    )
    m = cardan.MjModel.from_xml_string(f"<mujoco><worldbody><geom size='.1'/>{bodies}</worldbody></mujoco>")
    geoms, world = np.arange(1, m.ngeom), np.array([0])
    whole = np.argwhere(_passing(m, geoms[:, None], world[None, :]))
    expected = (int(geoms[whole[0, 0]]), 0) if len(whole) else None
    for smallest, largest in ((1, 1), (2, 8), (1 << 10, 1 << 20)):
        monkeypatch.setattr(table, "FIRST_BLOCK", smallest)
        monkeypatch.setattr(table, "BLOCK", largest)
        assert _first_pair(m, geoms, world) == expected
