"""The model tree: sections, default classes, names and files of one model; removal of elements, copies of trees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cardan.compat import resolved
from cardan.errors import MjcfError
from cardan.spec.defaults import DefaultClass, Defaults
from cardan.spec.element import Element
from cardan.spec.layout import settle_keys
from cardan.spec.schema.language import SCHEMA, entry_element
from cardan.spec.schema.rows import Attribute, ElementRow

if TYPE_CHECKING:
    from cardan.spec.repeated import Pattern, Repeated

WORLD = "world"  # name of the world body
IMPLIED = "implied"
"""Mark of an inertial frame that a program did not make explicit (see `ModelTree.beside`)."""
USER_TEXTURE = "layer user"
"""Name of the texture that a material has in the role ``user``, which MJCF does not have (see `ModelTree.beside`)."""
LARGEST_FILE = 2**28  # bytes of a file that a model may mention
_ASSETS = ("texture", "hfield", "mesh", "skin")  # kinds that are named after their files


EditedKey = tuple[Element, dict[str, dict[Element, Sequence[float]]]]
"""A keyframe, and its values by part of the state and element."""


class ModelTree:
    """One model as the user wrote it. The docstring of `cardan.spec` explains how to read the tree.

    Args:
        source: name of the main file for messages.
        folder: folder of the main file, or None if the model comes from a string.
        assets: file contents by name, used instead of files on disk.
        compat: version whose behaviour the model has (`cardan.compat`). None: the default of the process.
        archived: whether the assets are files of an archive, whose names may differ in their folders only.

    Attributes:
        macro_instances: names of the plugin instances added by composites and flexcomps. In the model, these instances
            are in the order of their bodies, not in the order of the section ``extension``.
        beside: data of assets that MJCF cannot express, by element and name. A program gives these data: ``data`` of
            textures (pixels), ``usernode`` and ``usertet`` of meshes, `USER_TEXTURE` of materials; or marks an inertial
            frame as `IMPLIED`.
        edited_keys: keyframes to be rewritten, because elements were added or removed (see `layout.keys_kept`).
        late_keys: attached keyframes that are not assembled yet, each with the values of elements, by part of the
            state.
        first_copies: the first copy of each element that ``replicate`` replaced by copies.
        inside_files: file of this model and, if the model is read to be attached, files of the models that attach it.
        attached_files: files of all models read so far to be attached, also by attached models (one list for all).
        uses_later: whether an element or attribute may need a feature that this version does not have yet, or scales
            the content of a frame.
        inherited: cache used during compilation: for each element, the default class of those children that do not
            specify one. None while the tree may be changed.
    """

    def __init__(
        self,
        source: str | None = None,
        folder: Path | None = None,
        assets: dict[str, bytes] | None = None,
        compat: str | None = None,
        archived: bool = False,
    ) -> None:
        self.archived = archived
        self.source = source
        self.folder = folder
        self._compat = resolved(compat)
        self.assets: dict[str, bytes] = dict(assets or {})
        names: dict[str, str] = {}
        for key, content in self.assets.items():
            if not content:
                raise MjcfError(f"the asset '{key}' is empty", source)
            first = names.setdefault(file_base(key).lower(), key)
            if first != key and not archived and self._compat != "4.0":
                raise MjcfError(f"the assets '{first}' and '{key}' differ only in folder or case", source)
        self.include_folders: dict[str, Path] = {}  # folder of an included file, by the source of its elements
        self.root = Element(SCHEMA, self)
        self.defaults = Defaults(self._compat)
        self.macro_instances: set[str] = set()
        self.beside: dict[Element, dict[str, Any]] = {}
        self.uses_later = False
        self.late_keys: list[EditedKey] = []
        self.edited_keys: list[EditedKey] = []
        self.first_copies: dict[Element, Element] = {}
        self.inside_files: tuple[str, ...] = ()
        self.attached_files: list[str] = []
        self.inherited: dict[Element | None, DefaultClass] | None = None
        self._sections: dict[str, Element] = {}
        self._names: dict[str, dict[str, Element]] | None = None
        self._inside: set[str] = set()  # kinds of named objects inside repeated elements
        for tag, row in SCHEMA.children.items():
            if row.merged:
                section = self._sections[tag] = Element(row, self, self.root)
                self.root.children.append(section)
                section.children.extend(Element(part, self, section) for part in row.children.values() if part.merged)

    def adopt_sections(self) -> None:
        """Update the table of sections after the root's children were replaced."""
        self._sections = {element.tag: element for element in self.root.children if element.row.merged}
        self.changed()

    def lay_down(self) -> None:
        """Remove references to parents and to the tree from elements and default classes, until `take_up` is called.

        Without these references, a tree is freed when its last user drops it. With them, the tree contains reference
        cycles: the garbage collector would scan these several times before it frees the tree.
        """
        del self.root.tree
        patterns: set[Pattern] = set()
        level = self.root.children
        while level:
            inside: list[Element] = []
            for element in level:
                del element.parent, element.tree
                if element.pattern is not None:
                    if element.pattern not in patterns:
                        patterns.add(element.pattern)
                        inside.append(element.pattern.model)
                elif element.children:
                    inside += element.children
            level = inside
        for cls in self.defaults:
            cls.parent = None

    def take_up(self) -> None:
        """Restore the references that `lay_down` removed."""
        self.root.tree = self
        stack = [self.root]
        while stack:
            element = stack.pop()
            for child in element.children:
                child.parent, child.tree = element, self
                if child.pattern is None:
                    stack.append(child)
                else:
                    model = child.pattern.model
                    model.parent, model.tree = element, self
                    stack.append(model)
        for cls in self.defaults:
            for inside in cls.children:
                inside.parent = cls

    @property
    def compat(self) -> str:
        """Version of MuJoCo whose behaviour the model has (`cardan.compat`)."""
        return self._compat

    @compat.setter
    def compat(self, version: str) -> None:
        self._compat = version
        self.defaults.set_version(version)

    @property
    def model_name(self) -> str:
        """Name of the model."""
        return self.root.attributes.get("model", self.root.row.defaults["model"])

    def section(self, tag: str) -> Element:
        """Return a section (``compiler``, ``worldbody``, ...). All sections exist, except ``default``."""
        if tag == "keyframe" and self.edited_keys:
            settle_keys(self)
        return self._sections[tag]

    @property
    def worldbody(self) -> Element:
        """Element of the world body."""
        return self._sections["worldbody"]

    # --- files -------------------------------------------------------------------------------------------------------

    def asset_key(self, name: str) -> str | None:
        """Return the key of a file in ``assets``, or None if there is none.

        The key equals the name, or its last component equals that of the name, ignoring case.
        """
        if name in self.assets:
            return name
        last = file_base(name).lower()
        return next((key for key in self.assets if file_base(key).lower() == last), None)

    def read_file(self, name: str, *folders: Path | None) -> tuple[bytes, str | Path]:
        """Read a file that the model names. Return its content, and its key in ``assets`` or its path.

        Raises:
            OSError: the file is not found, empty, not a regular file, or larger than ``LARGEST_FILE`` bytes.
        """
        place = self.find_file(name, *folders)
        if isinstance(place, str):
            content = self.assets[place]
            return content.encode() if isinstance(content, str) else content, place
        size = place.stat().st_size
        if not size:
            raise OSError(f"file '{place}' is empty")
        if size > LARGEST_FILE:
            raise OSError(f"file '{place}' has {size} bytes; at most {LARGEST_FILE} are read")
        return place.read_bytes(), place.resolve()

    def find_file(self, name: str, *folders: Path | None) -> str | Path:
        """Find a file that the model names. Return its key in ``assets``, or the first path that exists in ``folders``.

        Raises:
            FileNotFoundError: the file is not found. The message names every path tried.
        """
        places = [folder / name for folder in folders if folder is not None]
        for path in places:
            if path.as_posix() in self.assets:
                return path.as_posix()
            if self.archived and (inside := relpath(path, self.folder or Path()).replace("\\", "/")) in self.assets:
                return inside
        key = self.asset_key(name)
        if key is not None:
            return key
        for path in places:
            if is_file(path):
                return path
        tried = ", ".join(dict.fromkeys(str(path) for path in places))
        raise FileNotFoundError(f"file '{name}' not found; tried {tried}")

    # --- names -------------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Discard cached results derived from the tree, after a change to it."""
        self._names = None
        self._inside.clear()

    def first_copy(self, element: Element) -> Element:
        """Return an element, or the first of its copies if ``replicate`` replaced it."""
        while element in self.first_copies:
            element = self.first_copies[element]
        return element

    def names(self, kind: str) -> dict[str, Element]:
        """Return the elements of a kind of object by name. Raises MjcfError if two elements of a kind share a name."""
        if self._names is None or kind in self._inside:
            self.named()
        return (self._names or {}).get(kind, {})

    def named(self) -> list[Element]:
        """Return all elements, depth first, and store their names. Raises MjcfError if two of a kind share a name."""
        elements = self.root.descendants()
        found: dict[str, dict[str, Element]] = {"body": {WORLD: self.worldbody}}
        for element in elements:
            name, kind = element.attributes.get("name"), element.row.kind
            if not name or kind is None:
                continue
            first = found.setdefault(kind, {}).setdefault(name, element)
            if first is not element:
                where = f", first in line {first.line}" if first.line is not None else ""
                taken = " (the world body has it)" if first is self.worldbody else where
                raise element.error(f"repeated name '{name}': another {kind} has it{taken}", "name")
        self._names = found
        self._inside.clear()
        return elements

    def by_row(self) -> tuple[dict[ElementRow, list[Element]], dict[Pattern, list[Repeated]]]:
        """Return all ordinary elements by schema row (depth first), and repeated elements by pattern."""
        found: defaultdict[ElementRow, list[Element]] = defaultdict(list)
        repeats: defaultdict[Pattern, list[Repeated]] = defaultdict(list)
        stack = self.root.children[::-1]
        while stack:
            element = stack.pop()
            pattern = element.pattern
            if pattern is not None:
                repeats[pattern].append(cast("Repeated", element))
                continue
            found[element.row].append(element)
            if element.children:
                stack.extend(element.children[::-1])
        return found, repeats

    def outlines(self) -> list[Element]:
        """Return all elements inside the world body, depth first. Each pattern is represented by its template."""
        found: list[Element] = []
        patterns: set[Pattern] = set()
        stack = self.worldbody.children[::-1]
        while stack:
            element = stack.pop()
            pattern = element.pattern
            if pattern is None:
                found.append(element)
                stack.extend(element.children[::-1])
            elif pattern not in patterns:
                patterns.add(pattern)
                stack.append(pattern.model)
        return found

    def take_names(
        self, rows: Mapping[ElementRow, list[Element]], repeats: Mapping[Pattern, list[Repeated]]
    ) -> Mapping[str, Mapping[str, Element]] | None:
        """Store the names of all elements, from the results of `by_row`. Return the elements by kind and name.

        The name of a child of a repeated element leads to the repeated element. If two elements of one kind share a
        name, return None and store nothing.
        """
        names: dict[str, dict[str, Element]] = {"body": {WORLD: self.worldbody}}
        inside: set[str] = set()
        for row, elements in rows.items():
            if row.kind is None:
                continue
            named = [(name, element) for element in elements if (name := element.attributes.get("name"))]
            of_kind = names.setdefault(row.kind, {})
            count = len(of_kind) + len(named)
            of_kind.update(named)
            if len(of_kind) < count:
                return None
        for pattern, elements in repeats.items():
            for number, part in pattern.parts():
                place, kind = pattern.place(number, "name"), part.row.kind
                if kind is None or not part.name:
                    continue
                if place is None and len(elements) > 1:
                    return None
                of_kind = names.setdefault(kind, {})
                count = len(of_kind) + len(elements)
                of_kind.update({part.name if place is None else one.values[place]: one for one in elements})
                if len(of_kind) < count:
                    return None
                if part is not pattern.model:
                    inside.add(kind)
        self._names, self._inside = names, inside
        return names

    def find(self, kind: str, name: str) -> Element | None:
        """Return the object of this kind and name, or None."""
        return self.names(kind).get(name)

    @staticmethod
    def entry_attribute(row: ElementRow, name: str) -> Attribute:
        """Return the row of an attribute that only the ``<default>`` entry of ``row`` has (a motor's ``gaintype``)."""
        return entry_element(row.entry or "").attributes[name]


