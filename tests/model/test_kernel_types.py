"""The types of model and data inside kernels: what a type checker finds wrong there, and that it finds nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model


@kernel
def fine(m: Model, d: Data, i: int) -> float:
    d.time = d.time + m.opt.timestep
    d.xpos[i, 2] = 2 * m.body_pos[i, 2]
    d.warning.number[3] += 1
    d.contact.H[0, 35] = d.work.x[len(d.qpos) - 1]
    return m.jnt_range[i, 1] + m.aux.M_rowadr[i]


@kernel
def mistyped(m: Model, d: Data, i: int) -> None:
    {line}
"""
# a line that is wrong, and what it is told
WRONG = {
    "d.xposs[i, 2] = 0.0": 'Attribute "xposs" is unknown',
    "d.time = m.opt.time_step": 'Attribute "time_step" is unknown',
    "d.work.searh[0] = 1.0": 'Attribute "searh" is unknown',
    "d.qpos[0] = m.aux.M_rowadress[0]": 'Attribute "M_rowadress" is unknown',
    "m.body_pos[i, 2] = 3.0": '"__setitem__" method not defined',
    "m.nq = 3": '"nq" is declared as Final and cannot be reassigned',
    "d.qpos[1, 2] = 0.0": 'is not assignable to "int"',
    "d.xpos[1] = 0.0": 'is not assignable to "tuple\\[int, int\\]"',
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What pyright says of a file with each wrong line, and of one with none."""
    pytest.importorskip("pyright")
    folder = tmp_path_factory.mktemp("kernels")
    lines = ["pass", *WRONG]
    for k, line in enumerate(lines):
        (folder / f"kernel{k}.py").write_text(KERNEL.format(line=line))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *sorted(map(str, folder.iterdir()))]
    # with the settings of the project, whose sources stand before an installed package
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    blocks = dict.fromkeys(range(len(lines)), "")
    for text in output.split(str(folder) + "/kernel")[1:]:
        number = int(text.partition(".py")[0])
        blocks[number] += text
    assert "errors" in output, output
    return {line: blocks[k] for k, line in enumerate(lines)}


def test_correct_kernels_are_fine(complaints: dict[str, str]) -> None:
    assert complaints["pass"] == ""


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_found(complaints: dict[str, str], line: str) -> None:

    assert re.search(WRONG[line], complaints[line]), complaints[line]
