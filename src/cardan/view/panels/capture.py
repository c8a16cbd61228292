"""Screenshots and videos."""

from __future__ import annotations

from typing import Any

from cardan.view.capture import Film, screenshot
from cardan.view.panels.panel import Panel


class CapturePanel(Panel):
    """Pictures and videos, drawn by Cardan's renderer, with shadows, reflection and all effects."""

    def build(self) -> None:
        """Make the controls."""
        with self.gui.add_folder("Screenshot and video"):
            picture = self.gui.add_button("Screenshot")
            self.video = self.gui.add_button("Record video")

        @picture.on_click
        def _picture(event: Any) -> None:
            event.client.send_file_download("cardan.png", screenshot(self.session), save_immediately=True)

        @self.video.on_click
        def _video(event: Any) -> None:
            with self.viewer.filming:
                film, self.viewer.film = self.viewer.film, None
                if film is None:
                    self.viewer.film = Film(self.session)
            if film is not None:
                self._send(film, event.client)

    def _send(self, film: Film, client: Any) -> None:
        """Send the file, or the reason why there is none, to the page that stopped the recording."""
        try:
            content = film.finish()
        except (ValueError, OSError) as error:
            client.add_notification("There is no video", str(error), color="red")
        else:
            client.send_file_download(f"cardan{film.suffix}", content, save_immediately=True)

    def refresh(self) -> None:
        """Show whether a video is being recorded."""
        film = self.viewer.film
        label = "Record video" if film is None else f"Stop recording ({film.pictures / film.rate:.0f} s)"
        if self.video.label != label:
            self.video.label = label
