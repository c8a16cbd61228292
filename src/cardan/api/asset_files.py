"""Files of models: pixels of textures, and the files that an MJCF file names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from cardan.api.arguments import check_model, integer
from cardan.compiler.textures import pixels_of
from cardan.enums import mjtColorSpace
from cardan.files import FileName
from cardan.mjcf.reader import read_path
from cardan.model.binary import copy_with
from cardan.model.mjmodel import MjModel
from cardan.spec.schema.rows import Type
from cardan.spec.tree import asset_folder


def mj_loadTexture(m: MjModel, id: int) -> tuple[np.ndarray, int]:
    """Return a copy of the pixels of a texture, and its colour space (mjtColorSpace).

    The file of a texture that the model holds by reference is read.

    Args:
        m: model.
        id: id of the texture.

    Returns:
        The pixels (height, width, channels), uint8, and the number of the colour space.

    Raises:
        ValueError: there is no such texture, or its file can't be read.
    """
    check_model("mj_loadTexture", m)
    tex = integer("mj_loadTexture", "id", id)
    if not 0 <= tex < m.ntex:
        raise ValueError(f"mj_loadTexture: texture id {tex} is out of range: the model has {m.ntex} textures")
    pixels, space = pixels_of(m, tex).copy(), int(m.tex_colorspace[tex])
    resolved = m.tex_adr[tex] >= 0 or space != mjtColorSpace.mjCOLORSPACE_AUTO
    return pixels, space if resolved else int(mjtColorSpace.mjCOLORSPACE_LINEAR)


def mj_embedAssets(m: MjModel) -> MjModel:
    """Return a copy of a model that contains the pixels of textures which it holds by reference.

    The result is the model that compilation would have made of embedded textures; it can be saved as one binary file.

    Raises:
        ValueError: the file of a texture can't be read.
    """
    check_model("mj_embedAssets", m)
    pixels, spaces = [_read_pixels(m, tex) for tex in range(m.ntex)], m.tex_colorspace.copy()
    shapes = np.array([image.shape for image in pixels], np.int32).reshape(-1, 3)
    lengths = shapes.prod(axis=1)
    unknown = (m.tex_adr < 0) & (spaces == int(mjtColorSpace.mjCOLORSPACE_AUTO))
    spaces[unknown] = int(mjtColorSpace.mjCOLORSPACE_LINEAR)
    values = {
        "tex_adr": np.cumsum(lengths) - lengths,
        "tex_rgb": np.concatenate([image.ravel() for image in pixels]) if pixels else np.zeros(0, np.uint8),
        "tex_colorspace": spaces,
        **{f"tex_{name}": shapes[:, k] for k, name in enumerate(("height", "width", "nchannel"))},
    }
    return copy_with(m, {"ntexdata": int(lengths.sum())}, values)


def _read_pixels(m: MjModel, tex: int) -> np.ndarray:
    try:
        return pixels_of(m, tex)
    except ValueError as error:
        raise ValueError(f"mj_embedAssets: texture {tex}: {error}") from None


def mju_getXMLDependencies(filename: FileName) -> list[str]:
    """Return the paths of an MJCF file, of all files that it includes, and of their assets.

    Raises:
        ValueError: a file can't be read, or breaks a rule of the language.
    """
    path = os.fsdecode(filename)
    tree = read_path(path)
    settings = tree.section("compiler").resolved()
    folder = tree.folder or Path()
    found = dict.fromkeys((path, *(str(folder / name) for name in tree.include_folders)))
    for element in tree.root.descendants():
        for row in element.row.attributes.values():
            file = element.attributes.get(row.name) if row.type is Type.FILE else None
            if file:
                place = folder / asset_folder(settings, element.row.kind or "")
                found[str(tree.find_file(file, place, tree.include_folders.get(element.source or "")))] = None
    return list(found)


__all__ = ["mj_embedAssets", "mj_loadTexture", "mju_getXMLDependencies"]
