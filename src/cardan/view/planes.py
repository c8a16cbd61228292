"""Planes in the browser, each with its own node and texture; labels and lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.view.instances import GEOM, Lines, quaternions
from cardan.view.nodes import ROOT, Looks, NodeSet, textured
from cardan.view.shapes import ModelSurfaces, Surface

if TYPE_CHECKING:
    from viser import SceneApi

SEEN = ("size", "texid", "texrepeat", "texuniform")
"""Members of a geom that change the shape and texture of a plane."""
MOST_TEXELS = 512
"""Largest size of a texture along each side, pixels."""


class Planes(NodeSet):
    """The planes of a scene; `reach` is half the size of infinite planes, m."""

    def __init__(
        self, scene: SceneApi, surfaces: ModelSurfaces, reach: float, made: Callable[[Any], None] | None = None
    ) -> None:
        super().__init__(made)
        self._scene, self._surfaces, self._reach = scene, surfaces, reach

    def show(self, geoms: np.ndarray, looks: Looks) -> None:
        """Show the planes among these geoms."""
        which = np.flatnonzero(geoms["type"] == GEOM["PLANE"])
        turns = quaternions(geoms["mat"][which].astype(float))
        self.keep(which.tolist())
        for k, turn in zip(which.tolist(), turns, strict=True):
            look = b"".join(np.asarray(geoms[name][k]).tobytes() for name in SEEN) + looks.rgb[k].tobytes()
            look += bytes((looks.wireframe, looks.shadows, looks.plain, int(255 * looks.alpha[k])))
            handle, _ = self.node(k, look, partial(self._make, k, geoms[k], looks))
            handle.position, handle.wxyz = geoms["pos"][k].astype(float), turn

    def _make(self, k: int, geom: np.ndarray, looks: Looks) -> Any:
        size = np.where(geom["size"][:2] > 0.0, geom["size"][:2], self._reach)
        corner = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
        vert = np.concatenate([corner * size, np.zeros((4, 1))], 1).astype(np.float32)
        face = np.array([(0, 1, 2), (0, 2, 3)], np.uint32)
        name, tex = f"{ROOT}/plane_{k}", int(geom["texid"])
        if tex < 0 or looks.wireframe or looks.plain:
            return self._scene.add_mesh_simple(
                name, vert, face, color=looks.rgb[k], wireframe=looks.wireframe, side="double",
                opacity=float(looks.alpha[k]) if looks.transparent[k] else None, cast_shadow=False,
                receive_shadow=looks.shadows,
            )  # fmt: skip
        # `texrepeat` is the number of repetitions for each length: of the plane, or a metre
        unit = np.where((geom["size"][:2] > 0.0) & (not geom["texuniform"]), geom["size"][:2], 1.0)
        texcoord = 0.5 + 0.5 * geom["texrepeat"] * vert[:, :2] / unit * (1.0, -1.0)
        image = self._surfaces.texture(tex)
        step = max(1, -(-max(image.shape[-3:-1]) // MOST_TEXELS))
        mesh = textured(Surface(vert, face, texcoord), image[..., ::step, ::step, :], geom["rgba"])
        return self._scene.add_mesh_trimesh(name, mesh, cast_shadow=False, receive_shadow=looks.shadows)


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
        points, both_ends = lines.points.astype(np.float32), np.repeat(rgb[lines.geom][:, None], 2, axis=1)
        if not len(points):
            self.clear()
        elif self._handle is None or len(self._handle.points) != len(points):
            self._handle = self._scene.add_line_segments(
                f"{ROOT}/lines", points, both_ends, thickness=2.0, thickness_units="screen"
            )
        else:
            self._handle.points, self._handle.colors = points, both_ends

    def clear(self) -> None:
        """Remove the lines."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
