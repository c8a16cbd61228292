"""Docstrings: one dialect everywhere, Google's."""

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "cardan"
OTHER = re.compile(
    r"^ *(Parameters|Attributes|Returns|Raises):?\n *-{4,}$|^ *:(param|returns?|raises)\b|^ +Raises [A-Z]\w+ ", re.M
)


def test_one_dialect() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {words[0].strip()}"
        for path in sorted(SOURCE.rglob("*.py"))
        for words in OTHER.finditer(path.read_text())
    ]
    assert not found
