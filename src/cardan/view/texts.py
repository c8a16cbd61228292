"""Labels and lines of a scene in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.view.instances import Lines
from cardan.view.nodes import ROOT

if TYPE_CHECKING:
    from viser import SceneApi

MOST_LABELS = 500
"""Largest number of labels that are shown at once; each is an element of the page."""


class Labels:
    """Texts beside geoms."""

    def __init__(self, scene: SceneApi) -> None:
        self._scene = scene
        self._handles: list[Any] = []

    def show(self, geoms: np.ndarray) -> None:
        """Show the labels of these geoms."""
        which = np.flatnonzero(geoms["label"] != b"")[:MOST_LABELS]
        for k, index in enumerate(which):
            text = bytes(geoms["label"][index]).decode("utf-8", "replace")
            pos = geoms["pos"][index].astype(float)
            if k == len(self._handles):
                label = self._scene.add_label(
                    f"{ROOT}/label_{k}", text, position=pos, anchor="bottom-center", font_screen_scale=0.75
                )
                self._handles.append(label)
            handle = self._handles[k]
            if handle.text != text:
                handle.text = text
            handle.position = pos
        for handle in self._handles[len(which) :]:
            handle.remove()
        del self._handles[len(which) :]

    def clear(self) -> None:
        """Remove all labels."""
        self.show(np.zeros(0, [("label", "S100"), ("pos", "f4", (3,))]))


class LineNode:
    """Line segments of all geoms, in one node."""

    def __init__(self, scene: SceneApi) -> None:
        self._scene = scene
        self._handle: Any = None

    def show(self, lines: Lines, rgb: np.ndarray) -> None:
        """Show lines in the colours of their geoms, (n, 3) uint8."""
        points, both_ends = lines.points, np.repeat(rgb[lines.geom][:, None], 2, axis=1)
        if not len(points):
            self.clear()
        elif self._handle is None or len(self._handle.points) != len(points):
            self._handle = self._scene.add_line_segments(
                f"{ROOT}/lines", points.astype(np.float32), both_ends, thickness=2.0, thickness_units="screen"
            )
        else:
            self._handle.points, self._handle.colors = points.astype(np.float32), both_ends

    def clear(self) -> None:
        """Remove the lines."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
