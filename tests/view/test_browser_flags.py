"""Flags and groups in a real browser: where Cardan's renderer draws another picture, the page shows another one."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from PIL import Image
from view.browser import browser, launched, needs_browser, opened, wait_for

import cardan
from cardan.constants import mjRNDSTRING, mjVISSTRING
from cardan.view.panels.rendering import GROUPS, IN_PICTURES

pytestmark = needs_browser

MODEL = """<mujoco><visual><global azimuth="90" elevation="-15"/>
<scale contactwidth=".4" forcewidth=".3" com=".4" jointlength="1.5" jointwidth=".15" actuatorlength=".9"
 actuatorwidth=".3" light=".6" camera=".6" connect=".3"/><map force=".05" fogstart="1" fogend="5"/></visual>
<statistic center="0 0 .5" extent="3.2"/>
<asset><texture type="skybox" builtin="flat" rgb1="0 .3 1" width="8" height="8"/>
<texture name="red" type="2d" builtin="flat" rgb1=".8 .1 .1" width="8" height="8"/><material name="red" texture="red"/>
<mesh name="star" vertex="0 0 .6 .1 .1 .1 .6 0 0 .1 -.1 .1 0 0 -.6 -.6 .2 0 -.1 .1 .1"
 face="0 2 1 1 2 4 2 3 4 0 3 2 0 5 3 3 5 4 0 1 6 6 1 4 6 4 5 0 6 5"/></asset>
<worldbody><light pos="-1 0 1.6" dir="0 .2 -1"/><geom type="plane" size="3 3 .1" material="red"/>
<camera pos=".5 -1 1.4" xyaxes="1 0 0 0 .5 1"/>
<body name="left" pos="-.8 0 .29"><freejoint/><geom size=".3" rgba="0 .6 0 1"/><site name="a" size=".1" pos="0 -.3 .3"/>
</body>
<body name="right" pos=".9 0 .29"><freejoint/><geom type="box" size=".3 .3 .3" rgba="0 1 0 1"/>
<site name="b" size=".1" pos="0 -.3 .3"/></body>
<body pos="0 0 1"><joint name="turn" axis="0 1 0" damping="1"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".08"/>
<geom type="mesh" mesh="star" pos="0 0 .5" rgba="1 1 0 1" margin=".01"/>
<site name="eye" pos=".3 -.3 .3" zaxis="0 0 -1" size=".02"/></body>
<flexcomp name="cloth" type="grid" count="4 4 1" spacing=".2 .2 .2" pos="-1 -.3 1.2" radius=".05" dim="2" mass=".1"
 rgba="1 .5 .5 1"><pin id="0 3 12 15"/><edge equality="true"/></flexcomp>
</worldbody>
<tendon><spatial name="t" width=".04" rgba="1 1 0 1"><site site="a"/><site site="b"/></spatial></tendon>
<actuator><motor joint="turn" ctrlrange="-2 2"/><motor tendon="t" ctrlrange="-1 1"/></actuator>
<sensor><rangefinder site="eye"/></sensor></mujoco>"""
LARGE = """<mujoco><visual><global azimuth="90" elevation="-15"/><scale light="2.5"/></visual>
<statistic center="0 0 .5" extent="3.2"/>
<asset><mesh name="notch" scale="2 2 2" vertex="-.6 -.2 .6 -.6 -.2 -.6 .6 -.2 -.6 .6 -.2 .6 0 -.2 -.4
 -.6 .2 .6 -.6 .2 -.6 .6 .2 -.6 .6 .2 .6 0 .2 -.4" face="0 1 4 1 2 4 2 3 4 5 9 6 6 9 7 7 9 8
 0 5 1 1 5 6 1 6 2 2 6 7 2 7 3 3 7 8 3 8 4 4 8 9 4 9 0 0 9 5"/></asset>
