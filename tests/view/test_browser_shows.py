"""What pages show, in a real browser: flags, groups, labels, frames, forces, cameras, plots, geoms of a script."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from view.browser import browser, needs_browser, opened, wait_for, without_shadows

import cardan
import cardan.viewer
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
CLICK_ALL = "which => [...document.querySelectorAll('input[type=checkbox]')].forEach(box => box.click())"


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    """A script's hold on its viewer, its model and data."""
    m = cardan.MjModel.from_xml_string(MODEL)
    d = cardan.MjData(m)
    for _ in range(200):
        cardan.mj_step(m, d)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARDAN_VIEWER_OPEN", "0")
        handle = cardan.viewer.launch_passive(m, d)
    without_shadows(handle._viewer)
    handle.sync()
    yield handle
    handle.close()


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


def settled(page: Any) -> np.ndarray:
    """The picture, once it stays the same."""
    last = [picture(page)]

    def still() -> bool:
        page.wait_for_timeout(300)
        last.append(picture(page))
        return changed(last[-2], last[-1]) == 0.0

    wait_for(still, "a picture that stays", 60.0)
    return last[-1]


def test_each_box_sets_its_option(page: Any, script: Any) -> None:
    session = script._session
    for folder in ("Effects", "Groups", *(f"{kind} groups" for kind in ("Geom", "Site", "Joint", "Tendon", "Actuator",
                   "Flex", "Skin"))):  # fmt: skip
        page.get_by_text(folder, exact=True).click()
    boxes = page.locator("input[type=checkbox]")
    names = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")

    def options() -> np.ndarray:
        with session.lock:
            groups = [getattr(session.option, f"{name}group").copy() for name in names]
            return np.concatenate([session.option.flags.copy(), session.flags.copy(), *groups]).astype(int)

    before = options()
    wait_for(lambda: boxes.count() == len(before), "a box for each option")
    page.evaluate(CLICK_ALL)
    wait_for(lambda: (options() != before).all(), "each option the other way")
    page.evaluate(CLICK_ALL)
    wait_for(lambda: (options() == before).all(), "each option as it was")


@pytest.mark.parametrize("what", ["force", "label", "frame", "group", "sky", "wireframe", "inertia", "geom"])
def test_pictures_change(page: Any, script: Any, what: str) -> None:
    before = settled(page)
    scene = script.user_scn
    with script.lock():
        if what == "force":
            script.opt.flags[VIS.mjVIS_CONTACTFORCE] = 1
        elif what == "label":
            script.opt.label = cardan.mjtLabel.mjLABEL_BODY
        elif what == "frame":
            script.opt.frame = cardan.mjtFrame.mjFRAME_BODY
        elif what == "group":
            script.opt.geomgroup[2] = 0
        elif what == "sky":
            scene.flags[RND.mjRND_SKYBOX] = 0
        elif what == "wireframe":
            scene.flags[RND.mjRND_WIREFRAME] = 1
        elif what == "inertia":
            script.opt.flags[VIS.mjVIS_INERTIA] = 1
        else:
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
    if what == "label":
        page.get_by_text("left", exact=True).wait_for()
        page.get_by_text("right", exact=True).wait_for()
    wait_for(lambda: changed(before, picture(page)) > 0.001, "another picture", 60.0)
    if what == "group":
        green = picture(page)
        assert ((green[..., 1] > green[..., 0] + 80) & (green[..., 1] > green[..., 2] + 80)).mean() < 1e-3
    with script.lock():
        script.opt.flags[VIS.mjVIS_CONTACTFORCE] = script.opt.flags[VIS.mjVIS_INERTIA] = 0
        script.opt.label, script.opt.frame, script.opt.geomgroup[2] = 0, 0, 1
        scene.flags[RND.mjRND_SKYBOX], scene.flags[RND.mjRND_WIREFRAME], scene.ngeom = 1, 0, 0
    script.sync()
    wait_for(lambda: changed(before, picture(page)) < 0.001, "the picture of before", 60.0)


def test_a_camera_of_the_script(page: Any, script: Any) -> None:
    before = settled(page)
    script.cam.distance *= 0.5
    wait_for(lambda: changed(before, picture(page)) > 0.05, "the camera nearer by", 60.0)
    script.cam.type, script.cam.fixedcamid = cardan.mjtCamera.mjCAMERA_FIXED, 0
    camera = next(iter(script._viewer.server.viser.get_clients().values())).camera
    wait_for(lambda: np.allclose(camera.position, (0.0, 0.0, 6.0), atol=1e-3), "the fixed camera")
    script.cam.type, script.cam.fixedcamid = cardan.mjtCamera.mjCAMERA_FREE, -1
    wait_for(lambda: not np.allclose(camera.position, (0.0, 0.0, 6.0), atol=1e-3), "the free camera")


def test_energy_and_profiler(page: Any, script: Any) -> None:
    page.get_by_role("tab", name="Plots").click()
    panels = script._viewer.controls.panels
    for folder, box in (("Energy", "Plot the energy"), ("Profiler", "Profile")):
        page.get_by_text(folder, exact=True).click()
        page.get_by_role("checkbox").and_(page.get_by_label(box, exact=True)).or_(page.locator(
            f'xpath=//*[text()="{box}"]/ancestor::*[.//input[@type="checkbox"]][1]//input')).first.check(force=True)  # fmt: skip
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
