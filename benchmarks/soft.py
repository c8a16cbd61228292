"""Time of a step of soft models, ÷ the reference engine's in the same process, on one thread.

The models are all shared ones with a flex, a composite object or a plugin of elasticity. How the time grows with the
number of vertices is measured by `growth`.
"""

from __future__ import annotations

import statistics
from pathlib import Path

import mujoco

from benchmarks.scenes import MODELS, SUITE, Scene
from benchmarks.stepping import measure, show
from benchmarks.timing import save

PLUGIN = MODELS / "plugin" / "elasticity"
COMPOSITE = MODELS / "composite"
ROPE = SUITE / "mujoco-warp" / "mujoco_warp" / "test_data" / "flex" / "rope.xml"


def scene(path: Path, steps: int) -> Scene:
    """A model that has fallen, swung or bent for 200 steps."""
    return Scene(path.stem, path, settle=200, steps=steps)


FLEXES = (
    scene(MODELS / "hammock" / "hammock.xml", 20),
    scene(MODELS / "balloons" / "balloons.xml", 20),
    scene(ROPE, 200),
    scene(COMPOSITE / "softbox.xml", 20),
    scene(COMPOSITE / "particle.xml", 50),
    scene(COMPOSITE / "particle_free.xml", 50),
    scene(COMPOSITE / "particle_free2d.xml", 50),
    scene(COMPOSITE / "grid2pin.xml", 50),
)
ELASTIC = tuple(
    scene(PLUGIN / f"{name}.xml", steps)
    for name, steps in (
        ("belt", 200),
        ("cable", 200),
        ("coil", 200),
        ("flag", 50),
        ("flag_flex", 50),
        ("floppy", 50),
        ("floppy_flex", 50),
        ("jelly", 50),
        ("jelly_flex", 50),
        ("pancake_flex", 50),
        ("plate", 50),
        ("plate_flex", 50),
        ("poncho", 20),
        ("poncho_flex", 20),
        ("press", 50),
        ("press_flex", 50),
        ("trampoline_flex", 50),
    )
)


def main() -> None:
    """Print and save the tables."""
    for name, scenes in (("flexes", FLEXES), ("elastic", ELASTIC)):
        print(f"time of a step / reference (mujoco {mujoco.__version__}, same process, one thread): {name}")
        rows = {}
        for each in scenes:
            rows[each.name] = measure(each)
            show(each.name, rows[each.name])
        ratios = [row["ratio"] for row in rows.values()]
        print(f"  median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")
        save(f"soft_{name}", rows)


if __name__ == "__main__":
    main()
