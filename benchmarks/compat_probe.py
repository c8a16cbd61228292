"""Quantities of a model that both engines compute: imported here, sent as text to the process of MuJoCo 4.0.0."""

import numpy as np

LARGEST = 200_000
"""Fields with more elements are not compared."""
SMOOTH = (
    *("xpos", "xquat", "xipos", "geom_xpos", "geom_xmat", "site_xpos", "subtree_com", "ten_length", "actuator_length"),
    *("cvel", "ten_velocity", "actuator_velocity", "M", "qfrc_bias", "qfrc_gravcomp", "qfrc_fluid", "qfrc_passive"),
    *("act_dot", "actuator_force", "qfrc_actuator", "qacc_smooth"),
)
CONTACTS = "dist", "includemargin", "friction", "solref", "solimp", "dim", "exclude"
ROWS = "efc_type", "efc_pos", "efc_margin", "efc_KBIP", "efc_R", "efc_vel", "efc_aref"
FORWARD = "qacc", "qfrc_constraint", "sensordata"
STATE = "qpos", "qvel", "act"
STEPS = (1, 10)


def fields_of(m, names):
    """Fields of a model by name, as far as it has them."""
    found = {}
    for name in names:
        value = m
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None and not isinstance(value, (str, bytes)) and np.size(value) <= LARGEST:
            found[name] = np.array(value, dtype=float)
    return found


def finish_searches(m):
    """Let searches for closest points and the constraint solver go on until they are exact."""
    m.opt.ccd_tolerance, m.opt.ccd_iterations = 1e-15, 1000
    m.opt.tolerance, m.opt.iterations = 1e-15, 3000


def state_of(mujoco, m, moved=0.0, seed=0):
    """Data at keyframe 0, or at the initial state, with small random velocities, activations and controls.

    Positions are moved by random numbers of the size ``moved``, which depend on ``seed``.
    """
    d = mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    rng = np.random.default_rng(0)
    d.qvel[:] += rng.normal(0.0, 0.1, m.nv)
    d.ctrl[:] += rng.uniform(-0.1, 0.1, m.nu)
    d.act[:] += rng.uniform(0.0, 0.1, m.na)
    d.qpos[:] += moved * np.random.default_rng(seed).normal(0.0, 1.0, m.nq)
    return d


def inertia(mujoco, m, d):
    """The inertia matrix; nothing for large models."""
    full = np.zeros((m.nv, m.nv) if m.nv <= 300 else (0, 0))
    if m.nv and full.size:
        try:
            mujoco.mj_fullM(m, d, full)
        except TypeError:
            mujoco.mj_fullM(m, full, d.qM)
    return full


def measured(mujoco, m, moved=0.0, integrator="", seed=0):
    """Quantities after `mj_forward` and after some steps, by part and name, in the order in which they arise.

    ``integrator`` names an integrator (``DISCRETE``) that replaces the model's own. Geoms are moved in their bodies as
    positions are in `state_of`.
    """
    m.geom_pos[:] += moved * np.random.default_rng(seed).normal(0.0, 1.0, (m.ngeom, 3))
    if integrator:
        m.opt.integrator = int(getattr(mujoco.mjtIntegrator, "mjINT_" + integrator))
    d = state_of(mujoco, m, moved, seed)
    mujoco.mj_forward(m, d)
    parts = {"smooth": {}, "forward": {}}
    for name in SMOOTH:
        parts["smooth"][name] = inertia(mujoco, m, d) if name == "M" else np.array(getattr(d, name), dtype=float)
    parts["forward"]["ncon"] = np.array([float(d.ncon)])
    for name in CONTACTS:
        parts["forward"]["contact." + name] = np.array(getattr(d.contact, name), dtype=float)
    for name in (*ROWS, *FORWARD):
        parts["forward"][name] = np.array(getattr(d, name), dtype=float)
    d = state_of(mujoco, m, moved, seed)
    done = 0
    for steps in STEPS:
        for _ in range(done, steps):
            mujoco.mj_step(m, d)
        done = steps
        parts["step " + str(steps)] = {name: np.array(getattr(d, name), dtype=float) for name in STATE}
    return parts
