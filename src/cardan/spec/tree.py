"""The model tree: sections, default classes, names and files of one model."""

from __future__ import annotations

from pathlib import Path

from cardan.spec.defaults import Defaults
from cardan.spec.element import Element
from cardan.spec.schema.language import SCHEMA, entry_element
from cardan.spec.schema.rows import Attribute, ElementRow

WORLD = "world"  # name of the world body


class ModelTree:
    """Everything the user wrote about one model; see the package's docstring for how to read it.

    Parameters
    ----------
    source: name of the main file for messages.
    folder: folder of the main file, None when the model comes from a string.
    assets: file contents by name, which are looked up before the disk.
    """

    def __init__(
        self, source: str | None = None, folder: Path | None = None, assets: dict[str, bytes] | None = None
    ) -> None:
        self.source = source
        self.folder = folder
        self.assets: dict[str, bytes] = dict(assets or {})
        self.root = Element(SCHEMA, self)
        self.defaults = Defaults()
        self._sections: dict[str, Element] = {}
        self._names: dict[str, dict[str, Element]] | None = None
        for tag, row in SCHEMA.children.items():
            if row.merged:
                self._add_section(tag, row)

    def _add_section(self, tag: str, row: ElementRow) -> None:
        """An empty section, with the single parts that belong to it."""
        section = self._sections[tag] = Element(row, self, self.root)
        self.root.children.append(section)
        section.children.extend(Element(part, self, section) for part in row.children.values() if part.merged)

    def adopt_sections(self) -> None:
        """Take the sections from the root's children, after these were replaced."""
        self._sections = {element.tag: element for element in self.root.children if element.row.merged}
        self.changed()

    @property
    def model_name(self) -> str:
        """Name of the model."""
        return self.root.attributes.get("model", self.root.row.defaults["model"])

    def section(self, tag: str) -> Element:
        """A section (``compiler``, ``worldbody``, ...). Each exists, but for ``default``: see ``defaults``."""
        return self._sections[tag]

    @property
    def worldbody(self) -> Element:
        """The world body's element."""
        return self._sections["worldbody"]

    # --- files -------------------------------------------------------------------------------------------------------

    def asset_key(self, name: str) -> str | None:
        """The key in ``assets`` of a file: its name, or one whose last part is the same but for case."""
        if name in self.assets:
            return name
        last = Path(name).name.lower()
        return next((key for key in self.assets if Path(key).name.lower() == last), None)

    def read_file(self, name: str, *folders: Path | None) -> tuple[bytes, str | Path]:
        """Content of a file that the model mentions, and what it was found as: its name in ``assets`` or its path.

        It is looked up in ``assets``, then in the ``folders``, then in the main file's folder (without a main file: the
        current one). Raises FileNotFoundError that names every place tried, or another OSError.
        """
        key = self.asset_key(name)
        if key is not None:
            return self.assets[key], key
        places = [folder / name for folder in (*folders, self.folder or Path()) if folder is not None]
        for path in places:
            if path.is_file():
                return path.read_bytes(), path.resolve()
        tried = ", ".join(dict.fromkeys(str(path) for path in places))
        raise FileNotFoundError(f"file '{name}' not found; tried {tried}")

    # --- names -------------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Forget what was derived from the tree, after a change to it."""
        self._names = None

    def names(self, kind: str) -> dict[str, Element]:
        """The elements of an object kind by name. Raises MjcfError when two elements of one kind share a name."""
        if self._names is None:
            self._names = self._collect_names()
        return self._names.get(kind, {})

    def find(self, kind: str, name: str) -> Element | None:
        """The object of this kind and name, None when there is none."""
        return self.names(kind).get(name)

    def _collect_names(self) -> dict[str, dict[str, Element]]:
        """All named elements, by kind and name."""
        found: dict[str, dict[str, Element]] = {"body": {WORLD: self.worldbody}}
        for element in self.root.descendants():
            name, kind = element.attributes.get("name"), element.row.kind
            if not name or kind is None:
                continue
            first = found.setdefault(kind, {}).setdefault(name, element)
            if first is not element:
                where = f", first in line {first.line}" if first.line is not None else ""
                taken = " (the world body has it)" if first is self.worldbody else where
                raise element.error(f"repeated name '{name}': another {kind} has it{taken}", "name")
        return found

    @staticmethod
    def entry_attribute(row: ElementRow, name: str) -> Attribute:
        """The row of an attribute that an element has only through its default entry (a motor's ``gaintype``)."""
        return entry_element(row.entry or "").attributes[name]
