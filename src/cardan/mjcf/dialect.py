"""Text that is nearly XML, as real files have it, made well-formed: what the reference reads is read.

That is: attributes without a space between them, a bare ``&`` or ``<`` inside a value, comments with ``--`` inside, a
declaration after white space, text around the root element, document types (their entities stay text), bytes that are
not UTF-8 (read as Latin-1), control characters, and anything after the root element or a null character.
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
    """The elements of a text, well-formed, on the lines where they stand; all else is left out."""
    text = _decoded(text).partition("\0")[0]
    return "".join(_pieces(text.replace("\r\n", "\n").replace("\r", "\n")))


def _decoded(text: str | bytes) -> str:
    """Bytes as text: by their mark, else UTF-8, else Latin-1."""
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
    """Tags up to the end of the root element, and the ends of lines between them."""
    at = depth = 0
    for token in _TOKEN.finditer(text):
        between = text[at : token.start()]
        # what looks like a tag and is none is left to the parser
        yield between if "<" in between else _lines(between)
        at = token.end()
        if token["tag"] is None:
            yield _lines(token.group())
            continue
        yield _tag(token)
        depth += -1 if token["end"] else not token["empty"]
        if depth <= 0:
            rest = text[at:].strip()
            # another element is left out; text is not
            yield "" if _TOKEN.match(rest) else rest
            return


def _lines(text: str) -> str:
    return "\n" * text.count("\n")


def _tag(token: re.Match[str]) -> str:
    """A tag with well-formed attributes; what is none stays, for the parser to refuse."""
    attributes = _ATTRIBUTE.sub(_attribute, token["attributes"])
    return f"<{token['end'] or ''}{token['tag']}{attributes}{token['empty']}>"


def _attribute(found: re.Match[str]) -> str:
    name, equals, value = found.groups()
    value = _BARE.sub("&amp;", _CONTROL.sub("", value)).replace("<", "&lt;")
    return f" {name}{equals}{value}"
