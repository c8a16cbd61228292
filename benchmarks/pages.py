"""The tables of the documentation, made from the results that the benchmarks saved: ``python -m benchmarks.pages``.

A page has a pair of marks for each table, ``<!-- results: NAME -->`` and ``<!-- end -->``. The text between them is
made from ``results/NAME.json``. With ``<!-- results: NAME, largest 5 -->`` it has the five largest ratios only.
A test compares the pages with the results, so that no figure is written by hand.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.timing import RESULTS

DOCS = Path(__file__).resolve().parents[1] / "docs"
NAMES = (
    "performance",
    "notes/performance-tables",
    "parity",
    "compat",
    "gpu",
    "derivatives",
    "pictures",
    "viewer",
    "ik",
)
PAGES = tuple(DOCS / f"{name}.md" for name in NAMES)
TABLE = re.compile(r"<!-- results: (\w+)(?:, largest (\d+))? -->\n.*?<!-- end -->", re.DOTALL)

Row = dict[str, Any]
Columns = dict[str, Callable[[Row], str]]


def number(key: str, form: str, scale: float = 1.0) -> Callable[[Row], str]:
    """A column with one number of the row, or nothing where the row has none."""
    return lambda row: format(scale * row[key], form) if key in row else ""


def low_to_high(row: Row) -> str:
    """The range of the single pairs."""
    return f"{row['ratio_low']:.2f}-{row['ratio_high']:.2f}" if "ratio_low" in row else ""


RATIO: Columns = {"÷ reference": number("ratio", ".2f"), "single pairs": low_to_high}
STEP: Columns = RATIO | {
    "µs a step": number("us_per_step", ".1f"),
    "reference": number("us_per_step_reference", ".1f"),
    "contacts": number("contacts", ".0f"),
}


def share(key: str) -> Callable[[Row], str]:
    """A column of one number of the row ÷ the reference's."""
    return lambda row: f"{row[key] / row[key + '_reference']:.2f}" if key in row else ""


def nested(group: str, key: str, form: str, scale: float = 1.0) -> Callable[[Row], str]:
    """A column of one number of a group of the row."""
    return lambda row: format(scale * row[group][key], form)


INVERSE: Columns = {
    f"{title}{what}": nested(group, key, form, scale)
    for group, title in (("plain", ""), ("distances", "distances: "))
    for key, what, form, scale in (
        ("success", "solved, %", ".2f", 100.0),
        ("processor", "µs", ".0f", 1e6),
        ("ratio", "mink's time ÷ ours", ".0f", 1.0),
    )
} | {"control step, µs": number("step", ".0f", 1e6)}

GROWTH: Columns = {
    "÷ reference": number("ratio", ".2f"),
    "µs a step": number("us_per_step", ".1f"),
    "reference": number("us_per_step_reference", ".1f"),
    "memory ÷ reference": share("memory"),
    "MB": number("memory", ".1f", 1e-6),
}
GROWTH_OF_ASSETS: Columns = {
    "load ÷ reference": number("load_ratio", ".2f"),
    "ms": number("load", ",.1f", 1e3),
    "step ÷": number("ratio", ".2f"),
    "µs": number("us_per_step", ".1f"),
    "ray ÷": number("ray_ratio", ".2f"),
    "memory ÷": share("memory"),
    "MB": number("memory", ".1f", 1e-6),
}
MILLISECONDS: Columns = RATIO | {"ms": number("ours", ".2f", 1e3), "reference": number("reference", ".2f", 1e3)}
PARITY_CELLS = tuple(f"{solver}, {cone}" for solver in ("PGS", "CG", "Newton") for cone in ("pyramidal", "elliptic"))
PARITY: Columns = {cell: number(cell, ".0e") for cell in PARITY_CELLS} | {
    "share": lambda row: f"{row['share']:.2%} of {row['states']}",
    "beyond": number("beyond", ".0f"),
}

PICTURES: Columns = {
    title: number(key, ".4f")
    for name in ("segments", "depths", "colours", "similarity")
    for title, key in ((name, name), (f"{name}, scatter", f"{name}_reference"))
}


def by_measure(rows: dict[str, Row]) -> dict[str, Row]:
    """How many pictures are above the bar of each measure; how low the others are. The row `bar` has the bars."""
    pictures = [row for title, row in rows.items() if title != "bar"]
    return {
        name: {
            "bar": bar,
            "above": sum(row[name] > bar for row in pictures),
            "pictures": len(pictures),
            "median": statistics.median(row[name] for row in pictures),
            "lowest": min(row[name] for row in pictures),
        }
        for name, bar in rows["bar"].items()
    }


SUMMARIES: dict[str, Callable[[dict[str, Row]], dict[str, Row]]] = {"pictures": by_measure}
"""What makes the rows of a table of the results, where there are too many of them."""

