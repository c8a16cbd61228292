"""States in a real browser: history, joints, keyframes, turning, the selection, divergences, worlds, uploads."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from view.browser import browser, button, field, needs_browser, opened, pause, place_of, sent, wait_for, without_shadows

import cardan

pytestmark = needs_browser

SCENE = """<mujoco><visual><global azimuth="90" elevation="-20"/></visual><statistic center="0 0 .6" extent="2"/>
<worldbody><geom type="plane" size="3 3 .1"/>
<body name="red_ball" pos="0 0 .6"><freejoint/><geom size=".4" rgba="1 0 0 1"/></body>
<body pos="-1.5 0 1"><joint name="turn" axis="0 1 0" range="-30 60"/>
<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".08"/></body></worldbody>
<keyframe><key name="low"/><key name="high" qpos="0 0 2 1 0 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def viewer() -> Iterator[Any]:
    from cardan.view.app import Viewer

    m = cardan.MjModel.from_xml_string(SCENE)
    viewer = without_shadows(Viewer(m, cardan.MjData(m), port=0, worlds=2))
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def page(viewer: Any) -> Iterator[Any]:
    with browser() as chromium:
        yield opened(chromium, viewer)


def test_history_goes_back_and_on(page: Any, viewer: Any) -> None:
    session, history = viewer.session, viewer.physics.history
    wait_for(lambda: len(history) > 30, "some history")
    pause(page, viewer)
    last, length = session.data.time, len(history)
    field(page, "History").fill("-20")
    field(page, "History").press("Enter")
    wait_for(lambda: viewer.physics.age == 20, "a state of the past")
    assert 0.0 < session.data.time < last
    assert session.others[0].time == session.data.time  # all worlds go back
    field(page, "History").fill("-1900")
    field(page, "History").press("Enter")
    wait_for(lambda: viewer.physics.age == length - 1, "the oldest state")
    assert session.data.time == 0.0
    wait_for(lambda: field(page, "History").input_value() == str(1 - length), "what the slider shows")
    button(page, "Run").click()
    wait_for(lambda: session.data.time > 0.1, "physics")
    assert viewer.physics.age == 0 and len(history) < length + 200
    pause(page, viewer)
    camera = session.camera.values.copy()
    before = session.data.time
    page.mouse.move(100, 400)
    page.keyboard.press("ArrowLeft")
    wait_for(lambda: session.data.time < before, "a step back")
    page.keyboard.press("ArrowRight", delay=300)
    wait_for(lambda: session.data.time == before, "a step forward")
    page.keyboard.press("d", delay=300)
    assert (session.camera.values == camera).all()  # keys move no camera


def test_joint_slider_keeps_to_its_range(page: Any, viewer: Any) -> None:
    pause(page, viewer)
    page.get_by_role("tab", name="Joints").click()
    data, other = viewer.session.worlds
    field(page, "turn").fill("0.5")
    field(page, "turn").press("Enter")
    wait_for(lambda: data.qpos[7] == pytest.approx(0.5, abs=2e-3), "position")
    wait_for(lambda: data.xaxis[1, 1] == 1.0 and data.xquat[2, 2] > 0.2, "what follows from it")
    assert other.qpos[7] != data.qpos[7]
    field(page, "turn").fill("3")
    field(page, "turn").press("Enter")
    wait_for(lambda: data.qpos[7] == pytest.approx(np.pi / 3, abs=2e-3), "the end of the range")
    page.get_by_role("tab", name="Simulation").click()


def test_keyframes_are_saved_and_copied(page: Any, viewer: Any) -> None:
    pause(page, viewer)
    m, d = viewer.session.model, viewer.session.data
    button(page, "Save to keyframe").click()
    wait_for(lambda: np.array_equal(m.key_qpos[0], d.qpos), "the state in the keyframe")
    saved = d.qpos.copy()
    button(page, "Copy state as keyframe").click()
    text = wait_for(page.locator("textarea:visible").first.input_value, "its MJCF")
    again = cardan.MjModel.from_xml_string(SCENE.replace("<keyframe>", f"<keyframe>{text}"))
    assert (again.key_qpos[0] == saved).all()
    button(page, "Reset").click()
    wait_for(lambda: d.time == 0.0 and d.qpos[7] == 0.0, "reset")
    button(page, "Load keyframe").click()
    wait_for(lambda: np.array_equal(d.qpos, saved), "the keyframe")


