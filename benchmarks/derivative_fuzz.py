"""Whether derivatives of steps are finite wherever the step is: 100,000 states of shared and of random models.

States lie between rest, where many formulas are singular, and wild ones. Among them are those at edges: contacts at
depth 0 and bodies inside each other, axes that are parallel, joints and tendons at their limits, tendons of no length,
controls and activations at the ends of their ranges, activations that equal their controls, quaternions of 0. Options
and parameters are drawn as well: integrators, cones, solvers; impedances without width or at their bounds, friction and
damping of 0.

`python -m benchmarks.derivative_fuzz 300` goes on for 300 s from where the last run ended, and adds what it finds to
the results. Batches of states have numbers, which say of what model and of what seed they are.
"""

from __future__ import annotations

import fcntl
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cardan
from benchmarks.derivative_accuracy import PATHS, SETTINGS, exact_jacobian
from benchmarks.models import muscle_arm
from benchmarks.timing import RESULTS, save
from cardan.constants import mjMAXVAL
from cardan.enums import mjtEnableBit, mjtJoint

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from derive.pairs import PAIRS, scene
from models_random import Features, random_model
from models_wide import wide_model

NAME = "derivative_fuzz"
STATES = 100_000
BATCH = 50
"""States of a batch: of one model, with one draw of its options and parameters."""
RANDOM_MODELS = 12
"""Random models of each kind; each compiles tangents of its own."""
LARGE = 40
"""Dofs from which batches are smaller."""
ROUND = np.pi / 4.0
PARAMETERS = ("geom_friction", "geom_solref", "geom_solimp", "body_mass", "body_inertia", "dof_damping", "opt.gravity")
"""Parameters by which derivatives are looked at once a batch."""
IMPEDANCES = (
    *((0.9, 0.95, 0.001, 0.5, 2.0), (0.9, 0.95, 0.0, 0.5, 2.0), (0.95, 0.95, 0.01, 0.5, 2.0)),
    *((0.0, 1.0, 0.1, 0.5, 3.0), (0.9, 0.95, 0.01, 0.0, 2.0), (0.9, 0.95, 0.01, 1.0, 2.0)),
    *((0.5, 0.9, 0.02, 0.3, 1.0), (0.5, 0.9, 10.0, 0.5, 6.0)),
)
REFERENCES = ((0.02, 1.0), (0.02, 0.0), (1e-4, 1.0), (-1000.0, -10.0), (-1.0, -0.0))
TENDONS = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody><site name="a" pos="0 0 1"/>
<site name="z" pos="0 0 1"/><geom name="drum" type="cylinder" size=".1 .2" pos=".2 0 .9" zaxis="0 1 0"/>
<body pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size=".05" pos=".2 0 0"/><site name="b"/>
<site name="c" pos=".3 0 0"/><geom name="ball" size=".05" pos=".3 0 .05"/><site name="side" pos=".3 0 .2"/>
<body pos=".3 0 0"><joint type="ball"/><geom size=".05" pos=".2 0 0"/><site name="e"/><site name="f" pos=".2 0 0"/>
</body></body></worldbody><tendon>
<spatial name="s" stiffness="9" damping="1" springlength="0"><site site="a"/><site site="b"/></spatial>
<spatial name="t" stiffness="9" limited="true" range="0 .1"><site site="c"/><site site="e"/></spatial>
<spatial name="u" frictionloss=".1" stiffness="5"><site site="z"/><geom geom="drum"/><site site="c"/></spatial>
<spatial name="v" stiffness="5"><site site="b"/><geom geom="ball" sidesite="side"/><site site="f"/><pulley divisor="2"/>
<site site="c"/><site site="e"/></spatial></tendon>
<actuator><motor tendon="s"/><muscle tendon="u" lengthrange=".1 .6"/><position tendon="v" kp="3"/></actuator>
<sensor><tendonpos tendon="s"/><tendonvel tendon="t"/><framequat objtype="site" objname="f"/>
<ballangvel joint="ball"/><clock/></sensor></mujoco>""".replace('type="ball"/>', 'name="ball" type="ball"/>')
"""Tendons of length 0, or whose sites are inside of what they wrap around."""


def to_limits(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """Put about half of the limited joints and tendons, controls and activations at the ends of their ranges."""
    for joint in np.flatnonzero(m.jnt_limited):
        if m.jnt_type[joint] in (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE) and rng.random() < 0.5:
            d.qpos[m.jnt_qposadr[joint]] = m.jnt_range[joint, rng.integers(2)]
    for actuator in range(m.nu):
        if rng.random() < 0.5:
            d.ctrl[actuator] = m.actuator_ctrlrange[actuator, rng.integers(2)]
        address = m.actuator_actadr[actuator]
        if address >= 0 and rng.random() < 0.5:
            d.act[address] = rng.choice([d.ctrl[actuator], *m.actuator_actrange[actuator]])
    cardan.mj_fwdPosition(m, d)
    for tendon in np.flatnonzero(m.tendon_limited):
        width = np.ptp(m.tendon_range[tendon])
        low = d.ten_length[tendon] - rng.choice([0.0, width])
        m.tendon_range[tendon] = low, low + width


def to_parallels(m: cardan.MjModel, d: cardan.MjData) -> None:
    """Turn hinges to multiples of 45 degrees, and free bodies to the axes of the world."""
    for joint in range(m.njnt):
        address = m.jnt_qposadr[joint]
        if m.jnt_type[joint] == mjtJoint.mjJNT_HINGE:
            d.qpos[address] = ROUND * round(d.qpos[address] / ROUND)
        elif m.jnt_type[joint] == mjtJoint.mjJNT_BALL:
            d.qpos[address : address + 4] = 1.0, 0.0, 0.0, 0.0
        elif m.jnt_type[joint] == mjtJoint.mjJNT_FREE:
            d.qpos[address + 3 : address + 7] = 1.0, 0.0, 0.0, 0.0


def to_touch(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """Move a free body that has a contact along its normal until the contact has the depth 0, to rounding."""
    cardan.mj_fwdPosition(m, d)
    if d.ncon == 0:
        return
    contact = int(rng.integers(d.ncon))
    for geom, sign in zip(d.contact.geom[contact], (1.0, -1.0), strict=True):
        joint = m.body_jntadr[m.body_rootid[m.geom_bodyid[geom]]] if geom >= 0 else -1
        if joint >= 0 and m.jnt_type[joint] == mjtJoint.mjJNT_FREE:
            address = m.jnt_qposadr[joint]
            d.qpos[address : address + 3] += sign * d.contact.dist[contact] * d.contact.frame[contact, :3]
            return


def to_depth(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """Put a free body where another one is, or nearly."""
    free = m.jnt_qposadr[m.jnt_type == mjtJoint.mjJNT_FREE]
    if len(free):
        address = int(rng.choice(free))
        d.qpos[address : address + 3] = d.xpos[rng.integers(m.nbody)]
        d.qpos[address : address + 3] += rng.choice([0.0, 1e-12, 1e-3]) * rng.standard_normal(3)
        d.qpos[address + 3 : address + 7] *= rng.choice([0.0, 1.0, 3.0])


def randomise(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """A state between the initial one at rest and a wild one, or one at an edge."""
    cardan.mj_resetData(m, d)
    if m.nkey and rng.random() < 0.2:
        cardan.mj_resetDataKeyframe(m, d, int(rng.integers(m.nkey)))
    cardan.mj_integratePos(m, d.qpos, rng.standard_normal(m.nv), float(rng.choice([0.0, 1e-9, 0.01, 0.3, 2.0])))
    d.qvel[:] = rng.choice([0.0, 1e-9, 0.1, 1.0, 10.0, 1e3]) * rng.standard_normal(m.nv)
    d.act[:] = rng.choice([0.0, 1.0]) * rng.uniform(-0.2, 1.2, m.na)
    d.ctrl[:] = rng.choice([0.0, 0.5, 3.0]) * rng.standard_normal(m.nu)
    d.qfrc_applied[:] = rng.choice([0.0, 1.0]) * rng.standard_normal(m.nv)
    d.qacc_warmstart[:] = rng.choice([0.0, 1.0, 1e6]) * rng.standard_normal(m.nv)
    if m.nmocap:
        d.mocap_pos[:] += rng.choice([0.0, 0.1]) * rng.standard_normal((m.nmocap, 3))
    if rng.random() < 0.2:
        to_parallels(m, d)
    if rng.random() < 0.2:
        to_limits(m, d, rng)
    if rng.random() < 0.2:
        to_touch(m, d, rng)
    if rng.random() < 0.1:
        cardan.mj_fwdPosition(m, d)
        to_depth(m, d, rng)


def draw_options(m: cardan.MjModel, rng: np.random.Generator) -> None:
    """Options and parameters of a model, many of them at their edges."""
    m.opt.integrator, m.opt.cone, m.opt.solver = SETTINGS[rng.integers(len(SETTINGS))]
    flags = (0, int(mjtEnableBit.mjENBL_MULTICCD), int(mjtEnableBit.mjENBL_NATIVECCD))
    m.opt.enableflags = flags[rng.integers(3)]
    m.opt.impratio = rng.choice([0.1, 1.0, 100.0])
    m.opt.noslip_iterations = rng.choice([0, 0, 3])
    for solimp in (m.geom_solimp, m.jnt_solimp, m.dof_solimp, m.tendon_solimp_lim, m.eq_solimp, m.pair_solimp):
        solimp[:] = np.array(IMPEDANCES)[rng.integers(len(IMPEDANCES), size=len(solimp))]
    for solref in (m.geom_solref, m.jnt_solref, m.eq_solref):
        solref[:] = np.array(REFERENCES)[rng.integers(len(REFERENCES), size=len(solref))]
    m.geom_friction[:] *= rng.choice([0.0, 1e-6, 1.0, 10.0], size=m.geom_friction.shape)
    m.geom_margin[:] = rng.choice([0.0, 0.02], size=m.ngeom)
    m.dof_damping[:] *= rng.choice([0.0, 1.0], size=m.nv)
    m.jnt_stiffness[:] = rng.choice([0.0, 1.0], size=m.njnt)
    m.opt.gravity[:] *= rng.choice([0.0, 1.0])


def is_finite_step(m: cardan.MjModel, d: cardan.MjData, e: cardan.MjData) -> bool:
    """Whether a step from the state gives finite numbers, none that the next step would take as bad (mjMAXVAL)."""
    for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "mocap_pos", "mocap_quat"):
        getattr(e, name)[...] = getattr(d, name)
    e.time = d.time = 0.0
    e.qacc_warmstart[:] = d.qacc_warmstart
    e.warning.number[:] = 0  # a step that finds bad numbers sets it to 1
    cardan.mj_step(m, e)
    bad = e.warning.number[4:7].any()  # BADQPOS, BADQVEL, BADQACC
    good = all((np.abs(x) <= mjMAXVAL).all() for x in (e.qpos, e.qvel, e.act))
    return not bad and good and bool(np.isfinite(e.sensordata).all())


@dataclass(frozen=True)
class Source:
    """A model whose states are tried.

    Attributes:
        what: its name.
        load: what gives the model.
    """

    what: str
    load: Callable[[], cardan.MjModel]


def sources() -> dict[str, list[Source]]:
    """All models, by the rows of the table that they count for."""
    xml, text = cardan.MjModel.from_xml_path, cardan.MjModel.from_xml_string
    found = {name: [Source(name, lambda path=path: xml(str(path)))] for name, path in PATHS.items()}
    found["wrapping muscles"] = [Source("wrapping muscles", lambda: text(muscle_arm(3)))]
    found["tendons of no length"] = [Source("tendons", lambda: text(TENDONS))]
    found["random models"] = [
        Source(f"{kind} {seed}", lambda seed=seed, make=make: text(make(seed)))
        for seed in range(RANDOM_MODELS)
        for kind, make in (("random", lambda seed: random_model(seed, Features())), ("wide", wide_model))
    ]
    found["pairs of geoms"] = [Source(f"{a}-{b}", lambda pair=(a, b): scene(*pair)) for a, b in PAIRS]
    return found


def try_batch(source: Source, number: int, plain: bool) -> tuple[Counter[str], list[str]]:
    """Jacobians of random states of one model; counts by outcome, and which derivatives are not finite.

    Args:
        source: the model.
        number: the seed of its options and states.
        plain: whether it keeps the options and parameters that it has.
    """
    m = source.load()
    rng = np.random.default_rng(number)
    if not plain:
        draw_options(m, rng)
    d, e = cardan.MjData(m), cardan.MjData(m)
    counts: Counter[str] = Counter(batches=1)
    found: list[str] = []
    for k in range(BATCH if m.nv < LARGE else BATCH // 5):
        randomise(m, d, rng)
        if not is_finite_step(m, d, e):
            counts["left out"] += 1
            continue
        counts["states"] += 1
        counts["in contact"] += e.ncon > 0
        parts = {"state and controls": exact_jacobian(d)}
        if counts["states"] == 1:
            parts |= {str(key): value for key, value in cardan.derivatives(m, d, ("qvel",), PARAMETERS).items()}
        bad = [name for name, values in parts.items() if not np.isfinite(values).all()]
        if bad:
            counts["not finite"] += 1
            found.append(f"    {source.what}: batch {number}, state {k}: {', '.join(bad)}")
    return counts, found


def saved() -> dict[str, dict[str, float]]:
    """The results that there are, by row."""
    path = RESULTS / f"{NAME}.json"
    return json.loads(path.read_text())["rows"] if path.exists() else {}


def add(row: str, counts: Counter[str], seconds: float, models: int) -> None:
    """Add the counts of a batch and its processor seconds to the results; several processes may do so."""
    with (Path(tempfile.gettempdir()) / f"cardan_{NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = saved()
        before = rows.get(row, {})
        rows[row] = {key: before.get(key, 0.0) + counts[key] for key in KEYS}
        rows[row]["seconds"] += seconds
        rows[row]["models"] = min(rows[row]["batches"], models)
        save(NAME, {name: rows[name] for name in sources() if name in rows})


KEYS = ("models", "batches", "seconds", "states", "in contact", "left out", "not finite")


def main(seconds: float, names: list[str]) -> None:
    """Try batches of states for some time, each of the row that took least time so far, and save what they give.

    Args:
        seconds: how long.
        names: rows; empty for all.
    """
    until = time.monotonic() + seconds
    rows = {name: group for name, group in sources().items() if name in names or not names}
    begun = Counter({name: int(row["batches"]) for name, row in saved().items()})
    while time.monotonic() < until:
        done = saved()
        if sum(row["states"] for row in done.values()) >= STATES:
            return
        name = min(rows, key=lambda name: done.get(name, {}).get("seconds", 0.0) / len(rows[name]) ** 0.5)
        number = begun[name]
        begun[name] += 1
        source = rows[name][number % len(rows[name])]
        start = time.process_time()
        counts, found = try_batch(source, number, plain=number < len(rows[name]))
        seconds = round(time.process_time() - start, 2)
        print(source.what, number, dict(counts), seconds, *found[:3], sep="\n" if found else " ", flush=True)
        add(name, counts, seconds, len(rows[name]))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 300.0, sys.argv[2:])
