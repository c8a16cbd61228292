"""Documentation of the MJCF language, generated from the table.

``python -m cardan.mjcf.docs > docs/mjcf.md`` makes the reference page. ``schema_text`` and ``schema_page`` list the
elements and attributes in the layout of MuJoCo's ``mj_printSchema``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cardan.errors import with_article
from cardan.spec.schema.asset import LAYERS
from cardan.spec.schema.language import INCLUDE, SCHEMA
from cardan.spec.schema.rows import OWN, SAME, Attribute, ElementRow, Type

_HEAD = """# MJCF reference

The whole language of model files, made from the table in `src/cardan/spec/schema` by `python -m cardan.mjcf.docs`;
do not edit.

Values are separated by spaces. A count such as *1 to 3* means that fewer values may be given: they replace the first
ones of the default. "undefined" means that the compiler infers the value. An attribute marked **required** must be
given. Elements, attributes and words marked *later* are read and kept, but compiling a model that uses them raises an
error: they need a feature that this version does not have. *Since 3.5* marks what MuJoCo has since that version,
*until 3.2.7* what it had until then, *only in Cardan* what no version has. Everything else is in MuJoCo 3.1 and in
4.0. Cardan reads all of them in every file ([compat](compat.md) explains where the versions differ in meaning).
"""

_MULTIPLICITY = {"!": "once", "?": "at most once", "*": "any number", "R": "any number, also inside itself"}


def page() -> str:
    """Return the reference page in Markdown."""
    parts = [_HEAD]
    seen: set[int] = set()
    for row in (SCHEMA, INCLUDE):
        _describe(row, "", parts, seen)
    return "\n".join(parts).rstrip() + "\n"


def _describe(row: ElementRow, path: str, parts: list[str], seen: set[int]) -> None:
    """Append the description of an element and of its children to ``parts``. Each row is described only once."""
    seen.add(id(row))
    here = f"{path}/{row.tag}" if path else row.tag
    later = _marks(row, row.later)
    parts.append(
        f"## {here}\n\n{row.meaning[0].upper()}{row.meaning[1:]} ({_MULTIPLICITY[row.multiplicity]}).{later}\n"
    )
    if row.entry:
        parts.append(f"Undefined attributes come from the default class entry `{row.entry}`.\n")
    if row.children:
        parts.append("Inside: " + ", ".join(f"`{tag}`" for tag in row.children) + "\n")
    if written(row):
        parts.append("| attribute | type | default | meaning |\n| --- | --- | --- | --- |")
        for attribute in written(row):
            later = ", ".join(f"`{word}`" for word in attribute.later_keywords) or attribute.later
            mark = _marks(attribute, later)
            kind, default = _type(attribute), _default(attribute)
            mark = f" (`{attribute.alias}` in 3.1){mark}" if attribute.alias else mark
            parts.append(f"| `{attribute.name}` | {kind} | {default} | {attribute.meaning}{mark} |")
        parts.append("")
    inside = "" if row is SCHEMA else here
    for child in row.children.values():
        if id(child) not in seen and not child.is_entry:
            _describe(child, inside, parts, seen)


def written(row: ElementRow) -> list[Attribute]:
    """Return the attributes that an element can have in MJCF text: all except those for layers of a material."""
    return [attribute for name, attribute in row.attributes.items() if name not in LAYERS]


def _marks(row: ElementRow | Attribute, later: str | None) -> str:
    """Return the marks of an element or attribute: versions of MuJoCo, and ``later``, the feature that is missing."""
    words = [f"since {row.since}"] * (row.since is not None) + [f"until {row.until}"] * (row.until is not None)
    words = ["only in Cardan"] if row.since == OWN else words
    words += [f"later: {later}"] * bool(later)
    return "".join(f" *{word[0].upper()}{word[1:]}.*" for word in words)


def _type(row: Attribute) -> str:
    """Return the type and the number of an attribute's values in words."""
    if row.keywords and row.type is not Type.KEYWORD and row.type is not Type.BOOL:
        words = ", ".join(f"`{word}`" for word in row.keywords)
        return f"int, {words}" if row.type is Type.INT else f"some of {words}"
    if row.keywords:
        return ", ".join(f"`{word}`" for word in row.keywords)
    if row.type is Type.REFERENCE:
        kind = row.kind or ""
        if kind.startswith("@"):
            return f"name, of kind `{kind[1:]}`"
        return "default class" if kind == "default" else f"name of {with_article(kind)}"
    if row.scalar:
        return row.type.value
    count = "any number" if row.high is None else str(row.high) if row.low == row.high else f"{row.low} to {row.high}"
    return f"{row.type.value} ({count})"


