"""Pictures and videos of what is shown, drawn by Cardan's renderer."""

from __future__ import annotations

import io
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from cardan.render import Renderer
from cardan.view.session import Session
from cardan.view.video import Recorder
from cardan.visual import mjv_updateScene

RATE = 30
"""Pictures a second of a video."""
GIF_RATE = 20
ALL = 7
THREADS = 1


class Camera:
    """Takes pictures of a session.

    Args:
        session: what is shown.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        buffer = session.model.vis.global_
        self.width, self.height = int(buffer.offwidth), int(buffer.offheight)
        self._renderer = Renderer(session.model, self.height, self.width, threads=THREADS)

    def take(self) -> np.ndarray:
        """A picture, (height, width, 3) uint8; its size is that of the model's offscreen buffer."""
        session, scene = self.session, self._renderer.scene
        with session.lock:
            mjv_updateScene(
                session.model, session.data, session.option, session.perturb, session.camera.__copy__(), ALL, scene
            )
            more = session.user_geoms[: scene.maxgeom - scene.ngeom]
            scene.geom_values[scene.ngeom : scene.ngeom + len(more)] = more
            scene.ngeom += len(more)
            scene.flags[:] = session.flags
        return self._renderer.render()

    def close(self) -> None:
        """Give back what it holds."""
        self._renderer.close()


def screenshot(session: Session) -> bytes:
    """A picture as a PNG file."""
    camera = Camera(session)
    try:
        file = io.BytesIO()
        Image.fromarray(camera.take()).save(file, "PNG")
        return file.getvalue()
    finally:
        camera.close()


class Film:
    """A video that is being taken, by a thread of its own; pictures come at the rate that drawing allows.

    Args:
        session: what is filmed.
    """

    def __init__(self, session: Session) -> None:
        self.suffix = ".mp4" if find_spec("av") is not None else ".gif"
        self.rate = RATE if self.suffix == ".mp4" else GIF_RATE
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / f"film{self.suffix}"
        self._recorder = Recorder(self._path, self.rate)
        self._camera = Camera(session)
        self._stop = threading.Event()
        self.pictures = 0
        self._thread = threading.Thread(target=self._run, name="cardan film", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._stop.is_set() and not self._camera.session.closed.is_set():
            picture = self._camera.take()
            # what came late is shown as long as it was on the screen
            now = time.perf_counter()
            while due <= now:
                self._recorder.add(picture)
                self.pictures += 1
                due += 1.0 / self.rate
            self._stop.wait(max(0.0, due - time.perf_counter()))

    def finish(self) -> bytes:
        """Stop, and give the file's contents."""
        self._stop.set()
        self._thread.join()
        self._camera.close()
        self._recorder.save()
        content = self._path.read_bytes()
        self._folder.cleanup()
        return content
