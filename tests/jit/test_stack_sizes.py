"""Arrays on the stack: their sizes are named, so that they follow the constants that bound what is put into them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "cardan"
MAKERS = {"stack_array", "stack_int_array"}


def sizes() -> Iterator[tuple[str, ast.expr]]:
    """Place and size of every array on the stack of a kernel."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.args[0]


def test_sizes_are_named() -> None:
    found = dict(sizes())
    assert len(found) > 20
    loose = [place for place, size in found.items() if not isinstance(size, ast.Name)]
    assert not loose, "a literal size doesn't follow the constant that it belongs to"
