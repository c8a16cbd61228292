"""Plain English: patterns that hard-to-read docstrings, comments and pages have in common don't come back.

All of the package is checked, and the pages of the list below.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/batch.md",
    "docs/derivatives.md",
    "docs/differences.md",
    "docs/gpu.md",
    "docs/how-derivatives-work.md",
    "docs/how-to-add.md",
    "docs/ik.md",
    "docs/life-of-a-step.md",
    "docs/mjspec.md",
    "docs/nonconvex.md",
    "docs/sticking.md",
    "docs/parity.md",
    "docs/performance.md",
    "docs/pictures.md",
    "docs/plugins.md",
    "docs/status.md",
    "docs/viewer.md",
)
LONGEST = 30  # words of a sentence in a docstring

# pattern, and what to write instead
FIRST_WORDS = re.compile(r"(What|Which|Of|The same)\b")
RULES = (
    (re.compile(r"\b(stand|stands|standing) (in|at|for|on|behind|beside|there)\b"), "is stored in, is at, means"),
    (re.compile(r"(?<!there )\b(is|are) no (?!longer\b|more\b|less\b)\w+", re.I), "is not a, has no"),
    (re.compile(r"\b(all|any\w*|every\w*( \w+)?|each|none|nothing|no \w+) but\b|\bbut (for|those) ", re.I), "except"),
)
ALLOWED: tuple[str, ...] = ()
"""Text of passages that may stay, because the pattern has its ordinary meaning there."""

ENTRY = re.compile(r" *(\w+|`[^`]+`): ")  # of a list of arguments or attributes
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.:;!?](?=\s|$)")
IGNORED_IN_SENTENCES = re.compile(r"\([^()]*\)|``[^`]*``")  # sources and formulas


def paragraphs(docstring: str) -> Iterator[str]:
    """Paragraphs and entries of a docstring on one line each; tables and indented formulas are left out."""
    lines: list[str] = []
    for line in [*docstring.split("\n"), ""]:
        starts_entry = ENTRY.match(line) or line.lstrip().startswith("- ")
        if not line.strip() or starts_entry:
            if lines:
                yield " ".join(lines)
            lines = []
        if line.strip() and not re.match(r"\s*(={3}|\.\. |\||>>>)|\S.*\s{3}\S|.* = .* = ", line):
            lines.append(line.strip())


def long_sentences(docstring: str) -> Iterator[str]:
    """Sentences of a docstring that have more than `LONGEST` words; sources in brackets don't count."""
    for text in paragraphs(docstring):
        for sentence in SENTENCE_END.split(IGNORED_IN_SENTENCES.sub("", text)):
            if len(sentence.split()) > LONGEST:
                yield sentence.strip()


def findings_of(text: str) -> Iterator[str]:
    """Places of a text that break one of the `RULES`."""
    for pattern, instead in RULES:
        for found in pattern.finditer(text):
            context = text[max(0, found.start() - 40) : found.end() + 40]
            if not any(allowed in context for allowed in ALLOWED):
                yield f"'{context}': write {instead}"


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring of a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            if text := ast.get_docstring(node):
                yield node.body[0].lineno, text


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment of a file."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def findings(source: str) -> Iterator[tuple[int, str]]:
    """Line and description of each place of a Python file that breaks a rule."""
    for line, text in docstrings(source):
        if FIRST_WORDS.match(text):
            yield line, f"'{text[:40]}': begin with an imperative verb or a noun that names the thing"
        yield from ((line, found) for found in findings_of(" ".join(text.split())))
        yield from ((line, f"more than {LONGEST} words: '{sentence}'") for sentence in long_sentences(text))
    for line, text in comments(source):
        yield from ((line, found) for found in findings_of(text))


def test_docstrings_and_comments() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sorted((ROOT / "src" / "cardan").rglob("*.py"))
        for line, text in findings(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").split("\n")
    found = [f"{page}:{number}: {text}" for number, line in enumerate(lines, 1) for text in findings_of(line)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "What a row is.",
        "Which stages there are.",
        "Of each body, the mass.",
        "The same for two rows.",
        "A row that stands in another array.",
        "A number that is no index.",
        "All but the last.",
        "The same as above, but for the sign.",
        "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty and then ten more words that make this sentence too long.",
    ],
)
def test_patterns_are_found(text: str) -> None:
    assert list(findings(f'"""{text}"""'))


def test_plain_text_passes() -> None:
    text = "Rows of a matrix.\n\nIf the matrix has no rows, nothing changes; it is no longer needed."
    assert not list(findings(f'"""{text}"""'))
