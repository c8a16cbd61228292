"""Names of all objects, and the hash tables that find them (mjModel.names, mjModel.names_map)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.compiler.build import KINDS

if TYPE_CHECKING:
    from cardan.compiler.build import Build

_LOAD = 2  # slots of a hash table for each object
_MASK = 2**64 - 1
# kinds in the order of their tables in names_map
_MAP_ORDER = tuple(KINDS)


def name_hash(name: str) -> int:
    """D. J. Bernstein's hash (the variant with exclusive or) in 64 bits."""
    value = 5381
    for byte in name.encode():
        value = (value * 33 ^ byte) & _MASK
    return value


def _hash_table(names: list[str]) -> list[int]:
    """Open addressing: the id of each named object at its hash or, if that is taken, at the next free slot."""
    size = _LOAD * len(names)
    table = [-1] * size
    for number, name in enumerate(names):
        if name:
            slot = name_hash(name) % size
            while table[slot] >= 0:
                slot = (slot + 1) % size
            table[slot] = number
    return table


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
    build.columns["names"] = list(b"".join(parts))
    build.columns["names_map"] = [slot for kind in _MAP_ORDER for slot in _hash_table(build.names[kind])]
