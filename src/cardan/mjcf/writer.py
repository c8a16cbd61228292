"""Writer that turns a model tree into MJCF text (spec: modeling, "Model creation").

Every explicit attribute is written, in the order of the language's table. Numbers have as many digits as are needed to
read the same number back. Sections without content are left out. With ``compat="4.0"``, an empty line separates
sections, as in files that MuJoCo 4.0 writes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cardan.spec.element import Element
from cardan.spec.schema.asset import LAYERS
from cardan.spec.schema.language import SCHEMA
from cardan.spec.schema.rows import Attribute, Type

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree

_INDENT = "  "
_ESCAPES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PLACES = {tag: place for place, tag in enumerate(SCHEMA.children)}


def write_tree(tree: ModelTree) -> str:
    """Return the tree as MJCF text.

    Raises:
        MjcfError: an attribute has a value that MJCF cannot represent (a NaN, a control character).
    """
    tree.section("keyframe")  # rewrites keyframes after changes
    sections = sorted(tree.root.children, key=lambda section: _PLACES.get(section.tag, len(_PLACES)))
    lines = [_start_tag(tree.root) + ">"]
    apart = tree.compat == "4.0"
    for section in sections:
        content = [*_lines(section, 1)]
        if apart and content and len(lines) > 1:
            lines.append("")
        lines.extend(content)
    return "\n".join([*lines, f"</{tree.root.tag}>", ""])


def _lines(root: Element, depth: int) -> Iterator[str]:
    """Yield the lines of an element and of everything inside it, at any depth of nesting."""
    stack: list[tuple[Element, int] | str] = [(root, depth)]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
            continue
        element, level = top
        if _says_nothing(element):
            continue
        inside = [(child, level + 1) for child in _content(element) if not _says_nothing(child)]
        yield _INDENT * level + _start_tag(element) + (">" if inside else "/>")
        if inside:
            stack.append(f"{_INDENT * level}</{element.tag}>")
            stack.extend(inside[::-1])


def _content(element: Element) -> list[Element]:
    """Return the child elements to write. Layers of a material, which the tree holds as attributes, are elements."""
    if not _has_layers(element):
        return element.children
    row = element.row.children["layer"]
    roles = {"texture": "rgb", **LAYERS}
    given = [(name, element.attributes.get(name)) for name in roles]
    layers = [{"texture": texture, "role": roles[name]} for name, texture in given if texture]
    return [Element(row, element.tree, element, values) for values in layers] + element.children


def _has_layers(element: Element) -> bool:
    """Return whether an element is a material with textures for other roles than its colour."""
    return element.tag == "material" and not LAYERS.keys().isdisjoint(element.attributes)


def _says_nothing(element: Element) -> bool:
    """Return whether an element is left out: a section or settings without attributes and with only such children."""
    return element.row.merged and not element.attributes and all(_says_nothing(child) for child in element.children)


def _start_tag(element: Element) -> str:
    """Return the start tag with all attributes, without its closing bracket.

    Raises:
        MjcfError: MJCF cannot represent a value.
    """
    from xml.sax.saxutils import quoteattr  # imports urllib and ssl, which loading a model need not wait for

    words = [f"<{element.tag}"]
    layers = ("texture", *LAYERS) if _has_layers(element) else ()
    for name, row, value in element.row.named(element.attributes, element.tree.compat):
        if name in layers:
            continue
        values = value if isinstance(value, tuple | list | array) else (value,)
        try:
            text = " ".join(_text(row, item) for item in values)
        except ValueError as error:
            raise element.error(str(error), name) from None
        if _NOT_IN_XML.search(text):
            raise element.error("the text holds characters that XML does not have", name)
        words.append(f"{name}={quoteattr(text, _ESCAPES)}")
    return " ".join(words)


def format_real(value: float) -> str:
    """Return the shortest text that reads back as the same number. Raises ValueError for NaN, which MJCF lacks."""
    number = float(value)
    if number != number:
        raise ValueError("NaN is not a number that MJCF can hold")
    return repr(number).removesuffix(".0")


def _text(row: Attribute, value: Any) -> str:
    """Return an attribute's value as MJCF text."""
    if row.type is Type.REAL:
        return format_real(value)
    if row.type is Type.BOOL:
        return next(word for word, meaning in row.keywords.items() if meaning is bool(value))
    return str(int(value) if row.type in (Type.INT, Type.MEMORY) else value)
