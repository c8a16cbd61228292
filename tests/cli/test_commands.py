"""The command line: what it prints, what it writes, and how it speaks of trouble."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import cardan
from cardan.cli.app import app
from cardan.cli.compile import all_entries
from cardan.collision.table import COLLIDERS
from cardan.compat import VARIABLE
from cardan.sensor.table import all_sensor_stages

HUMANOID = str(Path(__file__).resolve().parents[2] / "examples" / "humanoid.xml")
SLIDER = (
    '<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body></worldbody>'
    '<actuator><motor joint="j"/></actuator><keyframe><key name="far" qpos="2"/></keyframe></mujoco>'
)


def run(*arguments: str) -> tuple[int, str]:
    """Exit status and all output of a command."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.fixture
def slider(tmp_path: Path) -> str:
    path = tmp_path / "slider.xml"
    path.write_text(SLIDER)
    return str(path)


def test_simulate_writes_trajectory_and_picture(tmp_path: Path) -> None:
    out, plot = tmp_path / "new" / "trajectory", tmp_path / "poses.png"
    status, text = run("simulate", HUMANOID, "--duration", "0.1", "--out", str(out), "--plot", str(plot))
    assert status == 0, text
    rows = np.load(out)
    assert rows["qpos"].shape == (21, 28) and rows["ncon"].shape == (21,)
    assert np.allclose(rows["time"], 0.005 * np.arange(21))
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["poses.png", "trajectory"]
    assert "steps/s" in text and "contacts" in text


@pytest.mark.parametrize("keyframe", ["far", "0"])
def test_keyframe_and_controls(slider: str, tmp_path: Path, keyframe: str) -> None:
    np.save(tmp_path / "controls.npy", [[1.0], [2.0]])
    out = tmp_path / "t.npz"
    controls = str(tmp_path / "controls.npy")
    status, text = run(
        "simulate", slider, "--duration", "0.008", "--keyframe", keyframe, "--ctrl", controls, "--out", str(out)
    )
    assert status == 0, text
    rows = np.load(out)
    assert rows["qpos"][0] == 2.0
    assert rows["ctrl"].ravel().tolist() == [0.0, 1.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--keyframe", "near"), "its keyframes: far"),
        (("--keyframe", "1"), "no keyframe '1'"),
        (("--ctrl", "{folder}/none.npy"), "no file of controls"),
        (("--ctrl", "{folder}/slider.xml"), "not a .npy file"),
        (("--ctrl", "{folder}/wide.npy"), "nu = 1, found (3, 2)"),
        (("--ctrl", "{folder}/nan.npy"), "must be finite, found nan in row 1, column 0"),
        (("--out", "{folder}"), "it is a folder"),
        (("--out", "{folder}/slider.xml/t.npz"), "can't write"),
        (("--plot", "{folder}/t.unknown"), "known suffixes"),
        (("--duration", "inf"), "finite number of seconds"),
        (("--duration", "1e99"), "too long"),
        (("--ctrl", "{folder}/complex.npy"), "not a .npy file of numbers"),
    ],
)
def test_bad_arguments(slider: str, tmp_path: Path, arguments: tuple[str, str], expected: str) -> None:
    np.save(tmp_path / "wide.npy", np.zeros((3, 2)))
    np.save(tmp_path / "nan.npy", [[0.0], [np.nan]])
    np.save(tmp_path / "complex.npy", [[1j]])
    status, text = run("simulate", slider, arguments[0], arguments[1].format(folder=tmp_path))
    assert status == 1
    assert expected in text and text.startswith("cardan: error: ") and text.count("\n") == 1


@pytest.mark.parametrize("command", ["simulate", "info", "testspeed", "warmup"])
def test_bad_models(command: str, tmp_path: Path) -> None:
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody><geom size='.1'></worldbody></mujoco>")
    for name, expected in (("none.xml", "there is no model file"), ("broken.xml", "broken.xml:1: not well-formed")):
        status, text = run(command, str(tmp_path / name))
        assert status == 1 and expected in text and text.count("\n") == 1


def test_timestep_of_zero(tmp_path: Path) -> None:
    path = tmp_path / "still.xml"
    path.write_text(SLIDER.replace("<worldbody>", '<option timestep="0"/><worldbody>', 1))
    assert run("simulate", str(path)) == (
        1,
        "cardan: error: the model's timestep (option timestep) must be positive, not 0.0\n",
    )


def test_version() -> None:
    assert run("--version") == (0, f"cardan {cardan.__version__}\n")


def test_as_a_module() -> None:
    result = subprocess.run([sys.executable, "-m", "cardan", "--version"], check=True, capture_output=True, text=True)
    assert result.stdout == f"cardan {cardan.__version__}\n"


def test_info() -> None:
    status, text = run("info", HUMANOID)
    assert status == 0
    assert "nbody 17" in text and "hinge knee_left" in text and "squat" in text


