"""The shared models that the reference loads.

Some files of later versions make MuJoCo 3.1.6 hang and fill the memory (nested ``replicate`` without names), so each
file is tried in a process of its own first.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.scenes import ROOT, WIDE, model_files

sys.path.append(str(ROOT / "tests"))

from verdicts import Reference


def loadable_files() -> list[Path]:
    """Return the files of shared models that the reference loads and can compute a step's forces of."""
    reference = Reference()
    try:
        return [path for path in model_files() if reference.refusal_of_file(path) is None]
    finally:
        reference.close()


def loadable() -> dict[str, Path]:
    """Return the files of `loadable_files` by a short name."""
    found = {}
    for path in loadable_files():
        parts = path.relative_to(WIDE).parts
        found[f"{parts[1].partition('==')[0]}: {'/'.join(parts[-2:])}"] = path
    return found
