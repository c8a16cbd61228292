"""``cardan view``: a model in the browser."""

from __future__ import annotations

from pathlib import Path

from cardan.cli.loading import keyframe_id, load_model
from cardan.view.source import HUMANOID


def run(model: Path | None, port: int, worlds: int, keyframe: str | None) -> None:
    """Run the command.

    Raises:
        ValueError: the viewer's package isn't installed, or the model is invalid.
    """
    number = keyframe_id(load_model(model or HUMANOID), keyframe) if keyframe is not None else None
    try:
        from cardan.view.launching import view

        view(model, port, worlds, number)
    except ImportError as error:
        raise ValueError(str(error)) from None
