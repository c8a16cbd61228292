"""Round trips through MJCF text: all models of the tests, and the comparison of two models field by field."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from models import SHARED_MODELS
from reference import UNREADABLE

from cardan.model.tables import MODEL

TESTS = Path(__file__).resolve().parent
TOLERANCE = 1e-9
# the reference lays out its memory by itself
MEMORY = ("narena", "nbuffer")


def field_value(model: Any, dotted: str) -> Any:
    """Value of a field by its dotted name."""
    for part in dotted.split("."):
        model = getattr(model, part)
    return model


def differences(expected: Any, found: Any, skipped: tuple[str, ...] = MEMORY) -> list[str]:
    """Fields in which two models (own ones or the reference's) differ by more than 1e-9 of the value, at least of 1."""
    different = []
    for field in MODEL.fields:
        if field.is_attached or field.name in UNREADABLE or field.name in skipped:
            continue
        left, right = field_value(expected, field.name), field_value(found, field.name)
        if isinstance(left, bytes):
            if left != right:
                different.append(field.name)
            continue
        left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
        if left.shape != right.shape:
            different.append(f"{field.name}: {left.shape} and {right.shape}")
        elif left.size:
            worst = np.max(np.abs(left - right) / np.maximum(1.0, np.abs(left)))
            if not worst <= TOLERANCE:
                different.append(f"{field.name}: {worst:.3g}")
    return different


def model_files() -> list[Path]:
    """All model files of the tests and of the shared models."""
    return sorted([*(TESTS / "models").glob("*.xml"), *SHARED_MODELS.rglob("*.xml")])


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
    base = next((part for part in original.parents if part in (SHARED_MODELS, TESTS)), original.parent)
    here = base
    folder.mkdir()
    for part in [*original.parent.relative_to(base).parts, None]:
        for entry in here.iterdir():
            if entry.name != part:
                os.symlink(entry, folder / entry.name)
        if part is not None:
            folder, here = folder / part, here / part
            folder.mkdir()
    return folder
