"""MuJoCo 4.0.0 as a black box in a process of its own: `make test` installs it in ``.venv-later``.

``later_run("m = mujoco.MjModel.from_xml_string(xml); out = m.nq", xml=...)`` runs code there and returns ``out``. Tests
that use it are skipped, with the reason, where 4.0.0 is not installed.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
VARIABLE = "CARDAN_LATER_PYTHON"
"""Environment variable that names another Python with mujoco 4.0.0."""
STANDARD = TESTS.parent / ".venv-later" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
LIMIT = 120  # seconds that one request may take


class LaterError(Exception):
    """An exception of 4.0.0; ``kind`` is its type, ``reason`` its message."""

    def __init__(self, kind: str, reason: str, trace: str) -> None:
        self.kind, self.reason = kind, reason
        super().__init__(f"{kind}: {reason}\n{trace}")


class Later:
    """A running process of 4.0.0. A request that crashes or hangs ends it; the next request starts another."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, code: str, names: dict[str, Any]) -> Any:
        """Run code with some names defined, and ``mujoco`` and ``np``; returns what it stored in ``out``.

        Raises:
            LaterError: the code raised an exception, or the process ended or took too long.
        """
        if self._process is None or self._process.poll() is not None:
            pipe = subprocess.PIPE
            command = [self._python, str(TESTS / "later_worker.py")]
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        watch = threading.Timer(LIMIT, process.kill)
        watch.start()
        try:
            content = pickle.dumps((code, names))
            process.stdin.write(struct.pack("<q", len(content)) + content)
            process.stdin.flush()
            head = process.stdout.read(8)
            answer = process.stdout.read(struct.unpack("<q", head)[0]) if len(head) == 8 else b""
        except OSError:
            answer = b""
        finally:
            watch.cancel()
        if not answer:
            process.kill()
            raise LaterError("Crash", f"the process of 4.0.0 ended with status {process.wait()}", "")
        fine, value = pickle.loads(answer)
        if not fine:
            raise LaterError(*value)
        return value


@cache
def _start() -> Later | str:
    """The process of 4.0.0, or the reason why there is none."""
    python = os.environ.get(VARIABLE) or str(STANDARD)
    if not Path(python).exists():
        return f"mujoco 4.0.0 is not installed in {STANDARD.parent.parent.name}: run make later"
    later = Later(python)
    try:
        version = later.run("out = mujoco.__version__", {})
    except LaterError as error:
        return f"mujoco 4.0.0 does not start: {error}"
    return later if version == "4.0.0" else f"{python} has mujoco {version}, not 4.0.0"


def later_run(code: str, **names: Any) -> Any:
    """Run code in the process of 4.0.0 and return ``out``; skip the test if 4.0.0 is not installed."""
    found = _start()
    if isinstance(found, str):
        pytest.skip(found)
    return found.run(code, names)


def later_states(
    xml: str, steps: int, state: dict[str, Any] | None = None, fields: tuple[str, ...] = ("qpos", "qvel")
) -> dict[str, Any]:
    """Fields of the data of 4.0.0 after some steps from a state; 0 steps: after ``mj_forward``.

    Args:
        xml: the model's text.
        steps: number of steps.
        state: values of fields of the data at the start, by name; others are initial values.
        fields: names of the fields to return.
    """
    return later_run(_STEP, xml=xml, steps=steps, state=state or {}, fields=fields)


_STEP = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
for name, value in state.items():
    getattr(d, name)[:] = value
if steps == 0:
    mujoco.mj_forward(m, d)
for _ in range(steps):
    mujoco.mj_step(m, d)
out = {name: np.array(getattr(d, name)) for name in fields}
"""
