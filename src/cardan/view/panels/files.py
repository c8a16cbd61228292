"""Panels for the model's file (reload, upload, download, close the viewer), and for pictures and videos."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from cardan.model.binary import dump_model
from cardan.view.capture import Film, screenshot
from cardan.view.panels.panel import Panel
from cardan.view.source import HTML, Source


class FilePanel(Panel):
    """Controls for the displayed model and its file."""

    period = 0.5

    def _build(self) -> None:
        with self.gui.add_folder("File"):
            source, m = self.viewer.source, self.session.model
            name = source.path.name if source.path is not None else m.names.partition(b"\0")[0].decode() or "a model"
            self.gui.add_markdown(f"**{name}**  \n{m.nbody} bodies, {m.nv} degrees of freedom, {m.nactuator} actuators")
            self.message = self.gui.add_markdown("", visible=False)
            self.auto: Any = None
            if self.viewer.physics is not None:
                if source.can_load:
                    self.button("Reload", partial(self.viewer.loading.do, self.reload))
                if source.path is not None:
                    self.auto = self.checkbox("Reload when the file changes", True, lambda on: None)
                self.gui.add_html(HTML)
                uploads = self.viewer.uploads
                models = {str(path.relative_to(uploads.path)): path for path in uploads.models}
                shown = next((name for name, path in models.items() if path == source.path), None)
                if len(models) > 1 and shown is not None:
                    do = self.viewer.loading.do
                    self.dropdown("Model", list(models), shown, lambda name: do(partial(self.choose, models[name])))
            download = self.gui.add_button("Download model (MJB)")

            @download.on_click
            def _wanted(event: Any) -> None:
                with self.session.lock:
                    content = dump_model(self.session.model)
                event.client.send_file_download("model.mjb", content)

            self.button("Close viewer", self.session.closed.set)

    def reload(self) -> None:
        """Load the model again; if that fails, show the error."""
        self.say(self.viewer.reload())

    def say(self, trouble: str) -> None:
        """Show an error message, unless it is empty or the panel belongs to a previous model."""
        if trouble and self.session.generation == self._generation:
            self.message.content, self.message.visible = f"⚠ `{trouble}`", True

    def choose(self, path: Path) -> None:
        """Show another uploaded model; if it can't be loaded, keep the old one."""
        old, self.viewer.source = self.viewer.source, Source(path)
        trouble = self.viewer.reload()
        if trouble:
            self.viewer.source = old
        self.say(trouble)

    def refresh(self) -> None:
        """Load the model again if the file has changed. To avoid delays of the display, another thread does this."""
        if self.auto is not None and self.auto.value and not self.viewer.loading.busy:
            self.viewer.loading.do(self._look)

    def _look(self) -> None:
        if self.viewer.source.changed():
            self.reload()


class CapturePanel(Panel):
    """Controls for pictures and videos, which Cardan's renderer draws with shadows, reflection and all effects."""

    def _build(self) -> None:
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
                    return
            try:
                content = film.finish()
            except (ValueError, OSError) as error:
                event.client.add_notification("There is no video", str(error), color="red")
            else:
                event.client.send_file_download(f"cardan{film.suffix}", content, save_immediately=True)

    def refresh(self) -> None:
        """Show whether a video is being recorded."""
        film = self.viewer.film
        label = "Record video" if film is None else f"Stop recording ({film.pictures / film.rate:.0f} s)"
        if self.video.label != label:
            self.video.label = label
