"""Where the tests find models of real size: the shared models beside the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SHARED_MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"


@cache
def shared_model_files() -> tuple[Path, ...]:
    """All model files, MJCF and URDF, ascending; none when the folder is not there."""
    return tuple(sorted([*SHARED_MODELS.rglob("*.xml"), *SHARED_MODELS.rglob("*.urdf")]))
