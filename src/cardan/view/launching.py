"""`launch`: a viewer that steps the physics itself, until it is closed."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from cardan.api.arguments import check_pair
from cardan.model import MjData, MjModel
from cardan.view.app import Viewer
from cardan.view.server import PORT
from cardan.view.source import HUMANOID, Loader, Source

OPEN = "CARDAN_VIEWER_OPEN"
"""Environment variable: with the value 0, viewers don't open a page in a browser."""
LEFT_AFTER = 10.0
"""Time after which a viewer ends when its last page was closed, s; reloading a page takes less."""


def announce(viewer: Viewer) -> None:
    """Print the address of a viewer, and open it in a browser if a screen is available."""
    server = viewer.server
    taken = f" (port {server.asked} is taken)" if server.asked not in (0, server.port) else ""
    print(f"Viewer: {viewer.address}{taken}", file=sys.stderr, flush=True)
    graphic = sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if graphic and os.environ.get(OPEN, "1") != "0":
        webbrowser.open(viewer.address)


def check_kind(function: str, name: str, value: object, kind: type[MjModel] | type[MjData]) -> None:
    """Check that an argument is a model, or data.

    Raises:
        TypeError: the argument has another type; the message names the argument and the expected type.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{function}: {name} must be an {kind.__name__}, not {type(value).__name__}")


def serve(viewer: Viewer) -> None:
    """Print the address of a viewer, and wait until it is closed: in a page, or by an interrupt."""
    announce(viewer)
    try:
        while not viewer.session.closed.wait(0.2):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()


def launch(
    model: MjModel | None = None,
    data: MjData | None = None,
    *,
    loader: Loader | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
) -> None:
    """Show a model in the browser and simulate it in real time; return when the viewer is closed.

    It is closed by the button in its page, by closing all of its pages, or by an interrupt.

    Args:
        model: the model; None for a humanoid.
        data: data of the model, which the viewer modifies; None for new data.
        loader: function that makes the model and its data, instead of both arguments; called again for each reload.
        show_left_ui: whether the panel of controls is open at the beginning.
        show_right_ui: accepted for compatibility: the viewer has one panel.

    Raises:
        TypeError: an argument, or a result of the loader, has a wrong type.
        ValueError: data is given without a model or for another model, or a loader is given together with a model.
        ImportError: the package viser isn't installed.
    """
    if loader is not None and (model is not None or data is not None):
        raise ValueError("launch: give a model and its data, or a loader, not both")
    if data is not None and model is None:
        raise ValueError("launch: data need the model that they were made for")
    source = Source(loader=loader)
    if loader is not None:
        model, data = source.load()
    elif model is None:
        source = Source(HUMANOID)
        model, data = source.load()
    check_kind("launch", "model", model, MjModel)
    data = MjData(model) if data is None else data
    check_kind("launch", "data", data, MjData)
    check_pair("launch", model, data)
    serve(Viewer(model, data, source=source, show_ui=show_left_ui or show_right_ui, leave=LEFT_AFTER))


def launch_from_path(path: str) -> None:
    """Show a model file in the browser and simulate it in real time; return when the viewer is closed.

    Args:
        path: MJCF, URDF, or a binary model; it is loaded again when it changes.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file breaks a rule of the language.
    """
    view(Path(path), leave=LEFT_AFTER)


def view(
    path: Path | None,
    port: int = PORT,
    worlds: int = 1,
    keyframe: int | None = None,
    leave: float | None = None,
) -> None:
    """Show a model file, or a humanoid, in the browser; return when the viewer is closed.

    Args:
        path: MJCF, URDF, or a binary model; None for the humanoid.
        port: port of the server; if it is taken, the next free one.
        worlds: number of worlds side by side.
        keyframe: number of the initial keyframe.
        leave: time after which the viewer ends when its last page was closed, s; None: it does not end.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file breaks a rule of the language, or the keyframe does not exist.
    """
    source = Source(path or HUMANOID)
    model, data = source.load()
    serve(Viewer(model, data, source=source, port=port, worlds=worlds, keyframe=keyframe, leave=leave))