<worldbody><light pos="-1.6 0 1.2" dir=".2 .5 -1"/>
<body pos="1 0 .5"><freejoint/><geom type="mesh" mesh="notch" rgba="1 1 0 1"/></body>
<body pos="-1.2 0 -.3"><freejoint/><geom type="box" size=".5 .5 .5" rgba="0 1 0 .3" density="10000"/></body>
</worldbody></mujoco>"""
"""What changes few pixels of the other model: a mesh unlike its hull, a light's body, inertia unlike that of water."""
IN_LARGE = ("Convex Hull", "Light", "Scale Inertia")
"""Flags that are tried on it, while inertias are shown."""
INERTIA = cardan.mjtVisFlag.mjVIS_INERTIA.value
FLAGS = [("vis", k, name) for k, (name, _, _) in enumerate(mjVISSTRING)]
FLAGS += [("rnd", k, name) for k, (name, _, _) in enumerate(mjRNDSTRING) if name not in IN_PICTURES]
FLAGS += [(f"{kind}group", 0, f"{kind} group 0") for kind in GROUPS]
FEW = ("Transparent", "Wireframe", "Segment", "Skybox", "geom group 0")
"""Those that are tried in every run; each takes some pictures, which browsers without a graphics card draw slowly."""
SEGMENT, WIREFRAME = cardan.mjtRndFlag.mjRND_SEGMENT.value, cardan.mjtRndFlag.mjRND_WIREFRAME.value
ALL = cardan.mjtCatBit.mjCAT_ALL.value
SIZE = {"width": 720, "height": 400}
BLOCK = 10
"""Pictures are compared by the means of blocks of so many pixels: slow pages draw fewer pixels."""
DRAWN, SEEN = 0.1, 0.05
"""Shares of blocks that differ when a picture of the renderer, and of a page, is another one.

Fewer pixels change a share of 0.025; what changes less than `DRAWN` can't be told from that.
"""
PULL = {
    "select": 1,
    "localpos": (0.0, -0.3, 0.1),
    "refselpos": (-1.2, -0.2, 1.1),
    "active": cardan.mjtPertBit.mjPERT_TRANSLATE,
    "refpos": (-0.8, 0.0, 0.9),
    "refquat": (1.0, 0.0, 0.0, 0.0),
}
"""The mouse pulls a body."""
CLICK = "(box, times) => { for (let k = 0; k < times; k++) box.click(); }"


class Flags:
    """A script's viewer, its page, and pictures of both."""

    def __init__(self, page: Any, handle: Any) -> None:
        self.page, self.handle, self.session = page, handle, handle._session
        camera = next(iter(handle._viewer.server.viser.get_clients().values())).camera
        self.size = int(camera.image_height), int(camera.image_width)
        self.renderer = cardan.Renderer(handle._model, *self.size)

    def table(self, kind: str) -> np.ndarray:
        """Flags or groups of a kind; the session's lock is held."""
        if kind == "rnd":
            return self.session.flags
        return self.session.option.flags if kind == "vis" else getattr(self.session.option, kind)

    def drawn(self) -> np.ndarray:
        """The picture of the renderer."""
        session, scene = self.session, self.renderer.scene
        with session.lock:
            m, camera = session.model, session.camera.__copy__()
            cardan.mjv_updateScene(m, session.data, session.option, session.perturb, camera, ALL, scene)
            scene.flags[:] = session.flags
        return blocks(self.renderer.render())

    def seen(self) -> np.ndarray:
        """The picture of the page."""
        clip = {"x": 0, "y": 0, "width": self.size[1], "height": self.size[0]}
        with Image.open(io.BytesIO(self.page.screenshot(clip=clip))) as image:
            return blocks(np.asarray(image.convert("RGB")))

    def box(self, name: str) -> Any:
        """The box of a flag or group in the page."""
        row = f'//*[text()="{name}"]/ancestor::*[count(.//input[@type="checkbox"])=1][1]'
        return self.page.locator(f"xpath={row}//input").first


