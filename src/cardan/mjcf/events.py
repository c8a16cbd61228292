"""The XML parser, from text to start and end tags. Entities, document types and network access are disabled.

Text that is nearly XML is repaired with a warning, so that files that MuJoCo reads can be read. The following
deviations occur in real files and are repaired: attributes without a space between them, a bare ``&`` or ``<`` inside
a value, comments with ``--`` inside, and a declaration after white space. Text before the root element, control
characters, elements after the root element, and anything after a null character are dropped. Entities of document
types remain text. Bytes that are not UTF-8 are read as Latin-1.
"""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Callable, Iterator
from typing import NoReturn
from xml.parsers import expat

from cardan.errors import FROM_STRING, MjcfError

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]


class NotWellFormed(MjcfError):
    """The text is not XML, or uses XML features that are not accepted. The caller may try to repair it."""


def make_parser(text: str | bytes, source: str, start: Start | None, end: End | None) -> expat.XMLParserType:
    """Return a parser that calls ``start`` and ``end`` for each tag. Its `CurrentLineNumber` is the line of the tag."""
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
    """Return the text. If it is not well-formed XML, repair it with a warning. Raises MjcfError if that fails."""
    try:
        _check(text, source)
    except NotWellFormed as error:
        return mended(text, source, error)
    return text


def mended(text: str | bytes, source: str, error: NotWellFormed) -> str | bytes:
    """Return the repaired text, with a warning about ``error``. Raises ``error`` if the text can't be repaired.

    If ``error`` is in a document that this one includes, it is raised unchanged.
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
    """Raise MjcfError if the text is not well-formed XML."""
    run_parser(make_parser(text, source, None, None), text, source)


def run_parser(parser: expat.XMLParserType, text: str | bytes, source: str) -> None:
    """Parse the whole text, then remove the parser's handlers. Raises NotWellFormed if the text is not well-formed."""
    content = b""
    try:
        content = text.encode() if isinstance(text, str) else text
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = f"not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}"
        if source == FROM_STRING and content and b"<" not in content:
            reason += "; if this is the path of a file, read it with from_xml_path or MjSpec.from_file"
        raise NotWellFormed(reason, source, error.lineno) from None
    except MjcfError:
        raise
    except (ValueError, LookupError) as error:
        raise NotWellFormed(f"not readable as text: {error}", source) from None
    finally:
        # handlers refer to the parser: without this, the cycle would live until the garbage collector runs
        parser.StartElementHandler = parser.EndElementHandler = parser.StartDoctypeDeclHandler = None
        parser.StartCdataSectionHandler = parser.EndCdataSectionHandler = parser.CharacterDataHandler = None


# --- repair of text that is nearly XML --------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    <!--.*?-->                                                  # a comment
    | <!\[CDATA\[.*?\]\]>
    | <\?.*?\?>                                                 # a declaration or an instruction
    | <!(?:[^<>\[]|\[[^\]]*\])*>                                # a document type
    | <(?:(?P<end>/)|\s*)(?P<tag>[\w:][\w:.\-]*)                    # a tag
      (?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*?)(?P<empty>/?)>
    """,
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]+)(\s*=\s*)("[^"]*"|'[^']*')""")
_BARE = re.compile(r"&(?!(?:lt|gt|amp|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def repaired(text: str | bytes) -> str:
    """Return the elements of a text as XML, each on its original line. Everything else is dropped.

    Errors that can't be repaired, such as malformed attributes, remain in the result.
    """
    if isinstance(text, bytes):
        # by the byte order mark, else UTF-8, else Latin-1
        mark = next((name for mark, name in _BOMS if text.startswith(mark)), None)
        try:
            text = text.decode(mark, "replace") if mark else text.decode()
        except UnicodeDecodeError:
            text = text.decode("latin-1")
    text = text.partition("\0")[0]
    return "".join(_pieces(text.replace("\r\n", "\n").replace("\r", "\n")))


def _pieces(text: str) -> Iterator[str]:
    """Yield the tags up to the end of the root element, and the line breaks between them.

    Malformed text is yielded unchanged.
    """
    at = depth = 0
    for token in _TOKEN.finditer(text):
        between = text[at : token.start()]
        # text that resembles a tag is left to the parser
        yield between if "<" in between else "\n" * between.count("\n")
        at = token.end()
        if token["tag"] is None:
            yield "\n" * token.group().count("\n")
            continue
        # malformed attributes are kept, so that the parser rejects them
        attributes = _ATTRIBUTE.sub(_attribute, token["attributes"])
        yield f"<{token['end'] or ''}{token['tag']}{attributes}{token['empty']}>"
        depth += -1 if token["end"] else not token["empty"]
        if depth <= 0:
            rest = text[at:].strip()
            # a second root element is dropped, with text before it; other text is left to the parser
            yield "" if _TOKEN.match(rest, max(rest.find("<"), 0)) else rest
            return


def _attribute(found: re.Match[str]) -> str:
    name, equals, value = found.groups()
    value = _BARE.sub("&amp;", _CONTROL.sub("", value)).replace("<", "&lt;")
    return f" {name}{equals}{value}"
