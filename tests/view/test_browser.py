"""The viewer in a real browser: what a user does in the page changes the data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from view.browser import browser, button, field, needs_browser, opened, pause, place_of, sent, wait_for, without_shadows

import cardan
from cardan.view.panels.rendering import RenderingPanel

pytestmark = needs_browser

SCENE = """<mujoco><visual><global azimuth="90" elevation="-20"/></visual><statistic center="0 0 .6" extent="2"/>
<worldbody><geom name="floor" type="plane" size="3 3 .1"/><camera name="front" pos="0 -4 1" xyaxes="1 0 0 0 0 1"/>
<body name="ball" pos="0 0 .6"><freejoint/><geom size=".4" rgba="1 0 0 1"/></body>
<body pos="-1.5 0 1"><joint name="turn" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".08"/></body>
</worldbody>
<actuator><motor name="push" joint="turn" ctrlrange="-2 2"/></actuator>
<keyframe><key name="high" qpos="0 0 2 1 0 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def viewer() -> Iterator[Any]:
    from cardan.view.app import Viewer

    m = cardan.MjModel.from_xml_string(SCENE)
    viewer = without_shadows(Viewer(m, cardan.MjData(m), port=0))
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def page(viewer: Any) -> Iterator[Any]:
    with browser() as chromium:
        page = opened(chromium, viewer)
        yield page


def test_address_needs_its_token(page: Any, viewer: Any) -> None:
    answer = page.request.get(viewer.address.rsplit("/", 2)[0] + "/")
    assert answer.status == 403
    assert page.request.get(viewer.address).status == 200


def test_tabs_stand_in_one_row(page: Any) -> None:
    """Letters differ from machine to machine: wider ones take room from what is around them."""
    row = page.get_by_role("tablist").bounding_box()
    for spacing in (0, 1, 3):
        page.add_style_tag(content=f'[role="tab"] {{ letter-spacing: {spacing}px; }}')
        boxes = [tab.bounding_box() for tab in page.get_by_role("tab").all()]
        assert len(boxes) == 6 and len({box["y"] for box in boxes}) == 1
        assert all(box["x"] + box["width"] <= row["x"] + row["width"] + 0.5 for box in boxes)
    page.add_style_tag(content='[role="tab"] { letter-spacing: 0px; }')


def test_pause_step_and_reset(page: Any, viewer: Any) -> None:
    d = viewer.session.data
    before = d.time
    wait_for(lambda: d.time > before, "a step")
    pause(page, viewer)
    wait_for(lambda: button(page, "Run").count() == 1, "new label")
    before = d.time
    button(page, "Step").click()
    wait_for(lambda: d.time > before, "single step")
    assert d.time == pytest.approx(before + viewer.session.model.opt.timestep)
    button(page, "Reset").click()
    wait_for(lambda: d.time == 0.0, "reset")
    button(page, "Load keyframe").click()
    wait_for(lambda: d.qpos[2] == 2.0, "keyframe")


def test_slider_sets_a_control(page: Any, viewer: Any) -> None:
    page.get_by_role("tab", name="Control").click()
    field = page.locator("input:visible").last
    field.fill("1.5")
    field.press("Enter")
    wait_for(lambda: viewer.session.data.ctrl[0] == pytest.approx(1.5), "control")
    page.get_by_role("tab", name="Simulation").click()


def test_click_selects_and_drag_moves(page: Any, viewer: Any) -> None:
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
    before = session.data.qpos[:3].copy()
    page.keyboard.down("Control")
    page.mouse.move(x, y)
    page.mouse.down(button="right")
    page.mouse.move(x - 40, y - 40, steps=8)
    wait_for(lambda: session.perturb.active, "perturbation")
    wait_for(lambda: session.data.qpos[2] > before[2] + 0.1, "movement")
    page.mouse.up(button="right")
    page.keyboard.up("Control")
    wait_for(lambda: not session.perturb.active, "end of the perturbation")
    assert session.data.qpos[0] < before[0] - 0.1  # to the left in the picture


def test_keys_toggle_flags(page: Any, viewer: Any) -> None:
    flag = cardan.mjtVisFlag.mjVIS_CONTACTPOINT.value
    before = int(viewer.session.option.flags[flag])
    page.mouse.move(100, 400)
    page.keyboard.press("c")
    wait_for(lambda: viewer.session.option.flags[flag] != before, "flag")


