"""Models of the wide set with ``compat="4.0"`` against MuJoCo 4.0.0: what is equal, and what differs first.

Not a timing. Of every model that both engines load, the compiled fields, the smooth dynamics, `mj_forward`, and the
states after 1 and after 10 steps are compared. MuJoCo 4.0.0 runs in a process of its own (`tests/later.py`). Arguments
of `main` select models by a part of their path, and parts: ``python -c "from benchmarks.compat import main;
main('hand', ('compile',))"``. The results of all models are saved; those of other parts stay.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks import compat_probe
from benchmarks.scenes import WIDE
from benchmarks.timing import RESULTS, save
from cardan.model.fields_derived import MODEL_VIEWS
from cardan.model.tables import MODEL

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from later import STANDARD, VARIABLE, Later, LaterError  # noqa: E402

FOLDERS = "later", "mujoco", "suite"
TOLERANCES = {"compile": 1e-9, "smooth": 1e-9, "forward": 1e-6, "step 1": 1e-5, "step 10": 1e-5}
"""Largest accepted difference of each part, relative to the largest number of the quantity and to 1."""
OWN = (
    *("nbuffer", "narena", "is_4_0", "nM", "nD", "nB", "nconmax", "njmax", "npaths", "mat_texid", "flex_matid"),
    "plugin",
)
"""Fields that depend on the layout of memory, on the place of files or on the version.

The numbers in ``plugin`` are those of the process's registry, in which 4.0 has other plugins before them.
"""
POLYGONS = "npolygonmax", "nmeshdegmax"
"""Sizes of polygons of hulls, which are left out as the polygons are."""
LEFT_OUT = "aux.", "vis.", "mesh_pathadr", "hfield_pathadr", "skin_pathadr", "tex_pathadr"
NAMES = (
    *(field.name for field in MODEL.fields if field.name not in OWN and not field.name.startswith(LEFT_OUT)),
    *(
        view.field.name
        for view in MODEL_VIEWS
        if "meshpoly" not in view.field.name.replace("_", "") and view.field.name not in (*OWN, *POLYGONS)
    ),
)
"""Fields to compare: stored ones and computed ones. Polygons have Cardan's order."""
PROBE = Path(compat_probe.__file__).read_text()
CODE = """
scope = {}
exec(probe, scope)
m = mujoco.MjModel.from_xml_path(path)
out = {"compile": scope["fields_of"](m, names), **(scope["measured"](mujoco, m, 0.0, integrator) if parts[1:] else {})}
"""

MOVED = """
scope = {}
exec(probe, scope)
out = scope["measured"](mujoco, mujoco.MjModel.from_xml_path(path), 1e-10, integrator, seed)
"""
FINISHED = """
scope = {}
exec(probe, scope)
m = mujoco.MjModel.from_xml_path(path)
scope["finish_searches"](m)
out = scope["measured"](mujoco, m, 0.0, integrator)
"""
MOVES = 6
"""Number of random moves that are tried."""
TIE = "(tie)"
"""Mark of parts in which 4.0.0 differs from itself if its positions are moved by 1e-10."""
END = "(end)"
"""Mark of other parts that are equal if both engines' searches for closest points, and solvers, go on to the end."""
SHARE = 0.1
"""Smallest difference of 4.0.0 from itself that makes a tie, relative to the difference of Cardan."""


def difference(expected: np.ndarray, found: np.ndarray) -> float:
    """Largest difference relative to the largest number and to 1; infinite if the sizes differ."""
    if expected.size != found.size:
        return float("inf")
    left, right = expected.ravel(), found.ravel()
    apart = np.where((left == right) | (np.isnan(left) & np.isnan(right)), 0.0, np.abs(left - right))
    worst = float(apart.max(initial=0.0)) / max(1.0, float(np.abs(left[np.isfinite(left)]).max(initial=0.0)))
    return float("inf") if np.isnan(worst) else worst


def first_difference(part: str, expected: dict[str, Any], found: dict[str, Any]) -> str:
    """The first quantity of a part that differs, and by how much; empty if all are equal."""
    for name, value in expected.items():
        if name in found:
            worst = difference(value, found[name])
            if not worst <= TOLERANCES[part]:
                return f"{name} {worst:.1e}"
    return ""