def blocks(picture: np.ndarray) -> np.ndarray:
    """Means of the blocks of a picture."""
    height, width = (size // BLOCK for size in picture.shape[:2])
    picture = picture[: height * BLOCK, : width * BLOCK].astype(float)
    return picture.reshape(height, BLOCK, width, BLOCK, 3).mean((1, 3))


def differing(one: np.ndarray, other: np.ndarray) -> float:
    """Share of the blocks that differ visibly."""
    return float((abs(one - other).max(2) > 10.0).mean())


@contextmanager
def flags_of(
    chromium: Any,
    m: cardan.MjModel,
    d: cardan.MjData,
    pert: Mapping[str, Any] = MappingProxyType({}),
    inertia: bool = False,
) -> Iterator[Flags]:
    """The flags of a model in a page; `pert` is what the mouse does to it, `inertia` whether inertias are shown."""
    with launched(m, d) as handle:
        handle.opt.flags[INERTIA] = inertia
        for name, value in pert.items():
            setattr(handle.pert, name, value)
        handle.sync()
        page = opened(chromium, handle._viewer, SIZE)
        page.locator(".mantine-Notification-closeButton").first.click()  # it says that there is no graphics card
        page.get_by_role("tab", name="Rendering").click()
        yield Flags(page, handle)
        page.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def flags(chromium: Any) -> Iterator[Flags]:
    m = cardan.MjModel.from_xml_string(MODEL)
    d = cardan.MjData(m)
    for _ in range(100):
        cardan.mj_step(m, d)
    with flags_of(chromium, m, d, PULL) as flags:
        yield flags


def wanted() -> list[tuple[str, int, str]]:
    """The flags that are tried."""
    return [flag for flag in FLAGS if flag[2] in FEW or os.environ.get("CARDAN_FULL_TESTS")]


@pytest.mark.parametrize("kind, number, name", wanted())
def test_the_page_shows_what_the_renderer_draws(flags: Flags, kind: str, number: int, name: str) -> None:
    if name == "Id Color":
        with flags.session.lock:
            flags.session.flags[SEGMENT] = 1
    shows = try_flag(flags, kind, number, name)
    with flags.session.lock:
        flags.session.flags[SEGMENT] = 0
    assert shows or name not in FEW


def try_flag(flags: Flags, kind: str, number: int, name: str) -> bool:
    """Click a flag, look at the page, and click it again; whether the flag changes what the renderer draws."""
    drawn, box = flags.drawn(), flags.box(name)
    before = wait_for(lambda: steady(flags), "a picture")[0]
    with flags.session.lock:
        old = int(flags.table(kind)[number])
    box.evaluate(CLICK, 1)
    wait_for(lambda: int(flags.table(kind)[number]) == 1 - old, "the flag")
    shows = differing(flags.drawn(), drawn) > DRAWN
    if shows:
        wait_for(lambda: differing(flags.seen(), before) > SEEN, "another picture")
    box.evaluate(CLICK, 1)
    wait_for(lambda: int(flags.table(kind)[number]) == old, "the flag as before")
    wait_for(lambda: differing(flags.seen(), before) < SEEN, "the picture as before")
    assert differing(flags.drawn(), drawn) < SEEN
    return shows


@pytest.mark.skipif(not os.environ.get("CARDAN_FULL_TESTS"), reason="a further page: CARDAN_FULL_TESTS=1")
def test_the_page_shows_hulls_lights_and_scaled_inertias(chromium: Any) -> None:
    m = cardan.MjModel.from_xml_string(LARGE)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    with flags_of(chromium, m, d, inertia=True) as flags:
        for kind, number, name in FLAGS:
            if name in IN_LARGE:
                assert try_flag(flags, kind, number, name), name


def steady(flags: Flags) -> list[np.ndarray]:
    """A picture of the page, if the next one is the same."""
    first, second = flags.seen(), flags.seen()
    return [second] if differing(first, second) < SEEN else []


def test_quick_clicks_are_not_lost(flags: Flags) -> None:
    box, done = flags.box("Wireframe"), threading.Event()

    def work() -> None:
        while not done.is_set():
            sum(range(10000))

    busy = threading.Thread(target=work)
    busy.start()
    try:
        for k in range(12):
            box.evaluate(CLICK, 1)
            flags.page.wait_for_timeout(37 * k % 130)
    finally:
        done.set()
        busy.join()
    for _ in range(2):
        on = box.evaluate("box => box.checked")
        wait_for(lambda on=on: bool(flags.session.flags[WIREFRAME]) == on, "what the box shows")
        flags.page.wait_for_timeout(1500)
        assert box.evaluate("box => box.checked") == on == bool(flags.session.flags[WIREFRAME])
        box.evaluate(CLICK, 1)
