"""`launch_passive`: a viewer for a script that steps the physics itself."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np

from cardan.api.pipeline import mj_forward
from cardan.api.state import mj_copyData, mj_getState, mj_setState, mj_stateSize
from cardan.enums import mjtState
from cardan.model import MjData, MjModel
from cardan.view.app import Viewer
from cardan.view.launching import LEFT_AFTER, announce, check_kind
from cardan.view.perturbing import Pusher
from cardan.view.session import USER_GEOMS
from cardan.visual import MjvCamera, MjvOption, MjvPerturb, MjvScene

INTEGRATION = mjtState.mjSTATE_INTEGRATION.value


class Handle:
    """A script's access to its viewer; as a context manager it closes the viewer at the end.

    Args:
        viewer: the viewer; its data is a copy of the script's data, made by `sync`.
        data: the script's data.
    """

    def __init__(self, viewer: Viewer, data: MjData) -> None:
        self._viewer, self._session = viewer, viewer.session
        self._model, self._data = viewer.session.model, data
        self._pusher = Pusher()
        self._user_scene = MjvScene(self._model, USER_GEOMS)
        self._flags = np.array(self._user_scene.flags)
        self._state = np.empty(mj_stateSize(self._model, INTEGRATION))
        # if the program ends without closing it
        self._at_exit = self.close
        atexit.register(self._at_exit)

    @property
    def cam(self) -> MjvCamera:
        """The camera, set by the page that was moved last, or by the script."""
        return self._session.camera

    @property
    def opt(self) -> MjvOption:
        """The visualization options."""
        return self._session.option

    @property
    def pert(self) -> MjvPerturb:
        """The selected body, and its perturbation by the mouse."""
        return self._session.perturb

    @property
    def perturb(self) -> MjvPerturb:
        """Another name of `pert`."""
        return self._session.perturb

    @property
    def user_scn(self) -> MjvScene:
        """The script's own geoms and rendering flags, which `sync` adds to the displayed scene."""
        return self._user_scene

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        return self._viewer.address

    def lock(self) -> threading.RLock:  # type: ignore[valid-type]
        """Return the viewer's lock, a context manager, which guards the data that a script may change."""
        return self._session.lock

    def is_running(self) -> bool:
        """Whether the viewer is open."""
        return not self._session.closed.is_set()

    def sync(self, state_only: bool = False) -> None:
        """Exchange changes between the pages and the script's model and data.

        The data, `user_scn` and its flags are sent to the pages. Controls, positions, options, and the force of the
        mouse come from the pages. If the viewer is closed, nothing happens.

        Args:
            state_only: copy only the state and compute the rest from it (`mj_forward`), instead of copying all data.
        """
        if not self.is_running():
            return
        session, m, d = self._session, self._model, self._data
        with session.lock:
            session.obey(m, d)
            self._pusher.apply(m, d, session.perturb, False)
            if state_only:
                mj_getState(m, d, self._state, INTEGRATION)
                mj_setState(m, session.data, self._state, INTEGRATION)
                mj_forward(m, session.data)
            else:
                mj_copyData(session.data, m, d)
            self._sync_scene()

    def _sync_scene(self) -> None:
        """Send the script's geoms to the pages; exchange rendering flags in both directions, the script's first."""
        session, scene = self._session, self._user_scene
        session.user_geoms = scene.geom_values[: scene.ngeom].copy()
        flags = np.array(scene.flags)
        changed = flags != self._flags
        session.flags[changed] = flags[changed]
        scene.flags[:] = session.flags
        self._flags = session.flags.copy()

    def update_hfield(self, hfieldid: int) -> None:
        """Show a height field with its current values in the model.

        Raises:
            ValueError: the height field does not exist.
        """
        self._update("hfield", hfieldid, self._model.nhfield)

    def update_mesh(self, meshid: int) -> None:
        """Show a mesh with its current values in the model.

        Raises:
            ValueError: the mesh does not exist.
        """
        self._update("mesh", meshid, self._model.nmesh)

    def update_texture(self, texid: int) -> None:
        """Show a texture with its current values in the model.

        Raises:
            ValueError: the texture does not exist.
        """
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

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
    check_kind("launch_passive", "model", model, MjModel)
    check_kind("launch_passive", "data", data, MjData)
    if key_callback is not None and not callable(key_callback):
        raise TypeError(f"launch_passive: key_callback must be callable, not {type(key_callback).__name__}")
    shown = MjData(model)
    mj_copyData(shown, model, data)
    show_ui = show_left_ui or show_right_ui
    viewer = Viewer(model, shown, passive=True, key_callback=key_callback, show_ui=show_ui, leave=LEFT_AFTER)
    announce(viewer)
    return Handle(viewer, data)
