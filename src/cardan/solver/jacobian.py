"""Constraint Jacobian of one island, and its products with vectors.

`gather_jacobian` copies the island's part of ``efc_J`` (dense or compressed rows) to ``work.J``. A dense island has
full rows of the island's width; a sparse island has compressed rows with columns relative to the island. The rows of an
island are contiguous, in the order of its runs; ``row_adr`` holds their addresses, ``row_nnz`` their lengths. In a
dense island, rows that involve a single dof (friction loss, limits of hinges and slides) are stored as one entry and
its column; their ``row_nnz`` is `LONE`.
"""

from __future__ import annotations

from cardan.constraint.rows import is_sparse
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC, CNSTR_FRICTION_DOF, CNSTR_LIMIT_JOINT, JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stack_array
from cardan.maths.types import Array1, ConstArray1
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_J
from cardan.solver.islands import dof_range, run_range

NEED_J = int(GROW_J)
# largest island that is solved with dense matrices; also the length of the stack arrays below
DENSE_MAX = 128
LONE = -1
"""Value of ``row_nnz`` for a row of a dense island that is stored as one entry."""


@kernel
def load_jacobian(m: Model, d: Data, island: int) -> int:
    """Copy the island's part of the Jacobian to ``work.J``; return OK or a request to enlarge memory."""
    dense_island = d.work.dense_island != 0
    full_rows = dense_island or not is_sparse(m)
    n = int(d.work.island_ndof[island])
    size = 0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(d.work.run_start[k], d.work.run_stop[k]):
            d.work.row_adr[r] = size
            if dense_island and lone_dof(m, d, r) >= 0:
                d.work.row_nnz[r] = LONE
                size += 1
            else:
                d.work.row_nnz[r] = n if full_rows else int(d.efc_J_rownnz[r])
                size += d.work.row_nnz[r]
    if size > len(d.work.J):
        d.work.need = size
        return NEED_J
    gather_jacobian(m, d, island)
    return OK


@kernel
def gather_jacobian(m: Model, d: Data, island: int) -> None:
    """Copy the island's part of ``efc_J`` to the addresses that `load_jacobian` assigned to the rows.

    In a sparse island, ``row_blocks`` is set (see `count_blocks`), and ``row_nnz`` of rows copied from dense storage.
    Successive rows with the same columns form a group: ``group_end`` of its first row is the row after the group, that
    of other rows is 0.
    """
    dense_rows = not is_sparse(m)
    dense_island = d.work.dense_island != 0
    by_number = dense_island or is_by_number(d, island)
    group = 0  # first row of the current group
    begin, end = run_range(d, island)
    for run in range(begin, end):
        k = d.work.run_order[run]
        for r in range(int(d.work.run_start[k]), int(d.work.run_stop[k])):
            adr = int(d.work.row_adr[r])
            if d.work.row_nnz[r] == LONE:
                dof = lone_dof(m, d, r)
                source = int(d.efc_J_rowadr[r]) if is_sparse(m) else r * int(m.nv) + dof
                d.work.J[adr] = d.efc_J[source]
                d.work.J_col[adr] = d.work.dof_position[dof] - d.work.island_dof[island]
            elif dense_island and dense_rows:
                first, n = dof_range(d, island)
                source = r * int(m.nv)
                if n == m.nv:
                    for p in range(n):
                        d.work.J[adr + p] = d.efc_J[source + p]
                else:
                    for p in range(n):
                        d.work.J[adr + p] = d.efc_J[source + d.work.dof_at[first + p]]
            elif dense_island:
                n = int(d.work.island_ndof[island])
                base = adr - int(d.work.island_dof[island])
                for p in range(n):
                    d.work.J[adr + p] = 0.0
                source = int(d.efc_J_rowadr[r])
                for p in range(source, source + d.efc_J_rownnz[r]):
                    d.work.J[base + d.work.dof_position[d.efc_J_colind[p]]] = d.efc_J[p]
            elif dense_rows:
                first = int(d.work.island_dof[island])
                source = r * int(m.nv)
                nnz = 0
                for p in range(d.work.island_ndof[island]):
                    dof = d.work.dof_at[first + p]
                    if is_coupled(m, d, r, dof):
                        d.work.J[adr + nnz] = d.efc_J[source + dof]
                        d.work.J_col[adr + nnz] = p
                        nnz += 1
                d.work.row_nnz[r] = nnz
            elif repeats_columns(d, r):
                sparse_from_sparse(d, island, r, adr, by_number)
                d.work.row_blocks[r] = d.work.row_blocks[r - 1]
                d.work.group_end[r] = 0
                d.work.group_end[group] = r + 1
                continue
            else:
                sparse_from_sparse(d, island, r, adr, by_number)
            if not dense_island:
                d.work.row_blocks[r] = count_blocks(d, adr, int(d.work.row_nnz[r]))
                d.work.group_end[r] = r + 1
                group = r


