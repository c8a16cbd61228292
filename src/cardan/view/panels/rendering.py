"""Rendering options: flags, groups, labels, frames, the camera."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cardan.constants import mjFRAMESTRING, mjLABELSTRING, mjRNDSTRING, mjVISSTRING
from cardan.view.camera import FIXED, FREE, TRACKING
from cardan.view.panels.panel import Panel
from cardan.visual import MjvOption, mjv_defaultFreeCamera

GROUPS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")
EFFECTS = "effects"
"""Name of the session's array of rendering flags (mjtRndFlag); all other arrays of flags are in `MjvOption`."""
IN_PICTURES = ("Reflection", "Additive", "Haze")
"""Flags that have an effect only in screenshots and videos: the browser's renderer does not support them."""


class RenderingPanel(Panel):
    """Controls for flags of the scene and of the renderer, groups, labels, frames, and the camera."""

    def _build(self) -> None:
        option, m = self.session.option, self.session.model
        self.boxes: list[tuple[str, int, Any]] = []  # array of flags, index of the flag, check box
        self.cameras = ["Free", "Tracking", *(f"{k}: {m.camera(k).name or 'camera'}" for k in range(m.ncam))]
        self.camera = self.dropdown("Camera", self.cameras, self.cameras[0], self.set_camera)
        self.button("Reset view", self.reset_view)
        self.label = self._choice("Label", "label", mjLABELSTRING)
        self.frame = self._choice("Frame", "frame", mjFRAMESTRING)
        with self.gui.add_folder("Model elements"):
            for k, (name, _, key) in enumerate(mjVISSTRING):
                self._box("flags", k, name, f"key {key}" if key else None)
            self.depth = self.slider("Tree depth", 0, 20, option.bvh_depth, partial(self._set, "bvh_depth"), 1)
            self.layer = self.slider("Flex layer", 0, 10, option.flex_layer, partial(self._set, "flex_layer"), 1)
        with self.gui.add_folder("Effects", expand_by_default=False):
            for k, (name, _, key) in enumerate(mjRNDSTRING):
                hint = "in screenshots and videos" if name in IN_PICTURES else f"Shift+{key}" if key else None
                self._box(EFFECTS, k, name, hint)
        with self.gui.add_folder("Groups", expand_by_default=False):
            for kind in GROUPS:
                with self.gui.add_folder(f"{kind.capitalize()} groups", expand_by_default=False):
                    for k in range(len(self._flags(f"{kind}group"))):
                        self._box(f"{kind}group", k, f"{kind} group {k}", None)

    def _choice(self, title: str, member: str, words: tuple[str, ...]) -> Any:
        now = words[getattr(self.session.option, member)]
        return self.dropdown(title, list(words), now, lambda word: self._set(member, words.index(word)))

    def _box(self, array: str, k: int, name: str, hint: str | None) -> None:
        value = bool(self._flags(array)[k])
        self.boxes.append((array, k, self.checkbox(name, value, partial(self.set_flag, array, k), hint)))

    def _flags(self, array: str, option: MjvOption | None = None) -> np.ndarray:
        return self.session.flags if array == EFFECTS else (option or self.session.option).values[array]

    def set_flag(self, array: str, k: int, value: bool | None = None) -> None:
        """Set or toggle (None) flag `k` of an array: ``flags`` (mjtVisFlag), `EFFECTS` (mjtRndFlag), or groups."""
        with self.session.lock:
            flags = self._flags(array)
            flags[k] = not flags[k] if value is None else value

    def _set(self, member: str, value: float) -> None:
        with self.session.lock:
            setattr(self.session.option, member, int(value))

    def set_camera(self, name: str) -> None:
        """Choose the free camera, the tracking camera (for the selected or first movable body), or a model's camera."""
        number = self.cameras.index(name) - 2
        with self.session.lock:
            m, camera = self.session.model, self.session.camera
            if number >= 0:
                camera.type, camera.fixedcamid = FIXED, number
            elif number == -1:
                body = max(int(self.session.perturb.select), 0)
                if body == 0:  # not the world, but the first body that can move
                    moving = np.flatnonzero(np.array(m.body_dofnum) > 0)
                    body = int(moving[0]) if len(moving) else 0
                camera.type, camera.trackbodyid, camera.fixedcamid = TRACKING, body, -1
            else:
                camera.type, camera.fixedcamid = FREE, -1

    def reset_view(self) -> None:
        """Reset the free camera to its default pose."""
        with self.session.lock:
            mjv_defaultFreeCamera(self.session.model, self.session.camera)

    def refresh(self) -> None:
        """Update the controls, because scripts and keys can change the options, too."""
        with self.session.lock:
            option, camera = self.session.option.__copy__(), self.session.camera
            flags = {array: self._flags(array, option).tolist() for array, _, _ in self.boxes}
            shown = 1 if camera.type == TRACKING else 0
            if camera.type == FIXED and 0 <= camera.fixedcamid < len(self.cameras) - 2:
                shown = camera.fixedcamid + 2
        self.put(self.camera, self.cameras[shown])
        self.put(self.label, mjLABELSTRING[option.label])
        self.put(self.frame, mjFRAMESTRING[option.frame])
        self.put(self.depth, int(option.bvh_depth))
        self.put(self.layer, int(option.flex_layer))
        for array, k, handle in self.boxes:
            self.put(handle, bool(flags[array][k]))
