"""How the time of a step grows with the size of chains, piles and cloths: exponents, ours and the reference's."""

from __future__ import annotations

import numpy as np

from benchmarks.scenes import CHAINS, CLOTHS, PILES, Scene
from benchmarks.stepping import measure, show
from benchmarks.timing import save

FAMILIES = {"chains": CHAINS, "piles": PILES, "cloths": CLOTHS}


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of the straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(scenes: tuple[Scene, ...]) -> dict[str, dict[str, float]]:
    """Timings of a family of scenes, named by their sizes, and the exponents."""
    rows, sizes = {}, [int(scene.name.split()[-1]) for scene in scenes]
    for scene in scenes:
        rows[scene.name] = measure(scene, pairs=7)
        show(scene.name, rows[scene.name])
    ours, reference = (
        exponent(sizes, [row[key] for row in rows.values()]) for key in ("us_per_step", "us_per_step_reference")
    )
    rows["exponent"] = {"ours": ours, "reference": reference}
    print(f"  exponent {ours:.2f}, reference {reference:.2f}")
    return rows


def main() -> None:
    """Print and save all families."""
    for name, scenes in FAMILIES.items():
        print(f"growth of the time of a step: {name}")
        save(f"growth_{name}", growth(scenes))


if __name__ == "__main__":
    main()
