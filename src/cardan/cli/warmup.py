"""``cardan warmup``: compile kernels ahead of time."""

from __future__ import annotations

import time
from importlib.resources import files
from pathlib import Path

from rich.console import Console

import cardan
from cardan.cli.loading import load_model
from cardan.jit.cache import cache_folder

INTEGRATORS = (
    cardan.mjtIntegrator.mjINT_EULER,
    cardan.mjtIntegrator.mjINT_IMPLICITFAST,
    cardan.mjtIntegrator.mjINT_RK4,
)


def exercise(m: cardan.MjModel, integrators: tuple[cardan.mjtIntegrator, ...]) -> None:
    """Run everything that a user of the model may call, so that all its kernels are compiled."""
    for integrator in integrators:
        m.opt.integrator = int(integrator)
        d = cardan.MjData(m)
        cardan.mj_step(m, d)
        cardan.mj_inverse(m, d)


def run(models: list[Path]) -> None:
    """The command."""
    console = Console()
    begin = time.perf_counter()
    if models:
        for path in models:
            m = load_model(path)
            exercise(m, (cardan.mjtIntegrator(m.opt.integrator),))
    else:
        text = files("cardan.cli").joinpath("warmup.xml").read_text()
        for cone in cardan.mjtCone.mjCONE_PYRAMIDAL, cardan.mjtCone.mjCONE_ELLIPTIC:
            m = cardan.MjModel.from_xml_string(text)
            m.opt.cone = int(cone)
            exercise(m, INTEGRATORS)
    console.print(f"kernels are ready ({time.perf_counter() - begin:.1f} s); they are kept in {cache_folder()}")
