"""Stages of moving and of sticky surfaces: velocities of contacts' surfaces (conveyors), and adhesion (MuJoCo 3.11).

The surface of a geom has a velocity field v + w x (x - p) in the geom's frame, with its origin p. The field of geom 2
minus that of geom 1, in the tangents of the contact, is added to ``efc_vel`` of the friction rows. The spin about the
normal is added to the torsional rows.

Adhesion delta moves the friction cone down along the normal: a constant pull delta (`adhesion_forces`), and a reference
acceleration of the normal that is greater by R delta (`add_adhesion`). Pyramids have equal parts on all edges. The
force of a contact (`dynamics.external.contact_force`) is the force of its rows minus delta.

Spec: computation, constraint model (adhesion); modelling, geom ``surfacevel`` and ``adhesion``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.constraint.contact import contact_axis, contact_rows
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC, CNSTR_CONTACT_PYRAMIDAL
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, cross, dot3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, sub3
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


def has_surface_velocities(m: MjModel) -> bool:
    """Return whether contacts may have surface velocities."""
    return m.flg_surfacevel != 0


def has_adhesion(m: MjModel) -> bool:
    """Return whether contacts may have adhesion."""
    return m.flg_adhesion != 0


@kernel
def _field_at(m: Model, d: Data, geom: int, point: Vec3) -> tuple[Vec3, Vec3]:
    """Linear (at `point`) and angular velocity of a geom's surface, world frame; 0 for a flex (`geom` -1)."""
    if geom < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    rotation, field = get9(d.geom_xmat, geom), m.geom_surfacevel
    linear = (field[geom, 0], field[geom, 1], field[geom, 2])
    angular = (field[geom, 3], field[geom, 4], field[geom, 5])
    arm = mul_mat_t_vec3(rotation, sub3(point, get3(d.geom_xpos, geom)))
    return mul_mat_vec3(rotation, add3(linear, cross(angular, arm))), mul_mat_vec3(rotation, angular)


@stage
def surface_velocities(m: Model, d: Data) -> int:
    """Compute ``contact.surfacevel`` (ncon, 3): the surface of side 2 minus side 1, tangents (m/s) and spin (rad/s)."""
    for con in range(d.ncon):
        point = get3(d.contact.pos, con)
        linear1, angular1 = _field_at(m, d, int(d.contact.geom[con, 0]), point)
        linear2, angular2 = _field_at(m, d, int(d.contact.geom[con, 1]), point)
        linear = sub3(linear2, linear1)
        d.contact.surfacevel[con, 0] = dot3(contact_axis(d, con, 1), linear)
        d.contact.surfacevel[con, 1] = dot3(contact_axis(d, con, 2), linear)
        d.contact.surfacevel[con, 2] = dot3(contact_axis(d, con, 0), sub3(angular2, angular1))
    return OK


@kernel
def _drive(d: Data, row: int, velocity: float) -> None:
    """Add a velocity to efc_vel of a row, and its damping to efc_aref."""
    d.efc_vel[row] += velocity
    d.efc_aref[row] -= d.efc_KBIP[row, 1] * velocity


@stage
def drive_rows(m: Model, d: Data) -> int:
    """Add ``contact.surfacevel`` to efc_vel and efc_aref of the rows of sliding and of torsional friction."""
    for con in range(d.ncon):
        row = int(d.contact.efc_address[con])
        if row < 0:
            continue
        kind, _ = contact_rows(m, d, con)
        for j in range(1, min(int(d.contact.dim[con]), 4)):
            velocity = d.contact.surfacevel[con, j - 1]
            if kind == CNSTR_CONTACT_PYRAMIDAL:
                velocity *= d.contact.friction[con, j - 1]
                _drive(d, row + 2 * j - 2, velocity)
                _drive(d, row + 2 * j - 1, -velocity)
            else:
                _drive(d, row + j, velocity)
    return OK


@kernel
def _normal_rows(m: Model, d: Data, con: int) -> int:
    """Number of rows, from the contact's first, whose mean is the normal row."""
    kind, count = contact_rows(m, d, con)
    return 1 if kind == CNSTR_CONTACT_ELLIPTIC else count


@stage
def add_adhesion(m: Model, d: Data) -> int:
    """Add R times the adhesion of contacts to efc_aref of their normal rows."""
    for con in range(d.ncon):
        row, adhesion = int(d.contact.efc_address[con]), d.contact.adhesion[con]
        if row >= 0 and adhesion != 0.0:
            count = _normal_rows(m, d, con)
            for i in range(row, row + count):
                d.efc_aref[i] += d.efc_R[i] * adhesion / count
    return OK


@stage
def adhesion_forces(m: Model, d: Data) -> int:
    """Compute qfrc_adhesion (nv,), the pull of all contacts with adhesion, and add it to qfrc_passive."""
    for dof in range(m.nv):
        d.qfrc_adhesion[dof] = 0.0
    sparse, nv = is_sparse(m), int(m.nv)
    for con in range(d.ncon):
        row, adhesion = int(d.contact.efc_address[con]), d.contact.adhesion[con]
        if row >= 0 and adhesion != 0.0:
            count = _normal_rows(m, d, con)
            for i in range(row, row + count):
                start = int(d.efc_J_rowadr[i]) if sparse else i * nv
                for k in range(int(d.efc_J_rownnz[i]) if sparse else nv):
                    dof = int(d.efc_J_colind[start + k]) if sparse else k
                    d.qfrc_adhesion[dof] -= d.efc_J[start + k] * adhesion / count
    for dof in range(m.nv):
        d.qfrc_passive[dof] += d.qfrc_adhesion[dof]
    return OK


SURFACES = surface_velocities, drive_rows, add_adhesion, adhesion_forces
"""The stages of this module."""
