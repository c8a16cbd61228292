"""Which collision functions a model gets: the pairs that it leaves out."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cardan.collision.table import _are_excluded

PROGRAM = """
import sys
import cardan
geom = "<geom size='.1'/><geom type='box' size='.1 .1 .1'/>"
bodies = "".join(f"<body name='b{k}' pos='{k} 0 0'><freejoint/>{geom}</body>" for k in range(8))
excluded = "".join(f"<exclude body1='b{k}' body2='b{k + 1}'/>" for k in range(7))
m = cardan.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody><contact>{excluded}</contact></mujoco>")
cardan.mj_step(m, cardan.MjData(m))
assert "numpy.ma" not in sys.modules
"""


@pytest.mark.parametrize("count", [0, 1, 50])
def test_excluded_pairs_are_those_of_the_list(count: int) -> None:
    rng = np.random.default_rng(count)
    m: Any = SimpleNamespace(exclude_signature=rng.integers(0, 2**31 - 1, count).astype(np.int32))
    some = np.append(m.exclude_signature.astype(np.int64), rng.integers(0, 2**40, 200)).reshape(-1, 1)
    assert np.array_equal(_are_excluded(m, some), np.isin(some, m.exclude_signature))


def test_a_first_step_does_not_wait_for_masked_arrays() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
