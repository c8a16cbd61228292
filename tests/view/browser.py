"""A real browser for tests: headless Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import cardan
import cardan.viewer

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = ", ".join(
    name
    for name, there in (
        ("Chromium", CHROMIUM),
        ("the package playwright", find_spec("playwright")),
        ("the package viser", find_spec("viser")),
    )
    if not there
)
FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
SIZE = {"width": 800, "height": 600}
SHADOW = cardan.mjtRndFlag.mjRND_SHADOW.value
PATIENCE = 60.0

needs_browser = pytest.mark.skipif(bool(MISSING), reason=f"the viewer is not tried in a browser: no {MISSING}")


@contextmanager
def browser() -> Iterator[Any]:
    """A browser; closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield running
        finally:
            running.close()


@contextmanager
def launched(m: cardan.MjModel, d: cardan.MjData) -> Iterator[Any]:
    """A script's hold on a viewer without shadows that opens no page by itself; closed at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARDAN_VIEWER_OPEN", "0")
        handle = cardan.viewer.launch_passive(m, d)
    with handle:
        without_shadows(handle._viewer)
        yield handle


def without_shadows(viewer: Any) -> Any:
    """The viewer, with shadows off: a browser without a graphics card draws them at one frame a second."""
    with viewer.session.lock:
        viewer.session.flags[SHADOW] = 0
    return viewer


def opened(chromium: Any, viewer: Any, size: dict[str, int] | None = None) -> Any:
    """A page of the viewer that is connected and shows its controls."""
    before = len(viewer.server.viser.get_clients())
    page = chromium.new_page(viewport=size or SIZE)
    page.set_default_timeout(180_000)
    page.goto(viewer.address)
    wait_for(lambda: len(viewer.server.viser.get_clients()) > before, "connection")
    page.get_by_text("Simulation").wait_for()
    return page


def button(page: Any, label: str) -> Any:
    """A button of the page."""
    return page.get_by_role("button", name=label, exact=True)


def field(page: Any, label: str) -> Any:
    """The field for numbers beside a slider of the page."""
    row = page.locator(f'xpath=//*[text()="{label}" and not(*)]/ancestor::*[.//input[not(@type="hidden")]][1]')
    return row.locator("input:visible").last


def wait_for(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Wait until a condition holds, and return it; fails after a time."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"{what} did not happen within {patience:g} s")


def pause(page: Any, viewer: Any) -> None:
    """Let it stand still."""
    if not viewer.session.paused:
        button(page, "Pause").click()
        wait_for(lambda: viewer.session.paused, "pause")


def sent(page: Any, which: str, files: Any) -> None:
    """Choose files, or a folder, as a user does who presses a button of the frame for uploads."""
    page.frame_locator("iframe[title=Upload]").locator(f"#{which}").set_input_files(files)


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
