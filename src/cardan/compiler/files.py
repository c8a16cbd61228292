"""Files of assets: where they are found, and the paths that the model keeps of them (spec: modeling, "compiler").

A file is looked up in the user's ``assets`` by the last part of its name, then in the folder that ``compiler``
names for its kind, relative to the main file. A file that is named in an included document and isn't there may also
stand in that document's folder; the model keeps its full path then.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cardan.spec.asset_names import asset_folder, file_base
from cardan.spec.tree import is_file

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

_PATHS = ("hfield", "mesh", "skin", "tex")  # fields' first words, in the order of the paths in the model


def asset_name(build: Build, element: Element, attribute: str = "file") -> str | None:
    """The name of an asset's file as the model keeps it, None when the attribute is not given."""
    name = element.attributes.get(attribute)
    if not name:
        return None
    if build.settings["strippath"]:
        return file_base(name)
    folder = build.tree.include_folders.get(element.source or "")
    if folder is None or is_file(_main_folder(build) / _folder(build, element) / name):
        return name
    return name if Path(name).is_absolute() else f"{folder}/{name}"


def read_asset(build: Build, element: Element, attribute: str = "file") -> bytes:
    """Content of an asset's file. Raises MjcfError when it cannot be read."""
    name = asset_name(build, element, attribute)
    assert name is not None
    try:
        return build.tree.read_file(name, _main_folder(build) / _folder(build, element))[0]
    except (OSError, ValueError) as error:
        raise element.error(str(error), attribute) from None


def asset_path(build: Build, element: Element, attribute: str = "file") -> Path | None:
    """Path of an asset's file; None for one in memory, or one that isn't found."""
    name = asset_name(build, element, attribute)
    assert name is not None
    try:
        place = build.tree.find_file(name, _main_folder(build) / _folder(build, element))
    except (OSError, ValueError):
        return None
    return None if isinstance(place, str) else place


def media_type(element: Element, name: str, known: dict[str, str]) -> str:
    """Media type of a file, as ``content_type`` says or by the extension of its name.

    ``known`` holds the type of each extension; the one of "" stands for all others. Raises MjcfError for a type that
    is not among them.
    """
    given = element.attributes.get("content_type")
    if not given:
        extension = Path(file_base(name)).suffix.lower()
        return known.get(extension, known[""])
    if given not in known.values():
        raise element.error(f"'{given}' is not supported; expected {' or '.join(known.values())}", "content_type")
    return given


def _main_folder(build: Build) -> Path:
    return build.tree.folder or Path()


def _folder(build: Build, element: Element) -> str:
    """The folder that the compiler settings give for files of this kind."""
    return asset_folder(build.settings, element.row.kind or "")


def put_paths(build: Build) -> None:
    """Column ``paths``, and ``*_pathadr`` from the columns ``*_path`` that hold a name or None for each asset."""
    text = bytearray()
    for word in _PATHS:
        adr = build.columns[f"{word}_pathadr"]
        for name in build.columns.pop(f"{word}_path", ()):
            adr.append(-1 if name is None else len(text))
            text += b"" if name is None else name.encode() + b"\0"
    build.columns["paths"] = bytes(text) or b"\0"
