"""Reader that turns MJCF text into a model tree.

The XML parser builds the tree in one pass. At each start tag the reader finds the row of the element in the table,
converts the attributes to typed values and checks the rules of the element. An included file is read immediately.
Then macros are expanded, and default classes, names and references are checked over the whole tree. Entities, document
types and network access are disabled.

Doubtful input that MuJoCo accepts is accepted with a warning: ``nan``, unknown attributes of ``<frame>`` and
``<include>``, unknown kinds of reference frames, text that is nearly XML.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cache
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import Any, NoReturn

from cardan.errors import FROM_STRING, MjcfError, suggestion
from cardan.mjcf.archives import is_archive, read_archive
from cardan.mjcf.attachments import expand_attachments, model_file
from cardan.mjcf.checks import check_references
from cardan.mjcf.events import NotWellFormed, make_parser, mended, run_parser, well_formed
from cardan.mjcf.rules import ABOUT, CLOSING_RULES, one_memory, rules_of
from cardan.mjcf.values import known_values, parse_value
from cardan.spec.attach import complete_keys
from cardan.spec.element import Element
from cardan.spec.macros import MACROS, expand_macros
from cardan.spec.schema.asset import TEXT
from cardan.spec.schema.language import DEFAULT, INCLUDE, SCHEMA
from cardan.spec.schema.rows import ElementRow, Type
from cardan.spec.tree import ModelTree, name_assets

_URDF_ROOT = "robot"
_OUTSIDE = ("body", "frame")  # elements that MuJoCo ignores if they are beside the world body
_NAMES = (Type.REFERENCE, Type.STRING)
_KEEPING = ("actuator", "sensor")  # kinds of objects that keep references without a name
_ASSET_FOLDERS = ("meshdir", "texturedir")  # attributes that a later assetdir replaces
_RECORDED = (*MACROS, "attach", "model")  # tags that are noted for each document
_DEEPEST = 5000
_MOST_FILES = 10_000
_MOST_NESTED = 100
_LENIENT = ("frame", "include")  # elements whose unknown attributes are ignored, as in MuJoCo
_OPTIONAL = {"reftype": "refname"}  # attributes whose word may be unknown: then both attributes are ignored


def read_path(
    path: str | PathLike[str], assets: dict[str, bytes] | None = None, compat: str | None = None
) -> ModelTree:
    """Read a model from an MJCF file, or from an archive (``.mjz``, ``.zip``) with such a file and its assets.

    Args:
        path: the file.
        assets: contents of files by name. They are used instead of files on disk, here for included files and later
            by the compiler.
        compat: version whose behaviour the model has, ``"3.1"`` or ``"4.0"``; None: the default of the process.

    Raises:
        MjcfError: the file cannot be read or breaks the rules. The message names file, line, element and attribute.
    """
    where = Path(fspath(path))
    tree = ModelTree(str(where), where.parent, assets, compat)
    key = tree.asset_key(str(where))
    try:
        text = where.read_bytes() if key is None else tree.assets[key]
    except OSError as error:
        raise MjcfError(f"cannot read the model file: {error.strerror or error}", str(where)) from None
    if is_archive(where):
        text, files = read_archive(text, where)
        tree = ModelTree(str(where), where.parent, {**files, **(assets or {})}, compat, archived=True)
        return _read(tree, text, str(where), None)
    tree.inside_files = (str(where.resolve()),)
    return _read(tree, text, str(where), where)


def read_string(xml: str | bytes, assets: dict[str, bytes] | None = None, compat: str | None = None) -> ModelTree:
    """Read a model from MJCF text, as ``read_path`` does from a file.

    ``xml`` is the text. Other files are looked up in ``assets``, then relative to the current folder. ``compat`` and
    the errors are as for ``read_path``.
    """
    return _read(ModelTree(None, None, assets, compat), xml, FROM_STRING, None)


def _read(tree: ModelTree, text: str | bytes, source: str, path: Path | None) -> ModelTree:
    """Read the main document into a tree, expand attachments and macros, and check the whole tree. Return the tree.

    If the text must be repaired, a new tree is returned.
    """
    try:
        tags = _read_document(tree, text, source, path)
    except NotWellFormed as error:
        text = mended(text, source, error)
        first, tree = tree, ModelTree(tree.source, tree.folder, tree.assets, tree.compat, tree.archived)
        tree.inside_files, tree.attached_files = first.inside_files, first.attached_files
        tags = _read_document(tree, text, source, path)
    if "attach" in tags or "model" in tags:
        expand_attachments(tree, _read_model)
        tags |= set(MACROS)
    for tag in MACROS:
        if tag in tags:
            expand_macros(tree, tag)
    if tree.late_keys:
        complete_keys(tree)
    tree.first_copies.clear()
    name_assets(tree)
    check_references(tree)
    return tree


def _read_model(name: str, tree: ModelTree) -> ModelTree:
    """Read the file ``name`` of a model that the model of ``tree`` attaches.

    Raises:
        OSError: the file can't be read.
        MjcfError: the file breaks the rules, the model contains itself, or too many models are read.
    """
    text, place = model_file(name, tree)
    tree.attached_files.append(str(place))
    if len(tree.attached_files) > _MOST_FILES:
        message = f"more than {_MOST_FILES} models are attached"
        raise MjcfError(message, tree.source, element="model", attribute="file")
    path = place if isinstance(place, Path) else None
    made = ModelTree(str(place), path.parent if path else tree.folder, tree.assets, tree.compat, tree.archived)
    made.inside_files, made.attached_files = (*tree.inside_files, str(place)), tree.attached_files
    return _read(made, text, str(place), path)


def _read_document(tree: ModelTree, text: str | bytes, source: str, path: Path | None) -> set[str]:
    """Read the main document into the tree. Return all tags in `_RECORDED` that occur, and some other tags.

    For a URDF model, return the tags of all macros.
    """
    document = _Document(tree, [], source, path, None, frozenset())
    try:
        document.parse(text)
    except _IsUrdf:
        from cardan.mjcf.urdf import read_urdf

        read_urdf(tree, text, source)
        return set(MACROS)
    return document.tags


class _IsUrdf(Exception):
    """Raised when the root element of the main document is the root of a URDF model."""


class _Manner:
    """Precomputed data for reading the elements that a row of the table describes.

    Attributes:
        row: the row.
        known: caches of attribute values with a fast reader, by attribute name (`known_values`).
        rules: the rules of the row, each with the attributes that trigger it (none: the rule always applies).
        always: whether at least one rule always applies.
        about: the attributes that trigger at least one rule.
        once: whether the element may occur only once in its parent.
        counts: whether `once` or required attributes must be checked.
        merged: whether repeated elements count as one.
        singles: whether some children may occur only once in the element.
        closing: whether the end tag requires any work.
        inside: the `_Manner` of each kind of child found so far, by tag.
    """

    __slots__ = (
        "about", "always", "closing", "counts", "inside", "known", "merged", "once", "row", "rules", "singles",
    )  # fmt: skip

    def __init__(self, row: ElementRow) -> None:
        self.row = row
        self.known = known_values(row)
        self.rules = tuple((rule, ABOUT.get(rule)) for rule in rules_of(row))
        self.always = any(about is None for _, about in self.rules)
        self.about = frozenset().union(*(about for _, about in self.rules if about is not None))
        self.once = row.multiplicity == "?"
        self.counts = self.once or bool(row.required)
        self.merged = row.merged
        self.singles = any(child.multiplicity == "?" for child in row.children.values())
        self.closing = row.tag in CLOSING_RULES or row.tag == DEFAULT.tag
        self.inside: dict[str, _Manner] = {}


_manner_of = cache(_Manner)

_Open = tuple[Element, _Manner, set[str]]
"""Element whose end tag is not read yet, its `_Manner`, and the tags found in it that may occur only once."""
_NO_SINGLES: set[str] = set()


@dataclass(eq=False)
class _Document:
    """One XML document that is being read, the main document or an included one.

    ``files`` holds every file included so far. ``around`` is the open element to which the content of an included
    document is added; ``around_files`` are the files that include this one, directly or indirectly. ``tags`` holds all
    tags in `_RECORDED` that occur in this and in included documents, and some other tags.
    """

    tree: ModelTree
    files: list[str | Path]
    source: str
    path: Path | None
    around: _Open | None
    around_files: frozenset[str | Path]
    empty: bool = True
    tags: set[str] = field(default_factory=set)
    open: list[_Open | None] = field(default_factory=list)  # None represents an <include>

    def parse(self, text: str | bytes) -> None:
        """Read the whole document into the tree. Raises MjcfError, or NotWellFormed if the text is not XML."""
        self.parser = make_parser(text, self.source, self._start, self._end)
        self.parser.StartCdataSectionHandler = self._start_cdata
        run_parser(self.parser, text, self.source)

    # --- events ------------------------------------------------------------------------------------------------------

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle a start tag: find the row, read and check the attributes, add the element or the included file."""
        opened = self.open
        if not opened:
            opened.append(self.around or self._root(tag, attributes))
            return
        if len(opened) > _DEEPEST:
            self._fail(f"elements are nested more than {_DEEPEST} levels deep", tag)
        self.empty = False
        top = opened[-1]
        if top is None:
            self._fail("nothing is allowed inside <include>", tag)
        parent, around, seen = top
        manner = around.inside.get(tag)
        if manner is None:
            if tag == INCLUDE.tag:
                self._include(top, attributes)
                opened.append(None)
                return
            if tag in _OUTSIDE and parent is self.tree.root:
                # bodies beside the world body occur in files for inclusion; they go to a world outside the tree
                self._warn("ignored, outside of <worldbody>", tag)
                parent = Element(SCHEMA.children["worldbody"], self.tree, self.tree.root)
            manner = self._manner(around, parent, tag)
        known = manner.known
        given: dict[str, Any] = {}
        try:
            for name, text in attributes.items():
                given[name] = known[name][text]
        except KeyError:
            given = self._attributes(manner, attributes)
        if manner.counts:
            if manner.once:
                if tag in seen:
                    self._fail(f"may occur only once inside <{parent.tag}>", tag)
                seen.add(tag)
            for name in manner.row.required:
                if name not in given:
                    self._fail("required attribute missing", tag, name)
        line = self.parser.CurrentLineNumber
        element = parent.child(tag) if manner.merged else None
        if element is None:
            element = Element(manner.row, self.tree, parent, given, self.source, line)
            parent.children.append(element)
        else:
            self._add_to(element, given, line)
        if manner.always or not manner.about.isdisjoint(given):
            for rule, about in manner.rules:
                if about is None or not about.isdisjoint(given):
                    rule(element)
        opened.append((element, manner, set() if manner.singles else _NO_SINGLES))

    def _start_cdata(self) -> None:
        """Handle the start of a CDATA section. In a custom text, the section becomes ``data``; elsewhere, ignore it."""
        top = self.open[-1] if self.open else None
        if top is None or top[0].tag != TEXT.tag:
            return
        element, parts = top[0], list[str]()
        if "data" in element.attributes:
            self._fail("given twice: as an attribute and in a CDATA section, or in two of them", TEXT.tag, "data")

        def end() -> None:
            self.parser.CharacterDataHandler = self.parser.EndCdataSectionHandler = None
            if parts:
                element.attributes["data"] = "".join(parts)

        self.parser.CharacterDataHandler = parts.append
        self.parser.EndCdataSectionHandler = end

    def _end(self, tag: str) -> None:
        """Handle an end tag: check the rules that depend on children, and define default classes."""
        top = self.open.pop()
        if top is None or not top[1].closing or top is self.around:
            return
        element = top[0]
        rule = CLOSING_RULES.get(tag)
        if rule is not None:
            rule(element)
        if tag == DEFAULT.tag and element.parent is self.tree.root:
            self.tree.defaults.define(element)

    # --- elements ----------------------------------------------------------------------------------------------------

    def _root(self, tag: str, attributes: dict[str, str]) -> _Open:
        """Read the root of the main document, and return it. Raises `_IsUrdf` if it is a URDF model."""
        if tag == _URDF_ROOT:
            raise _IsUrdf
        if tag != SCHEMA.tag:
            self._fail(f"the root element must be <{SCHEMA.tag}>", tag)
        root = self.tree.root
        manner = _manner_of(SCHEMA)
        root.attributes.update(self._attributes(manner, attributes))
        root.source, root.line = self.source, self.parser.CurrentLineNumber
        return root, manner, set()

    def _manner(self, around: _Manner, parent: Element, tag: str) -> _Manner:
        """Return the `_Manner` of an element with this tag in a parent. Raises MjcfError if it is not allowed there."""
        row = parent.row.children.get(tag)
        if row is None:
            hint = suggestion(tag, parent.row.children)
            self._fail(f"unknown element, or not allowed inside <{parent.tag}>{hint}", tag)
        if row.later:
            self.tree.uses_later = True
        self.tags.add(tag)
        manner = _manner_of(row)
        # tags of macros and of missing features are noted everywhere; an ignored world does not belong to the root
        if tag not in _RECORDED and not row.later and parent.row is around.row:
            around.inside[tag] = manner
        return manner

    def _add_to(self, element: Element, given: dict[str, Any], line: int) -> None:
        """Add attributes to an element that was read before, since its repetitions count as one element."""
        element.source, element.line = self.source, line
        if "assetdir" in given:
            for name in _ASSET_FOLDERS:
                element.attributes.pop(name, None)
        element.attributes.update(given)
        twice = one_memory(given) if element.tag == "size" else None
        if twice:
            self._fail(f"memory and {twice} exclude each other: give memory alone", element.tag, twice)

    def _attributes(self, manner: _Manner, attributes: dict[str, str]) -> dict[str, Any]:
        """Return the typed values of the attributes."""
        values: dict[str, Any] = {}
        known, plain = manner.known, True
        for name, text in attributes.items():
            value = known[name].read(text) if name in known else None
            plain &= value is not None
            values[name] = value
        return values if plain else self._careful_attributes(manner.row, attributes, values)

    def _careful_attributes(self, row: ElementRow, attributes: dict[str, str], plain: dict[str, Any]) -> dict[str, Any]:
        """Return typed values of all attributes, with full checks.

        ``plain`` holds the values that fast readers have found, and None for all other attributes.
        """
        values: dict[str, Any] = {}
        ignored: set[str] = set()
        rows = row.attributes
        for name, text in attributes.items():
            if plain[name] is not None:
                values[name] = plain[name]
                continue
            attribute = rows.get(name)
            if attribute is None and row.tag in _LENIENT:
                self._warn("unknown attribute is ignored" + suggestion(name, rows), row.tag, name)
                continue
            if attribute is None:
                note = "the world body has no attributes" if row.tag == "worldbody" else "unknown attribute"
                self._fail(note + suggestion(name, rows), row.tag, name)
            # an empty text means the same as no attribute, unless a later check reports it, or it replaces another text
            if attribute.type is Type.STRING:
                kept = attribute.required or bool(attribute.default) or row.merged or attribute.kind == "material"
            else:
                kept = attribute.required or attribute.kind in ("default", "material") or row.kind in _KEEPING
            if not text and attribute.type in _NAMES and not kept:
                continue
            try:
                values[name] = parse_value(attribute, text)
            except ValueError as error:
                if name not in _OPTIONAL:
                    self._fail(str(error), row.tag, name)
                self._warn(f"{error}; it is ignored", row.tag, name)
                ignored.add(_OPTIONAL[name])
            if attribute.type is Type.REAL and "nan" in text.lower():
                self._warn("'nan' is not a usable number", row.tag, name)
            if attribute.is_noted(values.get(name)):
                self.tree.uses_later = True
            if attribute.alias is not None:
                if attribute.alias in attributes:
                    self._fail(f"{name} and {attribute.alias} are the same attribute: give one", row.tag, name)
                alias, value = row.put_alias(name, values.pop(name))
                values[alias] = value
        for name in ignored:
            values.pop(name, None)
        return values

    # --- include -----------------------------------------------------------------------------------------------------

    def _include(self, top: _Open, attributes: dict[str, str]) -> None:
        """Read the file that ``<include>`` names as content of the open element ``top``. Raises MjcfError."""
        name = self._attributes(_manner_of(INCLUDE), attributes).get("file")
        if name is None:
            self._fail("required attribute missing", INCLUDE.tag, "file")
        try:
            path = Path(realpath(self.path)) if self.path else None
            text, found = self.tree.read_file(name, path.parent if path else None, self.tree.folder or Path())
        except OSError as error:
            self._fail(str(error), INCLUDE.tag, "file")
        around_files = self.around_files | ({path} if path else set())
        if found in around_files:
            self._fail(f"'{name}' includes itself", INCLUDE.tag, "file")
        if len(around_files) > _MOST_NESTED:
            self._fail(f"files include each other more than {_MOST_NESTED} levels deep", INCLUDE.tag, "file")
        if found in self.files:
            self._warn(f"'{name}' is already included: its content comes once more", INCLUDE.tag, "file")
        self.files.append(found)
        if len(self.files) > _MOST_FILES:
            self._fail(f"more than {_MOST_FILES} files are included", INCLUDE.tag, "file")
        folder = found.parent if isinstance(found, Path) else None
        if folder is not None:
            self.tree.include_folders[str(name)] = folder
        elif "/" in name:
            self.tree.include_folders[str(name)] = Path(name).parent
        path = found if isinstance(found, Path) else None
        document = _Document(self.tree, self.files, str(name), path, top, around_files | {found})
        document.parse(well_formed(text, str(name)))
        self.tags |= document.tags
        if document.empty:
            self._fail(f"'{name}' is empty", INCLUDE.tag, "file")

    # --- errors ------------------------------------------------------------------------------------------------------

    def _warn(self, message: str, element: str, attribute: str | None = None) -> None:
        """Warn about the element at the parser's current line."""
        line = self.parser.CurrentLineNumber
        warnings.warn(str(MjcfError(message, self.source, line, element, attribute)), stacklevel=2)

    def _fail(
        self, message: str, element: str, attribute: str | None = None, kind: type[MjcfError] = MjcfError
    ) -> NoReturn:
        """Raise an error about the element at the parser's current line."""
        raise kind(message, self.source, self.parser.CurrentLineNumber, element, attribute)
