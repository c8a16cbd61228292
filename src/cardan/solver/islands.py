"""Islands: sets of kinematic trees that share constraint rows (spec: computation, constraint solver).

The cost that the primal solvers minimise is a sum over islands: the inertia matrix couples only degrees of freedom
(dofs) of one tree, and a row couples only the trees that it touches. Each island is therefore minimised separately.
Islands that are nearly at rest need fewer iterations. Matrices fit the cache. Trees without rows need no solver.

`partition` arranges the dofs in *island order* (``dof_at``, ``dof_position``): island 0 first, and within an island by
increasing number, so that a parent precedes its children. Rows are not moved; each island has a list of *runs*, ranges
of rows of one kind. Rows that touch no dof (contacts between fixed bodies in dense storage) have a large constant cost
that would hide the costs of other rows. These rows form the last island, which has no dofs.
"""

from __future__ import annotations

from cardan.constraint.rows import is_sparse
from cardan.dynamics.awake import DOF, ROWS_UNSETTLED, TREE, settle, span_range, trees_may_sleep
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC, ENBL_ISLAND
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_ISLAND

NEED_ISLAND = int(GROW_ISLAND)
# kinds of runs, by the rule of `constraint.update` that their rows follow
RUN_EQUALITY, RUN_FRICTION, RUN_ONE_SIDED, RUN_ELLIPTIC = range(4)


@kernel
def partition(m: Model, d: Data, whole: bool) -> int:
    """Find the islands that have rows, and order their dofs and runs of rows; return the number of islands.

    If `whole` is set, all trees form one island, including trees without rows. Trees that sleep belong to no island.
    """
    d.work.arranged_rows = 0
    first = -1
    for k in range(ranges(m, d)):
        begin, end = range_of(m, d, k, TREE)
        if first < 0 and begin < end:
            first = begin
        for t in range(begin, end):
            d.work.tree_parent[t] = first if whole else t
            d.work.tree_nrow[t] = 0
    d.work.tree_parent[m.ntree] = m.ntree
    d.work.tree_nrow[m.ntree] = 0
    link_trees(m, d, whole, first)
    count = number_islands(m, d)
    order_dofs(m, d, count)
    order_runs(d, count)
    return count


@kernel
def arrange(m: Model, d: Data, whole: bool) -> int:
    """Arrange dofs and rows for a solver like `partition`; return the number of islands.

    What `find_islands` arranged for the same rows is used once: solvers may reorder the dofs of an island.
    """
    is_arranged = not whole and d.work.arranged_rows == d.nefc
    d.work.arranged_rows = 0
    if not is_arranged:
        return partition(m, d, whole)
    return int(d.nisland) if d.work.tree_island[m.ntree] < 0 else int(d.nisland) + 1


@kernel
def ranges(m: Model, d: Data) -> int:
    """Return the number of ranges of trees or dofs that can move: the spans if trees may sleep, else 1, everything."""
    return int(d.work.nspan) if trees_may_sleep(m) else 1


@kernel
def range_of(m: Model, d: Data, k: int, column: int) -> tuple[int, int]:
    """Return the first number and the end (exclusive) of range `k` of trees (`column` TREE) or dofs (`column` DOF)."""
    if trees_may_sleep(m):
        return span_range(d, k, column)
    return 0, int(m.ntree) if column == TREE else int(m.nv)


@kernel
def solves_apart(m: Model) -> bool:
    """Return whether islands are separate problems: the flag `island` is set, and there is no no-slip solver.

    The no-slip solver treats all rows together.
    """
    return m.opt.enableflags & ENBL_ISLAND != 0 and m.opt.noslip_iterations <= 0


@kernel
def dof_range(d: Data, island: int) -> tuple[int, int]:
    """Return the position of an island's first dof in ``dof_at``, and the number of its dofs."""
    return int(d.work.island_dof[island]), int(d.work.island_ndof[island])


@kernel
def run_range(d: Data, island: int) -> tuple[int, int]:
    """Return the range of an island's runs in ``run_order``: first position and end (exclusive)."""
    first = int(d.work.island_run[island])
    return first, first + int(d.work.island_nrun[island])


@kernel
def tree_root(d: Data, tree: int) -> int:
    """Return the representative of the set of linked trees that contains `tree`, and shorten the path to it."""
    parent = d.work.tree_parent
    while parent[tree] != tree:
        parent[tree] = parent[parent[tree]]
        tree = int(parent[tree])
    return tree


