"""Warnings of the simulation, with known causes."""

from __future__ import annotations

from cardan.enums import mjtWarning
from cardan.step.report import listeners
from cardan.view.panels.panel import Panel

MOST = 20
"""Largest number of stored texts."""


class WarningPanel(Panel):
    """Counters of warnings, and the last texts: after a divergence, the text names the first bad number."""

    def build(self) -> None:
        """Make the controls."""
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
        """Remove the texts."""
        self.texts.clear()

    def discard(self) -> None:
        """Stop listening to warnings."""
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