@kernel
def repeats_columns(d: Data, r: int) -> bool:
    """Return whether row `r` of the compressed Jacobian is not empty and has the columns of the row before it."""
    return r > 0 and d.efc_J_rowsuper[r - 1] > 0 and d.efc_J_rownnz[r] > 0


@kernel
def lone_dof(m: Model, d: Data, r: int) -> int:
    """Return the dof of row `r` if rows of its kind involve a single dof, else -1."""
    if d.efc_type[r] == CNSTR_FRICTION_DOF:
        return int(d.efc_id[r])
    if d.efc_type[r] == CNSTR_LIMIT_JOINT:
        joint = d.efc_id[r]
        if m.jnt_type[joint] != JNT_BALL and m.jnt_type[joint] != JNT_FREE:
            return int(m.jnt_dofadr[joint])
    return -1


@kernel
def is_coupled(m: Model, d: Data, r: int, dof: int) -> bool:
    """Return whether dense row `r` touches `dof`. A row of an elliptic contact touches all dofs of the contact."""
    if d.efc_type[r] != CNSTR_CONTACT_ELLIPTIC:
        return d.efc_J[r * m.nv + dof] != 0.0
    con = d.efc_id[r]
    start = d.contact.efc_address[con]
    for other in range(start, start + d.contact.dim[con]):
        if d.efc_J[other * m.nv + dof] != 0.0:
            return True
    return False


@kernel
def is_by_number(d: Data, island: int) -> bool:
    """Return whether the dofs of an island are in the order of their numbers."""
    first = int(d.work.island_dof[island])
    for p in range(first + 1, first + d.work.island_ndof[island]):
        if d.work.dof_at[p] < d.work.dof_at[p - 1]:
            return False
    return True


@kernel
def sparse_from_sparse(d: Data, island: int, r: int, adr: int, by_number: bool) -> None:
    """Copy compressed row `r` to address `adr` of ``work.J``, with increasing columns relative to the island.

    If the dofs of the island are in the order of their numbers (`by_number`), the columns need no sorting.
    """
    first = int(d.work.island_dof[island])
    source = int(d.efc_J_rowadr[r])
    nnz = int(d.efc_J_rownnz[r])
    if by_number and repeats_columns(d, r):
        for k in range(nnz):
            d.work.J[adr + k] = d.efc_J[source + k]
            d.work.J_col[adr + k] = d.work.J_col[adr - nnz + k]
        return
    for k in range(nnz):
        d.work.J[adr + k] = d.efc_J[source + k]
        d.work.J_col[adr + k] = d.work.dof_position[d.efc_J_colind[source + k]] - first
    if by_number:
        return
    for k in range(1, nnz):
        if d.work.J_col[adr + k] < d.work.J_col[adr + k - 1]:
            sort_blocks(d, adr, nnz, source, k)
            return


@kernel
def sort_blocks(d: Data, adr: int, nnz: int, source: int, split: int) -> None:
    """Sort the columns of the row that was copied from `source` to `adr`. Its first `split` columns must increase.

    The order of trees in an island may differ from that in the model. If a row touches two trees, as a contact does,
    swapping their two blocks of columns sorts the row.
    """
    rest = nnz - split
    for k in range(nnz):
        d.work.mark[k] = d.work.J_col[adr + k]
    for k in range(nnz):
        other = k + split if k < rest else k - rest
        d.work.J[adr + k] = d.efc_J[source + other]
        d.work.J_col[adr + k] = d.work.mark[other]
    # insertion sort for rows that touch more trees
    for k in range(1, nnz):
        column, value = int(d.work.J_col[adr + k]), d.work.J[adr + k]
        j = k - 1
        while j >= 0 and d.work.J_col[adr + j] > column:
            d.work.J_col[adr + j + 1] = d.work.J_col[adr + j]
            d.work.J[adr + j + 1] = d.work.J[adr + j]
            j -= 1
        d.work.J_col[adr + j + 1] = column
        d.work.J[adr + j + 1] = value


@kernel
def count_blocks(d: Data, adr: int, nnz: int) -> int:
    """Number of blocks of three consecutive columns in the compressed row at `adr`; 0 if the row has other columns.

    Rows of vertices and balls consist of such blocks. A product then reads only one index per block.
    """
    if nnz % 3 != 0:
        return 0
    for k in range(adr, adr + nnz, 3):
        if d.work.J_col[k + 2] != d.work.J_col[k] + 2:
            return 0
    return nnz // 3


