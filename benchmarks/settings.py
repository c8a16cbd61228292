"""Time of a step of the humanoid with every solver, cone and integrator, ÷ the reference engine's."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from benchmarks.scenes import HUMANOID
from benchmarks.stepping import measure, show
from benchmarks.timing import save
from cardan import mjtCone, mjtIntegrator, mjtSolver

SETTINGS: dict[str, dict[str, Any]] = {
    f"{solver.name[6:]}, {cone.name[7:].lower()}": {"solver": solver.value, "cone": cone.value}
    for solver, cone in product(mjtSolver.__members__.values(), mjtCone.__members__.values())
}
SETTINGS |= {
    name[6:]: {"integrator": kind.value} for name, kind in mjtIntegrator.__members__.items() if name != "mjINT_DISCRETE"
}
SETTINGS["tolerance 0"] = {"tolerance": 0.0}


def main() -> None:
    """Print and save the table."""
    print("time of a step of the humanoid / reference, by solver, cone and integrator")
    scene, rows = replace(HUMANOID, steps=200), {}
    for name, options in SETTINGS.items():
        rows[name] = measure(scene, options)
        show(name, rows[name])
    save("settings", rows)


if __name__ == "__main__":
    main()
