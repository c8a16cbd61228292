"""Panels for the simulation (run, pause, step, speed, reset, keyframes, history) and for warnings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cardan.api.pipeline import mj_forward, mj_resetData, mj_resetDataKeyframe
from cardan.enums import mjtWarning
from cardan.enums.numbering import shown
from cardan.model import MjData, MjModel
from cardan.step.report import listeners
from cardan.view.panels.panel import Panel

PARTS = ("qpos", "qvel", "act", "ctrl")


def keyframe_names(m: MjModel) -> list[str]:
    """Return distinct names of the keyframes; a keyframe without a name gets its number."""
    names = [m.key(k).name or str(k) for k in range(m.nkey)]
    return [name if names.index(name) == k else f"{name} ({k})" for k, name in enumerate(names)]


def keyframe_xml(m: MjModel, d: MjData) -> str:
    """Return the MJCF element of a keyframe with the current state. Parts that are 0 are omitted, except poses."""
    values = {part: np.asarray(getattr(d, part)).ravel() for part in PARTS}
    values |= {"mpos": d.mocap_pos.ravel(), "mquat": d.mocap_quat.ravel()}
    words = [f'time="{d.time:.17g}"'] if d.time else []
    for name, numbers in values.items():
        if numbers.size and (name in ("qpos", "mpos", "mquat") or np.any(numbers)):
            words.append(f'{name}="{" ".join(f"{number:.17g}" for number in numbers)}"')
    return f"<key {' '.join(words)}/>"


def store_keyframe(m: MjModel, d: MjData, number: int) -> None:
    """Store the current state in a keyframe of the model."""
    m.key_time[number] = d.time
    for part in PARTS:
        getattr(m, f"key_{part}")[number] = getattr(d, part)
    m.key_mpos[number], m.key_mquat[number] = d.mocap_pos.ravel(), d.mocap_quat.ravel()


SPEEDS = (1000, 500, 200, 100, 80, 66, 50, 40, 33, 25, 20, 16, 13, 10, 8, 6.6, 5, 4, 3.3, 2.5, 2, 1.6, 1.3, 1, 0.5, 0.1)
"""Speeds, as percentages of real time."""


def percent(speed: float) -> str:
    """Format a speed as a percentage of real time."""
    return f"{100 * speed:g} %"


class SimulationPanel(Panel):
    """Controls for run and pause, single steps, speed, reset, keyframes, and history."""

    def _build(self) -> None:
        physics, session = self.viewer.physics, self.session
        self.status = self.gui.add_markdown("")
        if physics is not None:
            self.run = self.button("Pause", self.toggle, "Space")
            self.button("Step", self.step, "arrow to the right: one step while paused")
        self.button("Reset", self.reset, "Backspace")
        if physics is not None:
            speeds = [percent(value / 100) for value in SPEEDS]
            self.speed = self.dropdown("Speed", speeds, "100 %", self.set_speed)
            self.age = self.slider(
                "History",
                -physics.history.capacity + 1,
                0,
                0,
                lambda age: self.ask(partial(self._restore, age=int(-age))),
                1,
            )
        names = keyframe_names(session.model)
        with self.gui.add_folder("Keyframes", expand_by_default=bool(names)):
            if names:
                self.key = self.dropdown("Keyframe", names, names[0], lambda name: None)
                self.button("Load keyframe", lambda: self.reset(self._key()))
                save = "the state into the model's keyframe, in memory"
                self.button("Save to keyframe", lambda: self.ask(partial(store_keyframe, number=self._key())), save)
            self.button("Copy state as keyframe", lambda: self.ask(self._show_xml), "MJCF of the state, to copy")
            self.text = self.gui.add_text("MJCF", "", multiline=True, visible=False)

    # actions of the controls

    def toggle(self) -> None:
        """Run the simulation if it is paused; otherwise pause it."""

        def command(m: MjModel, d: MjData) -> None:
            self.session.paused = not self.session.paused
            if self.viewer.physics is not None and not self.session.paused:
                self.viewer.physics.resume()

        self.ask(command)

    def step(self) -> None:
        """Make a single step if the simulation is paused; otherwise pause it."""

        def command(m: MjModel, d: MjData) -> None:
            if self.viewer.physics is not None:
                if self.session.paused:
                    self.viewer.physics.resume()
                    self.viewer.physics.steps += 1
                self.session.paused = True

        self.ask(command)

    def step_forward(self) -> None:
        """Go one record forward in history; at the end of the history, make a single step."""
        physics = self.viewer.physics
        if physics is not None and physics.age > 0:
            self.go_back_by(-1)
        else:
            self.step()

    def reset(self, keyframe: int | None = None) -> None:
        """Reset all worlds to the default state, or to a keyframe."""

        def command(m: MjModel, d: MjData) -> None:
            for data in (d, *self.session.others):  # `d`, and not the displayed data: it may be a script's own data
                if keyframe is None:
                    mj_resetData(m, data)
                else:
                    mj_resetDataKeyframe(m, data, keyframe)
                mj_forward(m, data)

        self.ask(command)

    def set_speed(self, text: str) -> None:
        """Set the speed, given as a percentage of real time."""
        with self.session.lock:
            self.session.speed = float(text.removesuffix(" %")) / 100.0

    def change_speed(self, steps: int) -> None:
        """Move down the list of `SPEEDS` by `steps`: 1 selects the next lower speed, -1 the next higher speed."""
        with self.session.lock:
            now = min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] / 100.0 - self.session.speed))
            self.session.speed = SPEEDS[min(max(now + steps, 0), len(SPEEDS) - 1)] / 100.0

    def go_back_by(self, steps: int) -> None:
        """Go back (positive `steps`) or forward from the current position in history."""
        physics = self.viewer.physics
        if physics is not None:
            self.ask(lambda m, d: self._restore(m, d, physics.age + steps))

    def _restore(self, m: MjModel, d: MjData, age: int) -> None:
        """Pause, and show the state recorded `age` records ago, or the oldest state if the history is shorter."""
        physics, worlds = self.viewer.physics, self.session.worlds
        if physics is None:
            return
        age = min(max(age, 0), len(physics.history) - 1)
        if physics.history.restore(m, worlds, age):
            physics.age, self.session.paused = age, True
            for data in worlds:
                mj_forward(m, data)

    def _key(self) -> int:
        return keyframe_names(self.session.model).index(self.key.value)

    def _show_xml(self, m: MjModel, d: MjData) -> None:
        """Show MJCF of a keyframe with the current state, in a field from which it can be copied."""
        self.text.value = keyframe_xml(m, d)
        self.text.visible = True

    def refresh(self) -> None:
        """Update the controls."""
        session, physics = self.session, self.viewer.physics
        with session.lock:
            d, paused, speed = session.data, session.paused, session.speed
            lines: list[tuple[str, Any]] = [("time", f"{d.time:.3f} s"), ("contacts", d.ncon), ("rows", d.nefc)]
            age = physics.age if physics is not None else 0
            body = int(session.perturb.select)
            if 0 < body < session.model.nbody:
                lines.append(("selected", f"`{session.model.body(body).name or f'body {body}'}`"))
        if physics is not None:
            self.run.label = "Run" if paused else "Pause"
            self.put(self.speed, percent(speed))
            self.put(self.age, -age)
            lines.append(("speed", "paused" if paused else percent(round(physics.pace.achieved, 2))))
        lines.append(("updates", f"{self.viewer.publisher.rate:.0f} a second"))
        self.status.content = "  \n".join(f"**{name}** {value}" for name, value in lines)


MOST = 20
"""Largest number of stored warning texts."""


class WarningPanel(Panel):
    """Counters and latest texts of warnings. After a divergence, a text names the first bad number."""

    def _build(self) -> None:
        self.texts: dict[str, int] = {}  # number of times that each text was reported, the last text at the end
        self._content = ""
        with self.gui.add_folder("Warnings"):
            self.text = self.gui.add_markdown("none")
            self.button("Clear warnings", self.clear)
        listeners.append(self._hear)

    def _hear(self, text: str) -> None:
        self.texts[text] = self.texts.pop(text, 0) + 1
        if len(self.texts) > MOST:
            del self.texts[next(iter(self.texts))]

    def clear(self) -> None:
        """Remove the warning texts."""
        self.texts.clear()

    def discard(self) -> None:
        """Stop listening to warnings."""
        if self._hear in listeners:
            listeners.remove(self._hear)

    def refresh(self) -> None:
        """Show counters and texts."""
        with self.session.lock:
            warnings = self.session.data.warning
            counts = [int(warnings[k].number) for k in range(len(warnings))]
        members = list(shown(mjtWarning).__members__)[: len(counts)]
        names = [name.removeprefix("mjWARN_").lower() for name in members]
        lines = [f"**{name}** {count}" for name, count in zip(names, counts, strict=True) if count]
        texts = reversed(list(self.texts.items()))
        lines += [f"`{text}`" + (f" {count} times" if count > 1 else "") for text, count in texts]
        content = "  \n".join(lines) or "none"
        if content != self._content:
            self._content = self.text.content = content
