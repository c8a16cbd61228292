"""Parity of composite objects: the compiled model (names too), forward dynamics and steps, of models as they
are used and of random ones; and the same verdict as the reference's for each changed attribute.

``CARDAN_FULL_TESTS=1`` compiles and steps 400 random models and tries every change of an attribute, else a share.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
from composites_random import TYPES, random_composite
from composites_rich import RICH, rich_model
from fields_compared import differences
from models import SCENES
from states_compared import check
from verdicts import CRASH, FULL, Reference, changes, refusal

import cardan
from cardan.jit import jit_enabled

REAL = ("net", "free_grains", "cushion", "hammock", "belt", "cable", "coil", "flag", "jelly")
SEEDS = 400 if FULL else 21
SHARE = 1 if FULL else 40

# strings of numbers that the reference reads as far as it can, or into which it runs; negative densities; negative
# armatures that make weights NaN there
STRICTER = {("composite", "vertex"), ("composite", "face"), ("geom", "density"), ("joint", "armature")}
# whether joints and tendons are limited follows from their range; the reference doesn't look at this word at all
UNREAD = {("joint", "limited"), ("tendon", "limited")}
AROUND = {"class", "childclass"}  # attributes of the elements around

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated")


def model(seed: int) -> str:
    """A random model: one type after the other."""
    return random_composite(np.random.default_rng(seed), list(TYPES)[seed % len(TYPES)])


@pytest.mark.parametrize("name", REAL)
def test_real_models_compile(name: str) -> None:
    path = str(SCENES[name])
    assert differences(mujoco.MjModel.from_xml_path(path), cardan.MjModel.from_xml_path(path)) == []


@pytest.mark.parametrize("name", RICH)
def test_rich_models_compile(name: str) -> None:
    expected = mujoco.MjModel.from_xml_string(rich_model(name))
    assert differences(expected, cardan.MjModel.from_xml_string(rich_model(name))) == []


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_models_compile(seed: int) -> None:
    text = model(seed)
    try:
        expected = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        assert refusal(text) is not None
        return
    assert differences(expected, cardan.MjModel.from_xml_string(text)) == []


@pytest.mark.skipif(not jit_enabled, reason="too slow in the interpreter")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_models_move(seed: int) -> None:
    text = model(seed)
    if refusal(text) is None:
        check(seed, text)


@pytest.fixture
def reference() -> Iterator[Reference]:
    engine = Reference()
    yield engine
    engine.close()


@pytest.mark.parametrize("name", RICH)
def test_verdicts_agree(reference: Reference, name: str) -> None:
    refused, unequal = 0, []
    for number, (tag, attribute, value, xml) in enumerate(changes(rich_model(name))):
        if number % SHARE or (tag, attribute) in STRICTER | UNREAD or attribute in AROUND:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, ours = reference.refusal(xml), refusal(xml)
        refused += theirs is not None
        if theirs != CRASH and (theirs is None) != (ours is None):
            unequal.append((tag, attribute, value, theirs, ours))
    assert not unequal
    assert refused > 300 / SHARE
