"""All that a GPU has to show, in a given time: compilation, parity with the processor, memory checks, rates.

``python -m benchmarks gpu_day`` needs an NVIDIA GPU and the extra ``cardan[cuda]``. Each part runs in a process of its
own, with a time limit, and writes its results as soon as it has them, so that an interruption loses one part only.
Rates are compared with those of ``mujoco_warp`` in the same run, if it is installed.

``python -m benchmarks.gpu_day --minutes 8 --out DIR PART...`` runs some parts: names of `PARTS`, with scenes after a
colon, such as ``rates:humanoid``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu import SCENES, batch_on_gpu, cold_start, load, need_gpu, stage_times
from benchmarks.timing import RESULTS
from cardan import Batch, MjModel
from cardan.jit.driver.cuda import GpuMemoryError
from cardan.jit.front.stage import INTERLEAVED, Form

DAY = ("humanoid", "three humanoids", "quadruped", "aloha", "hand with meshes")
WORLDS = (1, 64, 1024, 8192, 32768)
SETTLE, TIMED = 300, 300
"""Steps before the timed ones, which bring the worlds into contact, and timed steps."""
CLOSE = {"float64": 1e-9, "float32": 2e-3}
LIMITS = {"compile": 240, "parity": 90, "growth": 60, "divergence": 60, "sanitizer": 90, "rates": 120, "stages": 60}
LIMITS |= {"warp": 240}


def states(m: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random velocities (count, nv) and controls (count, nu), the same in each call and for each engine."""
    rng = np.random.default_rng(0)
    low, high = np.where(m.actuator_ctrllimited[:, None] != 0, m.actuator_ctrlrange, [-1.0, 1.0]).T
    qvel, ctrl = 0.1 * rng.standard_normal((count, m.nv)), rng.uniform(0.3 * low, 0.3 * high, (count, m.nu))
    return qvel, ctrl


# compilation ----------------------------------------------------------------------------------------------------------


def _source(task: tuple[tuple[str, str], str, tuple[tuple[str, str], ...]]) -> float:
    """Make the PTX of a stage; return the seconds that it took."""
    from cardan.jit.cache.gpu_code import gpu_source

    stage, precision, called = task
    start = time.perf_counter()
    named = [getattr(import_module(module), name) for module, name in called]
    gpu_source([getattr(import_module(stage[0]), stage[1])], Form(INTERLEAVED, precision), named)
    return time.perf_counter() - start


def _tasks(m: MjModel, precision: str) -> list[Any]:
    """List the launches of a step of a model, except stages that are made by functions: those compile fast."""
    from cardan.batch.back_end import LISTS
    from cardan.model import internals
    from cardan.step.plan import plan_of
    from cardan.step.programs import write_tables

    plan = plan_of(m, LISTS["mj_step"])
    write_tables(m, plan.tables)
    called = tuple((f.__module__, f.__name__) for f in internals.numbered(m))
    stages = [stage for stage in plan.stages if not isinstance(stage, int)]
    named = [stage for stage in stages if hasattr(import_module(stage.__module__), stage.__name__)]
    return [((stage.__module__, stage.__name__), precision, called) for stage in named]


def compile_part(scene: str) -> dict[str, Any]:
    """Measure how long the code of a scene takes: PTX from an empty cache on all processors, and the first step."""
    found: dict[str, Any] = {}
    for precision in ("float32", "float64"):
        start = time.perf_counter()
        tasks = list(dict.fromkeys(_tasks(load(SCENES[scene]), precision)))
        with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
            each = list(pool.map(_source, tasks, chunksize=1))
        found[f"{precision}: PTX, s"] = time.perf_counter() - start
        found[f"{precision}: PTX, processor seconds"] = sum(each)
        found[f"{precision}: launches"] = len(tasks)
        found[f"{precision}: first step, s"] = cold_start(load(SCENES[scene]), 8192, precision)
        found[f"{precision}: second start, s"] = cold_start(load(SCENES[scene]), 8192, precision)
    return found


# parity ---------------------------------------------------------------------------------------------------------------


