"""The page on plugins tells the truth: its model runs, it lists the plugins, attributes and functions that exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import cardan
from cardan.plugins import STOCK

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "plugins.md").read_text()


def test_model_runs() -> None:
    (xml,) = re.findall(r"```xml\n(.*?)```", PAGE, re.DOTALL)
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    d.ctrl[0] = 0.5
    cardan.mj_step(m, d, nstep=2000)
    assert d.qpos[0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("plugin", STOCK, ids=lambda plugin: plugin.name)
def test_plugins_are_listed_with_their_attributes(plugin: object) -> None:
    name, attributes = plugin.name, plugin.attributes  # pyright: ignore[reportAttributeAccessIssue]
    rows = [line for line in PAGE.splitlines() if line.startswith("| `mujoco.")]
    (row,) = [line for line in rows if f"`{name}`" in line or (name.startswith("mujoco.sdf.") and name[11:] in line)]
    if not name.startswith("mujoco.sdf."):
        assert {word for word in attributes if word != "edge"} == set(re.findall(r"`(\w+)`", row)) - {"true"}


def test_functions_are_listed() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    known = set(inspect.signature(cardan.register_plugin).parameters)
    assert listed <= known
    sizes = {"nstate", "nsensordata", "actdim"}
    assert known - listed == {"name", "capabilities", "attributes", "needstage"} | sizes
