"""Files sent by a page: models and the files they need, stored in a temporary folder until the viewer is closed."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from cardan.files import write_file
from cardan.view.source import MODELS

MOST_BYTES = 500_000_000
"""Largest size of the contents of an archive, bytes."""


def by_likelihood(models: list[Path]) -> list[Path]:
    """Sort model files by how likely a user means them: near the top first, and a scene before its parts."""
    return sorted(models, key=lambda file: (len(file.parts), "scene" not in file.stem.lower(), str(file)))


class Uploads:
    """A temporary folder of files that pages sent."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def path(self) -> Path:
        """The folder."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="cardan-view-")
        return Path(self._folder.name)

    def add(self, name: str, content: bytes) -> list[Path]:
        """Store a file, or the files of a ZIP archive with their folders.

        Args:
            name: name of the file, with its folders.
            content: content of the file.

        Returns:
            The model files among them, the likeliest first.

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
