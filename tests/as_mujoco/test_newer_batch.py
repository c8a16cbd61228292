"""The tests of ``mujoco.batch`` in MuJoCo 4.0's package, taken from where it is installed, on Cardan's batches.

They are taken from the environment of that version (`later.py`), which ``make later`` makes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from later import STANDARD, VARIABLE

SLEEP = "bodies that sleep, a feature of later versions"
INNER = "a private function or object of that package"
C_CODE = "callbacks in C get the C library's structures"
LATER = {
    "test_callbacks_checked_on_construction": SLEEP,
    "test_sleep_needs_persistent": SLEEP,
    "test_count_outputs": "nA, a count of later versions",
    "test_error_messages": INNER,
    "test_expanded_reads_without_expanding": INNER,
    "test_integer_arguments_checked": INNER,
    "test_named_model_reads_do_not_expand": INNER,
    "test_named_structural_fields": INNER,
    "test_mask_ids": INNER,
    "test_named_contype_and_pre_expanded_type_fields": INNER,
    "test_private_binding_does_not_convert": INNER,
    "test_rollout_checks_buffers": INNER,
    "test_named_attribute_in_no_field": "actuator_moment is sparse in later versions",
    "test_named_mimo_actuators": "actuators of several inputs, a feature of later versions",
    "test_python_callbacks_rejected": C_CODE,
    "test_ray": "normals of mj_ray, a feature of later versions",
}
NTEST = 54
CONFTEST = "import mujoco, numpy\nmujoco.MJTNUM_DTYPE = numpy.float64\n"


def _folder() -> Path | None:
    environment = Path(os.environ.get(VARIABLE) or STANDARD).parent.parent
    places = environment.glob("lib/python3*/site-packages/mujoco")
    return next((place for place in places if (place / "batch_test.py").exists()), None)


@pytest.mark.skipif(_folder() is None, reason="mujoco 4.0.0 is not installed in .venv-later: run make later")
def test_file(tmp_path: Path) -> None:
    folder = _folder()
    assert folder is not None
    shutil.copy(folder / "batch_test.py", tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    command = [
        sys.executable,
        "-m",
        "cardan.as_mujoco",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "batch_test.py",
    ]
    result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    failed = set(re.findall(r"FAILED\S* \S+::(\w+)", result.stdout))
    passed = re.search(r"(\d+) passed", result.stdout)
    assert failed == set(LATER), result.stdout[-3000:]
    assert passed is not None and int(passed[1]) == NTEST - len(LATER), result.stdout[-3000:]
