"""Rendering options: flags, groups, labels, frames, the camera."""

from __future__ import annotations

from functools import partial

import numpy as np

from cardan.constants import mjFRAMESTRING, mjLABELSTRING, mjRNDSTRING, mjVISSTRING
from cardan.view.camera import FIXED, FREE, TRACKING
from cardan.view.panels.panel import Panel
from cardan.visual import mjv_defaultFreeCamera

GROUPS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")
IN_PICTURES = ("Reflection", "Additive", "Haze")
"""Flags that have an effect only in screenshots and videos: the browser's renderer does not support them."""


class RenderingPanel(Panel):
    """Flags of the scene and of the renderer, groups, labels, frames, the camera."""

    def build(self) -> None:
        """Make the controls."""
        option, m = self.session.option, self.session.model
        self.cameras = ["Free", "Tracking", *(f"{k}: {m.camera(k).name or 'camera'}" for k in range(m.ncam))]
        self.camera = self.dropdown("Camera", self.cameras, self.cameras[0], self.set_camera)
        self.button("Reset view", self.reset_view)
        self.label = self.dropdown("Label", list(mjLABELSTRING), mjLABELSTRING[option.label], self.set_label)
        self.frame = self.dropdown("Frame", list(mjFRAMESTRING), mjFRAMESTRING[option.frame], self.set_frame)
        with self.gui.add_folder("Model elements"):
            self.flags = [
                self.checkbox(name, bool(option.flags[k]), partial(self.set_flag, k), f"key {key}" if key else None)
                for k, (name, _, key) in enumerate(mjVISSTRING)
            ]
            self.depth = self.slider("Tree depth", 0, 20, option.bvh_depth, partial(self.set_member, "bvh_depth"), 1)
            self.layer = self.slider("Flex layer", 0, 10, option.flex_layer, partial(self.set_member, "flex_layer"), 1)
        with self.gui.add_folder("Effects", expand_by_default=False):
            self.effects = []
            for k, (name, _, key) in enumerate(mjRNDSTRING):
                hint = "in screenshots and videos" if name in IN_PICTURES else f"Shift+{key}" if key else None
                shown = bool(self.session.flags[k])
                self.effects.append(self.checkbox(name, shown, partial(self.set_effect, k), hint))
        with self.gui.add_folder("Groups", expand_by_default=False):
            self.groups = {kind: self._group(kind) for kind in GROUPS}

    def _group(self, kind: str) -> list:
        """Add six check boxes, one for each group."""
        shown = getattr(self.session.option, f"{kind}group")
        with self.gui.add_folder(f"{kind.capitalize()} groups", expand_by_default=False):
            return [
                self.checkbox(f"{kind} group {k}", bool(shown[k]), partial(self.set_group, kind, k))
                for k in range(len(shown))
            ]

    def set_flag(self, flag: int, value: bool) -> None:
        """Show or hide elements (mjtVisFlag)."""
        with self.session.lock:
            self.session.option.flags[flag] = value

    def toggle_flag(self, flag: int) -> None:
        """Toggle the visibility of elements (mjtVisFlag)."""
        with self.session.lock:
            self.session.option.flags[flag] = not self.session.option.flags[flag]

    def set_effect(self, flag: int, value: bool) -> None:
        """Set a rendering flag (mjtRndFlag)."""
        with self.session.lock:
            self.session.flags[flag] = value

    def toggle_effect(self, flag: int) -> None:
        """Toggle a rendering flag (mjtRndFlag)."""
        with self.session.lock:
            self.session.flags[flag] = not self.session.flags[flag]

    def set_group(self, kind: str, group: int, value: bool) -> None:
        """Show or hide a group."""
        with self.session.lock:
            getattr(self.session.option, f"{kind}group")[group] = value

    def set_member(self, member: str, value: float) -> None:
        """Set a number of the options."""
        with self.session.lock:
            setattr(self.session.option, member, int(value))

    def set_label(self, name: str) -> None:
        """Choose the objects that get labels (mjtLabel)."""
        self.set_member("label", mjLABELSTRING.index(name))

    def set_frame(self, name: str) -> None:
        """Choose the objects whose frames are shown (mjtFrame)."""
        self.set_member("frame", mjFRAMESTRING.index(name))

    def set_camera(self, name: str) -> None:
        """Choose the free camera, one that tracks the selected body (or the whole model), or one of the model."""
        number = self.cameras.index(name) - 2
        with self.session.lock:
            camera = self.session.camera
            if number >= 0:
                camera.type, camera.fixedcamid = FIXED, number
            elif number == -1:
                self.track(max(int(self.session.perturb.select), 0))
            else:
                camera.type, camera.fixedcamid = FREE, -1

    def track(self, body: int) -> None:
        """Track a body; for the world, the first body that can move."""
        with self.session.lock:
            m, camera = self.session.model, self.session.camera
            if body == 0:
                moving = np.flatnonzero(np.array(m.body_dofnum) > 0)
                body = int(moving[0]) if len(moving) else 0
            camera.type, camera.trackbodyid, camera.fixedcamid = TRACKING, body, -1

    def reset_view(self) -> None:
        """Reset the free camera to its default pose."""
        with self.session.lock:
            mjv_defaultFreeCamera(self.session.model, self.session.camera)

    def _camera_name(self) -> str:
        camera = self.session.camera
        if camera.type == FIXED and 0 <= camera.fixedcamid < len(self.cameras) - 2:
            return self.cameras[camera.fixedcamid + 2]
        return self.cameras[1 if camera.type == TRACKING else 0]

    def refresh(self) -> None:
        """Update the controls; scripts and keys change the options, too."""
        with self.session.lock:
            option = self.session.option.__copy__()
            effects, camera = self.session.flags.copy(), self._camera_name()
        self.put(self.camera, camera)
        self.put(self.label, mjLABELSTRING[option.label])
        self.put(self.frame, mjFRAMESTRING[option.frame])
        self.put(self.depth, int(option.bvh_depth))
        self.put(self.layer, int(option.flex_layer))
        for handle, value in zip(self.flags, option.flags, strict=True):
            self.put(handle, bool(value))
        for handle, value in zip(self.effects, effects, strict=True):
            self.put(handle, bool(value))
        for kind, handles in self.groups.items():
            for handle, value in zip(handles, getattr(option, f"{kind}group"), strict=True):
                self.put(handle, bool(value))
