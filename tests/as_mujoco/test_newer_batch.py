"""The tests of ``mujoco.batch`` in MuJoCo 4.0's package, taken from where it is installed, on Cardan's batches.

They run where that version stands in an environment of its own, as ``python -m benchmarks newest`` makes it, or in a
folder that the environment variable ``MUJOCO_4`` names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLEEP = "bodies that sleep, a feature of later versions"
INNER = "a private function or object of that package"
C_CODE = "callbacks in C get the C library's structures"
LATER = {
    "test_callbacks_checked_on_construction": SLEEP,
    "test_sleep_needs_persistent": SLEEP,
    "test_count_outputs": "nA, a count of later versions",
    "test_error_messages": INNER,
    "test_integer_arguments_checked": INNER,
    "test_mask_ids": INNER,
    "test_named_contype_and_pre_expanded_type_fields": INNER,
    "test_private_binding_does_not_convert": INNER,
    "test_rollout_checks_buffers": INNER,
    "test_named_attribute_in_no_field": "actuator_moment is sparse in later versions",
    "test_named_mimo_actuators": "actuators of several inputs, a feature of later versions",
    "test_named_multidimensional_slices": "keyframes of another size than the model, a feature of later versions",
    "test_python_callbacks_rejected": C_CODE,
    "test_ray": "normals of mj_ray, a feature of later versions",
}
NTEST = 54
CONFTEST = "import mujoco, numpy\nmujoco.MJTNUM_DTYPE = numpy.float64\n"


def _folder() -> Path | None:
    places = [Path(os.environ["MUJOCO_4"])] if "MUJOCO_4" in os.environ else []
    places += (ROOT / "build").glob("*/lib/python3*/site-packages/mujoco")
    return next((place for place in places if (place / "batch_test.py").exists()), None)


@pytest.mark.skipif(_folder() is None, reason="MuJoCo 4.0 is not installed (python -m benchmarks newest does it)")
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
