"""Parts of the viewer without a page: the token, sources, uploads, keyframes, plots, the profiler, capture, worlds."""

from __future__ import annotations

import gzip
import io
import os
import socket
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from PIL import Image

import cardan
from cardan.view.camera import orbit_of, set_orbit
from cardan.view.capture import Film, Recorder, screenshot
from cardan.view.panels.physics import ActuatorPanel
from cardan.view.panels.plots import STAGES, Profile, Series, convergence, solver_work
from cardan.view.panels.simulation import keyframe_names, keyframe_xml, store_keyframe
from cardan.view.server import split_token
from cardan.view.session import Session, place_of_world
from cardan.view.source import HUMANOID, Source, Uploads

ROOT = Path(__file__).resolve().parents[2]
MODEL = """<mujoco><visual><global offwidth="64" offheight="48"/></visual><worldbody><light pos="0 0 3"/>
<body pos="0 0 .3"><freejoint/><geom size=".1" rgba="1 0 0 1"/></body><geom type="plane" size="1 1 .1"/></worldbody>
<keyframe><key name="a" qpos="0 0 1 1 0 0 0"/><key name="b" qpos="0 0 2 1 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture
def session() -> Session:
    m = cardan.MjModel.from_xml_string(MODEL)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    return Session(m, d)


def test_the_humanoid_is_that_of_the_examples() -> None:
    assert HUMANOID.read_text() == (ROOT / "examples/humanoid.xml").read_text()


@pytest.mark.parametrize(
    ("path", "parts"),
    [("/abc/", ("abc", "/")), ("/abc/x.js?y=1", ("abc", "/x.js")), ("/", ("", "/")), ("/abc?y", ("abc", "/"))],
)
def test_token_of_a_path(path: str, parts: tuple[str, str]) -> None:
    assert split_token(path) == parts


def test_requests_without_the_token_are_refused() -> None:
    pytest.importorskip("viser")
    from websockets.http11 import Request

    from cardan.view.server import guarded

    seen = []
    answer = guarded(lambda connection, request: seen.append(request.path), "secret", {})
    headers = SimpleNamespace()
    for path in ("/", "/wrong/", "/secre/", "//secret2/"):
        refused = answer(None, Request(path, headers))  # type: ignore[arg-type]
        assert refused is not None and refused.status_code == 403
    assert answer(None, Request("/secret/a.js", headers)) is None  # type: ignore[arg-type]
    assert seen == ["/a.js"]


def test_ports_that_are_taken() -> None:
    from cardan.view.server import HOST, MOST, free_port

    assert free_port(0) == 0
    for port in (-1, MOST + 1):
        with pytest.raises(ValueError, match="a port is a number from 0 to 65535"):
            free_port(port)
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) > port
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "bind", _refuse)
        with pytest.raises(OSError, match="can't listen on any port from 65530 to 65535: no"):
            free_port(65530)


def _refuse(*arguments: object) -> None:
    raise PermissionError("no")


@pytest.mark.parametrize("packed", [False, True])
def test_the_page_keeps_its_keys(packed: bool) -> None:
    pytest.importorskip("viser")
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    from cardan.view.server import SCRIPT, with_script

    page = b"<html><head></head></html>"
    body, coding = (gzip.compress(page), "gzip") if packed else (page, "identity")
    headers = Headers({"Content-Length": str(len(body)), "Content-Encoding": coding})
    answer = with_script(Response(200, "OK", headers, body))
    assert answer.headers["Content-Length"] == str(len(answer.body)) and answer.headers["Content-Encoding"] == coding
    assert SCRIPT in (gzip.decompress(answer.body) if packed else answer.body)
    assert headers["Content-Length"] == str(len(body))  # the answer of viser stays as it is


def test_warnings_are_said_once() -> None:
    from cardan.view.panels.simulation import MOST, WarningPanel

    panel = object.__new__(WarningPanel)
    panel.texts = {}
    for k in range(2 * MOST):
        panel._hear(f"text {k}")
        panel._hear("always")
    assert len(panel.texts) == MOST and panel.texts["always"] == 2 * MOST


def test_sliders_show_what_is_no_number() -> None:
    from cardan.view.panels.panel import within

    values = (float("nan"), -5.0, 0.5, 5.0, float("inf"))
    assert [within(value, -1.0, 1.0) for value in values] == [-1.0, -1.0, 0.5, 1.0, 1.0]


def test_a_source_notices_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(MODEL)
    source = Source(path)
    m, _ = source.load()
    assert m.nbody == 2 and not source.changed()
    path.write_text(MODEL.replace('size=".1"', 'size=".2"'))
    os.utime(path, ns=(1, 1))
    assert source.changed() and not source.changed()
    (tmp_path / "part.stl").write_bytes(b"x")
    assert source.changed()
    with pytest.raises(ValueError, match="made by a program"):
        Source().load()
    assert Source(loader=source.load).can_load


def test_a_source_looks_at_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardan.view.source.MOST_LOOKED_AT", 20)
    path = tmp_path / "a.xml"
    path.write_text(MODEL)
    (tmp_path / "deep/deeper").mkdir(parents=True)
    (tmp_path / "part.stl").touch()
    source = Source(path)
    for k in range(100):
        (tmp_path / f"deep/deeper/{k}.obj").touch()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden/part.stl").touch()
    assert source.changed() and len(source._seen) < 22
    (tmp_path / "part.stl").write_bytes(b"near the model")
    assert source.changed()


def test_uploads(tmp_path: Path) -> None:
    uploads = Uploads()
    assert uploads.add("a.xml", b"<mujoco/>") == [uploads.path / "a.xml"]
    assert uploads.add("arm/meshes/hand.stl", b"solid") == []
    assert (uploads.path / "arm/meshes/hand.stl").read_bytes() == b"solid"
    for name in ("../../a.xml", "/a.xml", "b\\a.xml", ""):
        with pytest.raises(ValueError, match="leads out"):
            uploads.add(name, b"")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("robot/robot.xml", "<mujoco/>")
        archive.writestr("robot/scene.xml", "<mujoco/>")
        archive.writestr("robot/parts/arm.xml", "<mujoco/>")
        archive.writestr("robot/parts/arm.stl", "solid")
    models = uploads.add("robot.zip", buffer.getvalue())
    assert [path.name for path in models] == ["scene.xml", "robot.xml", "arm.xml"]
    assert [path.name for path in uploads.models] == ["a.xml", "scene.xml", "robot.xml", "arm.xml"]
    assert (uploads.path / "robot/parts/arm.stl").is_file()
    with pytest.raises(ValueError, match="not a ZIP archive"):
        uploads.add("a.zip", b"nonsense")
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("../evil.xml", "<mujoco/>")
    with pytest.raises(ValueError, match="leads out"):
        uploads.add("evil.zip", buffer.getvalue())
    folder = uploads.path
    uploads.close()
    assert not folder.exists()


def test_keyframes(session: Session) -> None:
    m, d = session.model, session.data
    assert keyframe_names(m) == ["a", "b"]
    d.qpos[:] = (1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0)
    d.qvel[0], d.time = 0.5, 0.25
    text = keyframe_xml(m, d)
    again = cardan.MjModel.from_xml_string(MODEL.replace("<keyframe>", f"<keyframe>{text}"))
    assert again.key_qpos[0] == pytest.approx(d.qpos) and again.key_time[0] == 0.25
    assert again.key_qvel[0] == pytest.approx(d.qvel)
    store_keyframe(m, d, 1)
    cardan.mj_resetDataKeyframe(m, d, 1)
    assert d.time == 0.25 and d.qpos[2] == 3.0


def test_series_keeps_the_last_values() -> None:
    series = Series(("a", "b"), 5)
    assert [len(column) for column in series.columns()] == [2, 2, 2]
    for k in range(9):
        series.add(0.1 * k, np.array([k, -k]))
        series.add(0.1 * k, np.array([100, 100]))
    assert series.columns()[1].tolist() == [4, 5, 6, 7, 8]
    series.add(0.0, np.zeros(2))
    series.add(0.1, np.ones(2))
    assert series.columns()[2].tolist() == [0, 1]


def test_profile(session: Session) -> None:
    m, d = session.model, session.data
    profile = Profile()
    profile.watch(m, True)
    profile.durations(d)
    for _ in range(200):
        cardan.mj_step(m, d)
    times = dict(zip(STAGES, profile.durations(d), strict=True))
    assert times["step"] > times["collision"] > 0.0
    assert times["step"] >= times["solver"] > 0.0
    assert solver_work(d)[-1] == d.ncon > 0
    steps = convergence(d)
    assert len({len(column) for column in steps}) == 1 and len(steps[0]) >= 2
    profile.stop()
    assert cardan.get_callback(m, "time") is None


def test_screenshot_and_film(session: Session) -> None:
    with Image.open(io.BytesIO(screenshot(session))) as image:
        pixels = np.asarray(image)
    assert pixels.shape == (48, 64, 3)
    assert (pixels[..., 0] > pixels[..., 1].astype(int) + 50).any()  # the red ball
    film = Film(session)
    while film.pictures < 3:
        pass
    content = film.finish()
    assert content[:3] == b"GIF" or b"ftyp" in content[:16]


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_late_picture_stands_longer(tmp_path: Path, suffix: str) -> None:
    if suffix == ".mp4":
        pytest.importorskip("av")
    path = tmp_path / f"film{suffix}"
    recorder = Recorder(path, 20)
    colors = (0, 120, 250)
    for color, times in zip(colors, (1, 5, 3), strict=True):
        recorder.add(np.full((16, 16, 3), color, np.uint8), times)
    recorder.save()
    shown: list[tuple[float, int]] = []
    if suffix == ".mp4":
        import av  # pyright: ignore[reportMissingImports]

        with av.open(str(path)) as container:
            shown = [(frame.time, int(frame.to_ndarray(format="gray")[8, 8])) for frame in container.decode(video=0)]
    else:
        with Image.open(path) as image:
            end = 0.0
            for k in range(image.n_frames):
                image.seek(k)
                shown.append((end, int(image.convert("L").getpixel((8, 8)))))
                end += image.info["duration"] / 1000
        shown.append((end - 0.05, shown[-1][1]))
    # the last picture again in the last twentieth of the nine
    assert [at for at, _ in shown] == pytest.approx([0.0, 0.05, 0.3, 0.4], abs=1e-6)
    assert [color for _, color in shown] == pytest.approx([*colors, 250], abs=8)


def test_a_picture_shows_all_worlds() -> None:
    m = cardan.MjModel.from_xml_string(MODEL)
    session = Session(m, cardan.MjData(m), worlds=3)
    cardan.mj_forward(m, session.data)
    session.flags[cardan.mjtRndFlag.mjRND_SHADOW.value] = 0
    session.option.label = cardan.mjtLabel.mjLABEL_NONE.value
    reds = []
    for z in (0.3, 1000.0):  # the others are there, or far away
        for other in session.others:
            other.qpos[2] = z
            cardan.mj_forward(m, other)
        camera = session.camera
        camera.lookat[:], camera.distance, camera.elevation = (m.stat.extent / 2, m.stat.extent / 2, 0.3), 6.0, -60.0
        with Image.open(io.BytesIO(screenshot(session))) as image:
            pixels = np.asarray(image).astype(int)
        reds.append(int((pixels[..., 0] > pixels[..., 1] + 50).sum()))
    assert reds[0] > 2.5 * reds[1] > 0


def test_orbits_and_places() -> None:
    camera = cardan.MjvCamera()
    camera.lookat, camera.distance, camera.azimuth, camera.elevation = (1.0, 2.0, 3.0), 4.0, 35.0, -20.0
    pos, lookat = orbit_of(camera)
    other = cardan.MjvCamera()
    set_orbit(other, pos, lookat)
    assert (other.distance, other.azimuth, other.elevation) == pytest.approx((4.0, 35.0, -20.0))
    places = [tuple(place_of_world(k, 5, 2.0)) for k in range(5)]
    assert places == [(0, 0, 0), (0, 2, 0), (0, 4, 0), (2, 0, 0), (2, 2, 0)]


def test_sliders_of_several_controls() -> None:
    """Each control of each actuator has a slider with its name and range."""
    xml = MODEL.replace(
        "<keyframe>",
        """<actuator><pid name="servo" tendon="t" kp="1" input="pos ff" ffrange="-3 3"/>
        <dcmotor tendon="t" motorconst="1" resistance="1" input="none"/><motor tendon="t" ctrlrange="0 2"/></actuator>
        <keyframe>""",
    ).replace("<keyframe>", '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><keyframe>')
    xml = xml.replace("<light", '<body><joint name="j"/><geom size=".1" contype="0"/></body><light')
    xml = xml[: xml.index("<keyframe>")] + "</mujoco>"
    m = cardan.MjModel.from_xml_string(xml)
    made: list[tuple[object, ...]] = []

    class Sliders(ActuatorPanel):
        def slider(self, *given: Any, **others: Any) -> Any:
            made.append(given[:3])

        def button(self, *given: Any, **others: Any) -> Any: ...

    viewer = SimpleNamespace(
        session=Session(m, cardan.MjData(m)), server=SimpleNamespace(viser=SimpleNamespace(gui=None)), inputs=None
    )
    Sliders(cast("Any", viewer))
    assert made == [("servo pos", -1.0, 1.0), ("servo ff", -3.0, 3.0), ("actuator 2", 0.0, 2.0)]
