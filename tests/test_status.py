"""The table of features (docs/status.md) tells the truth: its tests exist, and what isn't there yet says so.

Each row that is "not yet" stands either in `REFUSED`, with something that uses the feature and words of the error, or
in `WITHOUT_A_NAME`: features that no model and no call can ask for so far.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from mjcf.later_words import NEEDED, model

import cardan
from cardan.batch.differentiable import differentiable_step

ROOT = Path(__file__).resolve().parents[1]
FEATURES, FUNCTIONS = (ROOT / "docs/status.md").read_text().split("\n## Functions and classes")
STATUS_WORDS = {"works", "partly", "not yet"}


class Row(NamedTuple):
    """A row of the table of features."""

    section: str
    feature: str
    status: str
    where: str
    tests: str

    @property
    def name(self) -> str:
        """Section and feature: features of different sections may have the same name."""
        return f"{self.section}: {self.feature}"


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line[1:-1].split("|")]


def feature_rows() -> Iterator[Row]:
    """The rows of all sections."""
    section = ""
    for line in FEATURES.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith(("| feature |", "| --- |")):
            yield Row(section, *cells(line))


def names_by_status() -> dict[str, list[str]]:
    """Names of functions and classes in the last table, by the status of their row."""
    names: dict[str, list[str]] = {}
    for line in FUNCTIONS.splitlines():
        if line.startswith("| ") and "| names |" not in line and "---" not in line:
            family, status, listed = cells(line)
            if not family.startswith("Enumerations"):
                names.setdefault(status, []).extend(re.findall(r"`(\w+)`", listed))
    return names


ROWS = list(feature_rows())
MISSING = [row for row in ROWS if row.status == "not yet"]
NAMES = names_by_status()

# --- what uses a feature ----------------------------------------------------------------------------------------------


def name(word: str) -> Callable[[], object]:
    return lambda: getattr(cardan, word)


def empty() -> cardan.MjModel:
    """A model without elements."""
    return cardan.MjModel.from_xml_string("<mujoco/>")


Use = tuple[str, Callable[[], object], str]


JELLY = """<mujoco><extension><plugin plugin="mujoco.elasticity.solid"/></extension><worldbody>
<flexcomp name="jelly" type="grid" dim="3" count="2 2 2" spacing=".1 .1 .1" radius=".01">
<plugin plugin="mujoco.elasticity.solid"><config key="young" value="1e4"/><config key="damping" value=".01"/></plugin>
</flexcomp></worldbody></mujoco>"""


def step_with_memory() -> None:
    """A step for PyTorch and JAX with a plugin that remembers evaluations."""
    m = cardan.MjModel.from_xml_string(JELLY)
    differentiable_step(m, (), 1).forward(np.zeros((1, m.nq + m.nv)), np.zeros((1, 0)), ())


def step_that_sticks() -> None:
    """A step for PyTorch and JAX with contacts that stick."""
    m = cardan.MjModel.from_xml_string("<mujoco><worldbody><geom size='1' stick='true'/></worldbody></mujoco>")
    differentiable_step(m, (), 1).forward(np.zeros((1, 0)), np.zeros((1, 0)), ())


REFUSED: list[Use] = [
    ("steps that PyTorch and JAX differentiate, with contacts that", step_that_sticks, "contacts that stick"),
    ("steps that PyTorch and JAX differentiate, of models", step_with_memory, "remember"),
]
REFUSED += [
    (
        "MJCF: global sections: `option/flag` of later versions: `diagexact`",
        lambda word=word: cardan.MjModel.from_xml_string(f'<mujoco><option><flag {word}="enable"/></option></mujoco>'),
        words,
    )
    for word, words in {
        "diagexact": "diagexact",
        "ipc": "barrier contacts",
        "speculative": "speculative contacts",
    }.items()
]
REFUSED += [
    (f"{feature}:", lambda part=parts[0]: cardan.MjModel.from_xml_string(model(part)), feature)
    for feature, parts in NEEDED.items()
]
ROD = """<mujoco><worldbody><flexcomp name="f" type="grid" dim="{}" count="3 {} {}" radius=".01" spacing="1 1 1">
<elasticity young="1" {}/></flexcomp></worldbody></mujoco>"""
REFUSED += [
    (f"{feature}:", lambda words=words: cardan.MjModel.from_xml_string(ROD.format(*words)), feature)
    for feature, words in {
        "elastic rods": (1, 1, 1, ""),
        "plasticity of flexes": (3, 3, 3, 'yield=".1"'),
    }.items()
]
WITHOUT_A_NAME: tuple[str, ...] = ()


def is_about(start: str, row: Row) -> bool:
    """Whether a row's feature, or its section and feature, start like this."""
    return row.feature.startswith(start) or row.name.startswith(start)


# --- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name[:60])
def test_row(row: Row) -> None:
    assert row.status in STATUS_WORDS
    tests = re.findall(r"`([^`]+)`", row.tests)
    assert bool(tests) == (row.status != "not yet")
    for path in tests:
        assert (ROOT / path).is_file() or any((ROOT / path).glob("test_*.py")), path
    for folder in re.findall(r"`([^`]+)`", row.where):
        assert (ROOT / "src/cardan" / folder).is_dir(), folder


@pytest.mark.parametrize("row", MISSING, ids=lambda row: row.name[:60])
def test_each_missing_feature_is_tried(row: Row) -> None:
    tried = [start for start, _, _ in REFUSED if is_about(start, row)]
    assert tried or row.feature.startswith(WITHOUT_A_NAME)


@pytest.mark.parametrize(("start", "use", "words"), REFUSED, ids=[f"{start}, {words}" for start, _, words in REFUSED])
def test_missing_feature_is_named(start: str, use: Callable[[], object], words: str) -> None:
    assert any(is_about(start, row) for row in ROWS if row.status != "works")
    with pytest.raises((ValueError, AttributeError, NotImplementedError)) as caught:
        use()
    assert words in str(caught.value)


@pytest.mark.parametrize("word", NAMES["works"])
def test_name_is_there(word: str) -> None:
    assert hasattr(cardan, word)


@pytest.mark.parametrize("word", NAMES.get("not yet", []))
def test_name_is_not_there(word: str) -> None:
    with pytest.raises(AttributeError, match=rf"cardan\.{word} is not supported yet"):
        getattr(cardan, word)
