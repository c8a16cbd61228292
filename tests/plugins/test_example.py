"""The example of an own plugin runs, and its motor comes to the temperature that its equation has."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from cardan.plugins import PLUGINS

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_plugin.py"


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    finally:
        PLUGINS.pop("example.warm_motor", None)
    last = capsys.readouterr().out.splitlines()[-1].split()
    temperature, force = float(last[2]), float(last[5])
    assert force == pytest.approx(2.0 * (120.0 - temperature) / 100.0, abs=0.01)
    assert 60.0 * force**2 == pytest.approx(0.5 * (temperature - 20.0), abs=1.0)
