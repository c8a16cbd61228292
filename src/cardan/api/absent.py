"""Names of MuJoCo's Python interface that are not available yet, with the feature to which each belongs.

If a program uses such a name, `cardan.__getattr__` raises an error that names the feature. A test keeps the list
complete: each name of the reference's interface either works or is listed here.
"""

from __future__ import annotations

import re

ABSENT: tuple[tuple[str, str], ...] = ((r"HEADERS_DIR", "the headers of the C library"),)


def absent_feature(name: str) -> str | None:
    """Return the feature to which a name of the reference's interface belongs, or None if the name is unknown."""
    for pattern, feature in ABSENT:
        if re.fullmatch(pattern, name):
            return feature
    return None
