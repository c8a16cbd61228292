"""Conversion of arrays of instances to nodes of viser's scene, one for each shape, and of geoms to colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.render.context import colors_of_numbers
from cardan.render.frame import RENDERING_FLAGS as FLAGS
from cardan.view.instances import OPAQUE, Batch, Kind, ModelSurfaces, Surface, Unit, quaternions, unit_surfaces

if TYPE_CHECKING:
    from viser import SceneApi

ROOT = "/world"
"""The parent of all other nodes; a tracking camera moves it."""
SMALLEST = 8
"""Smallest capacity of a batch, as a number of instances."""


class Looks(NamedTuple):
    """Appearance of the geoms of a scene: colours (n, 3) uint8, opacities (n,) from 0 to 1, and flags.

    If `wireframe` is set, only edges are drawn. If `plain` is set, as for segmentation, geoms have neither textures nor
    highlights.
    """

    rgb: np.ndarray
    alpha: np.ndarray
    transparent: np.ndarray
    wireframe: bool = False
    shadows: bool = True
    plain: bool = False


def linear(color: np.ndarray) -> np.ndarray:
    """Convert screen colours, 0 to 1, to linear colours, which the browser needs."""
    return np.clip(color, 0.0, None) ** 2.2  # the screen's gamma curve


LINEAR = np.rint(255 * linear(np.arange(256) / 255)).astype(np.uint8)
"""Table of `linear` for bytes.

viser expects linear colours for instances, and screen colours for other nodes.
"""


class NodeSet:
    """Nodes of viser's scene, by key. If the look of a node changes, a new node replaces it.

    `made` is called with the handle of each new node, for example to register handlers of clicks and drags.
    """

    def __init__(self, made: Callable[[Any], None] | None) -> None:
        self._made = made
        self._handles: dict[Any, tuple[bytes, Any]] = {}

    def node(self, key: Any, look: bytes, make: Callable[[], Any]) -> tuple[Any, bool]:
        """Return a node's handle, and whether the node is new: missing before this call, or with another `look`."""
        old = self._handles.get(key)
        if old is not None and old[0] == look:
            return old[1], False
        if old is not None:
            old[1].remove()
        handle = make()
        self._handles[key] = (look, handle)
        if self._made is not None:
            self._made(handle)
        return handle, True

    def keep(self, keys: Iterable[Any]) -> None:
        """Remove all nodes except those with the given keys."""
        for key in set(self._handles).difference(keys):
            self._handles.pop(key)[1].remove()

    def clear(self) -> None:
        """Remove all nodes."""
        self.keep(())


class Node:
    """A batch of instances in the browser, with a capacity (`room`) that may exceed their number.

    `geom` contains the index of each instance's geom in the scene, (room,); -1 for unused instances.
    """

    def __init__(self, handle: Any, room: int, colored: bool) -> None:
        self.handle, self.room, self.colored = handle, room, colored
        self.geom = np.full(room, -1)

    def show(self, batch: Batch, looks: Looks, transparent: bool) -> None:
        """Show the instances of a batch, and hide the unused rest of the capacity."""
        n, handle = len(batch.geom), self.handle
        self.geom = np.concatenate([batch.geom, np.full(self.room - n, -1)])
        handle.batched_positions = _padded(batch.pos, self.room, 0.0)
        handle.batched_wxyzs = _padded(quaternions(batch.mat), self.room, (1.0, 0.0, 0.0, 0.0))
        handle.batched_scales = _padded(batch.scale, self.room, 0.0)
        if self.colored:
            handle.batched_colors = _padded(LINEAR[looks.rgb[batch.geom]], self.room, 0)
            if transparent:
                handle.batched_opacities = _padded(looks.alpha[batch.geom], self.room, 1.0)


def _padded(values: np.ndarray, room: int, filling: Any) -> np.ndarray:
    """Extend `values` to `room` rows with rows of `filling`; convert all values except bytes to float32."""
    dtype = np.uint8 if values.dtype == np.uint8 else np.float32
    new = np.empty((room, *values.shape[1:]), dtype)
    new[: len(values)] = values
    new[len(values) :] = filling
    return new


