"""dm_control's own tests on both engines, without OpenGL."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from clients.comparison import ROOT

PARTS = {
    "wrapper": "mujoco/wrapper",
    "engine": "mujoco/engine_test.py",
    "index": "mujoco/index_test.py",
    "threads": "mujoco/thread_safety_test.py",
    "mjcf": "mjcf",
    "rl": "rl",
    "ik": "utils",
    "entities": "entities",
    "composer": "composer",
    "suite": "suite",
}
"""Where tests stand in dm_control."""


class Outcome(NamedTuple):
    """Tests of one part.

    Attributes:
        count: how many there are with the reference.
        failed: those that fail with the reference, which are those that draw.
        new: those that fail with Cardan only, with the message of each.
    """

    count: int
    failed: set[str]
    new: dict[str, str]


def outcome(part: str) -> Outcome:
    """Run the tests of a part on both engines."""
    reference, cardan = _results(part), _results(part, "-m", "cardan.as_mujoco")
    failed = {name for name, message in reference.items() if message}
    new = {name: cardan.get(name, "was not run") for name in reference}
    return Outcome(len(reference), failed, {name: text for name, text in new.items() if text and name not in failed})


def _results(part: str, *door: str) -> dict[str, str]:
    """The message of each test that fails, empty for the others."""
    spec = find_spec("dm_control")
    assert spec is not None and spec.submodule_search_locations is not None
    place = Path(spec.submodule_search_locations[0], PARTS[part])
    settings = {"MUJOCO_GL": "disable", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, *door, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        subprocess.run(
            [*command, str(place)], check=False, cwd=folder, env={**os.environ, **settings}, capture_output=True
        )
        cases = list(ElementTree.parse(report).iter("testcase"))
    return {
        f"{case.get('classname', '').partition('dm_control.')[2]}.{case.get('name')}": _message(case) for case in cases
    }


def _message(case: ElementTree.Element) -> str:
    """Why a test failed."""
    found = [element for kind in ("failure", "error") if (element := case.find(kind)) is not None]
    return (found[0].get("message") or "failed") if found else ""