def test_click_shows_a_name_and_drag_turns(page: Any, viewer: Any) -> None:
    session = viewer.session
    pause(page, viewer)
    button(page, "Reset").click()
    wait_for(lambda: session.data.qpos[2] == 0.6, "reset")
    x, y = place_of(viewer, session.data.xpos[1])

    def selected() -> bool:
        page.mouse.click(x, y)  # the page shows the state a little later
        page.wait_for_timeout(500)
        return session.perturb.select == 1

    wait_for(selected, "selection")
    page.get_by_text("red_ball").wait_for()
    page.keyboard.down("Control")
    page.mouse.move(x, y)
    page.mouse.down(button="left")
    page.mouse.move(x + 60, y, steps=8)
    wait_for(lambda: session.perturb.active, "perturbation")
    wait_for(lambda: abs(session.data.qpos[3]) < 0.99, "rotation")
    page.mouse.up(button="left")
    page.keyboard.up("Control")
    wait_for(lambda: not session.perturb.active, "end of the perturbation")
    assert session.data.qpos[:3] == pytest.approx([0.0, 0.0, 0.6], abs=1e-6)  # it stays in its place
    assert np.linalg.norm(session.data.qpos[3:7]) == pytest.approx(1.0)


def said(page: Any, text: str) -> None:
    """Wait until the frame for uploads says it."""
    page.frame_locator("iframe[title=Upload]").get_by_text(text).wait_for()


DIVERGES = """<mujoco><compiler meshdir="meshes"/><option timestep=".1" integrator="RK4"/>
<asset><mesh name="part" file="part.obj"/></asset>
<worldbody><body name="loose_part"><joint name="slide" type="slide" stiffness="1e6"/><geom type="mesh" mesh="part"/>
</body></worldbody><keyframe><key qpos=".1"/></keyframe></mujoco>"""
OBJ = "v 0 0 0\nv .4 0 0\nv 0 .4 0\nv 0 0 .4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_bad_uploads_change_nothing(page: Any, viewer: Any, tmp_path: Path) -> None:
    model = viewer.session.model
    (tmp_path / "notes.txt").write_text("no model")
    sent(page, "files", [tmp_path / "notes.txt"])
    said(page, "now send the model")
    (tmp_path / "broken.zip").write_bytes(b"PK no archive")
    sent(page, "files", [tmp_path / "broken.zip"])
    said(page, "broken.zip is not a ZIP archive")
    (tmp_path / "bad.xml").write_text('<mujoco><worldbody><geom type="cube"/></worldbody></mujoco>')
    sent(page, "files", [tmp_path / "bad.xml"])
    said(page, "cube")
    (tmp_path / "bad.mjb").write_bytes(b"nonsense")
    sent(page, "files", [tmp_path / "bad.mjb"])
    said(page, "bad.mjb")
    assert viewer.session.model is model


def test_divergence_is_explained(page: Any, viewer: Any) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("robot/model.xml", DIVERGES)
        archive.writestr("robot/meshes/part.obj", OBJ)
    session = viewer.session
    with session.lock:
        session.paused = False
    sent(page, "files", [{"name": "robot.zip", "mimeType": "application/zip", "buffer": buffer.getvalue()}])
    wait_for(lambda: session.model.body(1).name == "loose_part", "new model")
    page.get_by_text("model.xml").first.wait_for()
    button(page, "Load keyframe").click()
    warning = page.get_by_text("from the stage solve").first.inner_text()
    assert "joint 0 'slide' of body 1 'loose_part'" in warning
    before = viewer.publisher.sent
    wait_for(lambda: viewer.publisher.sent > before + 5, "pictures after it")
    page.get_by_text("times").first.wait_for()  # it diverges again and again, which is said once
    assert np.isfinite(session.data.qpos).all()
    pause(page, viewer)
    button(page, "Clear warnings").click()
    wait_for(lambda: page.get_by_text("is unstable").count() == 0, "an empty list")
