"""Tables of data fields with a length that changes at run time: contacts, constraint rows, islands."""

from cardan.jit.memory.fields import Field

MAX_CONDIM = (
    6  # dimensions of a contact: its normal force, two of sliding friction, one torsional, two of rolling friction
)
MAX_FRICTION = MAX_CONDIM - 1

CONTACT: tuple[Field, ...] = (
    Field("contact.dist", "f8", ("ncon",), "distance between the nearest points, m; below 0: penetration", "collision"),
    Field("contact.pos", "f8", ("ncon", 3), "midpoint of the contact, world frame, m", "collision"),
    Field("contact.frame", "f8", ("ncon", 9), "axes in rows; first the normal, from geom 1 to geom 2", "collision"),
    Field("contact.includemargin", "f8", ("ncon",), "distance below which a force acts: margin - gap, m", "collision"),
    Field("contact.friction", "f8", ("ncon", MAX_FRICTION), "sliding (2), torsional (m), rolling (2, m)", "collision"),
    Field("contact.solref", "f8", ("ncon", 2), "solref of the normal", "collision"),
    Field("contact.solreffriction", "f8", ("ncon", 2), "solref of the friction", "collision"),
    Field("contact.solimp", "f8", ("ncon", 5), "solimp of the contact", "collision"),
    Field("contact.mu", "f8", ("ncon",), "friction of the regularised cone", "make_constraint"),
    Field("contact.H", "f8", ("ncon", MAX_CONDIM * MAX_CONDIM), "Hessian of the elliptic cone", "solve"),
    Field("contact.dim", "i4", ("ncon",), "dimension of the contact space: 1, 3, 4 or 6", "collision"),
    Field("contact.geom", "i4", ("ncon", 2), "ids of the geoms, or -1 for flexes", "collision"),
    Field("contact.flex", "i4", ("ncon", 2), "ids of the flexes, or -1", "collision"),
    Field("contact.elem", "i4", ("ncon", 2), "ids of the flex elements, or -1", "collision"),
    Field("contact.vert", "i4", ("ncon", 2), "ids of the flex vertices, or -1", "collision"),
    Field("contact.exclude", "i4", ("ncon",), "0: acts; 1: in gap; 2: fused; 3: no dofs", "collision, make_constraint"),
    Field("contact.efc_address", "i4", ("ncon",), "first constraint row, or -1", "make_constraint"),
)

CONSTRAINT: tuple[Field, ...] = (
    Field("efc_type", "i4", ("nefc",), "type of the row (mjtConstraint)", "make_constraint"),
    Field("efc_id", "i4", ("nefc",), "id of the object to which the row belongs", "make_constraint"),
    Field("efc_J_rownnz", "i4", ("nefc",), "number of stored elements of the Jacobian's row", "make_constraint"),
    Field("efc_J_rowadr", "i4", ("nefc",), "first stored element of the Jacobian's row", "make_constraint"),
    Field("efc_J_rowsuper", "i4", ("nefc",), "number of following rows with the same columns", "make_constraint"),
    Field("efc_J_colind", "i4", ("nnzJ",), "dofs of the stored elements", "make_constraint"),
    Field("efc_JT_rownnz", "i4", ("nv",), "number of stored elements of each row of the transpose", "make_constraint"),
    Field("efc_JT_rowadr", "i4", ("nv",), "first stored element of the transposed Jacobian's row", "make_constraint"),
    Field("efc_JT_rowsuper", "i4", ("nv",), "number of following transpose rows with equal columns", "make_constraint"),
    Field("efc_JT_colind", "i4", ("nnzJ",), "constraint rows of the transpose's stored elements", "make_constraint"),
    Field("efc_J", "f8", ("nnzJ",), "constraint Jacobian", "make_constraint"),
    Field("efc_JT", "f8", ("nnzJ",), "transposed constraint Jacobian", "make_constraint"),
    Field("efc_pos", "f8", ("nefc",), "violation: distance or angle, m or rad", "make_constraint"),
    Field("efc_margin", "f8", ("nefc",), "margin within which the row is active", "make_constraint"),
    Field("efc_frictionloss", "f8", ("nefc",), "friction loss", "make_constraint"),
    Field("efc_diagApprox", "f8", ("nefc",), "approximate diagonal of A = J M^-1 J'", "make_constraint"),
    Field("efc_KBIP", "f8", ("nefc", 4), "stiffness, damping, impedance and its derivative", "make_constraint"),
    Field("efc_D", "f8", ("nefc",), "constraint mass: 1 / R", "make_constraint"),
    Field("efc_R", "f8", ("nefc",), "inverse constraint mass: regulariser", "make_constraint"),
    Field("tendon_efcadr", "i4", ("ntendon",), "first row of the tendon, or -1", "make_constraint"),
    Field("efc_vel", "f8", ("nefc",), "velocity of the violation: J qvel", "reference_constraint"),
    Field("efc_aref", "f8", ("nefc",), "reference acceleration", "reference_constraint"),
    Field("efc_b", "f8", ("nefc",), "unconstrained acceleration minus the reference: J qacc_smooth - aref", "solve"),
    Field("efc_force", "f8", ("nefc",), "force of the row", "solve"),
    Field("efc_state", "i4", ("nefc",), "state of the row (mjtConstraintState)", "solve"),
)

DUAL: tuple[Field, ...] = (
    Field("efc_AR_rownnz", "i4", ("nefc_dual",), "number of stored elements of the row of AR"),
    Field("efc_AR_rowadr", "i4", ("nefc_dual",), "first stored element of the row of AR"),
    Field("efc_AR_colind", "i4", ("nefc_dual", "nefc_dual"), "columns of the stored elements of AR"),
    Field("efc_AR", "f8", ("nefc_dual", "nefc_dual"), "J M^-1 J' + R"),
)

ISLAND: tuple[Field, ...] = (
    Field("dof_island", "i4", ("nv",), "island of the dof, or -1"),
    Field("island_dofnum", "i4", ("nisland",), "number of dofs of the island"),
    Field("island_dofadr", "i4", ("nisland",), "first dof of the island in island_dofind"),
    Field("island_dofind", "i4", ("nv",), "dofs, island by island"),
    Field("dof_islandind", "i4", ("nv",), "position of the dof in its island, or -1"),
    Field("efc_island", "i4", ("nefc",), "island of the row"),
    Field("island_efcnum", "i4", ("nisland",), "number of rows of the island"),
    Field("island_efcadr", "i4", ("nisland",), "first row of the island in island_efcind"),
    Field("island_efcind", "i4", ("nefc",), "rows, island by island"),
)
