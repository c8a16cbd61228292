"""Scenes compared with those of the reference: every shared model with each flag, label, frame and camera.

Geoms are compared in order with every member; so are lights, cameras, and vertices of flexes and skins.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from benchmarks.loadable import loadable_files
from benchmarks.scenes import WIDE
from benchmarks.timing import save

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from visual.scenes_compared import Pair  # noqa: E402
from visual.settings import cameras, combinations, compare, single_flags  # noqa: E402

STEPS = 5
KINDS = {
    "mjFRAME": "frames",
    "mjLABEL": "labels",
    "categor": "categories",
    "active ": "perturbations",
    "depth": "depths of trees of volumes",
    "free cam": "free camera",
    "tracking": "tracking cameras",
    "fixed": "cameras of the model",
    "user's": "a camera of the user",
}
"""Settings that share a row, by how they begin."""

Rows = dict[str, dict[str, float]]


def row_of(setting: str) -> str:
    """The row of a setting: its own for a flag."""
    if "group " in setting:
        return "groups"
    return next((kind for start, kind in KINDS.items() if setting.startswith(start)), setting)


def compare_model(path: Path, rows: Rows) -> None:
    """Add the scenes of one model; prints those that differ."""
    try:
        pair = Pair(path, STEPS)
    except ValueError:
        return  # a part of a model, which neither engine reads
    if pair.rm.nmesh != pair.m.nmesh:
        return  # the reference takes meshes of one name in two folders for one (docs/differences.md)
    for setting, values in (*single_flags(), *combinations(), *cameras(pair)):
        geoms, lines = compare(pair, values)
        if geoms or setting == "default":
            row = rows.setdefault(row_of(setting), {"scenes": 0, "geoms": 0, "equal": 0})
            row["scenes"] += 1
            row["geoms"] += geoms
            row["equal"] += not lines
        if lines:
            print(f"  {path.relative_to(WIDE)}, {setting}: {'; '.join(lines[:2])}", flush=True)


def main() -> None:
    """Print which scenes differ, and save how many were compared."""
    rows: Rows = {}
    print("scenes that differ")
    warnings.simplefilter("ignore")
    for path in loadable_files():
        compare_model(path, rows)
    total = {key: sum(row[key] for row in rows.values()) for key in ("scenes", "geoms", "equal")}
    print(f"  {total['equal']:.0f} of {total['scenes']:.0f} scenes are equal, {total['geoms']:,.0f} geoms")
    save("visual", {**rows, "all": total})


if __name__ == "__main__":
    main()
