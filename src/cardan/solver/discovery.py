"""Stage that finds the constraint islands and publishes them (spec: mj_island)."""

from __future__ import annotations

from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_ISLAND
from cardan.solver.islands import partition, row_island

NEED_ISLAND = int(GROW_ISLAND)


@stage
def find_islands(m: Model, d: Data) -> int:
    """Write nisland and the arrays of islands; -1 means that a dof or row belongs to no island.

    Reads the Jacobian's rows. Islands are numbered by their smallest tree; dofs and rows increase within an island.
    """
    count = partition(m, d, False)
    idle = int(d.work.tree_island[m.ntree])
    d.nisland = count if idle < 0 else count - 1
    if d.nisland > len(d.island_dofnum):
        d.work.need = d.nisland
        return NEED_ISLAND
    list_dofs(m, d)
    list_constraints(d)
    return OK


@kernel
def list_dofs(m: Model, d: Data) -> None:
    """Write the arrays of dofs."""
    total = 0
    for island in range(d.nisland):
        d.island_dofadr[island] = d.work.island_dof[island]
        d.island_dofnum[island] = d.work.island_ndof[island]
        total += d.work.island_ndof[island]
    for i in range(m.nv):
        island = int(d.work.tree_island[m.dof_treeid[i]])
        d.dof_island[i] = island
        d.dof_islandind[i] = d.work.dof_position[i] - d.work.island_dof[island] if island >= 0 else -1
        d.island_dofind[i] = d.work.dof_at[i] if i < total else -1


@kernel
def list_constraints(d: Data) -> None:
    """Write the arrays of rows."""
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
