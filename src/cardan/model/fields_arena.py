"""Rows of the data whose length changes at run time: contacts, constraint rows, islands."""

from cardan.jit.fields import Field

CONTACT: tuple[Field, ...] = (
    Field("contact.dist", "f8", ("ncon",)),
    Field("contact.pos", "f8", ("ncon", 3)),
    Field("contact.frame", "f8", ("ncon", 9)),
    Field("contact.includemargin", "f8", ("ncon",)),
    Field("contact.friction", "f8", ("ncon", 5)),
    Field("contact.solref", "f8", ("ncon", 2)),
    Field("contact.solreffriction", "f8", ("ncon", 2)),
    Field("contact.solimp", "f8", ("ncon", 5)),
    Field("contact.mu", "f8", ("ncon",)),
    Field("contact.H", "f8", ("ncon", 36)),
    Field("contact.dim", "i4", ("ncon",)),
    Field("contact.geom", "i4", ("ncon", 2)),
    Field("contact.flex", "i4", ("ncon", 2)),
    Field("contact.elem", "i4", ("ncon", 2)),
    Field("contact.vert", "i4", ("ncon", 2)),
    Field("contact.exclude", "i4", ("ncon",)),
    Field("contact.efc_address", "i4", ("ncon",)),
)

CONSTRAINT: tuple[Field, ...] = (
    Field("efc_type", "i4", ("nefc",)),
    Field("efc_id", "i4", ("nefc",)),
    Field("efc_J_rownnz", "i4", ("nefc",)),
    Field("efc_J_rowadr", "i4", ("nefc",)),
    Field("efc_J_rowsuper", "i4", ("nefc",)),
    Field("efc_J_colind", "i4", ("nnzJ",)),
    Field("efc_JT_rownnz", "i4", ("nv",)),
    Field("efc_JT_rowadr", "i4", ("nv",)),
    Field("efc_JT_rowsuper", "i4", ("nv",)),
    Field("efc_JT_colind", "i4", ("nnzJ",)),
    Field("efc_J", "f8", ("nnzJ",)),
    Field("efc_JT", "f8", ("nnzJ",)),
    Field("efc_pos", "f8", ("nefc",)),
    Field("efc_margin", "f8", ("nefc",)),
    Field("efc_frictionloss", "f8", ("nefc",)),
    Field("efc_diagApprox", "f8", ("nefc",)),
    Field("efc_KBIP", "f8", ("nefc", 4)),
    Field("efc_D", "f8", ("nefc",)),
    Field("efc_R", "f8", ("nefc",)),
    Field("tendon_efcadr", "i4", ("ntendon",)),
    Field("efc_vel", "f8", ("nefc",)),
    Field("efc_aref", "f8", ("nefc",)),
    Field("efc_b", "f8", ("nefc",)),
    Field("efc_force", "f8", ("nefc",)),
    Field("efc_state", "i4", ("nefc",)),
)

DUAL: tuple[Field, ...] = (
    Field("efc_AR_rownnz", "i4", ("nefc_dual",)),
    Field("efc_AR_rowadr", "i4", ("nefc_dual",)),
    Field("efc_AR_colind", "i4", ("nefc_dual", "nefc_dual")),
    Field("efc_AR", "f8", ("nefc_dual", "nefc_dual")),
)

ISLAND: tuple[Field, ...] = (
    Field("dof_island", "i4", ("nv",)),
    Field("island_dofnum", "i4", ("nisland",)),
    Field("island_dofadr", "i4", ("nisland",)),
    Field("island_dofind", "i4", ("nv",)),
    Field("dof_islandind", "i4", ("nv",)),
    Field("efc_island", "i4", ("nefc",)),
    Field("island_efcnum", "i4", ("nisland",)),
    Field("island_efcadr", "i4", ("nisland",)),
    Field("island_efcind", "i4", ("nefc",)),
)
