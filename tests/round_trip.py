"""Round trips through MJCF text: all models of the tests."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from models import TESTS, base_of


def model_texts() -> Iterator[tuple[str, str]]:
    """All models that stand as text in the tests: place and text. Some are broken on purpose."""
    seen: set[str] = set()
    for file in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value.strip()
                if text.startswith("<mujoco") and text.endswith(("</mujoco>", "/>")) and text not in seen:
                    seen.add(text)
                    yield f"{file.stem}:{node.lineno}", text


def beside(folder: Path, original: Path) -> Path:
    """A folder for a copy of a model file, from which the paths to everything near the original lead to the same."""
    here = base = base_of(original)
    folder.mkdir()
    for part in [*original.parent.relative_to(base).parts, None]:
        for entry in here.iterdir():
            if entry.name != part:
                os.symlink(entry, folder / entry.name)
        if part is not None:
            folder, here = folder / part, here / part
            folder.mkdir()
    return folder