def compared(path: Path, later: Later, parts: tuple[str, ...], integrator: str = "") -> dict[str, str]:
    """First differences of a model by part; ``error`` if one of the engines does not load or run it."""
    names = {"probe": PROBE, "path": str(path), "integrator": integrator}
    try:
        there = later.run(CODE, {**names, "names": NAMES, "parts": parts})
    except LaterError as error:
        return {"error": f"4.0.0: {error.reason.splitlines()[0] if error.reason else error.kind}"}
    try:
        m = cardan.MjModel.from_xml_path(str(path), compat="4.0")
        here = {"compile": compat_probe.fields_of(m, NAMES)}
        here |= compat_probe.measured(cardan, m, 0.0, integrator) if parts[1:] else {}
    except Exception as error:
        return {"error": f"Cardan: {type(error).__name__}: {str(error).splitlines()[0]}"}
    found = {part: first_difference(part, there[part], here[part]) for part in parts}
    for seed in range(MOVES):
        if any(_is_open(found[part]) for part in parts[1:]):
            mark_ties(found, there, later.run(MOVED, {**names, "seed": seed}))
    if any(_is_open(found[part]) for part in parts[1:]):
        there = later.run(FINISHED, names)
        m = cardan.MjModel.from_xml_path(str(path), compat="4.0")
        compat_probe.finish_searches(m)
        here = compat_probe.measured(cardan, m, 0.0, integrator)
        for part in parts[1:]:
            if _is_open(found[part]) and not first_difference(part, there[part], here[part]):
                found[part] += " " + END
    return found


def _is_open(text: str) -> bool:
    """Return whether a part differs for a reason that is not known."""
    return bool(text) and not text.endswith((TIE, END))


def mark_ties(found: dict[str, str], there: dict[str, Any], moved: dict[str, Any]) -> None:
    """Mark the parts in which 4.0.0 differs from itself (`there` and `moved`) by a `SHARE` of what was found."""
    for part, values in moved.items():
        if _is_open(found.get(part, "")):
            name, worst = found[part].split()
            if difference(there[part][name], values[name]) >= max(TOLERANCES[part], SHARE * float(worst)):
                found[part] += " " + TIE


def summarised(rows: list[dict[str, str]], parts: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Number of equal models by part, and how often a quantity is the first that differs."""
    summary: dict[str, dict[str, Any]] = {}
    for part in parts:
        first = Counter(row[part].split()[0] for row in rows if row[part])
        words = ", ".join(f"{name} {count}" for name, count in first.most_common())
        equal = sum(not row[part] for row in rows)
        ties, ends = (sum(row[part].endswith(mark) for row in rows) for mark in (TIE, END))
        counts = {"equal": equal, "ties": ties, "ends": ends, "models": len(rows)}
        summary[part] = {**counts, "tolerance": TOLERANCES[part], "first": words}
    return summary


def later_python() -> str:
    """Python of the environment with MuJoCo 4.0.0; ends the program if it is not installed."""
    python = os.environ.get(VARIABLE) or str(STANDARD)
    if not Path(python).exists():
        sys.exit(f"MuJoCo 4.0.0 is not installed in {STANDARD.parents[1]}: run make later")
    return python


def main(chosen: str = "", parts: tuple[str, ...] = tuple(TOLERANCES), integrator: str = "") -> None:
    """Print and save the table; ``chosen`` is a part of the paths of the models, ``parts`` begins with "compile".

    ``integrator`` (``DISCRETE``, ...) replaces the integrators of all models; the table is then only printed.
    """
    warnings.simplefilter("ignore")
    cardan.set_compat("4.0")
    later = Later(later_python())
    rows: dict[str, dict[str, Any]] = {}
    for path in sorted(path for folder in FOLDERS for path in (WIDE / folder).rglob("*.xml")):
        name = str(path.relative_to(WIDE))
        if chosen in name:
            rows[name] = row = compared(path, later, parts, integrator)
            print(name, *(f"| {part}: {text}" for part, text in row.items() if text), flush=True)
    summary = summarised([row for row in rows.values() if "error" not in row], parts)
    for part, row in summary.items():
        print(
            f"{part}: {row['equal']} of {row['models']} equal, {row['ties']} ties, {row['ends']} equal at the end; "
            f"first to differ: {row['first']}"
        )
    if not chosen and not integrator:
        kept = RESULTS / "compat.json"
        save("compat", (json.loads(kept.read_text())["rows"] if kept.exists() else {}) | summary)


if __name__ == "__main__":
    main()
