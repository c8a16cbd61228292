"""Repair of text that is nearly XML, so that every file that the reference reads can be read.

The following deviations occur in real files and are repaired: attributes without a space between them, a bare ``&`` or
``<`` inside a value, comments with ``--`` inside, and a declaration after white space. Text around the root element,
control characters, and anything after the root element or a null character are dropped. Entities of document types
remain text. Bytes that are not UTF-8 are read as Latin-1.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

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
    """Return the elements of a text as well-formed XML, each on its original line; everything else is dropped."""
    text = _decoded(text).partition("\0")[0]
    return "".join(_pieces(text.replace("\r\n", "\n").replace("\r", "\n")))


def _decoded(text: str | bytes) -> str:
    """Decode bytes according to their byte order mark, else as UTF-8, else as Latin-1."""
    if isinstance(text, str):
        return text
    for mark, name in _BOMS:
        if text.startswith(mark):
            return text.decode(name, "replace")
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _pieces(text: str) -> Iterator[str]:
    """Yield the tags up to the end of the root element, and the line breaks between them."""
    at = depth = 0
    for token in _TOKEN.finditer(text):
        between = text[at : token.start()]
        # text that looks like a tag, but is not, is left to the parser
        yield between if "<" in between else _lines(between)
        at = token.end()
        if token["tag"] is None:
            yield _lines(token.group())
            continue
        yield _tag(token)
        depth += -1 if token["end"] else not token["empty"]
        if depth <= 0:
            rest = text[at:].strip()
            # a second root element is dropped; text after the root is ignored
            yield "" if _TOKEN.match(rest) else rest
            return


def _lines(text: str) -> str:
    return "\n" * text.count("\n")


def _tag(token: re.Match[str]) -> str:
    """Return a tag with well-formed attributes; malformed parts are kept, so that the parser rejects them."""
    attributes = _ATTRIBUTE.sub(_attribute, token["attributes"])
    return f"<{token['end'] or ''}{token['tag']}{attributes}{token['empty']}>"


def _attribute(found: re.Match[str]) -> str:
    name, equals, value = found.groups()
    value = _BARE.sub("&amp;", _CONTROL.sub("", value)).replace("<", "&lt;")
    return f" {name}{equals}{value}"