def is_file(path: Path) -> bool:
    """Return whether a regular file exists at a path. Paths that the system does not accept give False."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


# --- names of files and assets ---------------------------------------------------------------------------------------


def file_base(name: str) -> str:
    """Return the last component of a path with slashes or backslashes."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def file_stem(name: str) -> str:
    """Return the last component of a path, without its extension."""
    base = file_base(name)
    stem, dot, _ = base.rpartition(".")
    return stem if dot else base


def name_assets(tree: ModelTree) -> None:
    """Name unnamed assets after their files. Equal names get numbers: ``wood_0``, ``wood_1``.

    Several sky boxes (or skins) without names and files are named ``_0``, ``_1``, ... In MuJoCo 4.0, they have no
    names.

    Raises:
        MjcfError: an asset has neither a name nor a file. Skins and sky boxes need no name.
    """
    found: defaultdict[tuple[str, str], list[Element]] = defaultdict(list)
    for section in ("asset", "deformable"):
        for element in tree.section(section).children:
            kind = element.row.kind or ""
            if kind in _ASSETS and not element.name:
                stem = file_stem(element.attributes.get("file") or "")
                if not stem and kind != "skin" and element.attributes.get("type") != "skybox":
                    raise element.error("required attribute missing: give a name, or a file to name it after", "name")
                found[kind, stem].append(element)
    for (_, stem), elements in found.items():
        if not stem and tree.compat == "4.0":
            continue
        for number, element in enumerate(elements):
            name = stem if len(elements) == 1 else f"{stem}_{number}"
            if name:
                element["name"] = name


