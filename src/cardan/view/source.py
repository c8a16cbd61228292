"""The source of a model, from which it can be loaded again when its file changes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from cardan.api.arguments import check_pair
from cardan.model import MjData, MjModel

HUMANOID = Path(__file__).with_name("humanoid.xml")
"""Default model."""
BINARY = ".mjb"
MODELS = (".xml", ".urdf", BINARY)
WATCHED = (*MODELS, ".stl", ".obj", ".msh", ".png", ".skn", ".ktx", ".bin", ".hf")
"""Suffixes of files that a model may use."""
MOST_LOOKED_AT = 5000
"""Largest number of files and folders that are checked, those near the model first: the folder may be a large one."""

Loader = Callable[[], tuple[MjModel, MjData]]


def load_model(path: Path) -> MjModel:
    """Read and compile a model file: MJCF, URDF, or binary. Raise ValueError or OSError if that fails."""
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
    """A model file at `path` and the files beside it, or a function that makes a model."""

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
        """Whether a file was written since the model was loaded; True once for each change."""
        now = self._stamps()
        if now == self._seen:
            return False
        self._seen = now
        return True

    def _stamps(self) -> dict[str, tuple[int, int]]:
        """Return time of writing and size of the model's file, and of each file that it may use, if it can be read."""
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
    """List the files in a model's folder and below that the model may use."""
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
