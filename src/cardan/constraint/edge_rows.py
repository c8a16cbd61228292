"""Rows of equality constraints that keep the lengths of flex edges (spec: modelling, equality/flex)."""

from __future__ import annotations

from cardan.constraint.rows import drop_empty_rows, get_solimp, open_rows, put_entry, set_parameters
from cardan.enums.codes import CNSTR_EQUALITY
from cardan.jit import OK, kernel
from cardan.maths.vector import get2
from cardan.model.kernel_views import Data, Model
from cardan.soft.edges import edge_moment, extension, first_place, next_place


@kernel
def add_edges(m: Model, d: Data, e: int) -> int:
    """Add one row, with its parameters, for each flex edge whose length can change; the residual is its extension.

    In dense storage, an edge that no dof moves has no row.
    """
    flex = m.eq_obj1id[e]
    if m.flex_rigid[flex] != 0:
        return OK
    solref, solimp = get2(m.eq_solref, e), get_solimp(m.eq_solimp, e)
    line, column = first_place(m, d, m.flex_edgeadr[flex])
    after_line, after_column = line, column
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        line, column = after_line, after_column
        after_line, after_column = next_place(m, edge, line, column)
        if m.flexedge_rigid[edge] != 0:
            continue
        first, stop = int(m.aux.edge_rowadr[edge]), int(m.aux.edge_rowadr[edge + 1])
        row = open_rows(m, d, 1, stop - first, CNSTR_EQUALITY, e)
        if row < 0:
            return -row
        for k in range(first, stop):
            dof = int(m.aux.edge_colind[k])
            put_entry(m, d, row, k - first, dof, edge_moment(m, d, line, column, dof, k - first))
        drop_empty_rows(m, d, row)
        if d.nefc > row:
            residual = extension(m, d, edge)
            d.efc_pos[row] = residual
            set_parameters(m, d, row, 1, residual, m.flexedge_invweight0[edge], solref, solimp)
    return OK