COLUMNS: dict[str, Columns] = {
    "ik": INVERSE,
    "accuracy": {
        "smooth fields": number("smooth", ".0e"),
        "solver at tolerance 1e-14": number("solver", ".0e"),
        "forward, then inverse": number("inverse", ".0e"),
        "1000 single steps": number("step", ".0e"),
    },
    "gpu": {
        "steps a second, 8192": number("8192", ",.0f"),
        "65536": number("65536", ",.0f"),
        "kB a world": number("kB a world", ".0f"),
        "cold start, s": number("cold start", ".1f"),
        "a launch a stage ÷ one launch": number("a launch a stage ÷ one launch", ".2f"),
        "reset of 2 % ÷ step": number("reset of 2 % ÷ step", ".3f"),
        "difference from threads": number("difference after a step", ".0e"),
    },
    "collision": {
        "÷ reference": number("ratio", ".2f"),
        "µs": number("us", ".1f"),
        "reference": number("us_reference", ".1f"),
        "contacts": number("contacts", ".0f"),
    },
    "every_model": {"÷ 3.1.6": number("ratio", ".2f"), "single pairs": low_to_high, "÷ newest": number("newest", ".2f")}
    | {"µs a step": number("us_per_step", ".1f"), "contacts": number("contacts", ".0f")},
    "calls": RATIO | {"µs": number("ours", ".2f", 1e6), "reference": number("reference", ".2f", 1e6)},
    "compiling": MILLISECONDS,
    "loading": MILLISECONDS,
    "derivatives": MILLISECONDS,
    "exact_derivatives": {"steps": number("steps", ".1f")} | MILLISECONDS,
    "optimisation": {
        "÷ reference": number("ratio", ".2f"),
        "iterations": number("iterations", ".0f"),
        "s": number("ours", ".2f"),
        "iterations, reference": number("iterations_reference", ".0f"),
        "s, reference": number("reference", ".2f"),
        "converged": lambda row: (
            f"{'yes' if row['converged'] else 'no'}, {'yes' if row['converged_reference'] else 'no'}"
        ),
        "derivatives alone ÷ reference": number("derivatives", ".2f"),
    },
    "optimisation_starts": {
        "to the same cost ÷ reference": number("ratio", ".2f"),
        "single starts": low_to_high,
        "starts": number("starts", ".0f"),
        "s": number("ours", ".2f"),
        "s, reference": number("reference", ".2f"),
        "cost at the end": number("cost", ".0f"),
        "cost, reference": number("cost_reference", ".0f"),
        "whole programs ÷ reference": number("whole", ".2f"),
    },
    "growth_derivatives": {"steps": number("steps", ".1f")} | MILLISECONDS,
    "derivative_gradients": {
        "dofs": number("nv", ".0f"),
        "÷ steps": number("ratio", ".1f"),
        "single pairs": low_to_high,
        "ms": number("ours", ".2f", 1e3),
        "steps, ms": number("reference", ".2f", 1e3),
        "every 10th step kept, ÷ steps": number("spaced", ".1f"),
        "KB": number("memory", ",.0f"),
        "KB, every 10th": number("memory_spaced", ",.0f"),
        "A' x, % of it": number("products", ".1f", 1e2),
    },
    "derivative_accuracy": {
        key: number(key, ".0f")
        for key in ("states", "contacts", "compared", "changing", "cornered", "unconverged", "unresolved", "beyond")
    }
    | {"largest error of compared": number("largest", ".0e")},
    "derivative_fuzz": {
        key: number(key, ",.0f") for key in ("models", "states", "in contact", "left out", "not finite")
    },
    "first_steps": RATIO | {"s": number("ours", ".2f"), "reference": number("reference", ".2f")},
    "growth_chains": GROWTH,
    "growth_cloths": GROWTH,
    "growth_height_fields": GROWTH_OF_ASSETS,
    "growth_humanoids": GROWTH,
    "growth_meshes": GROWTH_OF_ASSETS,
    "growth_piles": GROWTH,
    "long_runs": {
        "drift": number("drift", ".2e"),
        "reference": number("drift_reference", ".2e"),
        "apart, m": number("apart", ".0e"),
        "reference from itself": number("apart_moved", ".0e"),
        "speed": number("speed", ".0e"),
        "reference's": number("speed_reference", ".0e"),
    },
    "memory": {
        "÷ reference": number("ratio", ".2f"),
        "kB": number("ours", ".0f", 1e-3),
        "reference": number("reference", ".0f", 1e-3),
    },
    "midphase": {"with ÷ without": number("ratio", ".2f"), "single pairs": low_to_high},
    "newest": STEP | {"contacts, reference": number("contacts_reference", ".0f")},
    "compat": {
        "equal": lambda row: f"{row['equal']} of {row['models']}",
        "ties": lambda row: str(row.get("ties", 0)),
        "equal at the end": lambda row: str(row.get("ends", 0)),
        "tolerance": number("tolerance", ".0e"),
        "first to differ": lambda row: row["first"],
    },
    "parity": PARITY,
    "soft_parity": PARITY | {"left out": number("left out", ".0f")},
    "pictures": {
        "bar": number("bar", "g"),
        "pictures above it": lambda row: f"{row['above']:.0f} of {row['pictures']:.0f}",
        "median": number("median", ".4f"),
        "lowest": number("lowest", ".4f"),
    },
    "pictures_short": PICTURES,
    "reading": {"longest, s": number("longest", ".2f"), "cases": number("cases", ".0f")},
    "batch": {
        "÷ rollout": number("rollout", ".2f"),
        "÷ reference": number("ratio", ".2f"),
        "single pairs": low_to_high,
        "steps a second": number("steps", ",.0f"),
    },
    "cluster": {"s": number("seconds", ".1f"), "ms": number("ms", ".1f")},
    "gpu_code": {
        f"{what}, {precision}": number(f"{what} {precision}", ".0f")
        for precision in ("float64", "float32")
        for what in ("registers", "stack", "spills")
    },
    "render": RATIO
    | {
        "ms": number("ours", ".2f", 1e3),
        "reference": number("reference", ".1f", 1e3),
        "pictures a second": number("frames", ",.0f"),
        "with two threads": number("frames_two", ",.0f"),
        "two threads × one": number("threads", ".2f"),
        "by the schedule": number("schedule", ".2f"),
    },
    "render_batch": {
        "pictures a second": number("one", ",.0f"),
        "two threads × one": number("threads", ".2f"),
    },
    "rollout": {"ratio": number("ratio", ".2f"), "single pairs": low_to_high, "kB": number("kB", ".0f")},
    "settings": STEP,
    "soft_elastic": STEP,
    "soft_flexes": STEP,
    "single_precision": {
        "smooth fields": lambda row: f"{row['smooth']['size']:.0e}",
        "explained": lambda row: f"{row['smooth']['explained']:.0e}",
        "the largest": lambda row: row["smooth"]["where"],
        "contacts": lambda row: f"{row['contacts']['size']:.0e}",
        "explained by rounding": lambda row: f"{row['contacts']['explained']:.0e}",
        "10 s": lambda row: "good" if row["motion"]["good"] else "bad",
    },
    "startup": {"empty cache, s": number("cold", ".1f"), "warm cache, s": number("warm", ".2f")},
    "stepping": STEP,
    "unconverged": {
        "error ÷ reference": number("error", ".0e"),
        "time ÷ reference": number("time", ".2f"),
        "models": number("models", ".0f"),
        "of these, larger error": number("larger", ".0f"),
        "worst": number("worst", ".2f"),
    },
    "visual": {
        "scenes": number("scenes", ",.0f"),
        "equal": number("equal", ",.0f"),
        "geoms in them": number("geoms", ",.0f"),
    },
    "view": {
        "updates a second": number("updates", ".0f"),
        "speed": number("speed", ".2f"),
        "a second of physics": number("physics", ".2f"),
        "60 scenes": number("scene", ".2f"),
        "sending them": number("server", ".2f"),
    },
}
"""The columns of each table, by the name of the results."""


