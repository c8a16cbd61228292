"""The functions that open a viewer: `launch`, which steps the physics itself, and `launch_passive`, for scripts."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from cardan.api.arguments import check_pair
from cardan.api.pipeline import mj_forward
from cardan.api.state import mj_copyData, mj_getState, mj_setState, mj_stateSize
from cardan.model import MjData, MjModel
from cardan.view.app import Viewer
from cardan.view.overlays import checked_texts, copied_images, drawn_figures
from cardan.view.physics import SPEC, Pusher
from cardan.view.server import PORT
from cardan.view.session import USER_GEOMS
from cardan.view.source import HUMANOID, Loader, Source
from cardan.visual import MjrRect, MjvCamera, MjvFigure, MjvOption, MjvPerturb, MjvScene
from cardan.visual.defaults import require_record

OPEN = "CARDAN_VIEWER_OPEN"
"""Environment variable: with the value 0, viewers don't open a page in a browser."""
LEFT_AFTER = 10.0
"""Time, s, from the closing of the last page to the end of a viewer; longer than a page takes to reload."""


Content = TypeVar("Content")
Pairs = tuple[MjrRect, Content] | list[tuple[MjrRect, Content]]
"""A rectangle with its content, or a list of them."""
TextEntry = tuple[int | None, int | None, str | None, str | None]
"""A font, a position and two columns of text."""


def announce(viewer: Viewer) -> None:
    """Print the address of a viewer, and open it in a browser if a screen is available."""
    server = viewer.server
    taken = f" (port {server.asked} is taken)" if server.asked not in (0, server.port) else ""
    print(f"Viewer: {viewer.address}{taken}", file=sys.stderr, flush=True)
    graphic = sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if graphic and os.environ.get(OPEN, "1") != "0":
        webbrowser.open(viewer.address)


