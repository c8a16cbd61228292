"""Panel for the overlays of a script: texts, figures and images."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any

from cardan.view.overlays import Text
from cardan.view.panels.panel import Panel


class OverlayPanel(Panel):
    """The overlays that a script has set, in a folder; the folder is hidden if there are none."""

    def _build(self) -> None:
        self._folder = self.gui.add_folder("Overlays", visible=False)
        self._shown: list[Any] = []
        self._version = 0

    def refresh(self) -> None:
        """Show the current overlays if they have changed."""
        with self.session.lock:
            overlays = self.session.overlays
            version, texts = overlays.version, list(overlays.texts)
            pictures = [*overlays.figures, *overlays.images]
        if version == self._version:
            return
        self._version = version
        for handle in self._shown:
            handle.remove()
        with self._folder:
            self._shown = [self.gui.add_markdown(table) for table in text_tables(texts)]
            self._shown += [self.gui.add_image(picture) for picture in pictures]
        self._folder.visible = bool(self._shown)


def text_tables(texts: list[Text]) -> list[str]:
    """Return a table in Markdown for each position of texts; each line of a text is a row."""
    tables = []
    for _, group in groupby(texts, key=lambda text: text.position):
        rows = []
        for text in group:
            columns = [column.splitlines() for column in (text.left, text.right)]
            for k in range(max(map(len, columns))):
                cells = [escape(lines[k]).replace("|", "\\|") if k < len(lines) else "" for lines in columns]
                rows.append(f"| {cells[0]} | {cells[1]} |")
        tables.append("\n".join(["| | |", "| --- | --- |", *rows]))
    return tables
