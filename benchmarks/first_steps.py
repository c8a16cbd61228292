"""Time of a process that loads a model and takes a step ÷ the reference's, with kernels compiled ahead: shared models.

Kernels come from one archive, as in wheels: those of the cache of this machine, compiled where they are missing.
Seconds are processor time of whole processes, which leaves out the waiting where other work goes on. Words on the
command line choose models by parts of their paths: ``python -m benchmarks.first_steps humanoid``.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from wheels.kernels import compile_driver

from benchmarks.loadable import loadable_files
from benchmarks.scenes import HUMANOID, ROOT, WIDE
from benchmarks.timing import paired_ratio, save
from cardan.cli.compile import all_entries
from cardan.jit.cache.packaged import PACKAGE, sources, write_archive
from cardan.jit.driver.program import stored_object
from cardan.jit.target.processor import PLATFORMS, host_platform, runs

PAIRS = 5
"""Of the models in the table; all others are measured once."""
BAR = 1.5
SHOWN = 6
"""How many of the slowest models stand in the table."""
PROGRAM = """
import sys
import {engine} as mujoco
m = mujoco.MjModel.from_xml_path(sys.argv[1])
d = mujoco.MjData(m)
mujoco.mj_step(m, d)
"""


def write_kernels(path: Path) -> None:
    """Write all kernels into an archive for this machine.

    Raises:
        StopIteration: there are no wheels with kernels for such a processor.
    """
    platform = PLATFORMS[host_platform()]
    level = next(level for level in platform.levels if runs(level))
    objects = compile_driver((platform, level)) | {entry.name: stored_object(entry)[1] for entry in all_entries()}
    write_archive(path, platform.name, {level: objects}, sources(PACKAGE))


def seconds(engine: str, model: Path, kernels: Path) -> float:
    """Processor seconds of a process that loads a model, makes its data and takes a step."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings = {"CARDAN_PACKAGED": str(kernels), "OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", PROGRAM.format(engine=engine), str(model)]
    subprocess.run(command, check=True, env=kept | settings, capture_output=True, cwd=kernels.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(paths: list[Path], kernels: Path, pairs: int) -> dict[str, dict[str, float]]:
    """A row a model, by the model's path."""
    rows = {}
    for path in paths:
        try:
            row = paired_ratio(
                lambda p=path: seconds("cardan", p, kernels), lambda p=path: seconds("mujoco", p, kernels), pairs
            )
        except subprocess.CalledProcessError as error:
            print(f"  {path.stem}: {error.stderr.decode().strip().splitlines()[-1]}")
            continue
        name = path.relative_to(WIDE) if path.is_relative_to(WIDE) else path.relative_to(ROOT)
        rows[str(name)] = row
        print(f"  {path.stem:30s} {row['ratio']:.2f}  {row['ours']:.3f} s / {row['reference']:.3f} s", flush=True)
    return rows


def main() -> None:
    """Print all models; save the median, and the slowest."""
    print("first step from process start / reference")
    words = sys.argv[1:] if __name__ == "__main__" else []
    paths = [path for path in loadable_files() if all(word in str(path) for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        kernels = Path(folder, "kernels.bin")
        write_kernels(kernels)
        seconds("cardan", HUMANOID.path, kernels)  # byte code
        rows = measure(paths, kernels, 1)
        slowest = sorted(rows, key=lambda name: rows[name]["ratio"], reverse=True)[:SHOWN]
        chosen = [HUMANOID.path, *(WIDE / name for name in slowest)]
        table = measure(chosen, kernels, PAIRS)
    ratios = [row["ratio"] for row in rows.values()]
    middle, within = statistics.median(ratios), sum(ratio <= BAR for ratio in ratios)
    print(f"  median {middle:.2f}, {within} of {len(ratios)} at most {BAR}")
    if not words:
        named = {f"{Path(name).parent.name}/{Path(name).stem}": row for name, row in table.items()}
        median = {f"median of {len(ratios)} models, {within} of them at most {BAR}": {"ratio": middle}}
        save("first_steps", named | median)


if __name__ == "__main__":
    main()
