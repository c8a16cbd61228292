"""One element of the tree: its explicit attributes, its children, and its values from default classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cardan.errors import MjcfError, UnsupportedFeature, suggestion
from cardan.spec.actuator import SHORTCUTS, apply_shortcut
from cardan.spec.defaults import overlay, superseded
from cardan.spec.schema.keywords import OBJECT_KIND

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.repeated import Pattern
    from cardan.spec.schema.rows import Attribute, ElementRow
    from cardan.spec.tree import ModelTree


class Element:
    """An element of a model tree.

    Attributes:
        row: the element's row in the MJCF table (tag, attributes, allowed children, object kind).
        attributes: explicit attributes by name, with typed values. None means undefined, even if a default class has
            a value.
        children: child elements, in the user's order.
        parent: enclosing element, None for the root.
        tree: the model tree.
        source, line: file and line where the element was written (None if a program built it).
        pattern: for an element that a macro repeats, the data shared by all copies (see `cardan.spec.repeated`). None
            for other elements, and after attributes or children were accessed.
    """

    __slots__ = ("attributes", "children", "line", "parent", "pattern", "row", "source", "tree")

    def __init__(
        self,
        row: ElementRow,
        tree: ModelTree,
        parent: Element | None = None,
        attributes: dict[str, Any] | None = None,
        source: str | None = None,
        line: int | None = None,
    ) -> None:
        self.row = row
        self.tree = tree
        self.parent = parent
        self.attributes: dict[str, Any] = attributes if attributes is not None else {}
        self.children: list[Element] = []
        self.source = source
        self.line = line
        self.pattern: Pattern | None = None

    def __repr__(self) -> str:
        return f"<{self.tag} {self.attributes}>"

    @property
    def tag(self) -> str:
        """Tag of the element."""
        return self.row.tag

    @property
    def name(self) -> str | None:
        """Name of the object, or None if the object is unnamed."""
        return self.attributes.get("name") or None

    # --- structure ---------------------------------------------------------------------------------------------------

    def add(self, tag: str, **attributes: Any) -> Element:
        """Add a child element with typed attribute values, and return it.

        Raises:
            MjcfError: the child or an attribute is not allowed.
        """
        row = self.row.children.get(tag)
        if row is None:
            raise self.error(f"<{tag}> is not allowed here" + suggestion(tag, self.row.children))
        unknown = attributes.keys() - row.attributes.keys()
        if unknown:
            word = min(unknown)
            raise MjcfError("unknown attribute" + suggestion(word, row.attributes), element=tag, attribute=word)
        child = Element(row, self.tree, self, dict(row.put_alias(*item) for item in attributes.items()))
        self.children.append(child)
        self.tree.changed()
        return child

    def append(self, tag: str, given: dict[str, Any], origin: Element) -> Element:
        """Append a child without checks, for macros. Return the child.

        The dict ``given`` becomes the child's attributes, without a copy. Errors about the child are reported at the
        element ``origin``.
        """
        made = Element(self.row.children[tag], self.tree, self, given, origin.source, origin.line)
        self.children.append(made)
        return made

    def child(self, tag: str) -> Element | None:
        """Return the first child with this tag, or None."""
        for child in self.children:
            if child.row.tag == tag:
                return child
        return None

    def all(self, *tags: str) -> Iterator[Element]:
        """Return the children with one of these tags, in the user's order (all children if no tag is given)."""
        return (child for child in self.children if not tags or child.row.tag in tags)

    def content(self, *tags: str) -> Iterator[tuple[Element, tuple[Element, ...]]]:
        """Yield the content of this body, including the content of frames.

        Yields ``(element, frames)`` in the user's order, for each element that is not a frame. ``frames`` are the
        frames between this body and the element, outermost first. If ``tags`` are given, only elements with these tags
        are yielded. The content of child bodies is not included.
        """
        stack: list[tuple[Iterator[Element], tuple[Element, ...]]] = [(iter(self.children), ())]
        while stack:
            children, frames = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
            elif child.row.tag == "frame":
                stack.append((iter(child.children), (*frames, child)))
            elif not tags or child.row.tag in tags:
                yield child, frames

    def around(self) -> Iterator[Element]:
        """Yield the ancestors of this element, innermost first."""
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    def descendants(self) -> list[Element]:
        """Return all elements inside this one, depth first, in the user's order."""
        found: list[Element] = []
        stack = self.children[::-1]
        while stack:
            element = stack.pop()
            found.append(element)
            if element.children:
                stack.extend(element.children[::-1])
        return found

    # --- values ------------------------------------------------------------------------------------------------------

    @property
    def default_class(self) -> DefaultClass:
        """Default class that applies to this element (spec: modeling, "Default settings").

        It is the first of these that exists: the element's ``class``, the ``childclass`` of an enclosing frame in the
        same body, the ``childclass`` of the nearest enclosing body that has one, the global class. In MuJoCo 4.0,
        frames around enclosing bodies count, too.
        """
        tree = self.tree
        own = self.attributes.get("class")
        if own:
            return tree.defaults[own]
        if tree.inherited is None:
            return self.inherited_class()
        found = tree.inherited.get(self.parent)
        if found is None:
            found = tree.inherited[self.parent] = self.inherited_class()
        return found

    def inherited_class(self, skip_frames: bool = False) -> DefaultClass:
        """Return the default class that applies to this element if it names none.

        If ``skip_frames`` is true, the ``childclass`` of enclosing frames is ignored, but not in MuJoCo 4.0.
        """
        through = self.tree.compat == "4.0"  # whether classes of frames pass through bodies
        defaults = self.tree.defaults
        around = self.parent
        while around is not None:
            tag = around.row.tag
            if through or not (skip_frames and tag == "frame"):
                name = around.attributes.get("childclass")
                if name:
                    return defaults[name]
            skip_frames = skip_frames or tag == "body"
            around = around.parent
        return defaults.main

    def resolved(self) -> dict[str, Any]:
        """Return the values of all attributes: explicit, or from the default class, or the language's default.

        None means "undefined". Actuators are converted to their general form. The caller may change the dict.
        """
        row, given = self.row, self.attributes
        base = self.default_class.base(row) if row.entry else row.defaults_in(self.tree.compat)
        values = overlay(base, given, row.partial)
        for name in superseded(given, self.tree.compat):
            if name in values:
                values[name] = None
        return apply_shortcut(row.tag, values, given, self.tree.compat) if row.tag in SHORTCUTS else values

    def __getitem__(self, name: str) -> Any:
        """Return the resolved value of one attribute. Raises KeyError if the element has no such attribute."""
        return self.row.get_alias(name, self.resolved())

    def __setitem__(self, name: str, value: Any) -> None:
        """Set an explicit attribute. None removes the attribute, so that its default applies again."""
        if name not in self.row.attributes:
            raise self.error("unknown attribute" + suggestion(name, self.row.attributes), name)
        name, value = self.row.put_alias(name, value)
        if value is None:
            self.attributes.pop(name, None)
        else:
            self.attributes[name] = value
        self.tree.changed()

    def given(self, name: str) -> Any:
        """Return the explicit value of one attribute, or None if the element gives none."""
        return self.attributes.get(name)

    def is_explicit(self, name: str) -> bool:
        """Return whether the element itself gives the attribute."""
        return name in self.attributes

    def is_set(self, name: str) -> bool:
        """Return whether the element itself or its default class gives the attribute a value other than None."""
        if name in self.attributes:
            return self.attributes[name] is not None
        return bool(self.row.entry) and name in self.default_class.entries.get(self.row.entry or "", {})

    def code(self, name: str, values: dict[str, Any] | None = None) -> int:
        """Return the number, in the engine's enumeration, of the keyword that an attribute holds.

        ``values`` are the resolved values of the element. If None, they are resolved here.
        """
        value = (values if values is not None else self.resolved())[name]
        row = self.row.attributes.get(name) or self.tree.entry_attribute(self.row, name)
        return row.keywords[value]

    def referred(self, row: Attribute) -> tuple[str, str] | None:
        """Return the kind and name of the object to which an attribute of this element refers, or None."""
        name, kind = self.attributes.get(row.name), row.kind or ""
        if not name:
            return None
        if kind.startswith("@"):
            kind = OBJECT_KIND.get(self.attributes.get(kind[1:], ""), "")
        return kind, name

    # --- errors ------------------------------------------------------------------------------------------------------

    def error(self, message: str, attribute: str | None = None) -> MjcfError:
        """Return an error about this element, to be raised by the caller."""
        return MjcfError(message, self.source, self.line, self._label(), attribute)

    def warn(self, message: str, attribute: str | None = None) -> None:
        """Warn about a doubtful value or use of this element."""
        warnings.warn(str(self.error(message, attribute)), stacklevel=3)

    def unsupported(self, feature: str, attribute: str | None = None) -> UnsupportedFeature:
        """Return an error about a feature that this element needs and that is not supported yet."""
        message = f"{feature}: this feature of MuJoCo is not supported yet (docs/status.md)"
        return UnsupportedFeature(message, self.source, self.line, self._label(), attribute)

    def _label(self) -> str:
        """Return the element's tag and name in the form for error messages."""
        return f"{self.row.tag} name='{self.name}'" if self.name and "name" in self.row.attributes else self.row.tag
