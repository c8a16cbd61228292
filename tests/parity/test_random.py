"""Parity on random models, all three levels: the compiled model, the forward dynamics of random states, one step.

`check` is the whole check of one model, so that a longer hunt is one loop over seeds.
"""

from __future__ import annotations

import pytest
from marks import takes_minutes_interpreted
from models_random import Features, random_model
from models_wide import wide_model
from states_compared import check


@pytest.mark.parametrize("seed", range(100))
def test_random_model(seed: int) -> None:
    check(seed, random_model(seed))


# line searches that need bisections
@takes_minutes_interpreted
@pytest.mark.parametrize("seed", [98, 128, 136])
def test_large_model(seed: int) -> None:
    check(seed, random_model(seed, Features(bodies=30)))


@pytest.mark.parametrize("seed", range(100))
def test_wide_model(seed: int) -> None:
    check(seed, wide_model(seed))