def asset_folder(settings: dict[str, Any], kind: str) -> str:
    """Return the folder of a kind of asset in the ``compiler`` settings. "" means the main file's folder."""
    own = settings["texturedir" if kind == "texture" else "meshdir"]
    return own if own is not None else settings["assetdir"] or ""


Named = set[tuple[str, str]]  # kind and name

# optional kinds: elements that refer to them are kept
_APPEARANCE = ("material", "texture")


def remove(element: Element, alone: bool = False) -> None:
    """Remove an element, its content, and all elements that refer to them.

    References to materials and textures are dropped instead, and the elements remain. If ``alone`` is true, elements
    that refer to the removed ones are left as they are.
    """
    tree = element.tree
    gone = [element]
    while gone:
        names: Named = set()
        for part in gone:
            names |= names_of([part])
            if part.parent is not None and part in part.parent.children:
                part.parent.children.remove(part)
                part.parent = None
        if alone:
            break
        lost = {name for name in names if name[0] in _APPEARANCE}
        for cls in tree.defaults if lost else ():
            for entry, values in list(cls.entries.items()):
                for kind in _APPEARANCE:
                    if (kind, values.get(kind)) in lost:
                        cls.remove(entry, kind)
        found: dict[Element, None] = {}
        for whole in tree.root.descendants():
            for row in whole.row.references if lost else ():
                words = whole.attributes.get(row.name, "").split() if row.many else ()
                if whole.referred(row) in lost or any((row.kind, word) in lost for word in words):
                    del whole.attributes[row.name]
            if any(whole.referred(row) in names for row in whole.row.references) or listed(whole) & names:
                # if it is a part of a tendon, tuple or skin, remove the whole element
                while whole.row.kind is None and whole.parent is not None:
                    whole = whole.parent
                found[whole] = None
        gone = list(found)
    tree.changed()


