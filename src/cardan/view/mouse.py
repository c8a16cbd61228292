"""The mouse in a page: a click selects a body; dragging with Ctrl pulls and rotates it, as in `simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.enums import mjtMouse, mjtPertBit
from cardan.model import MjData, MjModel
from cardan.view.camera import View, set_cameras, view_of
from cardan.visual import MjvScene, mjv_initPerturb, mjv_movePerturb, mjv_select

if TYPE_CHECKING:
    from cardan.view.publisher import Publisher

ROTATE, TRANSLATE = mjtPertBit.mjPERT_ROTATE.value, mjtPertBit.mjPERT_TRANSLATE.value
MODIFIERS = ("cmd/ctrl", "cmd/ctrl+shift")


class Drag(NamedTuple):
    """Effect of a mouse button while Ctrl is held: a mjtPertBit, and a mjtMouse without and with Shift."""

    bit: int
    actions: tuple[int, int]


DRAGS = {
    "left": Drag(ROTATE, (mjtMouse.mjMOUSE_ROTATE_V.value, mjtMouse.mjMOUSE_ROTATE_H.value)),
    "right": Drag(TRANSLATE, (mjtMouse.mjMOUSE_MOVE_V.value, mjtMouse.mjMOUSE_MOVE_H.value)),
}


class Mouse:
    """Selection and movement of bodies with the mouse in the pages.

    Mouse events become commands to the session, so that a page never waits for physics.
    """

    def __init__(self, publisher: Publisher) -> None:
        self._publisher, self.session = publisher, publisher.session
        self._scene = MjvScene()
        self._at = (0.0, 0.0)

    def watch(self, handle: Any) -> None:
        """Handle clicks on a node of the scene, and drags that begin on it."""
        handle.on_click(self._clicked)
        for button in DRAGS:
            for modifier in MODIFIERS:
                handle.on_drag(button, modifier=modifier)(self._dragged)

    async def _clicked(self, event: Any) -> None:
        view, place = view_of(event.client.camera, self._publisher.cameras.origin), event.screen_pos
        self.session.post(lambda m, d: self.select(m, d, view, place))

    async def _dragged(self, event: Any) -> None:
        view = view_of(event.client.camera, self._publisher.cameras.origin)
        phase, button, shifted = event.phase, event.button, "shift" in event.modifier
        first, place = event.start_screen_pos, event.end_screen_pos
        self.session.post(lambda m, d: self.drag(m, d, view, phase, button, shifted, first, place))

    def select(self, m: MjModel, d: MjData, view: View, place: tuple[float, float], keep: bool = False) -> None:
        """Select the body at a point of a page's picture, (0, 0) at the upper left to (1, 1) at the lower right.

        With `keep`, the selection stays if the point shows no body that can move.
        """
        scene, session = self._publisher.picture.scene, self.session
        if self._publisher.generation != session.generation:
            return  # the scene belongs to the previous model
        set_cameras(scene, view, m)
        point = np.zeros(3)
        ids = [np.full(1, -1, np.int32) for _ in range(3)]
        body = mjv_select(m, d, session.option, view.aspect, place[0], 1.0 - place[1], scene, point, *ids)
        if keep and (body <= 0 or m.body_weldid[body] == 0 > m.body_mocapid[body]):
            return
        pert = session.perturb
        pert.select, pert.flexselect, pert.skinselect = max(body, 0), int(ids[1][0]), int(ids[2][0])
        if body > 0:
            pert.localpos = d.xmat[body].reshape(3, 3).T @ (point - d.xpos[body])

    def drag(
        self,
        m: MjModel,
        d: MjData,
        view: View,
        phase: str,
        button: str,
        shifted: bool,
        first: tuple[float, float],
        place: tuple[float, float],
    ) -> None:
        """Pull or rotate the selected body; a drag that begins on a body that can move selects it.

        `phase` is ``start``, ``update`` or ``end``, `button` is ``left`` or ``right``; `shifted`: Shift is held. The
        drag leads from `first` to `place`, points as in `select`.
        """
        pert, what = self.session.perturb, DRAGS[button]
        if phase == "start":
            self.select(m, d, view, first, keep=True)
            set_cameras(self._scene, view, m)
            mjv_initPerturb(m, d, self._scene, pert)
            pert.active, self._at = what.bit if pert.select > 0 else 0, first
        if pert.active:
            right, down = (place[0] - self._at[0]) * view.aspect, place[1] - self._at[1]
            set_cameras(self._scene, view, m)
            mjv_movePerturb(m, d, what.actions[shifted], right, down, self._scene, pert)
        self._at = place
        if phase == "end":
            pert.active = 0
