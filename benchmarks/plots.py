"""The picture of growth in the documentation, drawn from the results that the benchmarks saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.timing import RESULTS, Rows

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "growth.png"
PANELS = (
    ("chains", "us_per_step", "chains, µs a step", "bodies"),
    ("piles", "us_per_step", "piles, µs a step", "bodies"),
    ("humanoids", "us_per_step", "humanoids, µs a step", "humanoids"),
    ("meshes", "memory", "meshes, bytes to load", "faces"),
    ("meshes", "load", "meshes, s to load", "faces"),
    ("meshes", "ray", "meshes, s a ray", "faces"),
    ("height_fields", "load", "height fields, s to load", "points"),
    ("height_fields", "memory", "height fields, bytes to load", "points"),
)
"""Results, column, title, and what is counted along the axis."""


def rows_of(family: str) -> Rows:
    """The measured sizes of a family."""
    rows = json.loads((RESULTS / f"growth_{family}.json").read_text())["rows"]
    return {name: row for name, row in rows.items() if name != "exponent"}


def draw(axes: Any, rows: Rows, key: str) -> None:
    """Both engines' lines."""
    for suffix, label, style in (("", "Cardan", "o-"), ("_reference", "mujoco 3.1.6", "s--")):
        points = [(row["size"], row[key + suffix]) for row in rows.values()]
        axes.loglog(*zip(*points, strict=True), style, label=label)
    axes.grid(True, which="major", alpha=0.3)


def main() -> None:
    """Draw the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 6.5), layout="constrained")
    panels = figure.subplots(2, len(PANELS) // 2)
    for axes, (family, key, title, counted) in zip(panels.flat, PANELS, strict=True):
        draw(axes, rows_of(family), key)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(counted)
    panels.flat[0].legend()
    figure.savefig(PICTURE, dpi=80)


if __name__ == "__main__":
    main()
