"""The viewer in a real browser: what a user does in the page changes the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from view.browser import SIZE, browser, needs_browser, wait_for

import cardan

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
    viewer = Viewer(m, cardan.MjData(m), port=0)
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def page(viewer: Any) -> Iterator[Any]:
    with browser() as chromium:
        page = chromium.new_page(viewport=SIZE)
        page.set_default_timeout(60_000)
        page.goto(viewer.address)
        wait_for(viewer.server.viser.get_clients, "connection")
        page.get_by_text("Simulation").wait_for()
        yield page


def button(page: Any, label: str) -> Any:
    return page.get_by_role("button", name=label, exact=True)


def pause(page: Any, viewer: Any) -> None:
    """Let it stand still."""
    if not viewer.session.paused:
        button(page, "Pause").click()
        wait_for(lambda: viewer.session.paused, "pause")


def test_address_needs_its_token(page: Any, viewer: Any) -> None:
    answer = page.request.get(viewer.address.rsplit("/", 2)[0] + "/")
    assert answer.status == 403
    assert page.request.get(viewer.address).status == 200


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


def place_of(viewer: Any, point: np.ndarray) -> tuple[float, float]:
    """Where a point of the model is in the page, pixels."""
    from cardan.view.camera import view_of

    camera = next(iter(viewer.server.viser.get_clients().values())).camera
    view = view_of(camera, viewer.publisher.cameras.origin)
    toward = point - view.pos
    depth = float(toward @ view.forward)
    right = np.cross(view.forward, view.up)
    scale = 0.5 * camera.image_height / np.tan(0.5 * view.fovy) / depth
    return (
        0.5 * camera.image_width + scale * float(toward @ right),
        0.5 * camera.image_height - scale * float(toward @ view.up),
    )
