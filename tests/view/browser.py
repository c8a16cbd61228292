"""A real browser for tests: headless Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

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
PATIENCE = 20.0

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


def wait_for(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Wait until a condition holds, and return it; fails after a time."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"{what} did not happen within {patience:g} s")
