"""Time of derivatives of a step: by differences ÷ the reference engine's, and exact ones ÷ a step and ÷ differences."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np

import cardan
from benchmarks import models
from benchmarks.scenes import BARKOUR, HUMANOID, MORE_SCENES, QUADRUPED, SUITE, Scene, set_state, settled_state
from benchmarks.timing import paired_ratio, save, steps_seconds

CALLS, LEAST = 5, 1e-3
"""Calls that are timed together, at least, and how long they should take, s: the clock itself takes a microsecond."""
EPSILON = 1e-6
EXACT = (
    HUMANOID,
    *(s for s in MORE_SCENES if s.name in ("arm26", "humanoid100")),
    Scene("quadruped", QUADRUPED, settle=400, steps=200),
    Scene("barkour", BARKOUR, settle=400, steps=200),
    Scene(
        "shadow hand with an egg",
        SUITE / "gymnasium-robotics/gymnasium_robotics/envs/assets/hand/manipulate_egg.xml",
        *(300, 200),
    ),
)
"""Scenes whose exact derivatives are timed."""
GROWING = tuple(Scene(f"chain of {n} dofs", partial(models.chain, n), settle=50, steps=100) for n in (3, 10, 30, 100))
"""Scenes from which it is seen how the cost grows with the size."""
HORIZON, SPACING = 100, 10
"""Steps of the trajectories whose gradients are timed (`SPACING` for large models), and between spaced checkpoints."""
STEPS = 20


def transition(engine: Any, m: Any, d: Any, centred: bool) -> float:
    """Seconds for one call of ``mjd_transitionFD`` with all four matrices."""
    nx, outputs = 2 * m.nv + m.na, m.nsensordata
    matrices = [np.zeros(shape) for shape in ((nx, nx), (nx, m.nu), (outputs, nx), (outputs, m.nu))]
    start = time.thread_time()
    for _ in range(CALLS):
        engine.mjd_transitionFD(m, d, EPSILON, centred, *matrices)
    return (time.thread_time() - start) / CALLS


def state_and_control(engine: Any, m: Any, d: Any, exact: bool, calls: int = CALLS) -> float:
    """Seconds for A and B, exact or by forward differences, in the mean of some calls."""
    nx = 2 * m.nv + m.na
    A, B = np.zeros((nx, nx)), np.zeros((nx, m.nu))
    start = time.thread_time()
    for _ in range(calls):
        if exact:
            engine.mjd_transition(m, d, A, B, None, None)
        else:
            engine.mjd_transitionFD(m, d, EPSILON, 0, A, B, None, None)
    return (time.thread_time() - start) / calls


def exact_row(scene: Scene) -> dict[str, float]:
    """Time of exact A and B ÷ the reference's forward differences, and ÷ a step of ours from the same state."""
    reference_model, our_model = scene.load(mujoco), scene.load(cardan)
    reference_data, our_data = mujoco.MjData(reference_model), cardan.MjData(our_model)
    state = settled_state(mujoco, reference_model, scene)

    def ours(calls: int = CALLS) -> float:
        set_state(our_data, state)
        return state_and_control(cardan, our_model, our_data, True, calls)

    def theirs(calls: int = CALLS) -> float:
        set_state(reference_data, state)
        return state_and_control(mujoco, reference_model, reference_data, False, calls)

    def step() -> float:
        set_state(our_data, state)
        return steps_seconds(cardan, our_model, our_data, STEPS) / STEPS

    ours()
    step()
    calls = max(CALLS, round(LEAST / ours()))
    row = paired_ratio(lambda: ours(calls), lambda: theirs(calls))
    return row | {"steps": paired_ratio(ours, step)["ratio"]}


def exact() -> None:
    """Print and save exact derivatives."""
    rows = {}
    for scene in EXACT:
        row = rows[scene.name] = exact_row(scene)
        print(
            f"mjd_transition, {scene.name}: {row['steps']:.1f} steps, {row['ratio']:.3f} of the reference's forward "
            f"differences, {1e3 * row['ours']:.3f} ms"
        )
    save("exact_derivatives", rows)


