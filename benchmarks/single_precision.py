"""Single precision against double in all shared models: smooth fields, contacts, and ten seconds of motion.

Both compute from the same numbers (state and model rounded to single precision). The error of a field is the largest
distance of its numbers, relative to the largest of them where that is more than 1. Beside it stands what double
precision makes of the rounding of the state, or for accelerations of the rounding of the inertia matrix: no algorithm
in single precision could be nearer for sure.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.loadable import loadable
from benchmarks.timing import save

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.precision_compared import TOLERANCE, Error, contact_errors, contacts_of, field_errors, states

DURATION = 10.0


def worst(errors: Iterable[Error]) -> dict[str, Any]:
    """The largest error, and the largest of those that are beyond the tolerance in parts of what explains it."""
    found = list(errors)
    if not found:
        return {"where": "", "size": 0.0, "explained": 0.0, "share": 0.0}
    largest = max(found, key=lambda error: error.size)
    beyond = [e.size / max(e.explained, 1e-300) for e in found if not e.size <= TOLERANCE]
    return largest._asdict() | {"share": max(beyond, default=0.0)}


def compared(m: cardan.MjModel) -> dict[str, Any]:
    """Errors of a model's smooth fields and contacts, and whether some pair has more contacts in one precision."""
    smooth, contacts, counts_differ = [], [], False
    for seen in states(m):
        smooth += field_errors(m, seen)
        contacts += contact_errors(seen)
        single, double = contacts_of(seen.single), contacts_of(seen.double)
        counts_differ |= {p: len(c) for p, c in single.items()} != {p: len(c) for p, c in double.items()}
    return {"smooth": worst(smooth), "contacts": worst(contacts), "counts differ": counts_differ}


def moved_on(m: cardan.MjModel, dtype: str) -> dict[str, Any]:
    """Whether ten seconds of motion stay free of bad numbers, and the largest speed in the end."""
    batch = cardan.Batch(m, 1, 1, dtype=dtype)
    if m.nkey:
        batch.reset(keyframe=0)
    batch.step(round(DURATION / m.opt.timestep))
    good = bool(np.isfinite(batch.state).all()) and not batch.diverged.any()
    return {"good": good, "speed": float(np.abs(batch.qvel).max(initial=0)), "diagnosis": batch.diagnosis(0)}


def row_of(m: cardan.MjModel) -> dict[str, Any]:
    """A model's row; motion in double precision only where that in single precision went wrong."""
    row = compared(m) | {"motion": moved_on(m, "float32")}
    if not row["motion"]["good"]:
        row["motion in double"] = moved_on(m, "float64")
    return row


def main() -> None:
    """Print and save the table."""
    warnings.simplefilter("ignore")
    rows = {}
    for name, path in loadable().items():
        m = cardan.MjModel.from_xml_path(str(path))
        if m.nv:
            row = rows[name] = row_of(m)
            parts = (f"{row[part]['size']:8.1e} {row[part]['share']:6.2f}" for part in ("smooth", "contacts"))
            print(f"{name:60s} {'  '.join(parts)}  {'good' if row['motion']['good'] else 'bad'}", flush=True)
    save("single_precision", rows)


if __name__ == "__main__":
    main()
