"""Objects of a scene that have nodes of their own in the browser: planes, flexes and skins, labels, lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.model import MjModel
from cardan.view.instances import GEOM, Batch, Lines, ModelSurfaces, Surface, quaternions
from cardan.view.nodes import ROOT, Looks, NodeSet, textured
from cardan.visual import MjvScene

if TYPE_CHECKING:
    from viser import SceneApi

SEEN = ("size", "texid", "texrepeat", "texuniform")
"""Members of `MjvGeom` that determine the shape and texture of a plane."""
MOST_TEXELS = 512
"""Largest width and height of a texture, pixels."""


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
        # `texrepeat` counts repetitions over the plane or, if it is infinite or `texuniform` is set, over 2 m
        unit = np.where((geom["size"][:2] > 0.0) & (not geom["texuniform"]), geom["size"][:2], 1.0)
        texcoord = 0.5 + 0.5 * geom["texrepeat"] * vert[:, :2] / unit * (1.0, -1.0)
        image = self._surfaces.texture(tex)
        step = max(1, -(-max(image.shape[-3:-1]) // MOST_TEXELS))
        mesh = textured(Surface(vert, face, texcoord), image[..., ::step, ::step, :], geom["rgba"])
        return self._scene.add_mesh_trimesh(name, mesh, cast_shadow=False, receive_shadow=looks.shadows)


MOST_LABELS = 500
"""Largest number of labels that are shown at once; each is an element of the page."""


class Labels:
    """Text labels of geoms in the browser."""

    def __init__(self, scene: SceneApi) -> None:
        self._scene = scene
        self._handles: list[Any] = []

    def show(self, geoms: np.ndarray) -> None:
        """Show the labels of these geoms, at most `MOST_LABELS`."""
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


class SoftScene(NamedTuple):
    """Copy of a scene's flexes and skins. The arrays have the same names as in `MjvScene`.

    `vertices` and `edges` specify whether vertices and edges of flexes are shown.
    """

    flexface: np.ndarray
    flexfaceused: np.ndarray
    flexvert: np.ndarray
    skinvert: np.ndarray
    vertices: bool
    edges: bool

    def moved(self, shift: np.ndarray) -> SoftScene:
        """Return a copy that is translated by `shift` (3,)."""
        names = ("flexface", "flexvert", "skinvert")
        return self._replace(**{name: (getattr(self, name).reshape(-1, 3) + shift).ravel() for name in names})


class SoftGeoms(NamedTuple):
    """All geoms of the scene (`MjvGeom`), the world index of each, and the flexes and skins of each world."""

    geoms: np.ndarray
    world: np.ndarray
    scenes: list[SoftScene]

    def which(self, *kinds: str) -> list[tuple[int, int, SoftScene]]:
        """List the geoms of types `kinds`: (index, id of the flex or skin, `SoftScene` of the geom's world)."""
        found = np.flatnonzero(np.isin(self.geoms["type"], [GEOM[kind] for kind in kinds]))
        return [(int(k), int(self.geoms["objid"][k]), self.scenes[int(self.world[k])]) for k in found]


def soft_scene(scene: MjvScene) -> SoftScene:
    """Copy the flexes and skins of a scene."""
    arrays = (np.array(getattr(scene, name)) for name in SoftScene._fields[:4])
    return SoftScene(*arrays, vertices=bool(scene.flexvertopt), edges=bool(scene.flexedgeopt))


class Soft(NodeSet):
    """The flexes and skins of a model."""

    def __init__(self, scene: SceneApi, model: MjModel, made: Callable[[Any], None] | None = None) -> None:
        super().__init__(made)
        self._scene, self._model = scene, model
        self._faceadr = np.array(MjvScene(model, 0).flexfaceadr)

    def show(self, soft: SoftGeoms, looks: Looks) -> None:
        """Show the flexes and skins of all worlds."""
        m, shown = self._model, set()
        for k, number, scene in soft.which("FLEX", "SKIN"):
            if soft.geoms["type"][k] == GEOM["FLEX"]:  # three corners for each face
                used, adr = int(scene.flexfaceused[number]), int(self._faceadr[number])
                vert = scene.flexface[9 * adr : 9 * (adr + used)].reshape(-1, 3)
                kind, face = "flex", np.arange(3 * used, dtype=np.uint32).reshape(-1, 3)
            else:
                adr, count = int(m.skin_vertadr[number]), int(m.skin_vertnum[number])
                faceadr = int(m.skin_faceadr[number])
                kind, face = "skin", np.array(m.skin_face[faceadr:][: int(m.skin_facenum[number])], np.uint32)
                vert = scene.skinvert[3 * adr : 3 * (adr + count)].reshape(-1, 3)
            name = f"{kind}_{number}_{soft.world[k]}"
            if len(face):
                self._put(name, vert, face, looks, k)
                shown.add(name)
        self.keep(shown)

    def _put(self, name: str, vert: np.ndarray, face: np.ndarray, looks: Looks, k: int) -> None:
        look = looks.rgb[k].tobytes() + bytes((looks.wireframe, looks.shadows, int(255 * looks.alpha[k])))
        look += np.int64(len(vert)).tobytes()
        make = partial(
            self._scene.add_mesh_simple,
            f"{ROOT}/{name}",
            vert,
            face,
            color=looks.rgb[k],
            wireframe=looks.wireframe,
            opacity=float(looks.alpha[k]) if looks.transparent[k] else None,
            flat_shading=name.startswith("flex") and not looks.wireframe,
            side="double",
            cast_shadow=looks.shadows,
            receive_shadow=looks.shadows,
        )
        handle, is_new = self.node(name, look, make)
        if not is_new:
            handle.vertices = vert

    def points(self, soft: SoftGeoms) -> Batch | None:
        """Return the visible vertices of flexes as instances of spheres, or None if there are none."""
        which = [flex for flex in soft.which("FLEX") if flex[2].vertices]
        if not which:
            return None
        parts = [self._vertices(scene, number) for _, number, scene in which]
        geom = np.repeat([k for k, _, _ in which], [len(part) for part in parts])
        scale = np.repeat(soft.geoms["size"][geom, :1].astype(float), 3, axis=1)
        return Batch(geom, np.concatenate(parts), np.broadcast_to(np.eye(3), (len(geom), 3, 3)), scale)

    def edges(self, soft: SoftGeoms) -> Lines:
        """Return the visible edges of flexes as lines."""
        m, parts, owner = self._model, [np.zeros((0, 2, 3))], [np.zeros(0, int)]
        for k, flex, scene in soft.which("FLEX"):
            if scene.edges:
                adr, count = int(m.flex_edgeadr[flex]), int(m.flex_edgenum[flex])
                parts.append(self._vertices(scene, flex)[np.array(m.flex_edge[adr : adr + count])])
                owner.append(np.full(count, k))
        return Lines(np.concatenate(parts), np.concatenate(owner))

    def _vertices(self, soft: SoftScene, flex: int) -> np.ndarray:
        m = self._model
        adr, count = int(m.flex_vertadr[flex]), int(m.flex_vertnum[flex])
        return soft.flexvert[3 * adr : 3 * (adr + count)].reshape(-1, 3).astype(float)
