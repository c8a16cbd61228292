"""The XML parser: text to start and end tags. Entities, document types and network access are disabled.

Text that is not well-formed is repaired (`cardan.mjcf.dialect`), if possible, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NoReturn
from xml.parsers import expat

from cardan.errors import MjcfError
from cardan.mjcf.dialect import repaired

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]


class NotWellFormed(MjcfError):
    """The text is not XML, or uses XML features that are not accepted. Repairing it may help."""


def make_parser(text: str | bytes, source: str, start: Start | None, end: End | None) -> expat.XMLParserType:
    """Return a parser that reports tags to the handlers given; its ``CurrentLineNumber`` is the current line."""
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)

    def refuse_doctype(name: str, system: str | None, public: str | None, subset: bool) -> NoReturn:
        # document types could define entities and fetch files
        reason = "document type declarations and entities are not accepted"
        raise NotWellFormed(reason, source, parser.CurrentLineNumber, "!DOCTYPE")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse_doctype
    return parser


def well_formed(text: str | bytes, source: str) -> str | bytes:
    """Return the text, repaired with a warning if it is not well-formed XML. Raises MjcfError if repairing fails."""
    try:
        _check(text, source)
    except NotWellFormed as error:
        return mended(text, source, error)
    return text


def mended(text: str | bytes, source: str, error: NotWellFormed) -> str | bytes:
    """Return the repaired text, with a warning about the error. Raises the error if repairing fails.

    An error in another document, included by this one, is raised unchanged: it does not concern the text.
    """
    if error.source != source:
        raise error
    better = repaired(text)
    try:
        _check(better, source)
    except NotWellFormed:
        raise error from None
    warnings.warn(f"{error}; it is read as far as it makes sense", stacklevel=2)
    return better


def _check(text: str | bytes, source: str) -> None:
    """Raise MjcfError unless the text is well-formed."""
    run_parser(make_parser(text, source, None, None), text, source)


def run_parser(parser: expat.XMLParserType, text: str | bytes, source: str) -> None:
    """Parse the whole text, then remove the parser's handlers. Raises MjcfError if the text is not well-formed."""
    try:
        parser.Parse(text.encode() if isinstance(text, str) else text, True)
    except expat.ExpatError as error:
        reason = f"not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}"
        raise NotWellFormed(reason, source, error.lineno) from None
    except MjcfError:
        raise
    except (ValueError, LookupError) as error:
        raise NotWellFormed(f"not readable as text: {error}", source) from None
    finally:
        # handlers refer to the parser: without this, the cycle would live until the garbage collector runs
        parser.StartElementHandler = parser.EndElementHandler = parser.StartDoctypeDeclHandler = None