@kernel
def link(d: Data, tree1: int, tree2: int) -> int:
    """Unite the sets of two trees; return the union's representative, the smaller of the two representatives."""
    root1 = tree_root(d, tree1)
    root2 = tree_root(d, tree2)
    low = min(root1, root2)
    d.work.tree_parent[root1] = low
    d.work.tree_parent[root2] = low
    return low


@kernel
def link_trees(m: Model, d: Data, whole: bool, first: int) -> None:
    """For each row, unite the sets of the trees that the row touches, and store one of these trees in ``row_tree``.

    If a row touches no tree, ntree is stored. ``tree_nrow`` of each set's representative is the number of the set's
    rows. If `whole` is set, `first` is the representative of all trees.
    """
    sparse = is_sparse(m)
    for r in range(d.nefc):
        if sparse and r > 0 and d.efc_J_rowsuper[r - 1] > 0:
            # the columns of the previous row
            d.work.row_tree[r] = d.work.row_tree[r - 1]
            continue
        if sparse and whole:
            tree = first if d.efc_J_rownnz[r] > 0 else int(m.ntree)
        elif sparse:
            tree = link_sparse_row(m, d, r)
        else:
            tree = int(m.ntree)
            for i in range(m.nv):
                if d.efc_J[r * m.nv + i] != 0.0:
                    other = int(m.dof_treeid[i])
                    if tree == m.ntree:
                        tree = other
                        if m.ntree == 1:
                            break
                    elif other != tree:
                        link(d, tree, other)
        d.work.row_tree[r] = tree
        # the rows of an elliptic contact are in one island
        if d.efc_type[r] == CNSTR_CONTACT_ELLIPTIC and d.contact.efc_address[d.efc_id[r]] < r:
            # an empty row takes the tree of the other row
            before = int(d.work.row_tree[r - 1])
            if tree == m.ntree:
                d.work.row_tree[r] = before
            elif before == m.ntree:
                k = r - 1
                while k >= d.contact.efc_address[d.efc_id[r]]:
                    d.work.row_tree[k] = tree
                    k -= 1
            elif before != tree:
                link(d, before, tree)
    for r in range(d.nefc):
        d.work.tree_nrow[d.work.row_tree[r]] += 1
    for t in range(m.ntree):
        root = tree_root(d, t)
        if root != t:
            d.work.tree_nrow[root] += d.work.tree_nrow[t]


@kernel
def link_sparse_row(m: Model, d: Data, r: int) -> int:
    """Unite the sets of the trees that row `r` touches; return one of these trees, or ntree if the row is empty.

    The row must be compressed, with increasing columns.
    """
    nnz = int(d.efc_J_rownnz[r])
    adr = int(d.efc_J_rowadr[r])
    if nnz == 0:
        return int(m.ntree)
    first = int(m.dof_treeid[d.efc_J_colind[adr]])
    if first != m.dof_treeid[d.efc_J_colind[adr + nnz - 1]]:
        last = first
        for k in range(adr + 1, adr + nnz):
            tree = int(m.dof_treeid[d.efc_J_colind[k]])
            if tree != last:
                link(d, first, tree)
                last = tree
    return first


@kernel
def number_islands(m: Model, d: Data) -> int:
    """Number the islands (sets of trees that have rows) by their smallest trees; return the number of islands."""
    count = 0
    for k in range(ranges(m, d)):
        first, stop = range_of(m, d, k, TREE)
        for t in range(first, stop):
            count = number_tree(d, t, count)
    return number_tree(d, int(m.ntree), count)


@kernel
def number_tree(d: Data, t: int, count: int) -> int:
    """Write the island of a tree; return the number of islands so far, `count` or one more."""
    root = tree_root(d, t)
    if root != t:
        d.work.tree_island[t] = d.work.tree_island[root]
    elif d.work.tree_nrow[t] > 0:
        d.work.tree_island[t] = count
        d.work.island_ndof[count] = 0
        d.work.island_nrun[count] = 0
        return count + 1
    else:
        d.work.tree_island[t] = -1
    return count


@kernel
def order_dofs(m: Model, d: Data, count: int) -> None:
    """Assign each dof of an island its position in island order."""
    nrange = ranges(m, d)
    for k in range(nrange):
        first, stop = range_of(m, d, k, DOF)
        for i in range(first, stop):
            island = int(d.work.tree_island[m.dof_treeid[i]])
            if island >= 0:
                d.work.island_ndof[island] += 1
    total = 0
    for k in range(count):
        d.work.island_dof[k] = total
        total += d.work.island_ndof[k]
        d.work.island_ndof[k] = 0
    for k in range(nrange):
        first, stop = range_of(m, d, k, DOF)
        for i in range(first, stop):
            island = int(d.work.tree_island[m.dof_treeid[i]])
            if island >= 0:
                position = int(d.work.island_dof[island] + d.work.island_ndof[island])
                d.work.dof_at[position] = i
                d.work.dof_position[i] = position
                d.work.island_ndof[island] += 1


