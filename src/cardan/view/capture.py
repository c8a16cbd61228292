"""Pictures and videos of a session, drawn by Cardan's renderer."""

from __future__ import annotations

import io
import itertools
import threading
import time
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from cardan.files import write_file
from cardan.render import Renderer
from cardan.view.session import ALL, Session, add_others
from cardan.visual import mjv_updateScene

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
MOVING = (".gif",)
VIDEOS = (".mp4", ".mkv", ".mov")


def is_moving(path: Path) -> bool:
    """Return whether a file's suffix is that of a video or animation; raise ValueError if the file can't be written."""
    suffix = path.suffix.lower()
    if path.is_dir():
        raise ValueError(f"can't write {path}: it is a folder")
    if suffix in VIDEOS:
        try:
            import av  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ModuleNotFoundError:
            raise ValueError(
                f"{path}: videos need the package av: pip install 'cardan[video]' (or write a .gif)"
            ) from None
    elif suffix not in PICTURES + MOVING:
        known = ", ".join(PICTURES + MOVING + VIDEOS)
        what = f"can't write files that end in {suffix}" if suffix else "the ending selects the format, but is missing"
        raise ValueError(f"{path}: {what}; known endings: {known}")
    return suffix in MOVING + VIDEOS


class Recorder:
    """Recorder of a video or animation with `rate` frames per second, or of a still picture, for the file at `path`.

    `save` writes the file.
    """

    def __init__(self, path: Path, rate: float) -> None:
        self.path, self.rate = path, Fraction(rate).limit_denominator(1000)
        self.pictures: list[bytes] = []
        self.begins: list[int] = []
        self.length = 0
        self.still: Image.Image | None = None
        self.buffer = io.BytesIO()
        self._last = np.zeros((0, 0, 3), np.uint8)
        self.container: Any = None
        self.stream: Any = None

    def add(self, picture: np.ndarray, times: int = 1) -> None:
        """Append a frame, (height, width, 3) uint8, top row first, that is shown for `times` periods of 1 / `rate` s.

        If the file is a still picture, only the first frame is kept.
        """
        suffix = self.path.suffix.lower()
        if suffix in VIDEOS:
            self._encode(picture)
        elif suffix in MOVING:  # stored with 256 colours, as in a GIF, and compressed: minutes fit into memory
            file = io.BytesIO()
            Image.fromarray(picture).convert("P", palette=Image.Palette.ADAPTIVE).save(file, "PNG", compress_level=1)
            self.pictures.append(file.getvalue())
            self.begins.append(self.length)
        else:
            self.still = self.still or Image.fromarray(picture)
        self.length += times

    def _encode(self, picture: np.ndarray) -> None:
        """Encode a frame. The video shows it until the next frame; repeated frames are encoded once."""
        import av  # pyright: ignore[reportMissingImports]

        # the usual colour format halves the resolution of colours: both sizes must be even
        if min(picture.shape[:2]) < 2:
            raise ValueError(
                f"{self.path}: a video needs 2x2 pixels at least, not {picture.shape[1]}x{picture.shape[0]}"
            )
        picture = np.ascontiguousarray(picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2])
        if self.container is None:
            kind = {".mkv": "matroska"}.get(self.path.suffix.lower(), self.path.suffix.lower()[1:])
            self.container = av.open(self.buffer, "w", format=kind)
            self.stream = self.container.add_stream("libx264", rate=self.rate)
            self.stream.height, self.stream.width = picture.shape[:2]
            self.stream.pix_fmt = "yuv420p"
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = self.length, 1 / self.rate
        self.begins.append(self.length)
        self._last = picture
        self.container.mux(self.stream.encode(frame))

    def save(self) -> None:
        """Write the file; raise ValueError if no frame was added, or OSError if the file can't be written."""
        write_file(self.path, self.finish())

    def finish(self) -> bytes:
        """End the recording, and return the content of the file; raise ValueError if no frame was added."""
        if not self.length:
            raise ValueError(f"{self.path}: there is no picture to write")
        if self.container is not None:
            if self.length > self.begins[-1] + 1:  # the last frame may also be shown longer
                self.length -= 1
                self._encode(self._last)
            self.container.mux(self.stream.encode())
            self.container.close()
            self.container = None
        if self.stream is not None:
            return self.buffer.getvalue()
        file = io.BytesIO()
        form = Image.registered_extensions()[self.path.suffix.lower()]
        if self.still is not None:
            self.still.save(file, form)
            return file.getvalue()
        first, *rest = self.pictures
        images = (Image.open(io.BytesIO(content)) for content in rest)  # one at a time
        # the format counts hundredths of a second: at 30 frames per second, durations are 3, 4 and 3
        at = [round(100 * k / self.rate) for k in (*self.begins, self.length)]
        times = [10 * (end - start) for start, end in itertools.pairwise(at)]
        with Image.open(io.BytesIO(first)) as image:
            image.save(file, form, save_all=True, append_images=images, duration=times, loop=0)
        return file.getvalue()


RATE = 30
"""Frames per second of a video."""


class Camera:
    """Camera that takes pictures of a session."""

    def __init__(self, session: Session) -> None:
        self.session, self._model = session, session.model
        buffer = self._model.vis.global_
        self.width, self.height = int(buffer.offwidth), int(buffer.offheight)
        self._renderer = Renderer(self._model, self.height, self.width, threads=1)

    def take(self) -> np.ndarray | None:
        """Draw all worlds in the size of the offscreen buffer; return None if the session's model has changed."""
        session, scene, m = self.session, self._renderer.scene, self._model
        with session.lock:
            if session.model is not m:
                return None
            mjv_updateScene(m, session.data, session.option, session.perturb, session.camera.__copy__(), ALL, scene)
            add_others(m, session.others, session.option, scene)
            more = session.user_geoms[: scene.maxgeom - scene.ngeom]
            scene.geom_values[scene.ngeom : scene.ngeom + len(more)] = more
            scene.ngeom += len(more)
            scene.values["flags"][:] = session.flags
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
    """Video that a thread records. Frames are drawn as fast as possible, up to `rate` per second.

    The recording ends when the session shows another model or is closed. `pictures` is the number of frames so far,
    repeated frames included. `trouble` is the message of the error that ended the recording, or empty.
    """

    def __init__(self, session: Session) -> None:
        self.suffix = ".mp4" if find_spec("av") is not None else ".gif"
        self.rate = RATE if self.suffix == ".mp4" else 20
        self._recorder = Recorder(Path(f"film{self.suffix}"), self.rate)
        self._camera = Camera(session)
        self._stop = threading.Event()
        self.pictures, self.trouble = 0, ""
        self._thread = threading.Thread(target=self._run, name="cardan film", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        due = time.perf_counter()
        try:
            while not self._stop.is_set() and not self._camera.session.closed.is_set():
                picture = self._camera.take()
                if picture is None:
                    return
                # a late frame is shown longer
                times = int((time.perf_counter() - due) * self.rate) + 1
                self._recorder.add(picture, times)
                self.pictures += times
                due += times / self.rate
                self._stop.wait(max(0.0, due - time.perf_counter()))
        except Exception as error:  # for example an error of the encoder
            self.trouble = f"{type(error).__name__}: {error}"

    def finish(self) -> bytes:
        """Stop recording, and return the file's contents; raise ValueError if recording failed or made no frame."""
        self.drop()
        if self.trouble:
            raise ValueError(self.trouble)
        return self._recorder.finish()

    def drop(self) -> None:
        """Stop recording, and release the camera."""
        self._stop.set()
        self._thread.join()
        self._camera.close()
