"""Import hook that makes ``import mujoco`` import Cardan."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
from collections.abc import Iterable, Sequence
from importlib.resources.abc import TraversableResources
from pathlib import Path
from types import ModuleType
from typing import Any

from cardan.as_mujoco.modules import NAME, SUBMODULES, fill, version

BESIDE = {
    "introspect": "pip install mujoco",
    "mjx": "pip install mujoco-mjx",
    "sysid": "pip install 'mujoco[sysid]>=4.0'",
    "usd": "pip install 'mujoco[usd]>=4.0'",
}
"""Subpackages of ``mujoco`` in pure Python that are imported from where a distribution has installed them.

The values are commands that install the subpackages. They use Cardan by their ``import mujoco``.
"""


class _Loader(importlib.abc.Loader):
    """Loader of the modules ``mujoco`` and ``mujoco.*``, which are filled from Cardan's modules."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        fill(module)

    def get_resource_reader(self, name: str) -> TraversableResources | None:
        """Return a reader for the data files of an installed MuJoCo package, or None.

        The result is None for submodules, and if MuJoCo is not installed.
        """
        folder = next((path for entry in sys.path if (path := Path(entry) / NAME).is_dir()), None)
        return _Resources(folder) if name == NAME and folder is not None else None


class _Resources(TraversableResources):
    """Resource reader for the files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self) -> Any:
        return self.folder


class _Finder(importlib.abc.MetaPathFinder):
    """Finder of ``mujoco``, its submodules, and the subpackages in `BESIDE`; it precedes all other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != NAME:
            return None
        if not name:
            return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=True)
        if name in SUBMODULES:
            return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=SUBMODULES[name].is_package)
        if name in BESIDE:
            folders = [str(Path(entry) / NAME) for entry in sys.path]
            found = importlib.machinery.PathFinder.find_spec(fullname, folders)
            if found is None:
                text = f"No module named '{fullname}': Cardan takes it from MuJoCo's package ({BESIDE[name]})"
                raise ModuleNotFoundError(text)  # with a name, ``from mujoco import ...`` would replace the text
            return found
        return None

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        """Yield the distribution ``mujoco``, for packages that check the version of MuJoCo."""
        if context is None or context.name is None or context.name.lower() == NAME:
            yield _Distribution()


class _Distribution(importlib.metadata.Distribution):
    """The metadata of ``mujoco`` for `importlib.metadata`: its name and version."""

    def read_text(self, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"the distribution {NAME} has no files here: Cardan replaces it")


def install() -> None:
    """Install the import hook: from then on, importing ``mujoco`` or a submodule of it imports Cardan in this process.

    Raises:
        ImportError: the original ``mujoco`` package has already been imported.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if NAME in sys.modules:
        raise ImportError(f"{NAME} was imported before cardan.as_mujoco; import cardan.as_mujoco first")
    sys.meta_path.insert(0, _Finder())