class Nodes:
    """The nodes that show a scene's instances; `made` is called with each new handle, as in `NodeSet`."""

    def __init__(self, scene: SceneApi, surfaces: ModelSurfaces, made: Any = None) -> None:
        self._scene, self._surfaces, self._made = scene, surfaces, made
        self._units = unit_surfaces()
        self._nodes: dict[tuple[Kind, bool, bool], Node] = {}
        self._style = (False, True, False)

    def show(self, batches: dict[Kind, Batch], looks: Looks) -> None:
        """Show the instances of these batches, and hide all other nodes."""
        style = (looks.wireframe, looks.shadows, looks.plain)
        if style != self._style:
            self.clear()
            self._style = style
        shown = set()
        for kind, batch in batches.items():
            clear = looks.transparent[batch.geom]
            for transparent in (False, True):
                some = clear if transparent else ~clear
                if some.any():
                    part = Batch(*(column[some] for column in batch)) if not some.all() else batch
                    key = (kind, transparent, looks.wireframe)
                    self._node(key, len(part.geom)).show(part, looks, transparent)
                    shown.add(key)
        for key, node in self._nodes.items():
            node.handle.visible = key in shown

    def _node(self, key: tuple[Kind, bool, bool], count: int) -> Node:
        """Return the node for a batch, with a capacity of at least `count` instances."""
        node = self._nodes.get(key)
        if node is None or node.room < count:
            room = SMALLEST
            while room < count:
                room *= 2
            node = self._nodes[key] = self._make(key, room)
            if self._made is not None:
                self._made(node.handle)
        return node

    def surface(self, kind: Kind) -> Surface:
        """Return the surface that the instances of a kind of batch share."""
        name, number, _ = kind
        if name == "unit":
            return self._units[Unit(number)]
        return self._surfaces.mesh(number) if name == "mesh" else self._surfaces.hfield(number)

    def _make(self, key: tuple[Kind, bool, bool], room: int) -> Node:
        kind, transparent, wireframe = key
        surface = self.surface(kind)
        name = f"{ROOT}/{'_'.join(map(str, kind))}_{'clear' if transparent else 'opaque'}"
        pose = (np.tile((1.0, 0.0, 0.0, 0.0), (room, 1)), np.zeros((room, 3)))
        scale, (_, shadows, plain) = np.zeros((room, 3)), self._style
        if kind[2] >= 0 and surface.texcoord is not None and not (wireframe or plain):
            mesh = textured(surface, self._surfaces.texture(kind[2]))
            handle: Any = self._scene.add_batched_meshes_trimesh(
                name, mesh, *pose, batched_scales=scale, cast_shadow=shadows, receive_shadow=shadows, lod="off"
            )
            return Node(handle, room, colored=False)
        handle = self._scene.add_batched_meshes_simple(
            name,
            surface.vert,
            surface.face,
            *pose,
            batched_scales=scale,
            batched_colors=np.zeros((room, 3), np.uint8),
            batched_opacities=np.ones(room, np.float32) if transparent else None,
            opacity=0.999 if transparent else None,
            wireframe=wireframe,
            flat_shading=kind[0] == "hfield",
            side="double" if kind[0] != "unit" or wireframe else "front",
            cast_shadow=shadows and not transparent,
            receive_shadow=shadows,
            lod="off",
        )
        return Node(handle, room, colored=True)

    def clear(self) -> None:
        """Remove all nodes."""
        for node in self._nodes.values():
            node.handle.remove()
        self._nodes.clear()


def textured(surface: Surface, image: np.ndarray, rgba: np.ndarray | None = None) -> Any:
    """Make a mesh with a texture from a `surface` with texture coordinates.

    `image` is (height, width, 3), or (6, width, width, 3) for a cube, whose first side is shown. The colour of `rgba`
    (4,), if given, multiplies the image; the opacity has no effect.
    """
    import trimesh
    from PIL import Image
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    texcoord = np.asarray(surface.texcoord, float) * (1.0, -1.0) + (0.0, 1.0)
    picture = image if image.ndim == 3 else image[0]
    if rgba is not None:
        picture = np.clip(picture * rgba[:3], 0, 255).astype(np.uint8)
    material = PBRMaterial(
        baseColorTexture=Image.fromarray(np.ascontiguousarray(picture)), metallicFactor=0.0, roughnessFactor=0.8
    )
    visual = TextureVisuals(uv=texcoord, material=material)
    return trimesh.Trimesh(surface.vert, surface.face, visual=visual, process=False)


class Painter:
    """Computes the appearance of geoms. The mean colour of a geom's texture multiplies the geom's colour."""

    def __init__(self, surfaces: ModelSurfaces) -> None:
        self._surfaces = surfaces
        self._means: dict[int, np.ndarray] = {}  # mean colours of textures, 0 to 1

    def clear(self) -> None:
        """Discard the cached mean colours of textures. Call this when a texture has changed."""
        self._means.clear()

    def looks(self, geoms: np.ndarray, flags: np.ndarray) -> Looks:
        """Return the appearance of geoms (`MjvGeom`) with these rendering flags (mjtRndFlag)."""
        rgba, wireframe = geoms["rgba"].astype(float), bool(flags[FLAGS["WIREFRAME"]])
        if flags[FLAGS["SEGMENT"]]:
            opaque = np.zeros(len(geoms), bool)
            colors = colors_of_numbers(geoms["segid"], bool(flags[FLAGS["IDCOLOR"]]))
            return Looks(colors, np.ones(len(geoms)), opaque, wireframe, shadows=False, plain=True)
        rgb = rgba[:, :3] * (1.0 + np.minimum(geoms["emission"], 1.0))[:, None]
        tex = geoms["texid"]
        for k in np.unique(tex[tex >= 0]).tolist():
            if k not in self._means:
                self._means[k] = self._surfaces.texture(k).reshape(-1, 3).mean(0) / 255.0
            rgb[tex == k] *= self._means[k]
        colors = np.rint(255 * np.clip(rgb, 0.0, 1.0)).astype(np.uint8)
        return Looks(colors, rgba[:, 3], geoms["rgba"][:, 3] < OPAQUE, wireframe, bool(flags[FLAGS["SHADOW"]]))
