"""Skins: surfaces whose vertices follow bodies (spec: modeling, "skin"). They are only visual."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from cardan.compiler.columns import rows_of
from cardan.compiler.files import asset_name, read_asset
from cardan.errors import suggestion
from cardan.maths.quaternion import normalize4
from cardan.maths.types import Quat

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

_SECTIONS = ("asset", "deformable")
_HEADER = struct.Struct("<4i")  # vertices, texture coordinates, faces, bones
_BONE = struct.Struct("<40s3f4fi")  # body, position, orientation, number of vertices
_EXTENSION = ".skn"


class Bone(NamedTuple):
    """One bone: its body, the pose in which it was bound, and the number of vertices that it moves."""

    body: str
    pos: Sequence[float]
    quat: Sequence[float]
    number: int


@dataclass(slots=True)
class Skin:
    """One skin: vertices, texture coordinates, faces, bones, and the vertices that bones move."""

    vert: np.ndarray  # (n, 3)
    texcoord: np.ndarray  # (n, 2) or (0, 2)
    face: np.ndarray  # (m, 3)
    bones: list[Bone]
    vertid: np.ndarray  # vertices of all bones, one bone after the other
    weight: np.ndarray  # their weights


def add_skins(build: Build) -> None:
    """Add columns ``skin_*``: first skins in ``asset``, then those in ``deformable``."""
    for section in _SECTIONS:
        for element in build.tree.section(section).all("skin"):
            values = element.resolved()
            skin = _read(build, element) if values["file"] else _written(element, values)
            _check(element, skin)
            _put(build, element, values, skin)


def _put(build: Build, element: Element, values: dict[str, Any], skin: Skin) -> None:
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
    vertid, bones = skin.vertid, skin.bones
    total = np.zeros(len(skin.vert), np.float32)
    np.add.at(total, vertid, skin.weight)
    if total.min() <= 0.0:
        vertex = int(total.argmin())
        raise element.error(f"the total weight of each vertex must be positive; vertex {vertex} has {total[vertex]:g}")
    adr = build.add_block("skin_bonevertid", vertid)
    build.add_block("skin_bonevertweight", skin.weight / total[vertid])
    columns = build.columns
    counts = [bone.number for bone in bones]
    quats = {id(bone.quat): bone.quat for bone in bones}  # few objects if a composite made them
    units = {key: normalize4(cast("Quat", tuple(map(float, quat)))) for key, quat in quats.items()}
    columns["skin_bonevertadr"] += [*accumulate(counts[:-1], initial=adr)]
    columns["skin_bonevertnum"] += counts
    columns["skin_bonebindpos"] += [bone.pos for bone in bones]
    columns["skin_bonebindquat"] += [units[id(bone.quat)] for bone in bones]
    ids = build.ids["body"]
    for bone in bones:  # names from files are checked only here
        if bone.body not in ids:
            raise element.error(f"there is no body named '{bone.body}'{suggestion(bone.body, ids)}", "file")
    columns["skin_bonebodyid"] += [ids[bone.body] for bone in bones]
    build.sizes["nskinbone"] = len(columns["skin_bonebodyid"])


# --- from the model's text -------------------------------------------------------------------------------------------


def _written(element: Element, values: dict[str, Any]) -> Skin:
    """Return a skin that is defined by attributes and children of its element."""
    bones, vertices, weights = [], [], []
    for part in element.all("bone"):
        row = part.attributes
        vertid, weight = row["vertid"], row["vertweight"]
        if len(vertid) != len(weight):
            found = f"{len(vertid)} and {len(weight)}"
            raise part.error(f"there must be as many weights as vertices, found {found}", "vertweight")
        vertices.append(vertid)
        weights.append(weight)
        bones.append(Bone(row["body"], row["bindpos"], row["bindquat"], len(vertid)))
    return Skin(
        rows_of(element, values, "vertex", 3, np.float32),
        rows_of(element, values, "texcoord", 2, np.float32),
        rows_of(element, values, "face", 3, np.int32),
        bones,
        _joined("i", vertices).astype(np.int32),
        _joined("d", weights).astype(np.float32),
    )


def _joined(code: str, parts: Sequence[Sequence[Any]]) -> np.ndarray:
    """Concatenate sequences of numbers into one array; ``code`` is the numbers' type code (see `array.array`)."""
    if all(isinstance(part, array) and part.typecode == code for part in parts):
        return np.frombuffer(b"".join(cast("Sequence[array[Any]]", parts)), code)
    return np.array([*chain.from_iterable(parts)], code)