@kernel
def multiply_jacobian(d: Data, island: int, vector: ConstArray1, result: Array1) -> None:
    """Compute `result` (over rows) = J `vector` (over dofs in island order) for the rows of an island."""
    if d.work.dense_island != 0:
        first, n = dof_range(d, island)
        begin, end = run_range(d, island)
        for run in range(begin, end):
            i = d.work.run_order[run]
            for r in range(d.work.run_start[i], d.work.run_stop[i]):
                adr = int(d.work.row_adr[r])
                if d.work.row_nnz[r] == LONE:
                    result[r] = d.work.J[adr] * vector[first + d.work.J_col[adr]]
                else:
                    total = 0.0
                    for k in range(n):
                        total += d.work.J[adr + k] * vector[first + k]
                    result[r] = total
    else:
        first = int(d.work.island_dof[island])
        begin, end = run_range(d, island)
        for run in range(begin, end):
            i = d.work.run_order[run]
            for r in range(d.work.run_start[i], d.work.run_stop[i]):
                if d.work.row_blocks[r] > 0:
                    adr = int(d.work.row_adr[r])
                    x, y, z = 0.0, 0.0, 0.0
                    for k in range(adr, adr + 3 * d.work.row_blocks[r], 3):
                        p = first + d.work.J_col[k]
                        x += d.work.J[k] * vector[p]
                        y += d.work.J[k + 1] * vector[p + 1]
                        z += d.work.J[k + 2] * vector[p + 2]
                    result[r] = x + y + z
                else:
                    adr = int(d.work.row_adr[r])
                    total = 0.0
                    for k in range(adr, adr + d.work.row_nnz[r]):
                        total += d.work.J[k] * vector[first + d.work.J_col[k]]
                    result[r] = total


@kernel
def multiply_jacobian_transposed(m: Model, d: Data, island: int, vector: ConstArray1, result: Array1) -> None:
    """Compute `result` (over dofs in island order) = J' `vector` (over rows) for the rows of an island."""
    if d.work.dense_island != 0:
        multiply_dense_transposed(d, island, vector, result)
    elif is_sparse(m):
        p = int(d.work.island_dof[island])
        stop = p + int(d.work.island_ndof[island])
        while p < stop:
            dof = int(d.work.dof_at[p])
            nnz = int(d.efc_JT_rownnz[dof])
            if nnz > 0 and d.efc_JT_rowsuper[dof] >= 2 and p + 2 < stop and d.work.dof_at[p + 2] == dof + 2:
                adr = int(d.efc_JT_rowadr[dof])
                x, y, z = 0.0, 0.0, 0.0
                for k in range(adr, adr + nnz):
                    f = vector[d.efc_JT_colind[k]]
                    x += d.efc_JT[k] * f
                    y += d.efc_JT[k + nnz] * f
                    z += d.efc_JT[k + 2 * nnz] * f
                result[p], result[p + 1], result[p + 2] = x, y, z
                p += 3
            else:
                adr = int(d.efc_JT_rowadr[dof])
                total = 0.0
                for k in range(adr, adr + nnz):
                    total += d.efc_JT[k] * vector[d.efc_JT_colind[k]]
                result[p] = total
                p += 1
    else:
        first = int(d.work.island_dof[island])
        for p in range(first, first + d.work.island_ndof[island]):
            result[p] = 0.0
        begin, end = run_range(d, island)
        for run in range(begin, end):
            i = d.work.run_order[run]
            for r in range(d.work.run_start[i], d.work.run_stop[i]):
                f = vector[r]
                if f != 0.0:
                    adr = int(d.work.row_adr[r])
                    for k in range(adr, adr + d.work.row_nnz[r]):
                        result[first + d.work.J_col[k]] += f * d.work.J[k]


@kernel
def multiply_dense_transposed(d: Data, island: int, vector: ConstArray1, result: Array1) -> None:
    """Compute the product of `multiply_jacobian_transposed` for a dense island."""
    total = stack_array(DENSE_MAX)
    first, n = dof_range(d, island)
    for k in range(n):
        total[k] = 0.0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        i = d.work.run_order[run]
        for r in range(d.work.run_start[i], d.work.run_stop[i]):
            f = vector[r]
            adr = int(d.work.row_adr[r])
            if d.work.row_nnz[r] == LONE:
                total[d.work.J_col[adr]] += f * d.work.J[adr]
            elif f != 0.0:
                for k in range(n):
                    total[k] += f * d.work.J[adr + k]
    for k in range(n):
        result[first + k] = total[k]
