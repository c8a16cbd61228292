"""Huge and tiny numbers, and those that are none: an error that says so, or a model."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from verdicts import parts

from cardan.api.loading import load_string
from cardan.errors import MjcfError
from cardan.spec.schema.language import SCHEMA
from cardan.spec.schema.rows import Type

RICH = (Path(__file__).resolve().parents[1] / "mjcf" / "rich.xml").read_text()
NUMBERS = ("1e308", "-1e308", "1e154", "1e-308", "1e-160", "inf", "nan")
SHARE = 1 if os.environ.get("CARDAN_FULL_TESTS") == "1" else 151


@pytest.mark.parametrize("size", ["1e308 1e308 1e308", "1e308 1 1", "1 1e308 1", "1e155 1e155 1e155", "1e103 1 1e206"])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "ellipsoid", "cylinder", "box"])
@pytest.mark.parametrize("fluid", ["none", "ellipsoid"])
def test_sizes_of_geoms(kind: str, size: str, fluid: str) -> None:
    geom = f'<geom type="{kind}" size="{size}" fluidshape="{fluid}"/>'
    try:
        load_string(f"<mujoco><worldbody><body>{geom}</body></worldbody></mujoco>")
    except MjcfError as error:
        assert "<geom> size: too large" in str(error)


def test_diameter_of_a_cylinder() -> None:
    m = load_string("""<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
        <actuator><cylinder joint="j" diameter="1e308"/></actuator></mujoco>""")
    assert m.actuator_gainprm[0, 0] == float("inf")


def changes() -> Iterator[tuple[str, str]]:
    """What was changed, and the whole model: one or all numbers of each attribute, of one element of each kind."""
    root = ElementTree.fromstring(RICH)
    seen: set[str] = set()
    for element, row in parts(root, SCHEMA):
        if element.tag in seen:
            continue
        seen.add(element.tag)
        for name, attribute in row.attributes.items():
            if attribute.type is not Type.REAL:
                continue
            old = element.get(name)
            count = max(len((old or "").split()), attribute.low or 1)
            rest = (old or "1 " * count).split()[1:]
            for number in NUMBERS:
                for text in dict.fromkeys((" ".join([number] * count), " ".join([number, *rest]))):
                    element.set(name, text)
                    yield f"{element.tag} {name}={text}", ElementTree.tostring(root, encoding="unicode")
            element.attrib.pop(name)
            if old is not None:
                element.set(name, old)


def test_every_attribute() -> None:
    tried = 0
    for number, (what, xml) in enumerate(changes()):
        if number % SHARE:
            continue
        tried += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                load_string(xml)
            except MjcfError:
                continue
            except Exception as error:
                raise AssertionError(f"{what}: {error!r}") from error
    assert tried > 20
