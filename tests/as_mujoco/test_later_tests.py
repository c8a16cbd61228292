"""The tests in MuJoCo 4.0's package, taken from where it is installed, pass on Cardan under its name.

They are taken from the environment of that version (`later.py`), which ``make later`` makes. Modules in plain Python,
``mujoco.sysid`` and ``mujoco.usd``, come from there, too, with the packages that they need.
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
WORDING = "compares the words of an error message"
TIMERS = "durations are only measured with a clock (set_mjcb_time): it would slow down small models"
INNER = "a private function or object of that package"
FILES: dict[str, tuple[int, tuple[str, ...], dict[str, str]]] = {
    "batch_test.py": (
        54,
        (),
        {
            "test_callbacks_checked_on_construction": SLEEP,
            "test_sleep_needs_persistent": SLEEP,
            "test_count_outputs": "counts that are computed when they are read (nA, nY, nidof) can't be bound",
            "test_error_messages": INNER,
            "test_integer_arguments_checked": INNER,
            "test_mask_ids": INNER,
            "test_named_contype_and_pre_expanded_type_fields": INNER,
            "test_private_binding_does_not_convert": INNER,
            "test_rollout_checks_buffers": INNER,
            "test_named_attribute_in_no_field": "the moment arms of Cardan are dense, so that batches have them",
            "test_python_callbacks_rejected": "callbacks in C get the C library's structures",
        },
    ),
    "bindings_test.py": (
        153,
        ("etils",),
        {
            "test_mjcb_time_restore_default": TIMERS,
            "test_named_indexing_plastic": "plastic springs, a feature of later versions",
            "test_realloc_con_efc": INNER,
            "test_realloc_con_efc_failure_clears_counts": INNER,
            "test_realloc_island": INNER,
            "test_realloc_island_keeps_dual_and_metric_arrays": INNER,
            "test_timer_installed_by_default": TIMERS,
        },
    ),
    "memory_leak_test.py": (1, (), {}),
    "msh2obj_test.py": (5, ("etils",), {}),
    "thread_safety_test.py": (6, (), {}),
    "minimize_test.py": (22, (), {}),
    "rollout_test.py": (69, (), {}),
    "specs_test.py": (
        91,
        ("etils",),
        {
            "test_bad_contact_sensor": WORDING,
            "test_compile_errors_with_line_info": WORDING,
            "test_decoder_errors": WORDING,
            "test_flex_multi_material": "flex_matid by element: 3.1.6 has one material a flex",
            "test_incorrect_hfield_size": WORDING,
            "test_make_flex_grid": "a slider of the grid has an axis of zero length, which is an error",
            "test_plugin": WORDING,
        },
    ),
    "vfs_test.py": (20, (), {}),
    "viewer_test.py": (1, (), {}),
    "sysid/tests": (68, ("colorama", "scipy", "tabulate", "plotly", "jinja2", "yaml", "matplotlib"), {}),
    "usd/exporter_test.py": (
        2,
        ("pxr", "etils"),
        {},
    ),
}
"""Tests of a file or folder: their number, the packages that they need, and those that fail, with the reason."""


def _site() -> Path | None:
    """Folder of the packages that are installed in the environment of 4.0.0."""
    environment = Path(os.environ.get(VARIABLE) or STANDARD).parent.parent
    return next((site for site in environment.glob("lib/python3*/site-packages") if (site / "mujoco").exists()), None)


# pytest is started from a program, so that flags of absl are parsed. Modules of 4.0.0's package are found before those
# of 3.1.6's, other packages of its environment last.
START = """
import sys
sys.path.insert(0, "links")
sys.path.append({site!r})
from absl import flags
flags.FLAGS(["tests"])
import pytest
sys.exit(pytest.main(["-q", "-rf", "-p", "no:cacheprovider", {name!r}]))
"""


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path) -> None:
    site = _site()
    if site is None:
        pytest.skip("mujoco 4.0.0 is not installed in .venv-later: run make later")
    count, needed, failing = FILES[name]
    there = [folder for folder in (*map(Path, sys.path), site) if folder.is_dir()]
    missing = [package for package in needed if not any(list(folder.glob(f"{package}*")) for folder in there)]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed: pip install 'mujoco[sysid,usd]==4.0.0' in .venv-later")
    source, copied = site / "mujoco" / name, tmp_path / Path(name).name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, copied)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/mujoco").symlink_to(site / "mujoco", target_is_directory=True)
    command = [sys.executable, "-m", "cardan.as_mujoco", "--compat", "4.0", "-c"]
    command.append(START.format(site=str(site), name=copied.name))
    result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    failed = set(re.findall(r"^(?:SUB)?FAILED.* \S+::(\w+)(?: |$)", result.stdout, re.MULTILINE))
    whole = set(re.findall(r"^FAILED \S+::(\w+)", result.stdout, re.MULTILINE))  # others failed in subtests only
    passed = re.search(r"(\d+) passed", result.stdout)
    assert failed == set(failing), result.stdout[-3000:] + result.stderr[-1000:]
    assert int(passed[1] if passed else 0) == count - len(whole), result.stdout[-3000:]
