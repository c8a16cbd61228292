"""The viewer of scripts in a real browser: keys, plots, pictures, videos; pages that are slow hold nothing up."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from view.browser import browser, button, needs_browser, opened, wait_for, without_shadows

import cardan
import cardan.viewer
from cardan.view import capture
from cardan.view.panels.plots import SensorPanel

pytestmark = needs_browser

MODEL = """<mujoco><visual><global offwidth="64" offheight="48"/></visual><worldbody><light pos="0 0 3"/>
<body name="ball" pos="0 0 .5"><freejoint/><geom name="ball" size=".3" rgba="1 0 0 1"/></body>
<geom type="plane" size="1 1 .1"/></worldbody>
<sensor><framepos name="place" objtype="geom" objname="ball"/></sensor></mujoco>"""
SMALL = {"width": 640, "height": 480}


class Script:
    """A script that shows its simulation, and the keys that it heard."""

    def __init__(self) -> None:
        self.model = cardan.MjModel.from_xml_string(MODEL)
        self.data = cardan.MjData(self.model)
        self.keys: list[int] = []
        self.handle = cardan.viewer.launch_passive(self.model, self.data, key_callback=self.keys.append)
        self.viewer = without_shadows(self.handle._viewer)

    def turn(self) -> None:
        """What its loop does once."""
        cardan.mj_step(self.model, self.data)
        self.handle.sync()

    def panel(self, kind: type) -> Any:
        """One of its controls."""
        return self.viewer.controls.panels[kind]


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARDAN_VIEWER_OPEN", "0")
        script = Script()
    yield script
    script.handle.close()


@pytest.fixture(scope="module")
def page(script: Script) -> Iterator[Any]:
    with browser() as chromium:
        yield opened(chromium, script.viewer, SMALL)


def test_keys_reach_the_script(page: Any, script: Script) -> None:
    page.mouse.move(100, 300)
    for key in ("Space", "a", "ArrowUp", "7"):
        page.keyboard.press(key)
    wait_for(lambda: len(script.keys) >= 4, "four keys")
    assert script.keys == [32, ord("A"), 265, ord("7")]  # codes of GLFW


def test_reset_by_a_page_reaches_the_data_by_sync(page: Any, script: Script) -> None:
    for _ in range(20):
        script.turn()
    button(page, "Reset").click()

    def was_reset() -> bool:
        script.handle.sync()
        return script.data.time == 0.0

    wait_for(was_reset, "reset")


def test_screenshot(page: Any, script: Script) -> None:
    with page.expect_download() as download:
        button(page, "Screenshot").click()
    assert download.value.suggested_filename == "cardan.png"
    with Image.open(Path(download.value.path())) as image:
        pixels = np.asarray(image).astype(int)
    assert pixels.shape == (48, 64, 3)
    assert (pixels[..., 0] > pixels[..., 1] + 50).any()  # the red ball


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_video(page: Any, script: Script, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if suffix == ".gif":
        monkeypatch.setattr(capture, "find_spec", lambda name: None)
    elif find_spec("av") is None:
        pytest.skip("MP4 needs the package av")
    button(page, "Record video").click()
    wait_for(lambda: script.viewer.film is not None and script.viewer.film.pictures >= 5, "five pictures")
    with page.expect_download() as download:
        page.get_by_role("button", name="Stop recording").click()
    assert download.value.suggested_filename == f"cardan{suffix}"
    assert frames(Path(download.value.path()).read_bytes()) >= 5


def frames(content: bytes) -> int:
    """Number of pictures in a file that moves; the same picture twice may be one in a GIF, which shows it longer."""
    if content[:3] == b"GIF":
        with Image.open(io.BytesIO(content)) as image:
            total = 0
            for k in range(getattr(image, "n_frames", 1)):
                image.seek(k)
                total += round(image.info["duration"] / 50)
            return total
    import av  # pyright: ignore[reportMissingImports]

    with av.open(io.BytesIO(content), "r") as container:
        return sum(1 for _ in container.decode(video=0))


def test_sensor_plot(page: Any, script: Script) -> None:
    page.get_by_role("tab", name="Plots").click()
    page.get_by_role("textbox", name="Sensor").or_(page.locator("input[value=none]:visible")).first.click()
    page.get_by_role("option", name="0: place").click()
    panel = script.panel(SensorPanel)
    wait_for(lambda: panel.chosen == 0, "the choice")
    page.get_by_text("place[2]").first.wait_for()  # the legend
    for _ in range(5):
        script.turn()
        time.sleep(0.25)
    wait_for(lambda: len(panel.series.columns()[0]) >= 4, "values")
    assert panel.series.columns()[3][-1] == pytest.approx(script.data.sensordata[2], abs=1e-2)
    page.get_by_role("tab", name="Simulation").click()


def test_pages_that_hang_hold_nothing_up(page: Any, script: Script) -> None:
    from viser import __version__
    from websockets.sync.client import connect

    clients = script.viewer.server.viser.get_clients
    before = len(clients())
    address = script.handle.address.replace("http", "ws", 1)
    # one page computes and reads nothing for two seconds; another one, which never reads, is a bare connection
    stuck = connect(address, subprotocols=[f"viser-v{__version__}"], max_queue=1)  # type: ignore[list-item]
    try:
        page.evaluate("() => setTimeout(() => { const t = performance.now(); while (performance.now() < t + 2000); })")
        publisher, durations = script.viewer.publisher, []
        sent, end = publisher.sent, time.perf_counter() + 1.5
        while time.perf_counter() < end:
            script.turn()
            start = time.perf_counter()
            script.handle.sync()
            durations.append(time.perf_counter() - start)
            time.sleep(0.005)
        assert np.median(durations) < 0.05 and len(durations) > 15  # sync waits for a scene at most, not for a page
        assert publisher.sent > sent + 5
    finally:
        stuck.socket.close()
    wait_for(lambda: len(clients()) <= before, "end of the bare connection")
    script.turn()
    assert script.handle.is_running()
