"""Exact derivatives of a step against differences of the same step, over states, cones, integrators and solvers.

Each of 14 shared models falls and moves about for a while; from a state on the way, columns of A, B, C and D are
compared with centred differences of `mj_step`, of three widths, each extrapolated (Richardson): of those, the one that
agrees best with itself. Steps of PGS and CG are compared with differences of Newton's, which end at the same solution
with more digits. Only where contacts, constraint rows and their zones stay the same within the difference is there one
derivative; other columns are counted as "changing". So are those where collision detection looks at other features of a
geom, or a function has a corner ("cornered": differences of several kinds disagree), and those that no difference
resolves ("unresolved": the differences themselves are less certain than what is asked for).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cardan
from benchmarks.derivatives import MENAGERIE, SUITE
from benchmarks.scenes import MODELS
from benchmarks.timing import save
from cardan.constants import mjENBL_NATIVECCD
from cardan.enums import mjtCone, mjtEnableBit, mjtIntegrator, mjtSolver

PATHS: dict[str, Path] = {
    "humanoid": MODELS / "humanoid/humanoid.xml",
    "arm26": MODELS / "tendon_arm/arm26.xml",
    "slider_crank": MODELS / "slider_crank/slider_crank.xml",
    "balloons": MODELS / "balloons/balloons.xml",
    "car": MODELS / "car/car.xml",
    "adhesion": MODELS / "adhesion/active_adhesion.xml",
    "mug": MODELS / "mug/mug.xml",
    "newton_cradle": MODELS / "replicate/newton_cradle.xml",
    "ant": SUITE / "gymnasium/gymnasium/envs/mujoco/assets/ant.xml",
    "quadruped": SUITE / "dm-control==1.0.20/dm_control/suite/quadruped.xml",
    "fish": SUITE / "dm-control==1.0.20/dm_control/suite/fish.xml",
    "barkour": MENAGERIE / "google_barkour_vb/scene.xml",
    "shadow hand": SUITE / "gymnasium-robotics/gymnasium_robotics/envs/assets/hand/manipulate_egg.xml",
    "fetch": SUITE / "gymnasium-robotics/gymnasium_robotics/envs/assets/fetch/pick_and_place.xml",
}
SETTINGS = [
    (integrator, cone, solver)
    for integrator in mjtIntegrator.__members__.values()
    for cone in mjtCone.__members__.values()
    for solver in mjtSolver.__members__.values()
]
FLAGS = (0, int(mjtEnableBit.mjENBL_MULTICCD), mjENBL_NATIVECCD)
WIDTHS = (2e-5, 5e-6, 1e-6)
COLUMNS = 16
"""Directions of a state that are compared, drawn at random."""
BAR = 1e-6
RESOLVED = 2e-7
"""Relative uncertainty of differences up to which they are compared with."""
CORNER = 1e-5
"""Relative disagreement of wide and narrow, or of forward and backward differences, of the smallest width."""
INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "eq_active")


@dataclass(frozen=True)
class Point:
    """The results of a step, and what has to stay the same for them to belong to one smooth piece."""

    state: np.ndarray
    sensors: np.ndarray
    piece: bytes


class Stepper:
    """Steps from states around one."""

    def __init__(self, d: cardan.MjData) -> None:
        self.m, self.d, self.e = d.model, d, cardan.MjData(d.model)
        self.base = np.zeros(self.m.nq)

    def step(self, column: int, width: float) -> Point:
        """A step from the state moved along one input."""
        m, d, e = self.m, self.d, self.e
        e.time = d.time
        for name in INPUTS:
            getattr(e, name)[...] = getattr(d, name)
        e.qacc_warmstart[:] = d.qacc_warmstart
        nv, na = m.nv, m.na
        if column < nv:
            along = np.zeros(nv)
            along[column] = 1.0
            cardan.mj_integratePos(m, e.qpos, along, width)
        elif column < 2 * nv:
            e.qvel[column - nv] += width
        elif column < 2 * nv + na:
            e.act[column - 2 * nv] += width
        else:
            e.ctrl[column - 2 * nv - na] += width
        cardan.mj_step(m, e)
        turned = np.zeros(nv)
        if width == 0.0:
            self.base = e.qpos.copy()
        cardan.mj_differentiatePos(m, turned, 1.0, self.base, e.qpos)
        rows = (e.contact.geom[: e.ncon], e.efc_type[: e.nefc], e.efc_id[: e.nefc], e.efc_state[: e.nefc])
        piece = b"|".join(np.ascontiguousarray(a).tobytes() for a in rows)
        return Point(np.concatenate([turned, e.qvel, e.act]), e.sensordata.copy(), piece)


@dataclass(frozen=True)
class Difference:
    """A column by differences: its parts by the next state and by sensor data, how sure each is, and corners."""

    parts: tuple[np.ndarray, np.ndarray]
    doubt: tuple[float, float]
    rough: bool


def relative(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two vectors, in units of the largest number of the second."""
    size = np.abs(b).max(initial=0.0)
    return float(np.abs(a - b).max(initial=0.0) / size) if size > 0.0 else float(np.abs(a).max(initial=0.0))