def largest_ratios(rows: dict[str, Row], most: int) -> dict[str, Row]:
    """The `most` rows with the largest ratios, in descending order, after a row of the median of all."""
    single = {title: row for title, row in rows.items() if "ratio" in row and title != "median"}
    worst = sorted(single, key=lambda title: -single[title]["ratio"])[:most]
    title = f"median of {len(single)}"
    return {title: {"ratio": statistics.median(row["ratio"] for row in single.values())}} | {
        title: single[title] for title in worst
    }


def table(name: str, most: int | None = None) -> str:
    """The table of one file of results, in Markdown, with machine and date below it.

    Args:
        name: the file of results, without its ending.
        most: how many of the largest ratios the table holds; all rows if it is None.
    """
    results = json.loads((RESULTS / f"{name}.json").read_text())
    columns = COLUMNS[name]
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    rows = SUMMARIES[name](results["rows"]) if name in SUMMARIES else results["rows"]
    if most is not None:
        rows = largest_ratios(rows, most)
    for title, row in rows.items():
        if title != "exponent":
            lines.append(f"| {title} | " + " | ".join(cell(row) for cell in columns.values()) + " |")
    powers = exponents(results["rows"].get("exponent", {}))
    return "\n".join([*lines, "", f"{powers}{results['machine']}, {results['date']}."])


def exponents(found: Row) -> str:
    """A sentence about the exponents of the columns, with the reference's in brackets."""
    parts = [
        f"{key} {found[key]:.2f} ({found[key + '_reference']:.2f})" for key in found if key + "_reference" in found
    ]
    return f"Exponents, the reference's in brackets: {', '.join(parts)}. " if parts else ""


def with_tables(text: str) -> str:
    """The text of a page with all its tables made anew."""

    def renewed(found: re.Match[str]) -> str:
        mark, _, _ = found[0].partition("\n")
        return f"{mark}\n{table(found[1], int(found[2]) if found[2] else None)}\n<!-- end -->"

    return TABLE.sub(renewed, text)


def main() -> None:
    """Write the tables of all pages."""
    plots.main()
    for page in PAGES:
        page.write_text(with_tables(page.read_text()))


if __name__ == "__main__":
    main()
