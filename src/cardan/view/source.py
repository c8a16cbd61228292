"""Source of a model (file or function), from which the viewer reloads it; and files that users upload.

Uploaded models, and the files that they need, are stored in a temporary folder until the viewer is closed.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import tempfile
import zipfile
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from cardan.api.arguments import check_pair
from cardan.files import write_file
from cardan.model import MjData, MjModel
from cardan.view.server import Frame

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

HUMANOID = Path(__file__).with_name("humanoid.xml")
"""Default model."""
BINARY = ".mjb"
MODELS = (".xml", ".urdf", BINARY)
WATCHED = (*MODELS, ".stl", ".obj", ".msh", ".png", ".skn", ".ktx", ".bin", ".hf")
"""Suffixes of files that a model may use."""
MOST_LOOKED_AT = 5000
"""Largest number of files and folders that are searched, breadth first from the model's folder."""

Loader = Callable[[], tuple[MjModel, MjData]]


def load_model(path: Path) -> MjModel:
    """Read and compile a model file (MJCF, URDF, or binary). Raise ValueError or OSError if that fails."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    return MjModel.from_binary_path(str(path)) if path.suffix.lower() == BINARY else MjModel.from_xml_path(str(path))


def _checked(made: object) -> tuple[MjModel, MjData]:
    """Return a loader's result if it is a model and its data; else raise TypeError."""
    match made:
        case (MjModel() as m, MjData() as d) if isinstance(made, tuple):
            check_pair("launch", m, d)
            return m, d
    kinds = ", ".join(type(part).__name__ for part in made) if isinstance(made, tuple) else type(made).__name__
    raise TypeError(f"launch: the loader must return (MjModel, MjData), not {kinds}")


class Source:
    """Source of a model: a model file at `path` with the files in its folder, or a function that makes a model."""

    def __init__(self, path: Path | None = None, loader: Loader | None = None) -> None:
        self.path, self._loader = path, loader
        self._seen = self._stamps()

    def load(self) -> tuple[MjModel, MjData]:
        """Load the model again, and make data for it; raise TypeError, ValueError or OSError if that fails."""
        self._seen = self._stamps()
        if self._loader is not None:
            return _checked(self._loader())
        if self.path is None:
            raise ValueError("the model was made by a program: there is no file to load it from again")
        m = load_model(self.path)
        return m, MjData(m)

    @property
    def can_load(self) -> bool:
        """Whether the model has a source."""
        return self._loader is not None or self.path is not None

    def changed(self) -> bool:
        """Return whether a file has changed since the model was loaded; True only once for each change."""
        now = self._stamps()
        if now == self._seen:
            return False
        self._seen = now
        return True

    def _stamps(self) -> dict[str, tuple[int, int]]:
        """Return modification time and size of the model's file and of each readable file that it may use, by path."""
        stamps: dict[str, tuple[int, int]] = {}
        if self.path is None or self.path == HUMANOID:
            return stamps
        beside = [] if self.path.suffix.lower() == BINARY else used_files(self.path.parent)
        for file in (self.path, *beside):
            try:
                status = file.stat()
            except OSError:
                continue
            stamps[str(file)] = (status.st_mtime_ns, status.st_size)
        return stamps


def used_files(folder: Path) -> list[Path]:
    """List the files in a model's folder and its subfolders that the model may use.

    Hidden files are left out, and at most `MOST_LOOKED_AT` files and folders are searched.
    """
    found: list[Path] = []
    folders, left = deque([folder]), MOST_LOOKED_AT
    while folders and left > 0:
        try:
            with os.scandir(folders.popleft()) as scan:
                entries = list(islice((entry for entry in scan if not entry.name.startswith(".")), left))
        except OSError:  # the folder can't be read
            continue
        left -= len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry))
            elif Path(entry).suffix.lower() in WATCHED:
                found.append(Path(entry))
    return found


MOST_BYTES = 500_000_000
"""Largest total size, bytes, of the files in an archive or in a transfer."""


