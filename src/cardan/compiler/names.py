"""Names of all objects, and the hash tables that find them (mjModel.names, mjModel.names_map)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.compiler.build import KINDS
from cardan.model.naming import name_table

if TYPE_CHECKING:
    from cardan.compiler.build import Build


def put_names(build: Build) -> None:
    """Fill the text of all names, the addresses in it, and the hash tables."""
    text = build.tree.model_name.encode() + b"\0"
    parts, adr = [text], len(text)
    for kind, (_, field) in KINDS.items():
        column = build.columns[field]
        for name in build.names[kind]:
            encoded = name.encode() + b"\0"
            column.append(adr)
            parts.append(encoded)
            adr += len(encoded)
    build.columns["names"] = b"".join(parts)
    build.columns["names_map"] = [place for kind in KINDS for place in name_table(build.names[kind]).tolist()]