def difference(stepper: Stepper, here: Point, column: int) -> Difference | None:
    """A column by differences; None if what is active changes within all of them."""
    best: list[tuple[float, np.ndarray] | None] = [None, None]
    rough = False
    for width in WIDTHS:
        points = [stepper.step(column, s * width) for s in (1.0, -1.0, 0.5, -0.5)]
        if any(point.piece != here.piece for point in points):
            continue
        for k, name in enumerate(("state", "sensors")):
            up, down, near_up, near_down = (getattr(point, name) for point in points)
            wide, narrow = (up - down) / (2.0 * width), (near_up - near_down) / width
            found = (4.0 * narrow - wide) / 3.0
            apart = relative(wide, narrow)
            doubt = apart / 15.0 + 1e-15 * np.abs(up).max(initial=0.0) / width / max(
                np.abs(narrow).max(initial=0.0), 1e-9
            )
            if width == WIDTHS[-1]:
                middle = getattr(here, name)
                far = relative((up - middle) / width, (middle - down) / width)
                close = relative(2.0 * (near_up - middle) / width, 2.0 * (middle - near_down) / width)
                rough |= apart > 100.0 * CORNER or (
                    close > CORNER and close > 0.75 * far
                )  # half as large where it is smooth
            known = best[k]
            if known is None or doubt < known[0]:
                best[k] = doubt, found
    if best[0] is None or best[1] is None:
        return None
    return Difference((best[0][1], best[1][1]), (best[0][0], best[1][0]), rough)


def states(m: cardan.MjModel, count: int, seed: int) -> Iterator[cardan.MjData]:
    """States on the way of a model that moves about under random controls."""
    rng = np.random.default_rng(seed)
    d = cardan.MjData(m)
    if m.nkey:
        cardan.mj_resetDataKeyframe(m, d, 0)
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, m.actuator_ctrlrange[:, 0], -1.0), np.where(limited, m.actuator_ctrlrange[:, 1], 1.0)
    for k in range(count):
        d.ctrl[:] = low + (high - low) * rng.uniform(0.2, 0.8, m.nu)
        for _ in range(400 if k == 0 else 25):
            cardan.mj_step(m, d)
        d.qvel += 0.02 * rng.standard_normal(m.nv)
        yield d