def _default(row: Attribute) -> str:
    """Return an attribute's default as MJCF text. If the default of 4.0 differs, append it."""
    if row.required:
        return "**required**"
    if row.default_4_0 is SAME:
        return _written(row)
    return f"{_written(row)} (4.0: {_written(replace(row, default=row.default_4_0))})"


def _written(row: Attribute) -> str:
    """Return an attribute's default in MuJoCo 3.1 as MJCF text."""
    if row.default is None or row.default == ():
        return "undefined"
    if isinstance(row.default, bool):
        return next(word for word, value in row.keywords.items() if value is row.default)
    if row.type is Type.KEYWORDS:
        return " ".join(row.default)
    if isinstance(row.default, tuple):
        return " ".join(f"{value:g}" for value in row.default)
    return f"{row.default:g}" if isinstance(row.default, float) else str(row.default)


# --- the list of elements and attributes -----------------------------------------------------------------------------

_TEXT_INDENT, _TEXT_COLUMN, _TEXT_WIDTH = 3, 30, 30
_SPACES, _PADDING = 4, 15
# left out of the list: these are allowed wherever a body is
_NOT_LISTED = ("frame", "replicate")
_BODY_TITLE = "(world)body"
_NO_ATTRIBUTES = '<span style="color:black"><i>no attributes</i></span>'


def _has(row: ElementRow | Attribute, version: str) -> bool:
    """Return whether a version of MuJoCo, ``"3.1"`` or ``"4.0"``, has an element or attribute."""
    return row.since != OWN and (row.since if version == "3.1" else row.until) is None


def schema_rows(version: str) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield depth, title, multiplicity and sorted attributes of each element that a version of MuJoCo has.

    The world and bodies share one row.
    """
    stack: list[tuple[int, ElementRow]] = [(0, SCHEMA)]
    while stack:
        depth, row = stack.pop()
        if row.tag == "worldbody":
            row = row.children["body"]
        title = _BODY_TITLE if row.tag == "body" and row.multiplicity == "R" else row.tag
        yield depth, title, row.multiplicity, sorted(a.name for a in written(row) if _has(a, version))
        inside = [child for child in row.children.values() if child is not row and child.tag not in _NOT_LISTED]
        inside = [child for child in inside if _has(child, version)]
        stack.extend((depth + 1, child) for child in reversed(inside))


def schema_text(version: str) -> str:
    """Return the list of elements as plain text, one element per line, with the attributes in a second column."""
    lines = []
    for depth, title, multiplicity, attributes in schema_rows(version):
        line = f"{' ' * (_TEXT_INDENT * depth)}{title} ({multiplicity})".ljust(_TEXT_COLUMN)
        for attribute in attributes:
            if len(line) > _TEXT_COLUMN + _TEXT_WIDTH:
                lines.append(line)
                line = " " * _TEXT_COLUMN
            line += f"{attribute} "
        lines.append(line)
    return "\n".join([*lines, ""])


def schema_page(version: str, padded: bool = False) -> str:
    """Return the list of elements as an HTML table. Elements are indented by padding if ``padded``, else by spaces."""
    parts = ['<table border="1">']
    for depth, title, multiplicity, attributes in schema_rows(version):
        style = f'style="padding-left:{5 + _PADDING * depth}" ' if padded else ""
        spaces = "" if padded else "&nbsp;" * (_SPACES * depth)
        words = "".join(f"{attribute} " for attribute in attributes)
        parts += [
            "<tr>",
            f'\t<td {style}bgcolor="#EEEEEE" class="el">{spaces}{title}</td>',
            f'\t<td class="ty">{multiplicity}</td>',
            f'\t<td class="at">{words or _NO_ATTRIBUTES}</td>',
            "</tr>",
        ]
    return "\n".join([*parts, "</table>", ""])


if __name__ == "__main__":
    print(page(), end="")
