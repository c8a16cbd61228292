"""Skins: surfaces whose vertices follow bodies (spec: modeling, "skin"). They are there to be seen only."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.files import asset_name, read_asset
from cardan.errors import suggestion
from cardan.maths.quaternion import normalize4

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

_SECTIONS = ("asset", "deformable")
_HEADER = struct.Struct("<4i")  # vertices, texture coordinates, faces, bones
_BONE = struct.Struct("<40s3f4fi")  # body, position, orientation, number of vertices
_EXTENSION = ".skn"


@dataclass(slots=True)
class Bone:
    """One bone: its body, the pose in which it was bound, its vertices and their weights."""

    body: str
    pos: Sequence[float]
    quat: Sequence[float]
    vertid: np.ndarray
    weight: np.ndarray


@dataclass(slots=True)
class Skin:
    """A surface: vertices (n, 3), texture coordinates (n, 2) or (0, 2), faces (m, 3), bones."""

    vert: np.ndarray
    texcoord: np.ndarray
    face: np.ndarray
    bones: list[Bone] = field(default_factory=list)


def add_skins(build: Build) -> None:
    """Columns ``skin_*``: skins in ``asset``, then those in ``deformable``."""
    for section in _SECTIONS:
        for element in build.tree.section(section).all("skin"):
            values = element.resolved()
            skin = _read(build, element) if values["file"] else _written(element, values)
            _check(element, skin)
            _put(build, element, values, skin)


def _put(build: Build, element: Element, values: dict[str, Any], skin: Skin) -> None:
    """One skin."""
    build.enter("skin", element.name)
    build.put(
        skin_matid=build.ids["material"].get(values["material"] or "", -1),
        skin_group=values["group"],
        skin_rgba=values["rgba"],
        skin_inflate=values["inflate"],
        skin_vertadr=build.add_block("skin_vert", skin.vert),
        skin_vertnum=len(skin.vert),
        skin_texcoordadr=build.add_block("skin_texcoord", skin.texcoord) if len(skin.texcoord) else -1,
        skin_faceadr=build.add_block("skin_face", skin.face),
        skin_facenum=len(skin.face),
        skin_boneadr=len(build.columns["skin_bonebodyid"]),
        skin_bonenum=len(skin.bones),
        skin_path=asset_name(build, element),
    )
    vertid, weight = (np.concatenate([getattr(bone, part) for bone in skin.bones]) for part in ("vertid", "weight"))
    total = _total_weights(element, len(skin.vert), vertid, weight)
    adr = build.add_block("skin_bonevertid", vertid)
    build.add_block("skin_bonevertweight", weight / total[vertid])
    for bone in skin.bones:
        build.put(
            skin_bonevertadr=adr,
            skin_bonevertnum=len(bone.vertid),
            skin_bonebindpos=bone.pos,
            skin_bonebindquat=normalize4(tuple(map(float, bone.quat))),
            skin_bonebodyid=_body(build, element, bone.body),
        )
        adr += len(bone.vertid)
    build.sizes["nskinbone"] = len(build.columns["skin_bonebodyid"])


def _body(build: Build, element: Element, name: str) -> int:
    """Id of a bone's body; names in files are checked only here."""
    ids = build.ids["body"]
    if name not in ids:
        raise element.error(f"there is no body named '{name}'{suggestion(name, ids)}", "file")
    return ids[name]


# --- from the model's text -------------------------------------------------------------------------------------------


def _written(element: Element, values: dict[str, Any]) -> Skin:
    """A skin that the model's text holds."""
    skin = Skin(
        _table(element, values, "vertex", 3, np.float32),
        _table(element, values, "texcoord", 2, np.float32),
        _table(element, values, "face", 3, np.int32),
    )
    for part in element.all("bone"):
        row = part.attributes
        if len(row["vertid"]) != len(row["vertweight"]):
            found = f"{len(row['vertid'])} and {len(row['vertweight'])}"
            raise part.error(f"there must be as many weights as vertices, found {found}", "vertweight")
        vertid, weight = np.array(row["vertid"], np.int32), np.array(row["vertweight"], np.float32)
        skin.bones.append(Bone(row["body"], row["bindpos"], row["bindquat"], vertid, weight))
    return skin


def _table(element: Element, values: dict[str, Any], name: str, width: int, dtype: Any) -> np.ndarray:
    """Rows of ``width`` numbers."""
    flat = values[name] or ()
    if len(flat) % width:
        raise element.error(f"the number of values must be a multiple of {width}, found {len(flat)}", name)
    return np.array(flat, dtype).reshape(-1, width)


