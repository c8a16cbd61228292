"""The README's examples run, and its commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cardan
from cardan.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^cardan (\w+)", TEXT, re.MULTILINE)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_python_examples(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
            exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
        m = cardan.MjModel.from_xml_path("examples/humanoid.xml")
        cardan.mj_step(m, cardan.MjData(m))
    finally:
        cardan.set_mjcb_control(None)
    assert "torso height" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_exist(command: str) -> None:
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_make_targets_exist() -> None:
    targets = re.findall(r"make (\w+) ", TEXT)
    makefile = (ROOT / "Makefile").read_text()
    assert targets and all(f"\n{target}:" in makefile for target in targets)


def test_command_of_the_picture(tmp_path: Path) -> None:
    (line,) = re.findall(r"`cardan (simulate [^`]*)`", TEXT)
    arguments = shlex.split(line.replace("--duration 2", "--duration 0.05").replace("docs/", f"{tmp_path}/"))
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (tmp_path / "humanoid.png").exists()


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert "://" in target or (ROOT / target).exists(), target
