"""Programs that import mujoco find Cardan, when they are run through the door."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import cardan


def run(*arguments: str, cwd: Path | None = None) -> tuple[int, str, str]:
    """Status, output and errors of a Python process."""
    result = subprocess.run([sys.executable, *arguments], check=False, capture_output=True, text=True, cwd=cwd)
    return result.returncode, result.stdout.strip(), result.stderr


def test_scripts(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import mujoco\nVERSION = mujoco.__version__\n")
    (tmp_path / "script.py").write_text(
        "import sys, mujoco, helper\nprint(sys.argv[1:], mujoco.MjModel.__module__, helper.VERSION, __name__)\n"
    )
    expected = (0, "['a', '-b'] cardan.model.mjmodel 3.1.6 __main__", "")
    assert run("-m", "cardan.as_mujoco", str(tmp_path / "script.py"), "a", "-b") == expected
    assert run("-m", "cardan.as_mujoco", "-m", "script", "a", "-b", cwd=tmp_path) == expected


def test_from_within() -> None:
    code = "import cardan.as_mujoco, cardan, mujoco; print(mujoco.MjData is cardan.MjData, cardan.__version__)"
    assert run("-c", code) == (0, f"True {cardan.__version__}", "")
    code = "import cardan.as_mujoco, mujoco; print(mujoco.__file__)"
    assert run("-c", code) == (0, str(cardan.__file__), "")


def test_version_of_the_distribution() -> None:
    code = "import importlib.metadata as md; print(md.version('mujoco'), md.version('numpy') != '3.1.6')"
    assert run("-m", "cardan.as_mujoco", "-c", code) == (0, "3.1.6 True", "")


def test_every_submodule() -> None:
    left_out = () if find_spec("OpenGL") else ("egl.egl_ext",)  # its names are PyOpenGL's
    imports = f"""
import importlib
from cardan.as_mujoco.modules import SUBMODULES
names = [name for name in SUBMODULES if name not in {left_out}]
print(len([importlib.import_module("mujoco." + name) for name in names]) == len(names) > 9)
"""
    assert run("-m", "cardan.as_mujoco", "-c", imports) == (0, "True", "")


def test_a_submodule_that_does_not_exist() -> None:
    status, _, errors = run("-m", "cardan.as_mujoco", "-c", "import mujoco.nothing")
    assert status == 1 and "No module named 'mujoco.nothing'" in errors


def test_the_door_after_the_reference() -> None:
    pytest.importorskip("mujoco")
    status, _, errors = run("-c", "import mujoco, cardan.as_mujoco")
    assert status == 1 and "import cardan.as_mujoco first" in errors


def test_help_and_mistakes(tmp_path: Path) -> None:
    assert run("-m", "cardan.as_mujoco", "--help")[1].startswith(
        "usage: python -m cardan.as_mujoco [--compat VERSION] SCRIPT"
    )
    assert run("-m", "cardan.as_mujoco")[0] == 2
    status, _, errors = run("-m", "cardan.as_mujoco", str(tmp_path / "none.py"))
    assert status == 1 and "does not exist" in errors


def test_classes_of_views_and_lists_under_private_names() -> None:
    code = """
import mujoco
m = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
d = mujoco.MjData(m)
print(type(d.contact) is mujoco._structs._MjContactList, type(d.timer) is mujoco._structs._MjTimerStatList)
print(type(m.geom(0)) is mujoco._structs._MjModelGeomViews, type(d.body(0)) is mujoco._structs._MjDataBodyViews)
print([name for owner in (m, d) for name in dir(owner) if name not in dir(type(owner))])
"""
    assert run("-m", "cardan.as_mujoco", "-c", code) == (0, "True True\nTrue True\n[]", "")


def test_names_of_egl() -> None:
    code = "from mujoco.egl import egl_ext; print(int(egl_ext.EGL_RED_SIZE)); egl_ext.eglQueryDevicesEXT()"
    status, output, errors = run("-m", "cardan.as_mujoco", "-c", code)
    if "needs PyOpenGL and the library libEGL" in errors:
        pytest.skip("no PyOpenGL or no libEGL")
    assert (status, output) == (1, "12324") and "Cardan draws without OpenGL" in errors


def test_plain_modules_of_an_installed_package(tmp_path: Path) -> None:
    """``mujoco.sysid`` is found beside an installed package; without one, the error says how to install it."""
    folder = tmp_path / "mujoco" / "sysid"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("import mujoco\nengine = mujoco.MjModel.__module__\n")
    code = "import sys; sys.path.insert(0, {!r}); from mujoco import sysid; print(sysid.engine)"
    command = [sys.executable, "-m", "cardan.as_mujoco", "-c"]
    for place, expected in ((tmp_path, "cardan"), (tmp_path / "mujoco", "pip install 'mujoco[sysid]>=4.0'")):
        result = subprocess.run([*command, code.format(str(place))], check=False, capture_output=True, text=True)
        assert expected in (result.stdout + result.stderr), result.stderr


def test_tables_of_an_installed_package(tmp_path: Path) -> None:
    """``mujoco.introspect``, tables of the C library's functions and structures, is that of an installed package."""
    folder = tmp_path / "mujoco" / "introspect"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "structs.py").write_text("STRUCTS = {}")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from mujoco.introspect import structs as s; s.STRUCTS"
    subprocess.run([sys.executable, "-m", "cardan.as_mujoco", "-c", code], check=True)


def test_packages_of_later_versions() -> None:
    """Modules of 4.0: `rendering` with its parts, and `_specs`."""
    code = """
import mujoco
import mujoco.rendering.classic.renderer as renderer
assert mujoco.rendering.classic.renderer is renderer and renderer.Renderer is mujoco.Renderer
from mujoco.rendering.classic.gl_context import GLContext
from mujoco._specs import MjSpec, MjIntVec, MjsBody, MjVisualHeadlight
from mujoco._structs import MjrRect, mjv_averageCamera
from mujoco._enums import mjrPixelFormat
assert MjSpec is mujoco.MjSpec
"""
    subprocess.run([sys.executable, "-m", "cardan.as_mujoco", "--compat", "4.0", "-c", code], check=True)