# --- from a file -----------------------------------------------------------------------------------------------------


def _read(build: Build, element: Element) -> Skin:
    """A skin that a file holds."""
    given = [name for name in ("vertex", "texcoord", "face") if name in element.attributes]
    if given or element.child("bone"):
        raise element.error(f"file and {given[0] if given else '<bone>'} exclude each other", "file")
    name = element.attributes["file"]
    if not name.lower().endswith(_EXTENSION):
        raise element.error(f"'{name}' is no skin file: the extension must be {_EXTENSION}", "file")
    try:
        return _parse(read_asset(build, element))
    except struct.error:
        raise element.error(f"'{name}': the skin file ends too early", "file") from None
    except ValueError as error:
        raise element.error(f"'{name}': {error}", "file") from None


def _parse(content: bytes) -> Skin:
    """A skin from the binary format. Raises ValueError or struct.error when the file is broken."""
    nvert, ntexcoord, nface, nbone = _HEADER.unpack_from(content)
    if min(nvert, ntexcoord, nface, nbone) < 0:
        raise ValueError("a size in the header is negative")
    at = _HEADER.size
    vert, at = _numbers(content, at, "<f4", 3 * nvert)
    texcoord, at = _numbers(content, at, "<f4", 2 * ntexcoord)
    face, at = _numbers(content, at, "<i4", 3 * nface)
    skin = Skin(vert.reshape(-1, 3), texcoord.reshape(-1, 2), face.reshape(-1, 3))
    for _ in range(nbone):
        body, *pose, count = _BONE.unpack_from(content, at)
        if count < 1:
            raise ValueError(f"a bone needs vertices, found {count}")
        vertid, at = _numbers(content, at + _BONE.size, "<i4", count)
        weight, at = _numbers(content, at, "<f4", count)
        name = body[:-1].split(b"\0", 1)[0].decode(errors="replace")
        skin.bones.append(Bone(name, pose[:3], pose[3:], vertid, weight))
    if at != len(content):
        raise ValueError(f"the skin takes {at} bytes, but the file has {len(content)}")
    return skin


def _numbers(content: bytes, at: int, dtype: str, count: int) -> tuple[np.ndarray, int]:
    """Numbers of four bytes from an address on, and the address behind them."""
    end = at + 4 * count
    if end > len(content):
        raise ValueError("the skin file ends too early")
    return np.frombuffer(content, dtype, count, at), end


# --- checks ----------------------------------------------------------------------------------------------------------


def _check(element: Element, skin: Skin) -> None:
    """A skin has vertices, faces and bones, and every number in it means something."""
    if not (len(skin.vert) and len(skin.face) and skin.bones):
        raise element.error("a skin needs vertices, faces and bones", "file" if element["file"] else "vertex")
    if len(skin.texcoord) not in (0, len(skin.vert)):
        found = f"{len(skin.texcoord)} and {len(skin.vert)}"
        raise element.error(f"there must be as many texture coordinates as vertices, found {found}", "texcoord")
    _check_ids(element, skin.face, len(skin.vert), "face")
    vertid, weight = (np.concatenate([getattr(bone, part) for bone in skin.bones]) for part in ("vertid", "weight"))
    if vertid.min() < 0 or vertid.max() >= len(skin.vert):
        for bone in skin.bones:
            _check_ids(element, bone.vertid, len(skin.vert), f"the bone of body '{bone.body}'")
    poses = np.array([(*bone.pos, *bone.quat) for bone in skin.bones])
    if not all(np.isfinite(part).all() for part in (skin.vert, skin.texcoord, poses, weight)):
        element.warn("every number of a skin must be finite (in single precision)")


def _check_ids(element: Element, ids: np.ndarray, count: int, what: str) -> None:
    if ids.min() < 0 or ids.max() >= count:
        raise element.error(f"{what}: vertices are 0 to {count - 1}, found {ids.min()} to {ids.max()}")


def _total_weights(element: Element, count: int, vertid: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sum of the weights of each of the `count` vertices over all bones, which must be positive."""
    total = np.zeros(count, np.float32)
    np.add.at(total, vertid, weight)
    if total.min() <= 0.0:
        vertex = int(total.argmin())
        raise element.error(f"the total weight of each vertex must be positive; vertex {vertex} has {total[vertex]:g}")
    return total