def differences(a: Any, b: Any) -> dict[str, float]:
    """Return the relative differences of all arrays of real numbers of two MjData of one model, largest first."""
    found: dict[str, float] = {}
    for name in dir(a):
        if name.startswith("_"):
            continue
        try:
            x, y = getattr(a, name), getattr(b, name)
        except (AttributeError, ValueError, RuntimeError):
            continue
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or not x.size:
            continue
        same = x.shape == np.shape(y)
        found[name] = float(np.abs(x - y).max() / max(1.0, np.abs(y).max())) if same else float("inf")
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def parity_part(scene: str) -> dict[str, Any]:
    """Compare all fields of MjData with a batch on threads: forward dynamics, 1 step, 20 steps."""
    m = load(SCENES[scene])
    qvel, ctrl = states(m, 16)
    found: dict[str, Any] = {}
    for precision in ("float64", "float32"):
        threads = Batch(m, 16, dtype=precision)
        with batch_on_gpu(m, 16, precision) as batch:
            for both in (threads, batch):
                both.qvel[...] = qvel.astype(precision)
                both.ctrl[...] = ctrl.astype(precision)
            for steps in (0, 1, 19):
                for both in (threads, batch):
                    both.step(steps) if steps else both.forward()
                rows = [differences(batch.data(i), threads.data(i)) for i in (0, 15)]
                worst = {name: max(row.get(name, 0.0) for row in rows) for name in rows[0]}
                worst = dict(sorted(worst.items(), key=lambda item: -item[1])[:6])
                name = f"{precision}, {'forward' if not steps else f'{1 if steps == 1 else 20} steps'}"
                found[name] = {"far": max(worst.values()) > CLOSE[precision], **worst}
                print(f"    {name}: {worst}", flush=True)
        threads.close()
    return found


PILE = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>{}</worldbody></mujoco>"""
BALL = """<body pos="{} {} {}"><freejoint/><geom type="box" size=".05 .05 .05"/></body>"""


def growth_part(_: str) -> dict[str, Any]:
    """Drop boxes, so that memory for contacts and constraints grows on the way, and compare with threads."""
    bodies = "".join(BALL.format(0.11 * (k % 3), 0.11 * (k // 3 % 3), 0.06 + 0.12 * (k // 9)) for k in range(27))
    m = MjModel.from_xml_string(PILE.format(bodies))
    threads = Batch(m, 8)
    found: dict[str, Any] = {}
    with batch_on_gpu(m, 8, "float64") as batch:
        before = batch.memory_per_world
        for steps in (1, 9, 90):
            for both in (threads, batch):
                both.step(steps)
            a, b = np.asarray(batch.qpos), threads.qpos
            found[f"after {steps} more steps"] = float(np.abs(a - b).max())
        found["contacts"] = int(np.asarray(batch.ncon).max())
        found["contacts equal"] = bool((np.asarray(batch.ncon) == threads.ncon).all())
        found["bytes a world"] = [before, batch.memory_per_world]
    return found


def divergence_part(_: str) -> dict[str, Any]:
    """Let one world of 64 diverge: it warns and is reset, and the others go on as without it."""
    m = load(SCENES["humanoid"])
    ends = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for bad in (False, True):
            with batch_on_gpu(m, 64, "float64") as batch:
                if bad:
                    batch.qvel[7] = 1e12
                batch.step(20)
                ends.append(np.asarray(batch.qpos))
    others = np.arange(64) != 7
    return {
        "others": float(np.abs(ends[0][others] - ends[1][others]).max()),
        "finite": bool(np.isfinite(ends[1]).all()),
        "warnings": [str(w.message)[:120] for w in caught],
    }


def sanitizer_part(_: str) -> dict[str, Any]:
    """Run a step of the humanoid and a growing pile under NVIDIA's memory checker."""
    program = "from benchmarks.gpu_day import growth_part; print(growth_part(''))"
    command = ["compute-sanitizer", "--tool", "memcheck", sys.executable, "-c", program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMITS["sanitizer"] - 10)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return {"not run": f"{type(error).__name__}"}
    return {"returned": done.returncode, "end": (done.stdout + done.stderr)[-1500:]}


# rates ----------------------------------------------------------------------------------------------------------------


def rates_part(scene: str) -> dict[str, Any]:
    """Measure steps a second in float32, of worlds with different velocities and controls, at each of `WORLDS`."""
    m = load(SCENES[scene])
    found: dict[str, Any] = {}
    for count in WORLDS:
        for label, options in (("", {}), (", one launch", {"stages_per_launch": 0})):
            if label and count != 8192:
                continue
            try:
                with batch_on_gpu(m, count, "float32", **options) as batch:
                    batch.qvel[...], batch.ctrl[...] = (x.astype("float32") for x in states(m, count))
                    batch.step(SETTLE)
                    start = time.perf_counter()
                    batch.step(TIMED)
                    found[f"{count}{label}"] = count * TIMED / (time.perf_counter() - start)
                    nefc, ncon = np.asarray(batch.nefc), np.asarray(batch.ncon)
                    found |= {
                        "nefc": [int(nefc.max()), float(nefc.mean())],
                        "ncon": [int(ncon.max()), float(ncon.mean())],
                    }
                    found["bytes a world"] = batch.memory_per_world
            except (GpuMemoryError, RuntimeError) as error:
                found[f"{count}{label}"] = str(error)[:300]
            print(f"    {count}{label}: {found[f'{count}{label}']}", flush=True)
    return found