def serve(viewer: Viewer) -> None:
    """Announce a viewer, wait until it is closed in a page or interrupted by Ctrl-C, and close it."""
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
    """Show and simulate a model in the browser, in real time; return when the viewer is closed.

    A user closes the viewer with the button in a page, by closing all pages, or with Ctrl-C.

    Args:
        model: the model; None for a humanoid.
        data: data of the model, which the viewer modifies; None for new data.
        loader: function that returns a model and its data, in place of `model` and `data`; called for each reload.
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
    require_record("launch", "model", model, MjModel)
    data = MjData(model) if data is None else data
    require_record("launch", "data", data, MjData)
    check_pair("launch", model, data)
    serve(Viewer(model, data, source=source, show_ui=show_left_ui or show_right_ui, leave=LEFT_AFTER))


def launch_from_path(path: str) -> None:
    """Show a model file in the browser (see `view`) until all pages are closed; reload the file when it changes."""
    view(Path(path), leave=LEFT_AFTER)


def view(
    path: Path | None, port: int = PORT, worlds: int = 1, keyframe: int | None = None, leave: float | None = None
) -> None:
    """Show a model file (MJCF, URDF, or binary; None: a humanoid) in the browser; return when the viewer is closed.

    If the port is taken, the next free port is used. All `worlds` start in the keyframe and are shown side by side.
    If `leave` is not None, the viewer ends `leave` seconds after its last page was closed.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file breaks a rule of the language, or the keyframe does not exist.
    """
    source = Source(path or HUMANOID)
    model, data = source.load()
    serve(Viewer(model, data, source=source, port=port, worlds=worlds, keyframe=keyframe, leave=leave))


class Handle:
    """Handle of a viewer that shows a copy of a script's `data`; as a context manager, it closes the viewer."""

    def __init__(self, viewer: Viewer, data: MjData) -> None:
        self._viewer, self._session = viewer, viewer.session
        self._model, self._data = viewer.session.model, data
        self._pusher = Pusher()
        self._user_scene = MjvScene(self._model, USER_GEOMS)
        self._flags = np.array(self._user_scene.values["flags"])
        self._state = np.empty(mj_stateSize(self._model, SPEC))
        # for programs that end without closing the viewer
        self._at_exit = self.close
        atexit.register(self._at_exit)

    @property
    def cam(self) -> MjvCamera:
        """The camera, as last moved by a user in a page or by the script."""
        return self._session.camera

    @property
    def opt(self) -> MjvOption:
        """The visualization options."""
        return self._session.option

    @property
    def pert(self) -> MjvPerturb:
        """The selected body, and its perturbation by the mouse."""
        return self._session.perturb

    perturb = pert
    """Another name of `pert`."""

    @property
    def user_scn(self) -> MjvScene:
        """The script's own geoms and rendering flags, which `sync` adds to the displayed scene."""
        return self._user_scene

    @property
    def m(self) -> MjModel:
        """The model."""
        return self._model

    @property
    def d(self) -> MjData:
        """The script's data."""
        return self._data

    @property
    def viewport(self) -> MjrRect | None:
        """The area in which the first page shows the scene, pixels; None if no page is open."""
        for client in self._viewer.server.viser.get_clients().values():
            return MjrRect(0, 0, client.camera.image_width, client.camera.image_height)
        return None

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        return self._viewer.address

    def lock(self) -> threading.RLock:  # type: ignore[valid-type]
        """Return the viewer's lock, a context manager. Hold the lock while you change the model or the data."""
        return self._session.lock

    def is_running(self) -> bool:
        """Return whether the viewer is open."""
        return not self._session.closed.is_set()

    def sync(self, state_only: bool = False) -> None:
        """Exchange changes between the pages and the script's model and data.

        The data, `user_scn` and its flags are sent to the pages. Changes of controls, positions and options, and the
        force of the mouse, are taken from the pages. If the viewer is closed, nothing happens.

        Args:
            state_only: copy only the state and recompute all other values (`mj_forward`), instead of copying all data.
        """
        if not self.is_running():
            return
        session, m, d = self._session, self._model, self._data
        with session.lock:
            session.obey(m, d)
            self._pusher.apply(m, d, session.perturb, False)
            if state_only:
                mj_getState(m, d, self._state, SPEC)
                mj_setState(m, session.data, self._state, SPEC)
                mj_forward(m, session.data)
            else:
                mj_copyData(session.data, m, d)
            scene = self._user_scene
            session.user_geoms = scene.geom_values[: scene.ngeom].copy()
            # rendering flags go in both directions, the script's first
            flags = np.array(scene.values["flags"])
            changed = flags != self._flags
            session.flags[changed] = flags[changed]
            scene.values["flags"][:] = session.flags
            self._flags = session.flags.copy()

    def set_figures(self, viewports_figures: Pairs[MjvFigure]) -> None:
        """Show figures, as they are at present, in place of those of the last call.

        Args:
            viewports_figures: a tuple (MjrRect, MjvFigure) or a list of such tuples. Pages show figures in their
                panel, in the sizes of the rectangles.

        Raises:
            TypeError: an entry has another type.
            ValueError: a rectangle has no pixels.
        """
        self._overlay("figures", drawn_figures(viewports_figures))

    def clear_figures(self) -> None:
        """Remove the figures."""
        self._overlay("figures", [])

    def set_texts(self, texts: TextEntry | list[TextEntry]) -> None:
        """Show texts in place of those of the last call.

        Args:
            texts: a tuple (font, position, left column, right column) or a list of such tuples; each part may be None.
                Pages show texts in their panel, ordered by their positions (mjtGridPos), in their own font.

        Raises:
            TypeError: a text is not a str, or an entry is not such a tuple.
            ValueError: there is no such position.
        """
        self._overlay("texts", checked_texts(texts))

    def clear_texts(self) -> None:
        """Remove the texts."""
        self._overlay("texts", [])

    def set_images(self, viewports_images: Pairs[np.ndarray]) -> None:
        """Show images in place of those of the last call.

        Args:
            viewports_images: a tuple (MjrRect, RGB image (height, width, 3)) or a list of such tuples. Pages show
                images in their panel.

        Raises:
            TypeError: an entry has another type.
            ValueError: an image has another shape, or a rectangle has no pixels.
        """
        self._overlay("images", copied_images(viewports_images))

    def clear_images(self) -> None:
        """Remove the images."""
        self._overlay("images", [])

    def _overlay(self, kind: str, content: list[Any]) -> None:
        with self._session.lock:
            self._session.overlays.put(kind, content)

    def update_hfield(self, hfieldid: int) -> None:
        """Show a height field with its current values in the model; raise ValueError if it does not exist."""
        self._update("hfield", hfieldid, self._model.nhfield)

    def update_mesh(self, meshid: int) -> None:
        """Show a mesh with its current values in the model; raise ValueError if it does not exist."""
        self._update("mesh", meshid, self._model.nmesh)

    def update_texture(self, texid: int) -> None:
        """Show a texture with its current values in the model; raise ValueError if it does not exist."""
        self._update("texture", texid, self._model.ntex)

    def _update(self, kind: str, number: int, count: int) -> None:
        if not 0 <= number < count:
            there = f"valid ids are 0 to {count - 1}" if count else "the model has none"
            raise ValueError(f"update_{kind}: there is no id {number}: {there}")
        with self._session.lock:
            self._viewer.publisher.renew(kind, number)

    def close(self) -> None:
        """Close the viewer."""
        atexit.unregister(self._at_exit)
        self._viewer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def launch_passive(
    model: MjModel,
    data: MjData,
    *,
    key_callback: Callable[[int], None] | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
) -> Handle:
    """Show a model in the browser; the script steps the physics and calls `sync` of the returned handle.

    Args:
        model: the model.
        data: data of the model.
        key_callback: called with the GLFW code of each key that is pressed in a page; the code of a letter is the
            character code of the capital letter.
        show_left_ui: whether the panel of controls is open at the beginning.
        show_right_ui: accepted for compatibility: the viewer has one panel.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: the data was made for another model.
        ImportError: the package viser isn't installed.
    """
    require_record("launch_passive", "model", model, MjModel)
    require_record("launch_passive", "data", data, MjData)
    if key_callback is not None and not callable(key_callback):
        raise TypeError(f"launch_passive: key_callback must be callable, not {type(key_callback).__name__}")
    shown = MjData(model)
    mj_copyData(shown, model, data)
    show_ui = show_left_ui or show_right_ui
    viewer = Viewer(model, shown, passive=True, key_callback=key_callback, show_ui=show_ui, leave=LEFT_AFTER)
    announce(viewer)
    return Handle(viewer, data)
