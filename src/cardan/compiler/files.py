"""Files of assets: lookup of files, and the paths that the model stores (spec: modeling, "compiler").

A file is looked up in the user's ``assets`` by the last part of its name. If it is not there, it is looked up in the
folder that ``compiler`` specifies for its kind, relative to the main file. A file that is named in an included document
is also looked up in that document's folder; if it is found there, the model stores its full path.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cardan.spec.tree import asset_folder, file_base, is_file

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

_PATHS = ("hfield", "mesh", "skin", "tex")  # first words of fields, in the order of the paths in the model


def asset_name(build: Build, element: Element, attribute: str = "file") -> str | None:
    """Return the name of an asset's file as stored in the model, or None if ``attribute`` of ``element`` is missing."""
    name = element.attributes.get(attribute)
    if not name:
        return None
    if build.settings["strippath"]:
        return file_base(name)
    folder = build.tree.include_folders.get(element.source or "")
    if folder is None or is_file(_folder(build, element) / name):
        return name
    return name if Path(name).is_absolute() else f"{folder}/{name}"


def read_asset(build: Build, element: Element, attribute: str = "file") -> bytes:
    """Return the content of the file that ``attribute`` of ``element`` names. Raises MjcfError if it cannot be read."""
    name = asset_name(build, element, attribute)
    assert name is not None
    try:
        return build.tree.read_file(name, _folder(build, element))[0]
    except (OSError, ValueError) as error:
        raise element.error(str(error), attribute) from None


def asset_path(build: Build, element: Element, attribute: str = "file") -> Path | None:
    """Return the path of the file that an attribute names; None if the file is in ``assets`` or not found."""
    name = asset_name(build, element, attribute)
    assert name is not None
    try:
        place = build.tree.find_file(name, _folder(build, element))
    except (OSError, ValueError):
        return None
    return None if isinstance(place, str) else place


def stored_path(build: Build, element: Element) -> str:
    """Return the path of an element's file: absolute, or relative to the current folder. The file need not exist."""
    return str(_folder(build, element) / (asset_name(build, element) or ""))


def media_type(element: Element, name: str, known: dict[str, str]) -> str:
    """Return the media type of a file, from ``content_type`` or from the extension of its name.

    ``known`` maps each extension to its type; the entry "" is the type of all other extensions. Raises MjcfError for a
    type that is not in ``known``.
    """
    given = element.attributes.get("content_type")
    if not given:
        extension = Path(file_base(name)).suffix.lower()
        return known.get(extension, known[""])
    if given not in known.values():
        raise element.error(f"'{given}' is not supported; expected {' or '.join(known.values())}", "content_type")
    return given


def _folder(build: Build, element: Element) -> Path:
    """Return the folder for files of the element's kind, from the compiler settings and the main file's folder."""
    return (build.tree.folder or Path()) / asset_folder(build.settings, element.row.kind or "")


def put_paths(build: Build) -> None:
    """Fill the column ``paths``, and the columns ``*_pathadr`` from ``*_path`` (a name or None for each asset)."""
    text = bytearray()
    for word in _PATHS:
        adr = build.columns[f"{word}_pathadr"]
        for name in build.columns.pop(f"{word}_path", ()):
            adr.append(-1 if name is None else len(text))
            text += b"" if name is None else name.encode() + b"\0"
    build.columns["paths"] = bytes(text) or b"\0"
