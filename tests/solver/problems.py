"""Constraint problems made by the reference, to be solved by Cardan's solver alone."""

from __future__ import annotations

import mujoco
import numpy as np
from reference import data_from_reference, model_from_reference

from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import CAPACITIES
from cardan.solver.newton import solve
from cardan.solver.warm_start import save_warm_start

OUTPUTS = ("qacc", "qfrc_constraint", "efc_force", "efc_b")


def solve_problem(m: MjModel, d: MjData) -> None:
    """Run the solver and save its result, enlarging memory as it asks."""
    program = Program([solve, save_warm_start])
    status = program.run(m, d)
    while status:
        d.grow(CAPACITIES[status - 1], d._memory.scalars["work.need"][0])
        status = program.resume(m, d)


def problems(ref: mujoco.MjModel, states: tuple[int, ...], noise: float = 0.3):
    """Yield (model, data, reference data) at some steps of a reference run: outputs wiped, reference solved."""
    m = model_from_reference(ref)
    rd = mujoco.MjData(ref)
    rng = np.random.default_rng(7)
    for k in range(max(states) + 1):
        if ref.nu:
            rd.ctrl[:] = rng.uniform(-1, 1, ref.nu)
        rd.qfrc_applied[:] = noise * rng.normal(size=ref.nv)
        if k in states:
            warmstart = rd.qacc_warmstart.copy()
            mujoco.mj_forward(ref, rd)
            d = data_from_reference(m, rd)
            d.qacc_warmstart[:] = warmstart
            for name in OUTPUTS:
                getattr(d, name)[:] = np.nan
            d.efc_state[:] = -1
            yield m, d, rd
            rd.qacc_warmstart[:] = warmstart
        mujoco.mj_step(ref, rd)


def dense_jacobian(ref: mujoco.MjModel, d: MjData) -> np.ndarray:
    """efc_J as a full matrix (nefc, nv), whatever its storage."""
    full = np.zeros((d.nefc, ref.nv))
    if not mujoco.mj_isSparse(ref):
        return np.array(d.efc_J[: d.nefc * ref.nv]).reshape(d.nefc, ref.nv)
    for r in range(d.nefc):
        start, count = d.efc_J_rowadr[r], d.efc_J_rownnz[r]
        full[r, d.efc_J_colind[start : start + count]] = d.efc_J[start : start + count]
    return full
