"""How the time of a step and memory grow with the size of chains, piles, crowds and cloths.

Exponents are those of a power of the size, fitted to all sizes. Memory is the growth of the process by data objects
that have made a step, each with its own.
"""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import mujoco
import numpy as np

import cardan
from benchmarks import growth_assets
from benchmarks.memory import resident
from benchmarks.scenes import CHAINS, CLOTHS, HUMANOIDS, PILES, Scene, State, set_state, settled_state
from benchmarks.stepping import compare, show
from benchmarks.timing import Rows, save

FAMILIES = {"chains": CHAINS, "piles": PILES, "humanoids": HUMANOIDS, "cloths": CLOTHS}
LONG = 0.2
"""Seconds of a step from which on three pairs are enough."""
LEAST_MEMORY, MOST_DATA = 2**25, 200
"""Bytes by which a process grows, at least, when memory is measured; and data objects that it makes at most."""


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Slope of the straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def bytes_of_data(name: str, scene: Scene, state: State) -> float:
    """Bytes that a data object of an engine takes after a step."""
    engine = importlib.import_module(name)
    model = scene.load(engine)
    kept = [engine.MjData(model)]
    engine.mj_step(model, kept[0])
    before = resident()
    while len(kept) < MOST_DATA and (len(kept) == 1 or resident() - before < LEAST_MEMORY):
        data = engine.MjData(model)
        set_state(data, state)
        engine.mj_step(model, data)
        kept.append(data)
    return (resident() - before) / (len(kept) - 1)


def memory_of_data(name: str, scene: Scene, state: State) -> float:
    """`bytes_of_data` in a process of its own: memory freed by earlier work would be used again unseen."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(bytes_of_data, name, scene, state).result()


def measure(scene: Scene) -> dict[str, float]:
    """Timings and memory of one scene."""
    reference_model, model = scene.load(mujoco), scene.load(cardan)
    state = settled_state(cardan, model, scene)
    one = compare(model, reference_model, state, 1, 1)["reference"]
    row = compare(model, reference_model, state, scene.steps, 3 if one * scene.steps > LONG else 7)
    row["memory"] = memory_of_data("cardan", scene, state)
    row["memory_reference"] = memory_of_data("mujoco", scene, state)
    return row


def growth(scenes: tuple[Scene, ...]) -> Rows:
    """Timings of a family of scenes, named by their sizes, and the exponents."""
    rows: Rows = {}
    for scene in scenes:
        rows[scene.name] = measure(scene) | {"size": int(scene.name.split()[-1])}
        show(scene.name, rows[scene.name])
    rows["exponent"] = exponents(rows, {"time": "us_per_step", "memory": "memory"})
    return rows


def exponents(rows: Rows, keys: dict[str, str]) -> dict[str, float]:
    """The exponents of some columns, ours and the reference's, over the rows that have them."""
    found = {}
    for what, key in keys.items():
        for suffix in ("", "_reference"):
            points = [(row["size"], row[key + suffix]) for row in rows.values() if key + suffix in row]
            found[what + suffix] = exponent(*zip(*points, strict=True))
        print(f"  exponent of {what} {found[what]:.2f}, reference {found[what + '_reference']:.2f}", flush=True)
    return found


def main() -> None:
    """Print and save all families."""
    for name, scenes in FAMILIES.items():
        print(f"growth of the time of a step: {name}", flush=True)
        save(f"growth_{name}", growth(scenes))
    for name, measured in growth_assets.FAMILIES.items():
        print(f"growth of loading, steps and rays: {name}", flush=True)
        rows = measured()
        save(f"growth_{name}", rows | {"exponent": exponents(rows, growth_assets.COLUMNS)})


if __name__ == "__main__":
    main()