# --- from a file -----------------------------------------------------------------------------------------------------


def _read(build: Build, element: Element) -> Skin:
    """Return a skin that is stored in a file."""
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
    """Parse a skin from the binary format. Raises ValueError or struct.error if the file is broken."""
    nvert, ntexcoord, nface, nbone = _HEADER.unpack_from(content)
    if min(nvert, ntexcoord, nface, nbone) < 0:
        raise ValueError("a size in the header is negative")
    at = _HEADER.size
    vert, at = _numbers(content, at, "<f4", 3 * nvert)
    texcoord, at = _numbers(content, at, "<f4", 2 * ntexcoord)
    face, at = _numbers(content, at, "<i4", 3 * nface)
    bones, vertices, weights = [], [], []
    for _ in range(nbone):
        body, *pose, count = _BONE.unpack_from(content, at)
        if count < 1:
            raise ValueError(f"a bone needs vertices, found {count}")
        vertid, at = _numbers(content, at + _BONE.size, "<i4", count)
        weight, at = _numbers(content, at, "<f4", count)
        name = body[:-1].split(b"\0", 1)[0].decode(errors="replace")
        bones.append(Bone(name, pose[:3], pose[3:], count))
        vertices.append(vertid)
        weights.append(weight)
    if at != len(content):
        raise ValueError(f"the skin takes {at} bytes, but the file has {len(content)}")
    tables = vert.reshape(-1, 3), texcoord.reshape(-1, 2), face.reshape(-1, 3)
    joined = (np.concatenate([part[:0], *parts]) for part, parts in ((face, vertices), (vert, weights)))
    return Skin(*tables, bones, *joined)


def _numbers(content: bytes, at: int, dtype: str, count: int) -> tuple[np.ndarray, int]:
    """Read ``count`` four-byte numbers at offset ``at``; return them and the offset after them.

    Raises:
        ValueError: the file ends before them.
    """
    end = at + 4 * count
    if end > len(content):
        raise ValueError("the skin file ends too early")
    return np.frombuffer(content, dtype, count, at), end


# --- checks ----------------------------------------------------------------------------------------------------------


def _check(element: Element, skin: Skin) -> None:
    """Check that a skin has vertices, faces and bones, and that its counts and indices are valid.

    If a number is not finite, issue a warning.
    """
    if not (len(skin.vert) and len(skin.face) and skin.bones):
        raise element.error("a skin needs vertices, faces and bones", "file" if element["file"] else "vertex")
    if len(skin.texcoord) not in (0, len(skin.vert)):
        found = f"{len(skin.texcoord)} and {len(skin.vert)}"
        raise element.error(f"there must be as many texture coordinates as vertices, found {found}", "texcoord")
    _check_ids(element, skin.face, len(skin.vert), "face")
    vertid = skin.vertid
    if vertid.min() < 0 or vertid.max() >= len(skin.vert):
        start = 0
        for bone in skin.bones:
            own = vertid[start : start + bone.number]
            _check_ids(element, own, len(skin.vert), f"the bone of body '{bone.body}'")
            start += bone.number
    poses = np.array([*chain.from_iterable([(*bone.pos, *bone.quat) for bone in skin.bones])])
    if not all(np.isfinite(part).all() for part in (skin.vert, skin.texcoord, poses, skin.weight)):
        element.warn("every number of a skin must be finite (in single precision)")


def _check_ids(element: Element, ids: np.ndarray, count: int, what: str) -> None:
    if ids.min() < 0 or ids.max() >= count:
        raise element.error(f"{what}: vertices are 0 to {count - 1}, found {ids.min()} to {ids.max()}")
