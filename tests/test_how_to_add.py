"""The changes that docs/how-to-add.md works through: each is applied to a copy of the package, and its check runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "how-to-add.md").read_text()
SECTION = re.compile(r"^## (.+?)\n.*?```diff\n(.*?)```.*?```python\n(.*?)```", re.MULTILINE | re.DOTALL)
SECTIONS = {title: (diff, check) for title, diff, check in SECTION.findall(PAGE)}


def apply(diff: str, folder: Path) -> None:
    """Apply a diff without line numbers: the old lines of each hunk must be in the file exactly once.

    Args:
        diff: files (``--- path``), each with hunks (``@@``); lines begin with a blank, ``-`` or ``+``.
        folder: the folder that the paths are relative to.
    """
    for part in diff.split("--- ")[1:]:
        name, _, hunks = part.partition("\n")
        path = folder / name
        text = path.read_text() if path.exists() else ""
        for hunk in hunks.split("@@\n")[1:]:
            lines = hunk.splitlines()
            old = "".join(f"{line[1:]}\n" for line in lines if line[:1] in " -" and line)
            new = "".join(f"{line[1:]}\n" for line in lines if line[:1] in " +" and line)
            if old:
                assert text.count(old) == 1, f"{name}: these lines are not there exactly once:\n{old}"
                text = text.replace(old, new)
            else:
                text += new
        path.write_text(text)


def test_the_page_has_a_change_and_a_check_in_each_section() -> None:
    assert list(SECTIONS) == re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert len(SECTIONS) == 6


@pytest.mark.parametrize("title", SECTIONS)
def test_change(title: str, tmp_path: Path) -> None:
    diff, check = SECTIONS[title]
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    apply(diff, tmp_path)
    # in the interpreter, which checks every index and compiles nothing
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "CARDAN_JIT": "0"}
    command = [sys.executable, "-c", check]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
