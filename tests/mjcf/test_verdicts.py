"""One attribute of a valid model changed at a time: this compiler and the reference both accept it or both refuse it.

``CARDAN_FULL_TESTS=1`` tries every change (about 15,000), else a share of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from verdicts import CRASH, FULL, Reference, changes, refusal

RICH = (Path(__file__).parent / "rich.xml").read_text()
SHARE = 1 if FULL else 12

# refused here only, or accepted here only, for reasons that docs/differences.md gives: element and attribute
ON_PURPOSE = {
    ("inertial", "zaxis"),
    ("geom", "shellinertia"),
}
POLYNOMIALS = ("-1 -2 -3", "0 0 0", "1 1")
"""Values that only later versions accept for stiffness and damping, whose second and third number are coefficients."""


def is_on_purpose(tag: str, name: str, value: str | None) -> bool:
    """Return whether the engines may disagree about this change."""
    return (tag, name) in ON_PURPOSE or (name in ("stiffness", "damping") and value in POLYNOMIALS)


@pytest.fixture
def reference() -> Iterator[Reference]:
    pytest.importorskip("mujoco")
    engine = Reference()
    yield engine
    engine.close()


def test_the_model_itself_is_accepted(reference: Reference) -> None:
    assert reference.refusal(RICH) is None
    assert refusal(RICH) is None


@pytest.mark.parametrize("part", range(8))
def test_verdicts_agree(reference: Reference, part: int) -> None:
    refused, unequal = 0, []
    for i, (tag, name, value, xml) in enumerate(changes(RICH)):
        if (i // 8) % SHARE or i % 8 != part or is_on_purpose(tag, name, value):
            continue
        theirs, ours = reference.refusal(xml), refusal(xml)
        refused += theirs is not None
        if theirs != CRASH and (theirs is None) != (ours is None):
            unequal.append((tag, name, value, theirs, ours))
    assert not unequal
    assert refused > 600 / SHARE
