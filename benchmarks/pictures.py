"""Pictures compared with those of the reference, drawn in software by OSMesa: every shared model from three cameras.

Pictures that fall short of a bar are compared with what the reference itself draws when its camera moves by 1e-7
extents of the model: how much its own picture scatters.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.loadable import loadable_files
from benchmarks.scenes import WIDE
from benchmarks.timing import save

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from pictures_compared import (  # noqa: E402
    BARS,
    CAMERAS,
    SHIFTS,
    CannotDraw,
    Pictures,
    can_draw_reference,
    compare,
    own_pictures,
    reaches,
    reference_pictures,
)

Rows = dict[str, dict[str, float]]


def scatter(path: Path, out: Path, theirs: Pictures, camera: int) -> dict[str, float]:
    """The lowest of each measure between the reference and itself, seen from cameras that were moved."""
    moved = [compare(reference_pictures(path, out, shift), theirs, camera) for shift in SHIFTS]
    return {f"{name}_reference": min(row[name] for row in moved) for name in BARS}


def compare_model(path: Path, out: Path, rows: Rows, short: Rows) -> None:
    """Add the rows of a model, a camera each; those that fall short go into `short`, too."""
    theirs = reference_pictures(path, out)
    ours = own_pictures(path)
    for camera in CAMERAS:
        title = f"{path.relative_to(WIDE)}, camera {camera}"
        row = rows[title] = compare(ours, theirs, camera)
        if not reaches(row):
            short[title] = row | scatter(path, out, theirs, camera)
            print(f"  {title}: " + ", ".join(f"{name} {value:.4f}" for name, value in short[title].items()), flush=True)


def main() -> None:
    """Print what falls short, and save the tables."""
    if not can_draw_reference:
        sys.exit("pictures: OSMesa is not installed (Debian: libosmesa6)")
    rows: Rows = {}
    short: Rows = {}
    print("pictures that fall short of a bar")
    with tempfile.TemporaryDirectory() as folder:
        for path in loadable_files():
            try:
                compare_model(path, Path(folder) / "pictures.npz", rows, short)
            except CannotDraw:
                continue  # a part of a model, which neither engine reads
    for name, bar in BARS.items():
        print(f"  {name} above {bar}: {sum(row[name] > bar for row in rows.values())} of {len(rows)}")
    save("pictures", {"bar": BARS, **rows})
    save("pictures_short", short)


if __name__ == "__main__":
    main()
