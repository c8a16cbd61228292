"""Names of assets that their files give (spec: modeling, ``name`` of assets)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

_SECTIONS = ("asset", "deformable")
_KINDS = ("texture", "hfield", "mesh", "skin")
_NAMED = ("texture", "hfield", "mesh")  # kinds that need a name


def file_base(name: str) -> str:
    """The last part of a path, whatever system wrote it."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def file_stem(name: str) -> str:
    """The last part of a path without its extension."""
    base = file_base(name)
    stem, dot, _ = base.rpartition(".")
    return stem if dot else base


def name_assets(tree: ModelTree) -> None:
    """Give assets without a name that of their file; equal ones get a number each: ``wood_0``, ``wood_1``.

    Raises:
        MjcfError: an asset has neither a name nor a file (skins and a sky box need none).
    """
    found: defaultdict[tuple[str, str], list[Element]] = defaultdict(list)
    for section in _SECTIONS:
        for element in tree.section(section).children:
            kind = element.row.kind or ""
            if kind in _KINDS and not element.name:
                found[kind, _stem(element)].append(element)
    for (_, stem), elements in found.items():
        for number, element in enumerate(elements):
            name = stem if len(elements) == 1 else f"{stem}_{number}"
            if name:
                element["name"] = name


def _stem(element: Element) -> str:
    """The name that the element's file gives, empty when it has none."""
    stem = file_stem(element.attributes.get("file") or "")
    if not stem and element.row.kind in _NAMED and element.attributes.get("type") != "skybox":
        raise element.error("required attribute missing: give a name, or a file to name it after", "name")
    return stem


def asset_folder(settings: dict[str, Any], kind: str) -> str:
    """The folder for files of a kind of asset, "" for the main file's own, by the settings of ``compiler``."""
    own = settings["texturedir" if kind == "texture" else "meshdir"]
    return own if own is not None else settings["assetdir"] or ""