def by_likelihood(models: list[Path]) -> list[Path]:
    """Sort model files by how likely users mean them: in higher folders first, then those with "scene" in the name."""
    return sorted(models, key=lambda file: (len(file.parts), "scene" not in file.stem.lower(), str(file)))


class Uploads:
    """Temporary folder for the files that pages send."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def path(self) -> Path:
        """The folder, which is created on first use."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="cardan-view-")
        return Path(self._folder.name)

    def add(self, name: str, content: bytes) -> list[Path]:
        """Store a file, or the files of a ZIP archive; return the model files among these, the likeliest first.

        Raises:
            ValueError: the archive is damaged or too large, or a name leads out of the folder.
        """
        path = PurePosixPath(name)
        files = self._unpack(name, content) if path.suffix.lower() == ".zip" else [self._write(path, content)]
        return by_likelihood([file for file in files if file.suffix.lower() in MODELS])

    @property
    def models(self) -> list[Path]:
        """All model files that were sent, the likeliest first."""
        if self._folder is None:
            return []
        return by_likelihood([file for file in self.path.rglob("*") if file.suffix.lower() in MODELS])

    def _unpack(self, name: str, content: bytes) -> list[Path]:
        try:
            archive = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile as error:
            raise ValueError(f"{name} is not a ZIP archive: {error}") from None
        with archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES:
                raise ValueError(f"{name} contains {size} bytes; at most {MOST_BYTES} are unpacked")
            try:
                return [self._write(PurePosixPath(entry.filename), archive.read(entry)) for entry in entries]
            except (zipfile.BadZipFile, RuntimeError) as error:
                raise ValueError(f"{name} can't be unpacked: {error}") from None

    def _write(self, name: PurePosixPath, content: bytes) -> Path:
        if name.is_absolute() or ".." in name.parts or not name.name or "\\" in str(name):
            raise ValueError(f"the name {str(name)!r} leads out of the folder of uploads")
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content, durable=False)
        return path

    def close(self) -> None:
        """Delete the folder."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


PATH = "upload"
"""Path of the upload frame, after the token."""
HTML = f'<iframe src="{PATH}" title="Upload" style="border: 0; width: 100%; height: 84px"></iframe>'
"""HTML that shows the upload frame."""

Show = Callable[[list[Path]], str]
"""Function that shows the first model file of a list that can be loaded, and returns a message for the user."""


def receiver(uploads: Uploads, show: Show) -> Frame:
    """Make the frame from which users send files. After each transfer, `show` is called with the received models."""

    async def talk(connection: ServerConnection) -> None:
        from websockets.exceptions import ConnectionClosed  # here, so that `PageServer` reports a missing package

        try:
            try:
                models = await _receive(connection, uploads)
                answer = await asyncio.to_thread(show, models)
            except (ValueError, OSError) as error:
                answer = str(error)
            await connection.send(answer)
        except ConnectionClosed:
            pass  # the page was closed, or already shows the new model

    return Frame(Path(__file__).with_name("upload.html").read_bytes(), talk)


async def _receive(connection: ServerConnection, uploads: Uploads) -> list[Path]:
    """Receive the files of a transfer, and return the received model files; raise ValueError for invalid data."""
    models: list[Path] = []
    left = MOST_BYTES
    while head := await connection.recv():
        try:
            values = json.loads(head)
            path, size = values["path"], values["size"]
        except (ValueError, TypeError, KeyError):
            path = size = None
        if not isinstance(path, str) or not isinstance(size, int) or size < 0:
            raise ValueError("expected a file's path and size")
        left -= size
        if left < 0:
            raise ValueError(f"the files have more than {MOST_BYTES} bytes, the limit of one transfer")
        content = bytearray()
        while len(content) < size:
            piece = await connection.recv()
            if not isinstance(piece, bytes) or len(piece) > size - len(content):
                raise ValueError(f"{path}: received data that differs from the announced {size} bytes")
            content += piece
        models += await asyncio.to_thread(uploads.add, path, bytes(content))
    return models
