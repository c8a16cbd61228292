"""What a GPU does: steps a second, time of stages, memory a world, cold starts, masked resets, parity with threads.

``python -m benchmarks gpu`` needs an NVIDIA GPU and the extra ``cardan[cuda]``. To beat, mujoco_warp on an RTX 6000 Ada
(`TO_BEAT`). ``python -m benchmarks.gpu humanoid aloha float32`` measures some scenes, in one precision, and keeps the
rows of others; ``parity`` stands for all shared models, of which the difference from threads is measured alone.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from benchmarks import models
from benchmarks.gpu_code import UNSEEN
from benchmarks.scenes import EXAMPLES, HUMANOID, SUITE, model_files
from benchmarks.timing import RESULTS, save
from cardan import Batch, MjModel
from cardan.batch.gpu.memory import BLOCKS
from cardan.enums import mjtStage
from cardan.jit.driver.cuda import Gpu, GpuMemoryError
from cardan.jit.front.stage import entry_of

Source = Path | Callable[[], str]
HUMANOID_FILE = HUMANOID.path
PRECISIONS = ("float32", "float64")
WORLDS = (1, 64, 1024, 8192, 32768, 65536)
AT = 8192
"""Worlds at which stages are timed, and of the rates to beat."""
FIELDS = ("qpos", "qvel", "qacc", "xpos", "qfrc_bias", "qfrc_constraint")
CLOSE = {"float64": 1e-9, "float32": 1e-4}
TO_BEAT = {
    "humanoid": 5.67e6,
    "three humanoids": 1.08e6,
    "quadruped": 2.52e6,
    "quadruped on terrain": 1.68e6,
    "aloha": 2.50e6,
    "muscle arm": 1.39e6,
}
"""Steps a second of mujoco_warp, float32, at 8,192 worlds, of these models or of others of their kind."""


def three_humanoids() -> str:
    """Three humanoids on one plane, side by side, each with its actuators, tendons and excluded pairs."""
    root = ElementTree.parse(HUMANOID_FILE).getroot()
    world = root.find("worldbody")
    assert world is not None
    body = next(element for element in world if element.tag == "body")
    world.remove(body)
    for light in world.iter("light"):
        light.attrib.pop("target", None)
    for k in range(3):
        frame = ElementTree.SubElement(world, "frame", pos=f"0 {2 * k} 0")
        frame.append(_renamed(body, k))
    for section in list(root):
        if section.tag == "keyframe":
            root.remove(section)
        elif section.tag in ("contact", "tendon", "actuator", "equality", "sensor"):
            elements = list(section)
            section[:] = [_renamed(element, k) for k in range(3) for element in elements]
    return ElementTree.tostring(root, "unicode")


def _renamed(element: ElementTree.Element, k: int) -> ElementTree.Element:
    """A copy of an element with names of its own."""
    new = deepcopy(element)
    for part in new.iter():
        for attribute in ("name", "joint", "body1", "body2", "tendon", "site", "target"):
            if attribute in part.attrib:
                part.attrib[attribute] += f"_{k}"
    return new


def cloth() -> str:
    """A cloth of 100 vertices."""
    return models.cloth(10)


SCENES: dict[str, Source] = {
    "humanoid": HUMANOID_FILE,
    "three humanoids": three_humanoids,
    "quadruped": EXAMPLES / "quadruped.xml",
    "quadruped on terrain": models.quadruped,
    "arm": SUITE / "dm-control==1.0.20/dm_control/suite/manipulator.xml",
    "hand with meshes": UNSEEN / "leap_hand/scene_right.xml",
    "aloha": SUITE / "gym-aloha/gym_aloha/assets/bimanual_viperx_end_effector_insertion.xml",
    "muscle arm": models.muscle_arm,
    "cloth": cloth,
}


def load(source: Source) -> MjModel:
    """The model of a scene."""
    return MjModel.from_xml_path(str(source)) if isinstance(source, Path) else MjModel.from_xml_string(source())


def need_gpu() -> str:
    """What GPU there is, in words.

    Raises:
        CudaError: there is none that CUDA can use; the message says what is missing.
    """
    gpu = Gpu()
    words = f"{gpu.architecture}, {gpu.multiprocessors} multiprocessors, {gpu.room()[1] / 2**30:.0f} GiB"
    gpu.close()
    return words


@contextmanager
def batch_on_gpu(m: MjModel, count: int, precision: str, **options: Any) -> Iterator[Any]:
    """A batch that is closed afterwards."""
    batch: Any = Batch(m, count, device="cuda", dtype=precision, **options)
    try:
        yield batch
    finally:
        batch.close()


def rate(m: MjModel, count: int, precision: str, steps: int, **options: Any) -> dict[str, float]:
    """Steps a second of all worlds together, and bytes a world, after as many steps that don't count."""
    with batch_on_gpu(m, count, precision, **options) as batch:
        batch.step(steps)
        start = time.perf_counter()
        batch.step(steps)
        seconds = time.perf_counter() - start
        return {"steps": count * steps / seconds, "bytes": float(batch.memory_per_world)}


def stage_times(m: MjModel, count: int, precision: str, repeat: int) -> dict[str, float]:
    """Microseconds of each stage of a step in all worlds, by launches of it alone from a settled state."""
    with batch_on_gpu(m, count, precision) as batch:
        batch.step(repeat)
        program = batch._worlds.program("mj_step", 0)
        worlds, found = np.arange(count), {}
        for stage in dict.fromkeys(program.stages):
            start = time.perf_counter()
            for _ in range(repeat):
                batch._worlds.run_stages([stage], worlds)
            found[entry_of(stage).name] = 1e6 * (time.perf_counter() - start) / repeat
        return found


