"""Screenshots and videos."""

from __future__ import annotations

from typing import Any

from cardan.view.capture import Film, screenshot
from cardan.view.panels.panel import Panel


class CapturePanel(Panel):
    """Pictures and videos, drawn by Cardan's renderer, with shadows, reflection and all effects."""

    def build(self) -> None:
        """Make the controls."""
        self.film: Film | None = None
        with self.gui.add_folder("Screenshot and video"):
            picture = self.gui.add_button("Screenshot")
            self.video = self.gui.add_button("Record video")

        @picture.on_click
        def _picture(event: Any) -> None:
            event.client.send_file_download("cardan.png", screenshot(self.session), save_immediately=True)

        @self.video.on_click
        def _video(event: Any) -> None:
            film, self.film = self.film, None
            if film is None:
                self.film = Film(self.session)
            else:
                content = film.finish()
                event.client.send_file_download(f"cardan{film.suffix}", content, save_immediately=True)

    def refresh(self) -> None:
        """Show whether it records."""
        film = self.film
        label = "Record video" if film is None else f"Stop recording ({film.pictures / film.rate:.0f} s)"
        if self.video.label != label:
            self.video.label = label
