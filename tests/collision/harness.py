"""Running collision detection on poses computed by the reference, and comparing contacts."""

from __future__ import annotations

import mujoco
import numpy as np
from reference import data_from_reference, model_from_reference

from cardan.collision.detection import collision
from cardan.collision.table import attach_missing_collider, collider_functions
from cardan.jit import Program
from cardan.model.tables import CAPACITIES

MEMBERS = (
    "dist",
    "pos",
    "frame",
    "includemargin",
    "friction",
    "solref",
    "solreffriction",
    "solimp",
    "mu",
    "H",
    "dim",
    "geom",
    "flex",
    "elem",
    "vert",
    "exclude",
    "efc_address",
)


class Pair:
    """A reference model with its data, and ours."""

    def __init__(self, xml: str | None = None, ref: mujoco.MjModel | None = None, attach: bool = True) -> None:
        self.ref = mujoco.MjModel.from_xml_string(xml) if ref is None else ref
        self.ref_data = mujoco.MjData(self.ref)
        self.refresh(attach)

    def refresh(self, attach: bool = True) -> None:
        """Copy the reference model again, after it was edited."""
        self.model = model_from_reference(self.ref)
        self.data = data_from_reference(self.model, self.ref_data)
        if attach:
            self.refresh_colliders()
        self.program = Program([collision])

    def refresh_colliders(self) -> None:
        """Choose the collision functions of our model again, after its flags were edited."""
        self.model.put_functions("aux.collider", tuple(collider_functions(self.model).items()))

    def set_pose(self, body: int, pos, quat) -> None:
        """Place a free or mocap body."""
        mocap = self.ref.body_mocapid[body]
        if mocap >= 0:
            self.ref_data.mocap_pos[mocap] = pos
            self.ref_data.mocap_quat[mocap] = quat
        else:
            adr = self.ref.jnt_qposadr[self.ref.body_jntadr[body]]
            self.ref_data.qpos[adr : adr + 3] = pos
            self.ref_data.qpos[adr + 3 : adr + 7] = quat

    def collide(self) -> None:
        """Detect collisions in both engines, from the reference's poses."""
        mujoco.mj_kinematics(self.ref, self.ref_data)
        mujoco.mj_comPos(self.ref, self.ref_data)
        mujoco.mj_collision(self.ref, self.ref_data)
        for name in ("geom_xpos", "geom_xmat", "xipos", "ximat"):
            getattr(self.data, name)[:] = getattr(self.ref_data, name)
        run(self.program, self.model, self.data)

    def check(self, tolerance: float = 1e-9) -> None:
        """Detect collisions in both engines and require the same contacts in the same order."""
        self.collide()
        assert self.data.contact.geom.tolist() == self.ref_data.contact.geom[: self.ref_data.ncon].tolist()
        for name in MEMBERS:
            ours, theirs = getattr(self.data.contact, name), getattr(self.ref_data.contact, name)[: self.data.ncon]
            if not (np.abs(ours - theirs) <= tolerance).all():
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance, err_msg=name)


def run(program: Program, m, d) -> None:
    """Run a program to its end: grow what must grow, load the collision functions that are missing."""
    status = program.run(m, d)
    while status:
        if status > 0:
            d.grow(CAPACITIES[status - 1], d._memory.scalars["work.need"][0])
        else:
            attach_missing_collider(m, d)
        status = program.resume(m, d)


def random_quat(rng: np.random.Generator) -> np.ndarray:
    """A uniformly random orientation."""
    quat = rng.normal(size=4)
    return quat / np.linalg.norm(quat)
