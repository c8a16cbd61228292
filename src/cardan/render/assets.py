"""Data of a model that a renderer holds: shapes and textures."""

from __future__ import annotations

import warnings

import numpy as np

from cardan.compiler.textures import pixels_of
from cardan.enums import mjtTexture
from cardan.errors import MjcfError
from cardan.jit import StructMemory
from cardan.model.mjmodel import MjModel
from cardan.render import shapes
from cardan.render.fields import ASSETS, NLEVEL, NLOD
from cardan.render.instances import Builtin
from cardan.render.shapes import Shape
from cardan.visual import MjvScene


def shortened(image: np.ndarray, axis: int) -> np.ndarray:
    """Halve an image along an axis (size rounded down) by linear interpolation at the centres of the new pixels.

    If the image has only one pixel along the axis, return it unchanged.
    """
    length = image.shape[axis]
    if length == 1:
        return image
    image = np.moveaxis(image, axis, 0)
    middle = (np.arange(length // 2) + 0.5) * (length / (length // 2)) - 0.5
    low = middle.astype(int)
    share = (middle - low).reshape(-1, *[1] * (image.ndim - 1))
    upper = np.minimum(low + 1, length - 1)
    return np.moveaxis(image[low] + share * (image[upper] - image[low]), 0, axis)


KTX = b"\xabKTX"
"""First bytes of texture files in the format KTX, which is not decoded."""


def levels_of(image: np.ndarray) -> list[np.ndarray]:
    """Return the mipmap levels of an image (..., height, width, 3): the image, and smaller ones down to one pixel."""
    levels = [image.astype(float)]
    while max(levels[-1].shape[-3:-1]) > 1 and len(levels) < NLEVEL:
        levels.append(shortened(shortened(levels[-1], -3), -2))
    return levels


def bordered(image: np.ndarray, repeats: bool) -> np.ndarray:
    """Add a border of one pixel on each side to an image, (..., height, width, 3).

    If the image repeats, the border contains the pixels of the opposite side; else it repeats the outermost pixels.
    """
    around = [(0, 0)] * (image.ndim - 3) + [(1, 1), (1, 1), (0, 0)]
    return np.pad(image, around, "wrap" if repeats else "edge")


def packed(image: np.ndarray) -> np.ndarray:
    """Convert the colours of an image to texels (n, 4), in the order of its pixels."""
    channels = np.rint(image).astype(np.uint8).reshape(-1, 3)
    return np.concatenate([channels, np.zeros_like(channels[:, :1])], 1)


class Textures:
    """Textures of a model. `texel` contains all colours; `columns` contains the other arrays, by name."""

    def __init__(self, model: MjModel) -> None:
        self.model = model
        n = model.ntex
        self.columns = {
            "tex_type": np.array(model.tex_type, np.int32),
            **{name: np.zeros(n, np.int32) for name in ("tex_width", "tex_height", "tex_nlevel")},
            "tex_leveladr": np.zeros((n, NLEVEL), np.int64),
        }
        parts, length = [np.zeros((1, 4), np.uint8)], 1
        for tex in range(n):
            levels = levels_of(self.image(tex))
            self.columns["tex_height"][tex], self.columns["tex_width"][tex] = levels[0].shape[-3:-1]
            self.columns["tex_nlevel"][tex] = len(levels)
            for k, level in enumerate(levels):
                self.columns["tex_leveladr"][tex, k] = length
                parts.append(packed(bordered(level, self.repeats(tex))))
                length += len(parts[-1])
        self.texel = np.concatenate(parts)

    def repeats(self, tex: int) -> bool:
        """Return whether a texture repeats beyond its edges: flat textures do, the sides of cubes don't."""
        return bool(self.model.tex_type[tex] == mjtTexture.mjTEXTURE_2D)

    def image(self, tex: int) -> np.ndarray:
        """Return the colours of a texture: (height, width, 3), or (6, width, width, 3) for cubes and sky boxes.

        A single channel is grey. A fourth channel, opacity, is ignored. Textures in the format KTX are replaced by a
        white pixel; likewise, with a warning, textures by reference whose file can't be read.
        """
        white = np.full((1, 1, 3), 255, np.uint8)
        try:
            image = pixels_of(self.model, tex)
        except MjcfError as error:
            warnings.warn(f"a texture can't be read: {error}", stacklevel=2)
            return white
        if image.ravel()[: len(KTX)].tobytes() == KTX:
            return white
        width, channels = image.shape[1:]
        image = np.repeat(image, 3, axis=2) if channels == 1 else image[..., :3]
        if self.repeats(tex):
            return image
        sides = image.reshape(-1, width, width, 3)
        return np.broadcast_to(sides, (6, width, width, 3)) if len(sides) == 1 else sides

    def upload(self, model: MjModel, tex: int) -> None:
        """Copy the colours of texture `tex` from a model. The size of the texture must not have changed."""
        self.model = model
        for k, level in enumerate(levels_of(self.image(tex))):
            values = packed(bordered(level, self.repeats(tex)))
            adr = self.columns["tex_leveladr"][tex, k]
            self.texel[adr : adr + len(values)] = values


PLANE_REACH = 1.05
"""Half the size of infinite planes, relative to the distance of the far plane."""
SHARP = 0.8
"""Cosine of the angle between a corner's normal and its triangle's normal below which the triangle's normal is used."""


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows of integer columns.

    Return the index of the first occurrence of each distinct row, and the index of each row among the distinct rows.
    """
    rows = len(columns[0])
    if all(np.array_equal(column, columns[0]) or not column.any() for column in columns[1:]):
        columns = columns[:1]  # for most meshes, one column suffices
    order = np.lexsort(columns)
    new = np.ones(rows, bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], 0)
    number = np.empty(rows, np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number


class Assets:
    """Shapes and textures of a model, in memory that kernels see.

    `mesh_shape` contains the shape numbers of each mesh and its convex hull. `uploads` counts replacements of shapes.
    """

    def __init__(self, model: MjModel) -> None:
        self.memory = StructMemory(ASSETS, {})
        self.shapes: list[Shape] = []
        self.uploads = 0
        quality = model.vis.quality
        self._add_builtin(int(quality.numslices), int(quality.numstacks), int(quality.numquads))
        self.mesh_shape = np.array(
            [[self._add(self._mesh(model, k)), self._add_hull(model, k)] for k in range(model.nmesh)]
        )
        self.hfield_shape = np.array([self._add(self._hfield(model, k)) for k in range(model.nhfield)])
        self._add_soft(model)
        self.textures = Textures(model)
        self.upload_texture = self.textures.upload
        map_, extent = model.vis.map, float(model.stat.extent)
        self.near, self.far = float(map_.znear) * extent, float(map_.zfar) * extent
        self.memory.scalars["plane_reach"][0] = PLANE_REACH * self.far
        self.shadow_clip, self.shadow_scale = float(map_.shadowclip) * extent, float(map_.shadowscale)
        self.shadow_size = int(quality.shadowsize)
        self.fog_start, self.fog_end = float(map_.fogstart) * extent, float(map_.fogend) * extent
        self.fog_color, self.haze_color = np.array(model.vis.rgba.fog[:3]), np.array(model.vis.rgba.haze[:3])
        self.haze = float(map_.haze)
        self.sky_share = 0.7  # distance at which the sky hides everything, relative to that of the far plane
        skies = np.flatnonzero(np.array(model.tex_type) == mjtTexture.mjTEXTURE_SKYBOX.value)
        self.sky = int(skies[0]) if len(skies) else -1
        self._attach()

    def _add(self, shape: Shape) -> int:
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def _add_builtin(self, slices: int, stacks: int, quads: int) -> None:
        """Add the built-in shapes at the level of detail that the arguments specify, and at coarser levels."""
        table = np.zeros((len(Builtin), NLOD), np.int32)
        numbers = np.zeros(NLOD, np.int32)
        for level, share in enumerate((1.0, 0.71, 0.5, 0.36, 0.21)):
            n = max(min(slices, 5), round(share * slices))
            k = max(min(stacks, 4), 2 * round(share * stacks / 2))
            numbers[level] = n
            made = {
                Builtin.SPHERE: shapes.sphere(n, k),
                Builtin.CAPSULE: shapes.capsule(n, k),
                Builtin.CYLINDER: shapes.cylinder(n, k, max(1, round(share * quads))),
                Builtin.BOX: shapes.box(quads),
                Builtin.PLANE: shapes.rectangle(1, 1),
                Builtin.CONE: shapes.cone(n, k),
                Builtin.DISK: shapes.disk(n, 1, 0.0, up=True),
                Builtin.TUBE: shapes.tube(n, k, by_end=False),
                Builtin.LINE: shapes.line(),
                Builtin.LINE_BOX: shapes.line_box(),
                Builtin.TRIANGLE: shapes.triangle(),
            }
            for kind, shape in made.items():
                table[kind, level] = self._add(shape)
        self.memory.attach("builtin", table)
        self.memory.arrays["slices"][:] = numbers

    def _mesh(self, model: MjModel, mesh: int) -> Shape:
        """Make the shape of a mesh, with a vertex for each combination of position, normal and texture coordinates."""
        faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
        face = np.array(model.mesh_face[faces])
        normal_number = np.array(model.mesh_facenormal[faces])
        texcoord_number = np.array(model.mesh_facetexcoord[faces])
        has_texcoord = model.mesh_texcoordadr[mesh] >= 0
        adr, count = int(model.mesh_normaladr[mesh]), int(model.mesh_normalnum[mesh])
        normals = np.array(model.mesh_normal[adr : adr + count])
        if not has_texcoord:  # a mesh with a texture keeps its normals
            normals, normal_number = self._normals(model, mesh, face, normals, normal_number)
        corner = [face.ravel(), normal_number.ravel(), texcoord_number.ravel() if has_texcoord else 0 * face.ravel()]
        first, number = distinct(*corner)
        vert = model.mesh_vert[model.mesh_vertadr[mesh] + corner[0][first]]
        normal = normals[corner[1][first]]
        texcoord = np.zeros((len(first), 2), np.float32)
        if has_texcoord:
            texcoord = model.mesh_texcoord[model.mesh_texcoordadr[mesh] + corner[2][first]]
        return shapes.plain(vert, normal, texcoord, number.reshape(-1, 3))

    def _normals(
        self, model: MjModel, mesh: int, face: np.ndarray, own: np.ndarray, number: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the normals of a mesh, then those of its triangles; and the index of each triangle corner's normal.

        `face` contains the vertices of the triangles, `own` the mesh's normals, and `number` the index in `own` for
        each corner. If a corner's normal differs too much from its triangle's normal, the triangle's normal replaces
        it. Therefore edges stay sharp, and mirrored meshes, whose normals point inwards, are drawn correctly.
        """
        corner = np.array(model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]])[face]
        flat = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        length = np.linalg.norm(flat, axis=1, keepdims=True)
        flat /= np.maximum(length, np.finfo(np.float32).tiny)
        sharp = (np.einsum("ij,ikj->ik", flat, own[number]) < SHARP) & (length > 0.0)
        return np.concatenate([own, flat]), np.where(sharp, len(own) + np.arange(len(face))[:, None], number)

    def _add_hull(self, model: MjModel, mesh: int) -> int:
        """Add the shape of a mesh's convex hull and return the shape's number.

        If there is no hull, return the number of the mesh's shape, which must have been added last.
        """
        adr = int(model.mesh_graphadr[mesh])
        if adr < 0:
            return len(self.shapes) - 1
        nvert, nface = (int(n) for n in model.mesh_graph[adr : adr + 2])
        first = adr + 2 + 3 * nvert + 3 * nface
        face = np.array(model.mesh_graph[first : first + 3 * nface]).reshape(-1, 3)
        return self._add(shapes.flat_faces(np.array(model.mesh_vert[model.mesh_vertadr[mesh] + face], float)))

    def _hfield(self, model: MjModel, hfield: int) -> Shape:
        rows, columns = int(model.hfield_nrow[hfield]), int(model.hfield_ncol[hfield])
        adr = int(model.hfield_adr[hfield])
        height = np.array(model.hfield_data[adr : adr + rows * columns], float).reshape(rows, columns)
        return shapes.height_field(height, np.array(model.hfield_size[hfield], float))

    def _add_soft(self, model: MjModel) -> None:
        """Add shapes for the faces of flexes and for skins; `take_soft` copies the positions from a scene."""
        room = MjvScene(model, 0).flexfacenum
        self.flex_shape = [self._add(shapes.flat_faces(np.zeros((int(n), 3, 3)))) for n in room]
        self.skin_shape = []
        for skin in range(model.nskin):
            first, count = int(model.skin_vertadr[skin]), int(model.skin_vertnum[skin])
            faceadr = int(model.skin_faceadr[skin])
            faces = slice(faceadr, faceadr + int(model.skin_facenum[skin]))
            texcoord = np.zeros((count, 2))
            if model.skin_texcoordadr[skin] >= 0:
                adr = int(model.skin_texcoordadr[skin])
                texcoord = np.array(model.skin_texcoord[adr : adr + count])
            vert = np.array(model.skin_vert[first : first + count])
            self.skin_shape.append(self._add(shapes.plain(vert, vert, texcoord, np.array(model.skin_face[faces]))))
        self.nsoft = len(self.flex_shape) + len(self.skin_shape)

    def take_soft(self, scene: MjvScene) -> None:
        """Copy the faces of flexes and the vertices of skins from a scene to their shapes."""
        arrays = self.memory.arrays
        for flex, shape in enumerate(self.flex_shape):
            used, adr = int(scene.flexfaceused[flex]), int(scene.flexfaceadr[flex])
            arrays["shape_facenum"][shape], arrays["shape_vertnum"][shape] = used, 3 * used
            arrays["shape_edgenum"][shape] = 3 * used
            for name, values, width in (
                ("vert", scene.flexface, 3),
                ("normal", scene.flexnormal, 3),
                ("texcoord", scene.flextexcoord, 2),
            ):
                part = values[3 * width * adr : 3 * width * (adr + used)].reshape(-1, width)
                first = int(arrays["shape_vertadr"][shape])
                arrays[name][first : first + 3 * used, :width] = part
            self._bound(shape)
        for skin, shape in enumerate(self.skin_shape):
            adr, count = int(scene.skinvertadr[skin]), int(scene.skinvertnum[skin])
            first = int(arrays["shape_vertadr"][shape])
            arrays["vert"][first : first + count, :3] = scene.skinvert[3 * adr : 3 * (adr + count)].reshape(-1, 3)
            arrays["normal"][first : first + count] = scene.skinnormal[3 * adr : 3 * (adr + count)].reshape(-1, 3)
            self._bound(shape)

    def _bound(self, shape: int) -> None:
        arrays = self.memory.arrays
        first, count = int(arrays["shape_vertadr"][shape]), int(arrays["shape_vertnum"][shape])
        vert = arrays["vert"][first : first + count, :3]
        arrays["shape_rbound"][shape] = np.sqrt((vert**2).sum(1).max(initial=0.0))

    def upload_mesh(self, model: MjModel, mesh: int) -> None:
        """Update the shape of a mesh from a model; the mesh's hull does not change."""
        self._overwrite(int(self.mesh_shape[mesh, 0]), self._mesh(model, mesh))

    def upload_hfield(self, model: MjModel, hfield: int) -> None:
        """Update the shape of a height field from a model."""
        self._overwrite(int(self.hfield_shape[hfield]), self._hfield(model, hfield))

    def _overwrite(self, number: int, shape: Shape) -> None:
        """Replace a shape with another one that has the same number of vertices and triangles."""
        self.shapes[number] = shape
        self.uploads += 1
        for name, owner in (("vert", "vert"), ("normal", "vert"), ("texcoord", "vert"), ("face", "face")):
            adr = int(self.memory.arrays[f"shape_{owner}adr"][number])
            values = getattr(shape, name)
            self.memory.arrays[name][adr : adr + len(values)] = values

    def _attach(self) -> None:
        """Concatenate the arrays of all shapes, and attach them to the structure that kernels see."""
        for name in Shape._fields:
            self.memory.attach(name, np.concatenate([getattr(shape, name) for shape in self.shapes]))
        for name in ("vert", "face", "edge"):
            number = np.array([len(getattr(shape, name)) for shape in self.shapes])
            self.memory.attach(f"shape_{name}num", number)
            self.memory.attach(f"shape_{name}adr", np.cumsum(number) - number)
        reach = [np.sqrt((shape.vert[:, :3] ** 2).sum(1).max(initial=0.0)) for shape in self.shapes]
        self.memory.attach("shape_rbound", np.array(reach))
        for name in ("mesh_shape", "hfield_shape", "flex_shape", "skin_shape"):
            numbers = np.array(getattr(self, name), np.int32)
            self.memory.attach(name, numbers.reshape(-1, 2) if name == "mesh_shape" else numbers)
        self.memory.attach("texel", self.textures.texel)
        for name, column in self.textures.columns.items():
            self.memory.attach(name, column)