@kernel
def row_kind(d: Data, r: int) -> int:
    """Return the kind of a row (RUN_EQUALITY, ...), which determines its update function in `constraint.update`."""
    if r < d.ne or r >= d.nefc - d.work.nloose:
        return RUN_EQUALITY
    if r < d.ne + d.nf:
        return RUN_FRICTION
    if d.efc_type[r] == CNSTR_CONTACT_ELLIPTIC:
        return RUN_ELLIPTIC
    return RUN_ONE_SIDED


@kernel
def order_runs(d: Data, count: int) -> None:
    """Split the rows into runs of one kind and island, and list the runs by island. An elliptic contact is one run."""
    nrun, stop, last = 0, 0, -1
    for r in range(d.nefc):
        if r < stop:
            continue
        kind = row_kind(d, r)
        island = row_island(d, r)
        if nrun > 0 and kind != RUN_ELLIPTIC and d.work.run_kind[nrun - 1] == kind and last == island:
            d.work.run_stop[nrun - 1] = r + 1
            continue
        d.work.run_kind[nrun] = kind
        d.work.run_start[nrun] = r
        stop = r + 1
        if kind == RUN_ELLIPTIC:
            stop = r + d.contact.dim[d.efc_id[r]]
        d.work.run_stop[nrun] = stop
        d.work.island_nrun[island] += 1
        last = island
        nrun += 1
    total = 0
    for k in range(count):
        d.work.island_run[k] = total
        total += d.work.island_nrun[k]
        d.work.island_nrun[k] = 0
    for i in range(nrun):
        k = row_island(d, int(d.work.run_start[i]))
        d.work.run_order[d.work.island_run[k] + d.work.island_nrun[k]] = i
        d.work.island_nrun[k] += 1


@kernel
def row_island(d: Data, r: int) -> int:
    """Return the island of row `r`."""
    return int(d.work.tree_island[d.work.row_tree[r]])


@stage
def find_islands(m: Model, d: Data) -> int:
    """Write nisland and the arrays of mjData that describe islands; return OK or a request to enlarge them.

    Islands are numbered in the order of their smallest trees. Within an island, dofs and rows are sorted by number.
    Dofs and rows that belong to no island have the island number -1.
    """
    count = partition(m, d, False)
    idle = int(d.work.tree_island[m.ntree])
    d.nisland = count if idle < 0 else count - 1
    if d.nisland > len(d.island_dofnum):
        d.work.need = d.nisland
        return NEED_ISLAND
    total = 0
    for island in range(d.nisland):
        d.island_dofadr[island] = d.work.island_dof[island]
        d.island_dofnum[island] = d.work.island_ndof[island]
        total += d.work.island_ndof[island]
    if trees_may_sleep(m) and d.work.unsettled & ROWS_UNSETTLED != 0:
        for i in range(m.nv):
            d.dof_island[i] = -1
            d.dof_islandind[i] = -1
            d.island_dofind[i] = -1
        settle(d, ROWS_UNSETTLED)
    place = 0
    for k in range(ranges(m, d)):
        first, stop = range_of(m, d, k, DOF)
        for i in range(first, stop):
            island = int(d.work.tree_island[m.dof_treeid[i]])
            d.dof_island[i] = island
            d.dof_islandind[i] = d.work.dof_position[i] - d.work.island_dof[island] if island >= 0 else -1
            d.island_dofind[place] = d.work.dof_at[place] if place < total else -1
            place += 1
    list_constraints(d)
    d.work.arranged_rows = d.nefc
    return OK


@kernel
def list_constraints(d: Data) -> None:
    """Write the arrays of mjData that assign rows to islands."""
    for island in range(d.nisland):
        d.island_efcnum[island] = 0
    listed = 0
    for r in range(d.nefc):
        island = row_island(d, r)
        d.efc_island[r] = island if island < d.nisland else -1
        if island < d.nisland:
            d.island_efcnum[island] += 1
            listed += 1
    total = 0
    for island in range(d.nisland):
        d.island_efcadr[island] = total
        total += d.island_efcnum[island]
        d.island_efcnum[island] = 0
    for r in range(d.nefc):
        island = int(d.efc_island[r])
        if island >= 0:
            d.island_efcind[d.island_efcadr[island] + d.island_efcnum[island]] = r
            d.island_efcnum[island] += 1
    for r in range(listed, d.nefc):
        d.island_efcind[r] = -1
