"""Random damage to valid models: the reader and the compiler accept them or raise MjcfError, nothing else.

How long that takes is measured by ``python -m benchmarks reading``.
"""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path

from composites_rich import RICH as COMPOSITES
from composites_rich import rich_model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from models_plugin import plugin_model
from models_soft import soft_model

import cardan
from cardan.errors import MjcfError

RICH = (Path(__file__).parent / "rich.xml").read_text()
CASES = 2000

NUMBERS = ("0", "1", "-1", "0.5", "1e300", "-1e-300", "inf", "nan", "1000000", "0 0 0", "1 0 0 0", "1 2 3 4 5 6")
WORDS = ("", " ", "junk", "true", "auto", "body", "geom", "g1", "j1", "s1", "fix", "spa", "mesh", "hf", "&amp;", "é")
TOKENS = NUMBERS + WORDS
TAGS = tuple(sorted(set(re.findall(r"<([a-z]+)", RICH))))


def change_value(text: str, rng: random.Random) -> str:
    """Another value for an attribute."""
    found = rng.choice(list(re.finditer(r'="([^"]*)"', text)))
    return text[: found.start(1)] + rng.choice(TOKENS) + text[found.end(1) :]


def remove_element(text: str, rng: random.Random) -> str:
    """One empty element less."""
    found = rng.choice(list(re.finditer(r"<[^<>/]*/>", text)))
    return text[: found.start()] + text[found.end() :]


def repeat_element(text: str, rng: random.Random) -> str:
    """One empty element twice, or in another place."""
    elements = list(re.finditer(r"<[^<>/]*/>", text))
    found, place = rng.choice(elements), rng.choice(elements)
    return text[: place.end()] + found.group() + text[place.end() :]


def rename(text: str, rng: random.Random) -> str:
    """Another tag, which may break the nesting."""
    found = rng.choice(list(re.finditer(r"<([a-z]+)", text)))
    return text[: found.start(1)] + rng.choice(TAGS) + text[found.end(1) :]


def rename_attribute(text: str, rng: random.Random) -> str:
    """The name of one attribute becomes that of another."""
    names = list(re.finditer(r"\b([a-z0-9]+)=", text))
    found, other = rng.choice(names), rng.choice(names)
    return text[: found.start(1)] + other.group(1) + text[found.end(1) :]


def change_character(text: str, rng: random.Random) -> str:
    """One character more, less or other."""
    at = rng.randrange(len(text))
    return text[:at] + rng.choice("<>/=\"' a0.-\x00\u20ac&;") * rng.randrange(2) + text[at + rng.randrange(2) :]


def cut(text: str, rng: random.Random) -> str:
    """A part less."""
    start = rng.randrange(len(text))
    return text[:start] + text[start + rng.randrange(200) :]


DAMAGE = (change_value,) * 6 + (remove_element, repeat_element, rename, rename_attribute, change_character, cut)


def damaged(text: str, seed: int, times: int) -> str:
    """The text with some random damage."""
    rng = random.Random(seed)
    for _ in range(times):
        text = rng.choice(DAMAGE)(text, rng)
    return text


def read(text: str) -> None:
    """Compile a model that may be wrong; an error must have a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cardan.MjModel.from_xml_string(text)
        except MjcfError as error:
            assert str(error)


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(seed=st.integers(0, 2**32), times=st.integers(1, 4))
def test_damaged_models_raise_only_model_errors(seed: int, times: int) -> None:
    read(damaged(RICH, seed, times))


@settings(max_examples=CASES // 10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(seed=st.integers(0, 2**32), times=st.integers(1, 4), kind=st.sampled_from(list(COMPOSITES)))
def test_damaged_composites_raise_only_model_errors(seed: int, times: int, kind: str) -> None:
    read(damaged(rich_model(kind), seed, times))


@settings(max_examples=CASES // 10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(seed=st.integers(0, 2**32), times=st.integers(1, 4), kind=st.integers(0, 40))
def test_damaged_flexes_raise_only_model_errors(seed: int, times: int, kind: int) -> None:
    read(damaged(soft_model(kind), seed, times))


@settings(max_examples=CASES // 40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(seed=st.integers(0, 2**32), times=st.integers(1, 4), kind=st.sampled_from([1, 2, 3, 4, 6, 7, 8, 9, 11, 12]))
def test_damaged_plugins_raise_only_model_errors(seed: int, times: int, kind: int) -> None:
    read(damaged(plugin_model(kind), seed, times))