def stages_part(scene: str) -> dict[str, Any]:
    """Measure microseconds of each stage at 8,192 worlds, in float32."""
    return stage_times(load(SCENES[scene]), 8192, "float32", 10)


def warp_part(scene: str) -> dict[str, Any]:
    """Measure the rates of mujoco_warp from the same velocities and controls."""
    import mujoco
    import mujoco_warp as mjw
    import warp as wp

    source = SCENES[scene]
    m = (
        mujoco.MjModel.from_xml_path(str(source))
        if isinstance(source, Path)
        else mujoco.MjModel.from_xml_string(source())
    )
    sizes = json.loads(os.environ.get("GPU_DAY_SIZES", "{}")).get(scene, {"nefc": [256], "ncon": [64]})
    room = {"nconmax": int(1.5 * sizes["ncon"][0]) + 8, "njmax": int(1.25 * sizes["nefc"][0]) + 8}
    found: dict[str, Any] = dict(room)
    for count in WORLDS:
        start = time.perf_counter()
        model, data = mjw.put_model(m), mjw.put_data(m, mujoco.MjData(m), nworld=count, **room)
        qvel, ctrl = states(m, count)
        data.qvel.assign(qvel.astype(np.float32))
        if m.nu:
            data.ctrl.assign(ctrl.astype(np.float32))
        mjw.step(model, data)
        wp.synchronize()
        found[f"{count}: first step, s"] = time.perf_counter() - start
        with wp.ScopedCapture() as capture:
            mjw.step(model, data)
        for timed in (False, True):
            start = time.perf_counter()
            for _ in range(TIMED if timed else SETTLE):
                wp.capture_launch(capture.graph)
            wp.synchronize()
        found[f"{count}"] = count * TIMED / (time.perf_counter() - start)
        found[f"{count}: finite"] = bool(np.isfinite(data.qpos.numpy()).all())
        found[f"{count}: overflows"] = int((data.overflow.numpy() != 0).sum())
        print(f"    {count}: {found[f'{count}']}", flush=True)
    return found


PARTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "compile": compile_part,
    "parity": parity_part,
    "growth": growth_part,
    "divergence": divergence_part,
    "rates": rates_part,
    "stages": stages_part,
    "warp": warp_part,
    "sanitizer": sanitizer_part,
}


# the day --------------------------------------------------------------------------------------------------------------


def run_part(part: str, out: Path, limit: float, sizes: dict[str, Any]) -> dict[str, Any] | None:
    """Run a part in a process of its own; return what it found, or None if it failed or ran out of time."""
    file = out / f"{part.replace(':', '_').replace(' ', '_')}.json"
    command = [sys.executable, "-m", "benchmarks.gpu_day", "--alone", part, "--out", str(file)]
    start = time.perf_counter()
    environment = os.environ | {"GPU_DAY_SIZES": json.dumps(sizes)}
    try:
        code = subprocess.run(command, env=environment, timeout=limit, check=False).returncode
        how = f"returned {code}"
    except subprocess.TimeoutExpired:
        how = f"stopped after {limit:.0f} s"
    print(f"== {part}: {how}, {time.perf_counter() - start:.1f} s", flush=True)
    return json.loads(file.read_text()) if file.exists() else None


def main(arguments: Sequence[str] = ()) -> None:
    """Run the parts that fit into the time."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu_day", description=__doc__)
    parser.add_argument("parts", nargs="*", help="parts to run, such as rates:humanoid; all if none")
    parser.add_argument("--minutes", type=float, default=25.0, help="time for everything")
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu_day", help="folder of the results")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    given = parser.parse_args(list(arguments))
    if given.alone:
        part, _, scene = given.alone.partition(":")
        found = PARTS[part](scene)
        given.out.write_text(json.dumps(found, indent=1))
        print(json.dumps(found)[:1500], flush=True)
        return
    end = time.monotonic() + 60 * given.minutes
    given.out.mkdir(parents=True, exist_ok=True)
    print(need_gpu(), flush=True)
    whole = ["compile:humanoid", "parity:humanoid", "growth", "divergence", "rates:humanoid", "stages:humanoid"]
    whole += ["warp:humanoid", "sanitizer"]
    whole += [f"{part}:{scene}" for scene in DAY[1:] for part in ("compile", "parity", "rates", "warp")]
    sizes: dict[str, Any] = {}
    for part in given.parts or whole:
        kind, _, scene = part.partition(":")
        left = end - time.monotonic()
        if kind not in PARTS or (scene and scene not in SCENES):
            sys.exit(f"no part {part!r}; there are {', '.join(PARTS)}, with scenes {', '.join(SCENES)}")
        if left < 10:
            print(f"no time for {part}", flush=True)
            continue
        found = run_part(part, given.out, min(left, LIMITS[kind]), sizes)
        if kind == "rates" and found:
            sizes[scene] = found


if __name__ == "__main__":
    main(sys.argv[1:])
