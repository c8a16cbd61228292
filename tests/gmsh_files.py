"""Small GMSH files: the formats 2.2 and 4.1, as text and binary in both byte orders."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

Block = tuple[int, Sequence[Sequence[int]]]  # type of the elements, their nodes

TYPES = {2: 1, 3: 2, 4: 4}  # type of an element by the number of its nodes
TEXT, LITTLE, BIG = "text", "<", ">"


class _Out:
    """Numbers as text or bytes."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.parts: list[bytes] = []

    def put(self, kinds: str, *values: Any) -> None:
        """A row of numbers; ``kinds`` as in `struct`."""
        if self.order == TEXT:
            self.parts.append(b" ".join(repr(value).encode() for value in values) + b"\n")
        else:
            self.parts.append(struct.pack(self.order + kinds, *values))

    def line(self, value: int) -> None:
        """A count in a line of its own."""
        self.parts.append(b"%d\n" % value)

    def section(self, name: str) -> bytes:
        """What was put so far, as a section."""
        content, self.parts = b"".join(self.parts), []
        start, end = b"$" + name.encode() + b"\n", b"\n$End" + name.encode() + b"\n"
        return start + (content.rstrip(b"\n") if self.order == TEXT else content) + end


def _header(version: str, order: str) -> bytes:
    out = _Out(order)
    out.parts.append(b"%b %d 8\n" % (version.encode(), order != TEXT))
    if order != TEXT:
        out.put("i", 1)
    return out.section("MeshFormat")


def gmsh_2(points: Sequence[Sequence[float]], blocks: Sequence[Block], order: str = TEXT, tags: int = 2) -> bytes:
    """A file of the format 2.2."""
    out = _Out(order)
    out.line(len(points))
    for number, point in enumerate(points, 1):
        out.put("i3d", number, *map(float, point))
    nodes = out.section("Nodes")
    out.line(sum(len(rows) for _, rows in blocks))
    number = 0
    for kind, rows in blocks:
        if order != TEXT:
            out.put("3i", kind, len(rows), tags)
        for row in rows:
            number += 1
            own = (number, *(kind, tags) * (order == TEXT), *[0] * tags, *row)
            out.put(f"{len(own)}i", *own)
    return _header("2.2", order) + nodes + out.section("Elements")


def gmsh_4(points: Sequence[Sequence[float]], blocks: Sequence[Block], order: str = TEXT) -> bytes:
    """A file of the format 4.1, with the nodes in one block."""
    out = _Out(order)
    count = len(points)
    out.put("4Q", 1, count, 1, count)
    out.put("3iQ", 3, 1, 0, count)
    for number in range(1, count + 1):
        out.put("Q", number)
    for point in points:
        out.put("3d", *map(float, point))
    nodes = out.section("Nodes")
    total = sum(len(rows) for _, rows in blocks)
    out.put("4Q", len(blocks), total, 1, total)
    number = 0
    for kind, rows in blocks:
        out.put("3iQ", 3, 1, kind, len(rows))
        for row in rows:
            number += 1
            out.put(f"{1 + len(row)}Q", number, *row)
    return _header("4.1", order) + nodes + out.section("Elements")