def set_options(m: cardan.MjModel, setting: int) -> None:
    """Options of a setting, and a solver that goes on until nothing changes."""
    m.opt.integrator, m.opt.cone, m.opt.solver = SETTINGS[setting % len(SETTINGS)]
    m.opt.enableflags = FLAGS[(setting // 2) % len(FLAGS)]
    m.opt.tolerance, m.opt.iterations = 0.0, 100 if m.opt.solver == mjtSolver.mjSOL_NEWTON else 5000
    m.opt.ls_tolerance, m.opt.ls_iterations = 1e-10, 200
    m.opt.noslip_iterations = 0


def compare(d: cardan.MjData, rng: np.random.Generator, worst: list[tuple[float, str]], what: str) -> Counter[str]:
    """Compare the columns of one state; counts by outcome."""
    m = d.model
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    A, B, C, D = (np.zeros(shape) for shape in ((nx, nx), (nx, m.nu), (ns, nx), (ns, m.nu)))
    cardan.mjd_transition(m, d, A, B, C if ns else None, D if ns else None)
    m.opt.solver = mjtSolver.mjSOL_NEWTON  # which finds what the other solvers look for to more digits
    m.opt.iterations = 100
    stepper = Stepper(d)
    here = stepper.step(0, 0.0)
    d.qacc_warmstart[:] = stepper.e.qacc
    here = stepper.step(0, 0.0)
    exact = np.vstack([np.hstack([A, B]), np.hstack([C, D])])
    counts: Counter[str] = Counter(states=1, contacts=stepper.e.ncon)
    columns = exact.shape[1]
    for column in rng.choice(columns, min(COLUMNS, columns), replace=False).tolist():
        found = difference(stepper, here, column)
        if found is None:
            counts["changing"] += 1
            continue
        errors = [relative(exact[:nx, column], found.parts[0]), relative(exact[nx:, column], found.parts[1])]
        bad = [error > BAR and doubt < RESOLVED for error, doubt in zip(errors, found.doubt, strict=True)]
        if found.rough:
            counts["cornered"] += 1
        elif any(bad):
            counts["beyond"] += 1
            k = 0 if bad[0] else 1
            part = exact[:nx, column] if k == 0 else exact[nx:, column]
            row = int(np.abs(part - found.parts[k]).argmax())
            worst.append((errors[k], f"{what} row {row} of {'AB' if k == 0 else 'CD'} column {column}"))
        elif max(found.doubt) >= RESOLVED:
            counts["unresolved"] += 1
        else:
            counts["compared"] += 1
            worst.append((max(errors), ""))
    return counts


def row_of(name: str, count: int, first: int) -> dict[str, float]:
    """Compare the states of one model, a setting a state; prints those beyond the bar."""
    m = cardan.MjModel.from_xml_path(str(PATHS[name]))
    start_options = (m.opt.integrator, m.opt.cone, m.opt.solver, m.opt.enableflags)
    tolerance = m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance, m.opt.ls_iterations
    rng = np.random.default_rng(7)
    total: Counter[str] = Counter()
    worst: list[tuple[float, str]] = []
    for k, d in enumerate(states(m, count, seed=first)):
        setting = first + k
        set_options(m, setting)
        names = "/".join(str(value) for value in (*SETTINGS[setting % len(SETTINGS)], m.opt.enableflags))
        total += compare(d, rng, worst, f"{name} {names} state {k}")
        m.opt.integrator, m.opt.cone, m.opt.solver, m.opt.enableflags = start_options
        m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance, m.opt.ls_iterations = tolerance
    for error, what in sorted((row for row in worst if row[1]), reverse=True)[:8]:
        print(f"    {error:.1e} {what}", flush=True)
    errors = [error for error, what in worst if not what]
    keys = ("states", "contacts", "compared", "changing", "cornered", "unresolved", "beyond")
    return {key: float(total[key]) for key in keys} | {"largest": max(errors, default=0.0)}


def main(names: list[str] | None = None, count: int = len(SETTINGS)) -> None:
    """Print and save the comparison: one state a setting and model."""
    rows = {}
    for k, name in enumerate(names or list(PATHS)):
        rows[name] = row_of(name, count, 5 * k)
        print(name, " ".join(f"{key} {value:.3g}" for key, value in rows[name].items()), flush=True)
    if names is None:
        save("derivative_accuracy", rows)


if __name__ == "__main__":
    main(sys.argv[1:] or None)
