"""What pages show, in a real browser: flags, groups, labels, frames, forces, cameras, plots, geoms of a script."""

from __future__ import annotations

import io
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
import pytest
from PIL import Image
from view.browser import browser, launched, needs_browser, opened, wait_for

import cardan
from cardan.view.panels.plots import EnergyPanel, ProfilerPanel

pytestmark = needs_browser

MODEL = """<mujoco><visual><global azimuth="90" elevation="-15"/><scale contactwidth=".5" forcewidth=".2"/></visual>
<statistic center="0 0 .5" extent="1.5"/>
<asset><texture type="skybox" builtin="flat" rgb1="0 .3 1" width="8" height="8"/></asset>
<worldbody><light pos="0 -2 3" dir="0 .6 -1"/><geom type="plane" size="2 2 .1"/><camera name="top" pos="0 0 6"/>
<body name="left" pos="-.6 0 .3"><freejoint/><geom size=".3" rgba="1 0 0 1"/><site size=".4" group="3"/></body>
<body name="right" pos=".6 0 .3"><freejoint/><geom type="box" size=".3 .2 .3" rgba="0 1 0 1" group="2"/></body>
</worldbody></mujoco>"""
VIS, RND = cardan.mjtVisFlag, cardan.mjtRndFlag
SMALL = {"width": 760, "height": 460}
CLICK_ALL = """async () => {
  const isFirst = one => !one.children.length && one.textContent === 'Convex Hull';
  let panel = [...document.querySelectorAll('*')].find(isFirst);
  while (!panel.textContent.includes('skin group 5')) panel = panel.parentElement;
  const boxes = [...panel.querySelectorAll('input[type=checkbox]')];
  for (const box of boxes) {
    box.click();
    await new Promise(go => setTimeout(go, 80));  // of changes in a shorter time the page sends the last one only
  }
  return boxes.length;
}"""
"""Clicks all boxes of the tab Rendering, also those of folders that are closed, and returns how many there are."""


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    """A script's hold on its viewer, its model and data."""
    m = cardan.MjModel.from_xml_string(MODEL)
    d = cardan.MjData(m)
    for _ in range(200):
        cardan.mj_step(m, d)
    with launched(m, d) as handle:
        handle.sync()
        yield handle


@pytest.fixture(scope="module")
def page(script: Any) -> Iterator[Any]:
    with browser() as chromium:
        page = opened(chromium, script._viewer, SMALL)
        page.get_by_role("tab", name="Rendering").click()
        yield page


def picture(page: Any) -> np.ndarray:
    """What the page shows beside the panel of controls, colours."""
    with Image.open(io.BytesIO(page.screenshot(clip={"x": 0, "y": 150, "width": 360, "height": 310}))) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def changed(before: np.ndarray, after: np.ndarray) -> float:
    """Share of the pixels that differ visibly."""
    return float((abs(before - after).max(2) > 24).mean())


def test_each_box_sets_its_option(page: Any, script: Any) -> None:
    session = script._session
    names = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")

    def options() -> np.ndarray:
        with session.lock:
            groups = [getattr(session.option, f"{name}group").copy() for name in names]
            return np.concatenate([session.option.flags.copy(), session.flags.copy(), *groups]).astype(int)

    before, shown, effects = options(), copy(session.option), session.flags.copy()
    assert page.evaluate(CLICK_ALL) == len(before)
    wait_for(lambda: not (options() == before).any(), "each option the other way")
    with session.lock:
        session.option.flags[:], session.flags[:] = shown.flags, effects
        for name in names:
            getattr(session.option, f"{name}group")[:] = getattr(shown, f"{name}group")


def test_what_a_script_asks_for_is_seen(page: Any, script: Any) -> None:
    publisher, scene = script._viewer.publisher, script.user_scn
    before = picture(page)
    with script.lock():
        for flag in (VIS.mjVIS_CONTACTFORCE, VIS.mjVIS_CONTACTPOINT, VIS.mjVIS_INERTIA):
            script.opt.flags[flag] = 1
        script.opt.label, script.opt.frame = cardan.mjtLabel.mjLABEL_BODY, cardan.mjtFrame.mjFRAME_BODY
        script.opt.geomgroup[2] = 0  # the green box
        cardan.mjv_initGeom(
            scene.geoms[0],
            type=cardan.mjtGeom.mjGEOM_BOX,
            size=[0.2, 0.2, 0.2],
            pos=[0.0, 0.0, 0.9],
            mat=np.eye(3).flatten(),
            rgba=[1.0, 1.0, 0.0, 1.0],
        )
        scene.ngeom = 1
    script.sync()
    labels = publisher.labels._handles
    wait_for(lambda: {"left", "right"} <= {label.text for label in labels}, "labels")

    def seen() -> bool:
        after = picture(page)
        red, green, blue = (after[..., k] for k in range(3))
        yellow = (red > blue + 80) & (green > blue + 80)
        boxes = (green > red + 60) & (green > blue + 60)
        return changed(before, after) > 0.02 and yellow.mean() > 0.01 and boxes.mean() < 0.002

    wait_for(seen, "the yellow box in place of the green one")


def test_a_camera_of_the_script(page: Any, script: Any) -> None:
    camera = next(iter(script._viewer.server.viser.get_clients().values())).camera
    far = np.linalg.norm(camera.position - camera.look_at)
    script.cam.distance *= 0.5
    wait_for(
        lambda: np.linalg.norm(camera.position - camera.look_at) == pytest.approx(0.5 * far, rel=1e-3), "nearer by"
    )
    script.cam.type, script.cam.fixedcamid = cardan.mjtCamera.mjCAMERA_FIXED, 0
    wait_for(lambda: np.allclose(camera.position, (0.0, 0.0, 6.0), atol=1e-3), "the fixed camera")
    script.cam.type, script.cam.fixedcamid = cardan.mjtCamera.mjCAMERA_FREE, -1
    wait_for(lambda: not np.allclose(camera.position, (0.0, 0.0, 6.0), atol=1e-3), "the free camera")


def test_energy_and_profiler(page: Any, script: Any) -> None:
    page.get_by_role("tab", name="Plots").click()
    panels = script._viewer.controls.panels
    for folder, box in (("Energy", "Plot the energy"), ("Profiler", "Profile")):
        page.get_by_text(folder, exact=True).click()
        row = page.locator(f'xpath=//*[text()="{box}"]/ancestor::*[.//input[@type="checkbox"]][1]')
        row.locator("input").evaluate("box => box.click()")
    energy, profiler = panels[EnergyPanel], panels[ProfilerPanel]
    m, d = script._model, script._data

    def filled() -> bool:
        cardan.mj_step(m, d)
        script.sync()
        return len(energy.series.columns()[0]) > 3 and len(profiler.work.columns()[0]) > 3

    wait_for(filled, "values of both", 60.0)
    assert m.opt.enableflags & cardan.mjtEnableBit.mjENBL_ENERGY
    assert energy.series.columns()[1][-1] == pytest.approx(d.energy[0], rel=1e-3)
    assert profiler.times.columns()[1][-1] > 0.0  # microseconds of a step
    assert profiler.work.columns()[1][-1] > 0.0  # iterations of the solver
    page.get_by_text("Convergence (log10)").wait_for()
    assert np.isfinite(profiler.charts[2].data[1]).all() and len(profiler.charts[2].data[0]) >= 2
