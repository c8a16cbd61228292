"""``cardan render`` and ``cardan simulate --video``: files of pictures."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cardan.cli.app import app

FALLING = """<mujoco><worldbody><camera name="front" pos="0 -2 0" xyaxes="1 0 0 0 0 1"/><geom type="plane" size="1 1 .1"
pos="0 0 -1"/><body name="ball"><freejoint/><geom size=".2" rgba="1 0 0 1"/></body></worldbody></mujoco>"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "falling.xml"
    path.write_text(FALLING)
    return path


def cardan(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exit_code:
        raise ValueError(result.output)
    return result.output


def test_picture(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    cardan("render", model, "--out", out, "--camera", "front", "--size", "32x24")
    with Image.open(out) as image:
        pixels = np.asarray(image)
    assert pixels.shape == (24, 32, 3)
    red = (pixels[..., 0] > 60) & (pixels[..., 1] < 60)
    assert red[12, 16] and not red[12, 2]


@pytest.mark.parametrize("kind", ["--depth", "--segmentation"])
def test_depth_and_segments(model: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "a.png"
    cardan("render", model, "--out", out, "--camera", 0, "--size", "32x24", kind)
    with Image.open(out) as image:
        pixels = np.asarray(image)
    assert pixels[12, 16].max() > pixels[1, 16].max()


def test_moving_picture(model: Path, tmp_path: Path) -> None:
    for words in (("render", "--size", "32x24", "--out"), ("simulate", "--video")):
        out = tmp_path / f"{words[0]}.gif"
        cardan(words[0], model, *words[1:], out, "--duration", 0.2)
        with Image.open(out) as image:
            assert image.n_frames == 7  # thirty a second, the first and the last included
            times = []
            for k in range(image.n_frames):
                image.seek(k)
                times.append(image.info["duration"])
        assert sum(times) == 230 and set(times) <= {30, 40}  # ms; the format has hundredths of a second


@pytest.mark.skipif(find_spec("av") is None, reason="videos need the package av")
@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".mov"])
def test_video(model: Path, tmp_path: Path, suffix: str) -> None:
    import av  # pyright: ignore[reportMissingImports]

    words: tuple[tuple[object, ...], ...] = (("render", "--camera", "front", "--size", "65x48", "--out"),)
    if suffix == ".mp4":
        words += (("simulate", "--video"),)
    for command in words:
        out = tmp_path / f"{command[0]}{suffix}"
        cardan(command[0], model, *command[1:], out, "--duration", 0.3)
        with av.open(str(out)) as container:
            assert container.streams.video[0].average_rate == 30
            pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert len(pictures) == 10  # thirty a second, the first and the last included
        if command[0] == "render":
            assert pictures[0].shape == (48, 64, 3)  # colours have half the resolution: both sizes are even
            # the red ball falls: 0.44 m in 0.3 s
            rows = [np.flatnonzero((p[..., 0] > p[..., 1].astype(int) + 60).any(1)).mean() for p in pictures]
            assert rows[-1] > rows[0] + 3.0


def test_a_video_is_some_seconds_long_a_picture_shows_the_start(model: Path, tmp_path: Path) -> None:
    for name, words in (("a.gif", ()), ("a.png", ()), ("b.png", ("--duration", 2))):
        cardan("render", model, "--out", tmp_path / name, "--size", "16x12", *words)
    with Image.open(tmp_path / "a.gif") as image:
        times = 0
        for k in range(image.n_frames):
            image.seek(k)
            times += image.info["duration"]
    assert times == 5030  # ms
    start, later = (np.asarray(Image.open(tmp_path / name)).astype(int) for name in ("a.png", "b.png"))
    assert np.abs(start - later).max() > 50


def test_video_names_the_package(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ValueError, match=r"cardan\[video\]"):
        cardan("render", model, "--out", tmp_path / "a.mp4")


@pytest.mark.skipif(find_spec("av") is None, reason="videos need the package av")
def test_video_that_is_too_small(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2x2 pixels at least"):
        cardan("render", model, "--out", tmp_path / "a.mp4", "--size", "1x1")
    assert not (tmp_path / "a.mp4").exists()


def test_a_video_of_a_simulation_moves(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.gif, \.mp4, \.mkv, \.mov"):
        cardan("simulate", model, "--video", tmp_path / "a.png")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "a.png", "--camera", "back"), "no camera 'back'; its cameras: front"),
        (("--out", "a.png", "--size", "0x5"), "the size must be like 640x480"),
        (("--out", "a.txt"), "can't write files that end in .txt"),
        (("--out", "a"), "a: the ending selects the format, but is missing; known endings: .png, .jpg"),
        (("--out", "."), "it is a folder"),
        (("--out", "falling.xml/a.png"), "falling.xml is not a folder"),
        (("--out", "a.png", "--size", "640"), "the size must be like 640x480"),
        (("--out", "a.png", "--size", "99999x10"), "at most 16384 either way"),
        (("--out", "a.png", "--camera", "-2"), "no camera '-2'"),
        (("--out", "a.png", "--depth", "--segmentation"), "exclude each other"),
    ],
)
def test_mistakes(
    model: Path,
    capfd: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(model.parent)
    result = CliRunner().invoke(app, ["render", str(model), *words])
    assert result.exit_code == 1
    assert message in result.output + capfd.readouterr().err
