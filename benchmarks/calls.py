"""Time of single calls from Python: Cardan and the reference, one after the other, in one process.

Programs that are not bound by the simulation spend their time here: in the reading of fields, in access by name, in
small functions. Each row is one expression, run with either package; bar: a geometric mean of 1, none above 2.
"""

from __future__ import annotations

import copy
import math
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import cardan
from benchmarks.scenes import HUMANOID
from benchmarks.timing import paired_ratio, save

SECONDS = 0.02
"""Time that one sample takes, with as many calls as that needs."""

CALLS: dict[str, str] = {
    # fields
    "d.qpos": "d.qpos",
    "d.time": "d.time",
    "d.time = 0": "d.time = 0",
    "d.qpos[:] = q": "d.qpos[:] = q",
    "d.ctrl = u": "d.ctrl = u",
    "d.xpos[3]": "d.xpos[3]",
    "d.efc_force": "d.efc_force",
    "d.ncon": "d.ncon",
    "m.nv": "m.nv",
    "m.opt.timestep": "m.opt.timestep",
    "m.opt.gravity": "m.opt.gravity",
    # lists of records
    "len(d.contact)": "len(d.contact)",
    "d.contact[0]": "d.contact[0]",
    "d.contact[0].dist": "d.contact[0].dist",
    "d.contact.geom": "d.contact.geom",
    "d.warning[0].number": "d.warning[0].number",
    # named access
    'd.body("torso").xpos': 'd.body("torso").xpos',
    "m.joint(3).qposadr": "m.joint(3).qposadr",
    'm.geom("floor").size': 'm.geom("floor").size',
    "mj_name2id": "pkg.mj_name2id(m, pkg.mjtObj.mjOBJ_BODY, 'torso')",
    "mj_id2name": "pkg.mj_id2name(m, 1, 1)",
    # enumerations
    "mjtObj.mjOBJ_BODY": "pkg.mjtObj.mjOBJ_BODY",
    "mjtObj(1)": "pkg.mjtObj(1)",
    "mjtObj.mjOBJ_BODY == 1": "pkg.mjtObj.mjOBJ_BODY == 1",
    # functions of the simulation
    "mj_jac": "pkg.mj_jac(m, d, jacp, jacr, point, 4)",
    "mj_jacBody": "pkg.mj_jacBody(m, d, jacp, jacr, 4)",
    "mj_jacGeom": "pkg.mj_jacGeom(m, d, jacp, jacr, 4)",
    "mj_jacSubtreeCom": "pkg.mj_jacSubtreeCom(m, d, jacp, 1)",
    "mj_objectVelocity": "pkg.mj_objectVelocity(m, d, 1, 4, six, 0)",
    "mj_contactForce": "pkg.mj_contactForce(m, d, 0, six)",
    "mj_differentiatePos": "pkg.mj_differentiatePos(m, v, 0.1, q, d.qpos)",
    "mj_integratePos": "pkg.mj_integratePos(m, moved, v, 0.001)",
    "mj_fullM": "pkg.mj_fullM(m, inertia, d.qM)",
    "mj_mulM": "pkg.mj_mulM(m, d, v, w)",
    "mj_ray": "pkg.mj_ray(m, d, point, axis, None, 1, -1, geomid)",
    "mj_kinematics": "pkg.mj_kinematics(m, d)",
    "mj_getState": "pkg.mj_getState(m, d, state, pkg.mjtState.mjSTATE_PHYSICS)",
    "mj_setState": "pkg.mj_setState(m, d, state, pkg.mjtState.mjSTATE_PHYSICS)",
    # vectors and quaternions
    "mju_mulQuat": "pkg.mju_mulQuat(quat, quat1, quat2)",
    "mju_rotVecQuat": "pkg.mju_rotVecQuat(three, point, quat1)",
    "mju_axisAngle2Quat": "pkg.mju_axisAngle2Quat(quat, axis, 0.3)",
    "mju_norm3": "pkg.mju_norm3(point)",
    # copies, pickles, loading
    "MjData(m)": "pkg.MjData(m)",
    "copy.copy(d)": "copy.copy(d)",
    "copy.deepcopy(m)": "copy.deepcopy(m)",
    "pickle of m": "pickle.loads(pickle.dumps(m))",
    "pickle of d": "pickle.loads(pickle.dumps(d))",
    "from_xml_string": "pkg.MjModel.from_xml_string(xml)",
}


def surroundings(package: Any, xml: str) -> dict[str, Any]:
    """What the expressions name: a model, its data with contacts, and arrays for results."""
    m = package.MjModel.from_xml_string(xml)
    d = package.MjData(m)
    package.mj_resetDataKeyframe(m, d, 0)
    while d.ncon == 0:
        package.mj_step(m, d)
    package.mj_step(m, d)
    return {
        "pkg": package,
        "copy": copy,
        "pickle": pickle,
        "xml": xml,
        "m": m,
        "d": d,
        "q": m.qpos0.copy(),
        "u": np.zeros(m.nu),
        "v": np.zeros(m.nv),
        "w": np.ones(m.nv),
        "moved": m.qpos0.copy(),
        "jacp": np.zeros((3, m.nv)),
        "jacr": np.zeros((3, m.nv)),
        "point": np.array([0.1, 0.2, 2.0]),
        "axis": np.array([0.0, 0.0, -1.0]),
        "three": np.zeros(3),
        "six": np.zeros(6),
        "quat": np.zeros(4),
        "quat1": np.array([0.6, 0.8, 0.0, 0.0]),
        "quat2": np.array([0.8, 0.0, 0.6, 0.0]),
        "inertia": np.zeros((m.nv, m.nv)),
        "geomid": np.zeros(1, np.int32),
        "state": np.zeros(package.mj_stateSize(m, package.mjtState.mjSTATE_PHYSICS)),
    }


def sampler(expression: str, names: dict[str, Any]) -> Callable[[], float]:
    """A function that samples the processor time of one run of `expression`, in seconds."""
    scope = dict(names, clock=time.thread_time)
    source = f"def loop(n):\n start = clock()\n for _ in range(n):\n  {expression}\n return (clock() - start) / n"
    exec(source, scope)
    loop = scope["loop"]
    loop(2)
    calls = max(1, int(SECONDS / max(loop(3), 1e-8)))
    return lambda: loop(calls)


def main() -> None:
    """Print and save the table."""
    xml = Path(HUMANOID.path).read_text()
    ours, theirs = surroundings(cardan, xml), surroundings(mujoco, xml)
    rows = {}
    print("time of one call / reference")
    for name, expression in CALLS.items():
        rows[name] = paired_ratio(sampler(expression, ours), sampler(expression, theirs))
        print(f"  {name:24s} {rows[name]['ratio']:5.2f}  {1e6 * rows[name]['ours']:9.2f} us")
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows.values()) / len(rows))
    print(f"  geometric mean {mean:.2f}, largest {max(row['ratio'] for row in rows.values()):.2f}")
    save("calls", {"geometric mean": {"ratio": mean}} | rows)


if __name__ == "__main__":
    main()
