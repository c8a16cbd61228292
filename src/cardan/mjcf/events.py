"""The XML parser: well-formed text to start and end tags. Entities, document types and network access are off."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn
from xml.parsers import expat

from cardan.errors import MjcfError

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]


def make_parser(text: str | bytes, source: str, start: Start, end: End) -> expat.XMLParserType:
    """A parser that reports tags; ``CurrentLineNumber`` tells where it is."""
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)

    def refuse_doctype(name: str, system: str | None, public: str | None, subset: bool) -> NoReturn:
        # document types could define entities, and fetch files
        reason = "document type declarations and entities are not accepted"
        raise MjcfError(reason, source, parser.CurrentLineNumber, "!DOCTYPE")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse_doctype
    return parser


def run_parser(parser: expat.XMLParserType, text: str | bytes, source: str) -> None:
    """Parse the whole text. Raises MjcfError where it is not well-formed."""
    try:
        parser.Parse(text.encode() if isinstance(text, str) else text, True)
    except expat.ExpatError as error:
        reason = f"not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}"
        raise MjcfError(reason, source, error.lineno) from None
    except (UnicodeError, LookupError) as error:
        raise MjcfError(f"not readable as text: {error}", source) from None
