"""Cardan's own exceptions, and suggestions for misspelt words.

Errors in a model's text state what is wrong, where (file, line, element, attribute), and what would be right.
"""

from __future__ import annotations

from collections.abc import Iterable


class FatalError(Exception):
    """Error for which MuJoCo's C library would stop the program."""


class UnexpectedError(Exception):
    """An internal error that should be impossible."""


FROM_STRING = "XML string"
"""Source name of models that are not read from a file."""


class MjcfError(ValueError):
    """A model that breaks the rules of MJCF.

    The message reads ``file:line: <element> attribute: what is wrong``. If there is no file, it begins with
    ``XML string, line 3: ...``, because some programs search for the word "line". Unknown parts are left out. The parts
    are also attributes: ``source``, ``line``, ``element`` and ``attribute``.
    """

    def __init__(
        self,
        message: str,
        source: str | None = None,
        line: int | None = None,
        element: str | None = None,
        attribute: str | None = None,
    ) -> None:
        self.source, self.line, self.element, self.attribute = source, line, element, attribute
        place = f"{source}: " if source else ""
        if line is not None:
            place = f"{source}:{line}: " if source and source != FROM_STRING else f"{source or 'XML'}, line {line}: "
        part = f"<{element}>" if element else ""
        if attribute:
            part += f" {attribute}" if part else attribute
        super().__init__(f"{place}{part}: {message}" if part else f"{place}{message}")


class MjcfTypeError(MjcfError, TypeError):
    """A value of a wrong type in a specification that a program builds."""


class PluginError(ValueError):
    """Error of a plugin that rejects an instance: the id ``instance`` and the plugin's message, ``reason``."""

    def __init__(self, instance: int, name: str, reason: str) -> None:
        self.instance, self.reason = instance, reason
        super().__init__(f"plugin instance {instance} of {name}: {reason}")


class UnsupportedFeature(MjcfError):
    """A valid model that uses a feature which this version does not have yet."""


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an"."""
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def suggestion(word: str, known: Iterable[str], limit: int = 12) -> str:
    """Return a hint for a misspelt ``word``: the most similar ``known`` word, or all if at most ``limit`` are known.

    If there is neither, return an empty string.
    """
    from difflib import get_close_matches

    words = list(known)
    near = get_close_matches(word, words, n=1, cutoff=0.6) or [w for w in words if w.lower() == word.lower()][:1]
    if near:
        return f"; did you mean '{near[0]}'?"
    if 0 < len(words) <= limit:
        return "; expected " + (f"'{words[0]}'" if len(words) == 1 else "one of " + ", ".join(sorted(words)))
    return ""
