"""The disk cache of compiled stages, tried in processes of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"

INNER = """
from cardan.jit import kernel

FACTOR = {factor}

@kernel
def scaled(x):
    return FACTOR * x + {added}
"""
OUTER = """
from cardan.jit import OK, stage
from pocket.inner import scaled

@stage
def fill(m, d):
    for i in range(m.nv):
        d.qvel[i] = scaled(d.qvel[i])
    return OK
"""
OUTER_BY_MODULE = OUTER.replace("from pocket.inner import scaled", "from pocket import inner").replace(
    "scaled(", "inner.scaled("
)
MAIN = """
import sys
from cardan.jit import Program
from cardan.jit.driver import program as driver
import cardan.jit.front.compile as compiling
from cardan.model.mjmodel import MjModel
from cardan.model.mjdata import MjData
from pocket.outer import fill

names = []
compile_entry = compiling.compile_entry
def counted(entry, form):
    names.append(entry.name)
    return compile_entry(entry, form)
compiling.compile_entry = counted

m = MjModel({"nv": 2, "nbody": 2, "nM": 2, "nD": 2, "nB": 4})

m.dof_parentid[:] = -1
m.dof_bodyid[:] = 1
m.body_dofnum[1] = m.nv
m.dof_Madr[:] = range(m.nv)
m.finalize()
d = MjData(m)
d.qvel[:] = 1, 2
assert Program([fill]).run(m, d) == 0
print(sum("fill" in n for n in names), *d.qvel.tolist())
"""


@pytest.fixture
def pocket(tmp_path):
    """A package of two kernels in two files; gives a function that runs it in a process and returns its output."""
    package = tmp_path / "pocket"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "outer.py").write_text(OUTER)
    (tmp_path / "main.py").write_text(textwrap.dedent(MAIN))
    write_inner(tmp_path)
    return tmp_path


def write_inner(folder, factor=3.0, added=0.0):
    (folder / "pocket" / "inner.py").write_text(INNER.format(factor=factor, added=added))


def environment(folder, **more):
    return (
        os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(SOURCE), str(folder)]),
            "CARDAN_CACHE_DIR": str(folder / "cache"),
            "CARDAN_JIT": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        | more
    )


def start(folder, **more):
    return subprocess.Popen(
        [sys.executable, str(folder / "main.py")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(folder, **more),
    )  # fmt: skip


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    count, *values = out.split()
    return int(count), [float(v) for v in values]


def run(folder, **more):
    return finish(start(folder, **more))


def test_compiles_once_and_again_after_a_change_in_another_file(pocket):
    assert run(pocket) == (1, [3, 6])
    assert run(pocket) == (0, [3, 6])
    write_inner(pocket, factor=3.0, added=1.0)
    assert run(pocket) == (1, [4, 7])
    write_inner(pocket, factor=5.0, added=1.0)
    assert run(pocket) == (1, [6, 11])
    write_inner(pocket)
    assert run(pocket) == (0, [3, 6])


def test_compiles_again_after_a_change_of_a_member_of_a_module(pocket):
    (pocket / "pocket" / "outer.py").write_text(OUTER_BY_MODULE)
    assert run(pocket) == (1, [3, 6])
    write_inner(pocket, factor=5.0)
    assert run(pocket) == (1, [5, 10])
    assert run(pocket) == (0, [5, 10])


def test_kernels_for_another_processor_are_other_files(pocket):
    assert run(pocket) == (1, [3, 6])
    assert run(pocket, CARDAN_CPU="generic") == (1, [3, 6])
    assert run(pocket, CARDAN_CPU="generic") == (0, [3, 6])
    assert run(pocket) == (0, [3, 6])


def damaged(content: bytes) -> dict[str, bytes]:
    """A file of the cache, spoilt in several ways."""
    middle = len(content) // 2
    return {
        "empty": b"",
        "noise": bytes(range(255, 5, -1)),
        "cut": content[:middle],
        "header": content[:60] + b"\xff\xfe 3\nabc",
        "flipped": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
    }


def test_a_damaged_file_is_ignored(pocket):
    run(pocket)
    (file,) = (pocket / "cache").glob("*fill*.o")
    for damage, content in damaged(file.read_bytes()).items():
        file.write_bytes(content)
        assert run(pocket) == (1, [3, 6]), damage
    assert run(pocket) == (0, [3, 6])


def test_processes_that_start_at_once_compile_once(pocket):
    processes = [start(pocket) for _ in range(3)]
    results = [finish(p) for p in processes]
    assert sum(count for count, _ in results) == 1
    assert all(values == [3, 6] for _, values in results)


def test_a_cache_that_cannot_be_written_costs_only_time(pocket):
    (pocket / "wall").write_text("a file where the folder should be")
    blocked = str(pocket / "wall" / "cache")
    assert run(pocket, CARDAN_CACHE_DIR=blocked) == (1, [3, 6])
    assert run(pocket, CARDAN_CACHE_DIR=blocked) == (1, [3, 6])


def test_jit_off_needs_no_cache(pocket):
    assert run(pocket, CARDAN_JIT="0") == (0, [3, 6])
    assert not (pocket / "cache").exists()
