"""Pictures and videos of a session, drawn by Cardan's renderer."""

from __future__ import annotations

import io
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from cardan.render import Renderer
from cardan.view.session import Session
from cardan.view.video import Recorder
from cardan.view.worlds import add_others
from cardan.visual import mjv_updateScene

RATE = 30
"""Pictures per second of a video."""
GIF_RATE = 20
ALL = 7
THREADS = 1


class Camera:
    """Camera that takes pictures of a session.

    Args:
        session: the session.
    """

    def __init__(self, session: Session) -> None:
        self.session, self._model = session, session.model
        buffer = self._model.vis.global_
        self.width, self.height = int(buffer.offwidth), int(buffer.offheight)
        self._renderer = Renderer(self._model, self.height, self.width, threads=THREADS)

    def take(self) -> np.ndarray | None:
        """Draw a picture of all worlds, (height, width, 3) uint8; its size is that of the model's offscreen buffer.

        Return None if the session now shows another model.
        """
        session, scene, m = self.session, self._renderer.scene, self._model
        with session.lock:
            if session.model is not m:
                return None
            mjv_updateScene(m, session.data, session.option, session.perturb, session.camera.__copy__(), ALL, scene)
            add_others(m, session.others, session.option, scene)
            more = session.user_geoms[: scene.maxgeom - scene.ngeom]
            scene.geom_values[scene.ngeom : scene.ngeom + len(more)] = more
            scene.ngeom += len(more)
            scene.flags[:] = session.flags
        return self._renderer.render()

    def close(self) -> None:
        """Release the renderer."""
        self._renderer.close()


def screenshot(session: Session) -> bytes:
    """Draw a picture, and return it as a PNG file."""
    picture = None
    while picture is None:
        camera = Camera(session)
        try:
            picture = camera.take()
        finally:
            camera.close()
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


class Film:
    """A video that a thread records. Pictures are taken as fast as they can be drawn, up to `rate`.

    The recording ends when the session shows another model.

    Args:
        session: the session to record.

    Attributes:
        suffix, rate: suffix of the file, and its pictures per second.
        pictures: number of pictures so far.
        trouble: error that ended the recording too early, or an empty text.
    """

    def __init__(self, session: Session) -> None:
        self.suffix = ".mp4" if find_spec("av") is not None else ".gif"
        self.rate = RATE if self.suffix == ".mp4" else GIF_RATE
        self._recorder = Recorder(Path(f"film{self.suffix}"), self.rate)
        self._camera = Camera(session)
        self._stop = threading.Event()
        self.pictures, self.trouble = 0, ""
        self._thread = threading.Thread(target=self._run, name="cardan film", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._take()
        except Exception as error:  # for example an error of the encoder
            self.trouble = f"{type(error).__name__}: {error}"

    def _take(self) -> None:
        due = time.perf_counter()
        while not self._stop.is_set() and not self._camera.session.closed.is_set():
            picture = self._camera.take()
            if picture is None:
                return
            # a late picture is shown longer
            times = int((time.perf_counter() - due) * self.rate) + 1
            self._recorder.add(picture, times)
            self.pictures += times
            due += times / self.rate
            self._stop.wait(max(0.0, due - time.perf_counter()))

    def finish(self) -> bytes:
        """Stop, and return the file's contents.

        Raises:
            ValueError: recording failed, or no picture was taken.
        """
        self.drop()
        if self.trouble:
            raise ValueError(self.trouble)
        return self._recorder.finish()

    def drop(self) -> None:
        """Stop without a file."""
        self._stop.set()
        self._thread.join()
        self._camera.close()
