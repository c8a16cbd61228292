"""Many worlds at once: batches and rollouts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.batch.batch import DATA_FIELDS, Batch
    from cardan.batch.errors import SimulationError
    from cardan.batch.models import MODEL_FIELDS

_HOMES = {"Batch": "batch", "DATA_FIELDS": "batch", "MODEL_FIELDS": "models", "SimulationError": "errors"}


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]
