"""Warnings of the simulation, with what is known of their cause."""

from __future__ import annotations

from cardan.enums import mjtWarning
from cardan.step.report import listeners
from cardan.view.panels.panel import Panel

MOST = 20
"""Texts that are kept."""


class WarningPanel(Panel):
    """Counters of warnings, and the texts of the last ones: a divergence says which number went bad first."""

    def build(self) -> None:
        """Make the controls."""
        self.texts: dict[str, int] = {}  # how often each was heard, the last one at the end
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
        """Forget the texts."""
        self.texts.clear()

    def discard(self) -> None:
        """Listen no more."""
        if self._hear in listeners:
            listeners.remove(self._hear)

    def refresh(self) -> None:
        """Show counters and texts."""
        with self.session.lock:
            warnings = self.session.data.warning
            counts = [int(warnings[k].number) for k in range(mjtWarning.mjNWARNING.value)]
        names = [name.removeprefix("mjWARN_").lower() for name in list(mjtWarning.__members__)[: len(counts)]]
        lines = [f"**{name}** {count}" for name, count in zip(names, counts, strict=True) if count]
        texts = reversed(list(self.texts.items()))
        lines += [f"`{text}`" + (f" {count} times" if count > 1 else "") for text, count in texts]
        content = "  \n".join(lines) or "none"
        if content != self._content:
            self._content = self.text.content = content
