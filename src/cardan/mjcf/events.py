"""The XML parser: text to start and end tags. Entities, document types and network access are off.

Text that isn't well-formed is mended (`cardan.mjcf.dialect`) with a warning, if that helps.
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
    """The text is no XML, or of a kind that isn't accepted: mended, it may be."""


def make_parser(text: str | bytes, source: str, start: Start | None, end: End | None) -> expat.XMLParserType:
    """A parser that reports tags, if to anybody; ``CurrentLineNumber`` tells where it is."""
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)

    def refuse_doctype(name: str, system: str | None, public: str | None, subset: bool) -> NoReturn:
        # document types could define entities, and fetch files
        reason = "document type declarations and entities are not accepted"
        raise NotWellFormed(reason, source, parser.CurrentLineNumber, "!DOCTYPE")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse_doctype
    return parser


def well_formed(text: str | bytes, source: str) -> str | bytes:
    """The text, mended with a warning when it isn't well-formed XML. Raises MjcfError when it can't be mended."""
    try:
        _check(text, source)
    except NotWellFormed as error:
        return mended(text, source, error)
    return text


def mended(text: str | bytes, source: str, error: NotWellFormed) -> str | bytes:
    """The text, mended with a warning about the error. Raises the error when it can't be mended.

    An error of another document, which this one includes, says nothing about the text.
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
    """Parse the whole text, and take the parser's handlers away. Raises MjcfError where it is not well-formed."""
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
        # handlers know the parser: without this, all would live until the collector finds them
        parser.StartElementHandler = parser.EndElementHandler = parser.StartDoctypeDeclHandler = None
