"""Packages that are extras: without them the rest works, and a sentence says what is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SLIDER = '<mujoco><worldbody><body><joint type="slide"/><geom size=".1"/></body></worldbody></mujoco>'
# names under which packages are imported where these differ
IMPORTED_AS = {"pillow": "PIL", "cuda-bindings": "cuda"}
# packages that bring a library; the module that calls it names them
LIBRARIES = {"cmeel-qhull": "src/cardan/compiler/meshes/qhull.py", "nvidia-nvvm": "src/cardan/jit/target/ptx.py"}

# extras whose packages the source doesn't import: those of the developers, and those of programs written for MuJoCo
NOT_OURS = ("dev", "mujoco")

WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
{program}
"""


def run_without(missing: tuple[str, ...], program: str) -> tuple[int, str]:
    """Run a program in a process where packages can't be imported; returns status and what it says."""
    text = WITHOUT.format(missing=missing, program=program)
    result = subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True, cwd=ROOT)
    return result.returncode, result.stdout + result.stderr


def test_a_step_needs_no_extra() -> None:
    program = f"import cardan\nm = cardan.MjModel.from_xml_string({SLIDER!r})\ncardan.mj_step(m, cardan.MjData(m))"
    assert run_without(("matplotlib", "mujoco"), program) == (0, "")


def test_the_extra_of_wheels_with_kernels_is_the_requirement_of_all_others() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras["numba"] == [line for line in PROJECT["dependencies"] if line.startswith("numba")]
    assert extras["cli"] == []  # an earlier name for what is required now


def test_plots_name_their_extra(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(SLIDER)
    call = f"sys.argv = ['cardan', 'simulate', {str(tmp_path / 'm.xml')!r}, '--plot', {str(tmp_path / 'p.png')!r}]"
    status, text = run_without(("matplotlib",), f"{call}\nfrom cardan.cli import main\nmain()")
    assert status == 1 and "--plot needs the package matplotlib: pip install 'cardan[plot]'" in text


def imported_packages() -> set[str]:
    """First parts of the names of all modules that the source imports."""
    names: set[str] = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "import_module":
                names.update(str(name.value).partition(".")[0] for name in node.args if isinstance(name, ast.Constant))
    return names


def test_each_dependency_is_used() -> None:
    extras = PROJECT["optional-dependencies"]
    declared = PROJECT["dependencies"] + [
        line for name, lines in extras.items() if name not in NOT_OURS for line in lines
    ]
    names = {line.split(">")[0].split("=")[0].split("[")[0].split(";")[0].strip() for line in declared}
    assert {IMPORTED_AS.get(name, name) for name in names - LIBRARIES.keys()} - {"cardan"} <= imported_packages()
    for name, file in LIBRARIES.items():
        assert name in (ROOT / file).read_text()
