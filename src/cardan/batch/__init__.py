"""Many worlds at once: batches and rollouts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.batch.back_end import SimulationError
    from cardan.batch.batch import Batch
    from cardan.batch.fields import DATA_FIELDS
    from cardan.batch.models import MODEL_FIELDS

_HOMES = {"Batch": "batch", "DATA_FIELDS": "fields", "MODEL_FIELDS": "models", "SimulationError": "back_end"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, and return its value."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]