def names_of(elements: Iterable[Element]) -> Named:
    """Return the kinds and names of all named objects among the elements and their content."""
    every = (part for element in elements for part in (element, *element.descendants()))
    return {(part.row.kind, part.name) for part in every if part.row.kind and part.name}


def listed(element: Element) -> Named:
    """Return the kinds and names of the objects in an element's lists of names (such as ``body`` of a flex)."""
    lists = element.row.lists
    return {(row.kind or "", name) for row in lists for name in element.attributes.get(row.name, "").split()}


# --- copies ----------------------------------------------------------------------------------------------------------


def copy_into(source: Element, target: Element) -> None:
    """Copy attributes, source location and content of an element to another element with the same row."""
    stack = [(source, target)]
    while stack:
        old, new = stack.pop()
        new.attributes = dict(old.attributes)
        new.source, new.line = old.source, old.line
        new.children = [Element(child.row, new.tree, new) for child in old.children]
        stack.extend(zip(old.children, new.children, strict=True))


def copied_tree(tree: ModelTree) -> ModelTree:
    """Return a copy of a model tree. The two trees share no elements."""
    tree.section("keyframe")  # rewrites keyframes after changes
    made = ModelTree(tree.source, tree.folder, tree.assets, tree.compat, tree.archived)
    made.include_folders = dict(tree.include_folders)
    made.macro_instances = set(tree.macro_instances)
    made.uses_later = tree.uses_later
    copy_into(tree.root, made.root)
    made.adopt_sections()
    if tree.beside:
        twins = zip(tree.root.descendants(), made.root.descendants(), strict=True)
        made.beside = {copy: dict(tree.beside[element]) for element, copy in twins if element in tree.beside}
    made.defaults.rename_main(tree.defaults.main.name)
    made.defaults.main.copy_entries(tree.defaults.main.entries, tree.defaults.main.actuator)
    stack: list[DefaultClass] = list(tree.defaults.main.children)
    while stack:
        cls = stack.pop(0)
        assert cls.parent is not None
        made.defaults.add(cls.name, made.defaults[cls.parent.name]).copy_entries(cls.entries, cls.actuator)
        stack.extend(cls.children)
    return made