def test_info_of_the_plan() -> None:
    status, text = run("info", HUMANOID, "--plan")
    assert status == 0
    assert "plan of a step" in text and "kinematics" in text and "dynamics.kinematics" in text
    assert "aux.collider" in text and "plane_sphere" in text


def test_testspeed(slider: str) -> None:
    status, text = run("testspeed", slider, "--steps", "20")
    assert status == 0
    for expected in (
        "steps per second",
        "real-time factor",
        "contacts",
        "constraints",
        "solver iterations",
        "kinematics",
    ):
        assert expected in text


def test_warmup_knows_every_kernel() -> None:
    entries = all_entries()
    functions = {entry.function for entry in entries}
    assert set(COLLIDERS.values()) <= functions and set(all_sensor_stages()) <= functions
    assert len({entry.name for entry in entries}) == len({entry.symbol for entry in entries}) == len(entries) > 250


# runs a command, then prints the files of the kernel cache that it asked for
CACHE_USE = """
import sys
from cardan.jit.cache import store as cache
path, asked = cache._path, set()
cache._path = lambda name, key: asked.add(f"{name}-{key}") or path(name, key)
from cardan.cli import main
try:
    main()
except SystemExit as status:
    assert not status.code, status
print(*sorted(asked), sep="\\n")
"""


def kernels_asked_for(*command: str) -> set[str]:
    """Names of the kernels that a command compiles or finds in the cache."""
    result = subprocess.run([sys.executable, "-c", CACHE_USE, *command], capture_output=True, text=True, check=True)
    return set(re.findall(r"^\S+-[0-9a-f]{16,}$", result.stdout, re.MULTILINE))


def test_warmed_up_model_compiles_nothing_more(slider: str) -> None:
    warm = kernels_asked_for("warmup", slider)
    used = kernels_asked_for("simulate", slider, "--duration", "0.01")
    assert used <= warm
    assert len(used) > 10


@pytest.mark.parametrize(("ending", "start"), [(".xml", b"<mujoco"), (".mjb", b"\x89CARDAN"), (".txt", b"model name")])
def test_compile_writes_other_forms(slider: str, tmp_path: Path, ending: str, start: bytes) -> None:
    out = tmp_path / "new" / f"model{ending}"
    status, text = run("compile", slider, "--out", str(out))
    assert status == 0 and "2 bodies" in text
    assert out.read_bytes().startswith(start)
    if ending != ".txt":
        assert run("info", str(out))[0] == 0


def test_compile_says_what_is_wrong(slider: str, tmp_path: Path) -> None:
    assert ".xml, .mjb, .txt" in run("compile", slider, "--out", str(tmp_path / "m.urdf"))[1]
    assert "is the model itself" in run("compile", slider, "--out", slider)[1]
    (tmp_path / "bad.mjb").write_bytes(b"\x89CARDAN\n12")
    status, text = run("info", str(tmp_path / "bad.mjb"))
    assert status == 1 and "truncated" in text
    assert "not compiled from XML" in run("compile", _binary(slider, tmp_path), "--out", str(tmp_path / "m.xml"))[1]


def _binary(model: str, folder: Path) -> str:
    """A binary copy of a model."""
    assert run("compile", model, "--out", str(folder / "m.mjb"))[0] == 0
    return str(folder / "m.mjb")


@pytest.mark.parametrize("after", [False, True])
def test_compat_before_and_after_the_command(
    slider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """The option sets the version of the models that the command loads, wherever it is."""
    monkeypatch.setenv(VARIABLE, "3.1")  # restored at the end
    command, option = ["compile", slider, "--out", str(tmp_path / "m.mjb")], ["--compat", "4.0"]
    status, text = run(*(command + option if after else option + command))
    assert status == 0, text
    assert cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb")).compat == "4.0"
    monkeypatch.setenv(VARIABLE, "3.1")
    status, text = run("info", str(tmp_path / "m.mjb"))
    assert status == 0 and "of MuJoCo 4.0" in text, "a binary model keeps its version"


def test_every_command_has_the_option_compat(slider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "3.1")
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert any("--compat" in option.opts for option in command.params), name
    status, text = run("info", slider, "--compat", "5")
    assert status == 2 and "unknown version '5'; expected '3.1' or '4.0'" in re.sub(r"[\s│]+", " ", text), text


WITHOUT_VIEWER = """
import sys
sys.modules.update(dict.fromkeys(("viser", "websockets")))  # as if they were not installed
from cardan.cli import main
main()
"""


def test_viewer_without_its_packages(slider: str) -> None:
    """The error says what to install."""
    command = [sys.executable, "-c", WITHOUT_VIEWER, "view", slider]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert found.returncode == 1
    assert found.stderr == "cardan: error: the viewer needs the package viser: pip install 'cardan[view]'\n"
