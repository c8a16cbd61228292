"""Image and video files; commands also use them."""

from __future__ import annotations

import io
import itertools
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np
from PIL import Image

from cardan.files import write_file

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
MOVING = (".gif",)
VIDEOS = (".mp4", ".mkv", ".mov")
CODEC = "libx264"


def is_moving(path: Path) -> bool:
    """Whether a file of this name contains a moving picture.

    Raises:
        ValueError: it is a folder, the suffix is unknown, or videos need a package that is not installed.
    """
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
        raise ValueError(f"{path}: can't write files that end in {suffix or 'nothing'}; known endings: {known}")
    return suffix in MOVING + VIDEOS


def packed(picture: np.ndarray) -> bytes:
    """Compress a picture to 256 colours, as in a GIF, as PNG: minutes of such pictures fit into memory."""
    file = io.BytesIO()
    Image.fromarray(picture).convert("P", palette=Image.Palette.ADAPTIVE).save(file, "PNG", compress_level=1)
    return file.getvalue()


class Recorder:
    """A sequence of pictures for a file; `save` writes the file.

    Args:
        path: path of the file.
        rate: pictures per second.
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
        """Append a picture, (height, width, 3) uint8, the highest row first; show it `times` periods.

        Raises:
            ValueError: it is too small for a video.
        """
        suffix = self.path.suffix.lower()
        if suffix in VIDEOS:
            self._encode(picture)
        elif suffix in MOVING:
            self.pictures.append(packed(picture))
            self.begins.append(self.length)
        else:
            self.still = self.still or Image.fromarray(picture)
        self.length += times

    def _encode(self, picture: np.ndarray) -> None:
        """Append a picture to the video; it is shown until the next one begins, so that no picture is encoded twice."""
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
            self.stream = self.container.add_stream(CODEC, rate=self.rate)
            self.stream.height, self.stream.width = picture.shape[:2]
            self.stream.pix_fmt = "yuv420p"
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = self.length, 1 / self.rate
        self.begins.append(self.length)
        self._last = picture
        self.container.mux(self.stream.encode(frame))

    def save(self) -> None:
        """Write the file.

        Raises:
            ValueError: no picture was added.
            OSError: the file can't be written.
        """
        write_file(self.path, self.finish())

    def finish(self) -> bytes:
        """End the recording, and return the content of the file.

        Raises:
            ValueError: no picture was added.
        """
        if not self.length:
            raise ValueError(f"{self.path}: there is no picture to write")
        if self.container is not None:
            if self.length > self.begins[-1] + 1:  # the last picture is also shown longer
                self.length -= 1
                self._encode(self._last)
            self.container.mux(self.stream.encode())
            self.container.close()
            self.container = None
        if self.stream is not None:
            return self.buffer.getvalue()
        file = io.BytesIO()
        self._write_pictures(file, Image.registered_extensions()[self.path.suffix.lower()])
        return file.getvalue()

    def _write_pictures(self, file: IO[bytes], form: str) -> None:
        if self.still is not None:
            self.still.save(file, form)
            return
        first, *rest = self.pictures
        images = (Image.open(io.BytesIO(content)) for content in rest)  # one at a time
        # the format counts hundredths of a second: at 30 pictures per second, 3, 4 and 3 of them
        at = [round(100 * k / self.rate) for k in (*self.begins, self.length)]
        times = [10 * (end - start) for start, end in itertools.pairwise(at)]
        with Image.open(io.BytesIO(first)) as image:
            image.save(file, form, save_all=True, append_images=images, duration=times, loop=0)