def reset_share(m: MjModel, count: int, precision: str, repeat: int) -> float:
    """Time of a reset of 2 % of the worlds, without forward dynamics, ÷ time of a step of all."""
    mask = np.zeros(count, bool)
    mask[:: min(50, count)] = True
    with batch_on_gpu(m, count, precision) as batch:
        batch.step()
        batch.reset(mask=mask, stage=mjtStage.mjSTAGE_NONE)
        start = time.perf_counter()
        batch.step(repeat)
        middle = time.perf_counter()
        for _ in range(repeat):
            batch.reset(mask=mask, stage=mjtStage.mjSTAGE_NONE)
        return (time.perf_counter() - middle) / (middle - start)


def cold_start(m: MjModel, count: int, precision: str) -> float:
    """Seconds from nothing to the end of the first step; empty the cache folder first (``CARDAN_CACHE_DIR``)."""
    start = time.perf_counter()
    with batch_on_gpu(m, count, precision) as batch:
        batch.step()
    return time.perf_counter() - start


def parity(m: MjModel, precision: str, steps: int) -> float:
    """Largest difference from a batch on threads in double precision, relative, after steps from one state."""
    threads = Batch(m, 4)
    rng = np.random.default_rng(0)
    threads.qvel[:] += 0.01 * rng.standard_normal(threads.qvel.shape)
    with batch_on_gpu(m, 4, precision) as batch:
        batch.state[...] = threads.state.astype(precision)
        threads.state[...] = np.asarray(batch.state)
        for both in (batch, threads):
            both.step(steps)
        pairs = [(np.asarray(getattr(batch, name)), getattr(threads, name)) for name in FIELDS]
    return max(float(np.abs(a - b).max(initial=0) / max(1, np.abs(b).max(initial=0))) for a, b in pairs)


def measure(
    m: MjModel, precision: str, worlds: Sequence[int] = WORLDS, at: int = AT, steps: int = 100
) -> dict[str, Any]:
    """All figures of a model in a precision; numbers of worlds for which there is no room are left out."""
    row: dict[str, Any] = {"cold start": cold_start(m, at, precision)}
    for count in worlds:
        try:
            found = rate(m, count, precision, steps)
        except GpuMemoryError as error:
            print(f"    {count} worlds: {error}")
            break
        row[f"{count}"], row["kB a world"] = found["steps"], found["bytes"] / 1000
    both = [rate(m, at, precision, steps, stages_per_launch=n)["steps"] for n in (1, 0)]
    row["a launch a stage ÷ one launch"] = both[0] / both[1]
    for size in BLOCKS:
        row[f"{at}, blocks of {size}"] = rate(m, at, precision, steps, threads_per_block=size)["steps"]
    row["reset of 2 % ÷ step"] = reset_share(m, at, precision, max(1, steps // 10))
    row["difference after a step"] = parity(m, precision, 1)
    row |= {f"µs {name}": t for name, t in stage_times(m, at, precision, max(1, steps // 10)).items()}
    return row


def kept_rows(name: str) -> dict[str, Any]:
    """The rows of a table that was saved before."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text())["rows"] if file.exists() else {}


def all_parities(precisions: Sequence[str]) -> None:
    """Print and save how far all shared models are from batches on threads, after a step."""
    rows = kept_rows("gpu_parity")
    warnings.simplefilter("ignore")
    for path in model_files():
        for precision in precisions:
            name = f"{path.parent.name}/{path.name}, {precision}"
            try:
                rows[name] = {"difference": parity(MjModel.from_xml_path(str(path)), precision, 1)}
            except (OSError, RuntimeError, ValueError) as error:  # no model, or one that can't run there
                rows[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
            far = rows[name].get("difference", 0.0) > CLOSE[precision]
            print(f"  {name}: {rows[name]}{', far' if far else ''}", flush=True)
            save("gpu_parity", rows)


def main(chosen: Sequence[str] = ()) -> None:
    """Print and save the tables.

    Args:
        chosen: names of scenes and precisions, or ``parity``; none: all scenes.
    """
    unknown = set(chosen) - {*SCENES, *PRECISIONS, "parity"}
    if unknown:
        sys.exit(f"unknown {sorted(unknown)}; there are: {', '.join((*SCENES, *PRECISIONS, 'parity'))}")
    gpu = need_gpu()
    print(gpu, flush=True)
    precisions = [p for p in PRECISIONS if p in chosen] or PRECISIONS
    if "parity" in chosen:
        all_parities(precisions)
        return
    rows = kept_rows("gpu")
    for name in [name for name in SCENES if name in chosen] or SCENES:
        for precision in precisions:
            row = measure(load(SCENES[name]), precision)
            rows[f"{name}, {precision}"] = row | {"GPU": gpu}
            best = row.get(f"{AT}", 0.0)
            print(f"  {name}, {precision}: {best:,.0f} steps/s at {AT} worlds", flush=True)
            if name in TO_BEAT and precision == "float32":
                print(f"    {best / TO_BEAT[name]:.2f} of the rate to beat")
            if row["difference after a step"] > CLOSE[precision]:
                print(f"    differs from threads by {row['difference after a step']:.1e}")
            save("gpu", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
