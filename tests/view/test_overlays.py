"""Overlays of a script: texts, figures and images, in the session and in the panel of pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import cardan
import cardan.viewer
from cardan.view.overlays import Text, checked_texts, copied_images, drawn_figures
from cardan.view.panels.overlays import OverlayPanel, text_tables

RECT = cardan.MjrRect(0, 0, 120, 80)
RED = np.full((4, 6, 3), (255, 0, 0), np.uint8)


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("viser", reason="the viewer needs the package viser")
    monkeypatch.setenv("CARDAN_VIEWER_OPEN", "0")
    m = cardan.MjModel.from_xml_string("<mujoco/>")
    with cardan.viewer.launch_passive(m, cardan.MjData(m)) as handle:
        yield handle


def figure() -> cardan.MjvFigure:
    fig = cardan.MjvFigure()
    cardan.mjv_defaultFigure(fig)
    fig.title = "speed"
    fig.linepnt[0] = 3
    fig.linedata[0, :6] = (0, 0, 1, 2, 2, 1)
    return fig


def wait_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_panels_show_what_a_script_sets(viewer: Any) -> None:
    panel = viewer._viewer.controls.panels[OverlayPanel]
    assert not panel._folder.visible
    viewer.set_texts([(None, cardan.mjtGridPos.mjGRID_BOTTOMLEFT, "b", None), (100, None, "time", "1.5")])
    viewer.set_figures((RECT, figure()))
    viewer.set_images([(RECT, RED), (RECT, RED)])
    assert wait_for(lambda: len(panel._shown) == 5) and panel._folder.visible
    viewer.clear_figures()
    viewer.clear_images()
    assert wait_for(lambda: len(panel._shown) == 2) and panel._folder.visible
    viewer.clear_texts()
    assert wait_for(lambda: not panel._shown) and not panel._folder.visible


def test_other_attributes_of_the_handle(viewer: Any) -> None:
    assert viewer.viewport is None  # no page is open
    assert isinstance(viewer.m, cardan.MjModel) and viewer.d.model is viewer.m


def test_figures_are_drawn_in_their_size_as_they_are() -> None:
    fig = figure()
    (first,) = drawn_figures((RECT, fig))
    assert first.shape == (80, 120, 3) and first.std() > 0
    fig.linedata[0, 3] = 1.0
    second, third = drawn_figures([(RECT, fig), (cardan.MjrRect(5, 5, 60, 40), fig)])
    assert second.shape == (80, 120, 3) and third.shape == (40, 60, 3)
    assert (first != second).any()


def test_images_are_copied() -> None:
    image = RED.copy()
    (copied,) = copied_images((RECT, image))
    image[:] = 0
    assert np.array_equal(copied, RED)


def test_texts_are_ordered_by_position() -> None:
    grid = cardan.mjtGridPos
    texts = checked_texts([(None, grid.mjGRID_BOTTOMLEFT, "a\nb", "c"), (None, None, None, "x|<y>")])
    assert texts == [Text(int(grid.mjGRID_TOPLEFT), "", "x|<y>"), Text(int(grid.mjGRID_BOTTOMLEFT), "a\nb", "c")]
    tables = text_tables(texts)
    assert tables[0].splitlines()[2] == "|  | x\\|&lt;y&gt; |"
    assert tables[1].splitlines()[2:] == ["| a | c |", "| b |  |"]


@pytest.mark.parametrize(
    ("function", "given", "error", "message"),
    [
        (drawn_figures, 5, TypeError, "give a tuple of 2 parts or a list"),
        (drawn_figures, [(RECT, figure(), 1)], TypeError, "each entry must be a tuple of 2 parts"),
        (drawn_figures, (RECT, RED), TypeError, "the figure must be a MjvFigure, not ndarray"),
        (drawn_figures, (cardan.MjrRect(0, 0, 0, 5), figure()), ValueError, "the rectangle has no pixels: 0 x 5"),
        (copied_images, (3, RED), TypeError, "the rectangle must be a MjrRect, not int"),
        (copied_images, (RECT, RED[0]), ValueError, r"shape \(height, width, 3\), not \(6, 3\)"),
        (checked_texts, (None, None, 3, None), TypeError, "the text must be a str, not int"),
        (checked_texts, (None, 17, "a", None), ValueError, "17"),
    ],
)
def test_errors(function: Callable[[Any], Any], given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        function(given)
