"""Interactive viewer with the interface of ``mujoco.viewer``. It runs in the browser, without installation there.

``python -m cardan.viewer [--mjcf=FILE]`` shows a model, or a humanoid.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.model import MjData, MjModel
    from cardan.view.launching import Handle

__all__ = ["Handle", "launch", "launch_from_path", "launch_passive"]


def __getattr__(name: str) -> Any:
    if name == "Handle":
        from cardan.view.launching import Handle

        return Handle
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def launch(
    model: MjModel | None = None,
    data: MjData | None = None,
    *,
    loader: Callable[[], tuple[MjModel, MjData]] | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
) -> None:
    """Show a model and simulate it in real time; return when the viewer is closed (`cardan.view.launching`)."""
    from cardan.view import launching

    launching.launch(model, data, loader=loader, show_left_ui=show_left_ui, show_right_ui=show_right_ui)


def launch_from_path(path: str) -> None:
    """Show a model file and simulate it in real time; return when the viewer is closed (`cardan.view.launching`)."""
    from cardan.view import launching

    launching.launch_from_path(path)


def launch_passive(
    model: MjModel,
    data: MjData,
    *,
    key_callback: Callable[[int], None] | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
) -> Handle:
    """Show the simulation of a script; return at once with a handle for the script (`cardan.view.launching`)."""
    from cardan.view import launching

    return launching.launch_passive(
        model, data, key_callback=key_callback, show_left_ui=show_left_ui, show_right_ui=show_right_ui
    )


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cardan.viewer", description="Show a model in the browser.")
    parser.add_argument("--mjcf", metavar="FILE", help="model file: MJCF, URDF, or binary (default: a humanoid)")
    path = parser.parse_args().mjcf
    if path is None:
        launch()
    else:
        launch_from_path(path)


if __name__ == "__main__":
    _main()
