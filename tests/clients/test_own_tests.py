"""The own tests of packages that use the reference fail nowhere on Cardan where they pass with it."""

from __future__ import annotations

import pytest
from clients.comparison import installed
from clients.own_tests import PARTS, outcome


@pytest.mark.skipif(
    not installed("dm_control"), reason="dm_control is not installed; make clients installs and runs it"
)
@pytest.mark.parametrize("part", PARTS)
def test_of_dm_control(part: str) -> None:
    result = outcome(part)
    assert result.count > len(result.failed) and not result.new, result
