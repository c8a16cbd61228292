"""The tests of the reference's own package, taken from where it is installed, pass on Cardan under its name."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = next(iter(find_spec("mujoco").submodule_search_locations or [])) if find_spec("mujoco") else ""

# file: number of tests, and those that ask for what is not there yet, with the feature
FILES: dict[str, tuple[int, dict[str, str]]] = {
    "bindings_test.py": (107, {}),
    "rollout_test.py": (36, {}),
    "minimize_test.py": (8, {}),
    "msh2obj_test.py": (1, {}),
    "renderer_test.py": (6, {}),
    "render_test.py": (3, {}),
}


@pytest.mark.skipif(not FOLDER, reason="the reference is not installed")
@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path) -> None:
    count, later = FILES[name]
    shutil.copy(Path(FOLDER) / name, tmp_path / name)
    command = [sys.executable, "-m", "cardan.as_mujoco", "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    failed = set(re.findall(r"^FAILED \S+::(\w+)", result.stdout, re.MULTILINE))
    passed = re.search(r"(\d+) passed", result.stdout)
    assert failed == set(later), result.stdout[-3000:]
    assert passed is not None and int(passed[1]) == count - len(later), result.stdout[-3000:]