def growth() -> None:
    """Print and save how the time of exact A and B grows with the size of a chain."""
    rows = {}
    for scene in GROWING:
        row = rows[scene.name] = exact_row(scene)
        print(f"mjd_transition, {scene.name}: {row['steps']:.1f} steps, {1e3 * row['ours']:.3f} ms")
    save("growth_derivatives", rows)


def gradient_row(scene: Scene) -> dict[str, float]:
    """Time of the gradient of a loss ÷ that of the steps, with all steps kept and with every tenth; memory of both.

    The share of the products A' x in it says what reverse mode of single stages would leave.
    """
    m = scene.load(cardan)
    d = cardan.MjData(m)
    state = settled_state(cardan, m, scene)
    nstep = HORIZON if m.nv < 200 else SPACING
    controls = np.full((nstep, m.nu), scene.control)
    last = np.ones(2 * m.nv + m.na)
    tapes = []
    for every in (1, SPACING):
        set_state(d, state)
        tapes.append(cardan.record(m, d, nstep, controls, every=every))
    jacobian = np.ones((len(last), len(last) + m.nu))

    def timed(work: Callable[[], object]) -> float:
        start = time.thread_time()
        work()
        return time.thread_time() - start

    def backward(tape: Any) -> float:
        return timed(lambda: tape.gradient(last))

    def products() -> float:
        return timed(lambda: [jacobian.T @ last for _ in range(nstep)])

    def forward() -> float:
        set_state(d, state)
        return steps_seconds(cardan, m, d, nstep)

    for tape in tapes:
        backward(tape)
    forward()
    row = paired_ratio(lambda: backward(tapes[0]), forward)
    return row | {
        "nv": m.nv,
        "spaced": paired_ratio(lambda: backward(tapes[1]), forward)["ratio"],
        "products": paired_ratio(products, lambda: backward(tapes[0]))["ratio"],
        "memory": 8e-3 * tapes[0].nkept,
        "memory_spaced": 8e-3 * tapes[1].nkept,
    }


def gradient() -> None:
    """Print and save the time of the gradient of a loss over `HORIZON` steps ÷ that of the steps."""
    rows = {}
    for scene in (*(s for s in EXACT if s.name in ("humanoid", "arm26", "quadruped", "humanoid100")), *GROWING):
        row = rows[scene.name] = gradient_row(scene)
        print(
            f"gradient of a loss over {HORIZON} steps, {scene.name}: {row['ratio']:.1f} times the steps, with "
            f"checkpoints every {SPACING} steps {row['spaced']:.1f}; products A' x {100.0 * row['products']:.1f} %"
        )
    save("derivative_gradients", rows)


def main() -> None:
    """Print and save forward and centred differences, and exact derivatives."""
    reference_model, our_model = HUMANOID.load(mujoco), HUMANOID.load(cardan)
    reference_data, our_data = mujoco.MjData(reference_model), cardan.MjData(our_model)
    state = settled_state(mujoco, reference_model, HUMANOID)
    set_state(our_data, state)
    set_state(reference_data, state)
    rows = {}
    for name, centred in (("forward", False), ("centred", True)):
        transition(cardan, our_model, our_data, centred)
        row = rows[name] = paired_ratio(
            lambda c=centred: transition(cardan, our_model, our_data, c),
            lambda c=centred: transition(mujoco, reference_model, reference_data, c),
        )
        print(
            f"mjd_transitionFD, humanoid, {name} differences / reference: {row['ratio']:.2f}"
            f"  {1e3 * row['ours']:.2f} ms / {1e3 * row['reference']:.2f} ms"
        )
    save("derivatives", rows)
    exact()
    growth()
    gradient()


if __name__ == "__main__":
    main()
