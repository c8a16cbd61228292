"""Names of MuJoCo's Python interface that are not there yet, by the feature they belong to.

`cardan.__getattr__` turns the use of such a name into an error that names the feature. A test holds the list complete:
each name of the reference's interface either works or stands here.
"""

from __future__ import annotations

import re

ABSENT: tuple[tuple[str, str], ...] = ((r"HEADERS_DIR", "the headers of the C library"),)


def absent_feature(name: str) -> str | None:
    """The feature that the name of the reference's interface belongs to, or None if there is no such name."""
    for pattern, feature in ABSENT:
        if re.fullmatch(pattern, name):
            return feature
    return None