def test_cameras(page: Any, viewer: Any) -> None:
    session, clients = viewer.session, viewer.server.viser.get_clients
    camera = next(iter(clients().values())).camera
    rendering = viewer.controls.panels[RenderingPanel]
    rendering.set_camera("0: front")
    wait_for(lambda: np.allclose(camera.position, (0.0, -4.0, 1.0), atol=1e-3), "fixed camera")
    rendering.set_camera("Free")
    wait_for(lambda: not np.allclose(camera.position, (0.0, -4.0, 1.0), atol=1e-3), "free camera")
    session.perturb.select = 1
    rendering.set_camera("Tracking")
    wait_for(lambda: session.camera.trackbodyid == 1, "tracking")
    before = camera.position.copy()
    session.post(lambda m, d: d.qpos.__setitem__(slice(0, 3), (0.0, 5.0, 0.6)))
    wait_for(lambda: np.allclose(session.camera.lookat, (0.0, 5.0, 0.6), atol=0.01), "the camera's way to the body")
    wait_for(lambda: abs(viewer.publisher.cameras.origin[1]) > 4.5, "the world's way")
    assert np.allclose(camera.position, before)  # the world moves, not the page's camera
    rendering.set_camera("Free")


def test_numbers_have_the_decimals_that_a_user_wants(page: Any, viewer: Any) -> None:
    opt = viewer.session.model.opt
    page.get_by_role("tab", name="Physics").click()
    assert float(field(page, "tolerance").input_value()) == opt.tolerance == 1e-8
    wanted = {"tolerance": 2.5e-9, "impratio": 2.5, "timestep": 0.00025, "gravity": -1.625}
    before = {name: getattr(opt, name) for name in wanted}
    for name, value in wanted.items():
        field(page, name).fill(f"{value:.10f}")
        field(page, name).press("Enter")
        wait_for(lambda name=name, value=value: np.ravel(getattr(opt, name))[-1] == pytest.approx(value), name)
    assert opt.gravity[:2].tolist() == [0.0, 0.0]
    with viewer.session.lock:
        opt.gravity[2] = -9.81
        for name in ("tolerance", "impratio", "timestep"):
            setattr(opt, name, before[name])
    page.get_by_role("tab", name="Simulation").click()


def test_second_page_sees_the_same(page: Any, viewer: Any) -> None:
    pause(page, viewer)
    second = opened(page.context.browser, viewer)
    button(second, "Run").click()
    wait_for(lambda: not viewer.session.paused, "run")
    wait_for(lambda: button(page, "Pause").count() == 1, "new label in the first page")
    second.close()
    wait_for(lambda: len(viewer.server.viser.get_clients()) == 1, "end of the connection")
    before = viewer.session.data.time
    wait_for(lambda: viewer.session.data.time > before + 0.2, "physics after a page was closed")


CUBE = SCENE.replace("ball", "cube").replace(
    "<worldbody>", "<asset><mesh name='cube' file='cube.obj'/></asset><worldbody>"
)
CUBE = CUBE.replace('<geom size=".4" rgba', '<geom type="mesh" mesh="cube" rgba')
OBJ = "v 0 0 0\nv .4 0 0\nv 0 .4 0\nv 0 0 .4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_upload_of_files_and_reload(page: Any, viewer: Any, tmp_path: Path) -> None:
    (tmp_path / "cube.xml").write_text(CUBE)
    (tmp_path / "cube.obj").write_text(OBJ)
    sent(page, "files", [tmp_path / "cube.xml"])
    page.frame_locator("iframe[title=Upload]").get_by_text("cube.obj").wait_for()  # what is missing
    assert viewer.session.model.body(1).name == "ball"
    sent(page, "files", [tmp_path / "cube.obj"])
    wait_for(lambda: viewer.session.model.body(1).name == "cube", "new model")
    wait_for(lambda: page.get_by_text("cube.xml").count() == 1, "its name in the page")
    assert viewer.session.model.mesh_vertnum[0] == 4
    viewer.source.path.write_text(SCENE.replace("ball", "third one"))
    wait_for(lambda: viewer.session.model.body(1).name == "third one", "reload of the file")
    viewer.source.path.write_text("<mujoco><nonsense/></mujoco>")
    wait_for(lambda: page.get_by_text("nonsense").count() == 1, "message in the page")
    assert viewer.session.model.body(1).name == "third one"


def test_upload_of_a_folder(page: Any, viewer: Any, tmp_path: Path) -> None:
    folder = tmp_path / "robot"
    (folder / "assets").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git/hidden.xml").write_text("<mujoco/>")
    (folder / "scene.xml").write_text('<mujoco><include file="cube.xml"/></mujoco>')
    (folder / "cube.xml").write_text(CUBE.replace("<mujoco>", '<mujoco><compiler assetdir="assets"/>', 1))
    (folder / "assets/cube.obj").write_text(OBJ)
    sent(page, "folder", folder)
    wait_for(lambda: viewer.session.model.body(1).name == "cube", "new model")
    assert viewer.source.path == viewer.uploads.path / "robot/scene.xml"
    assert not (viewer.uploads.path / "robot/.git").exists()
