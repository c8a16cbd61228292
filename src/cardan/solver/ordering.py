"""Elimination order of a sparse Newton matrix: trees with few links to other trees are eliminated first.

`sparse` eliminates from the last dof to the first, in island order. If the bodies of a pile are numbered layer by
layer, the rows of such a factor fill up across whole layers. This module therefore reorders the trees of an island. The
tree with the fewest links to the remaining trees is eliminated next (minimum degree: Davis, Direct Methods for Sparse
Linear Systems, section 7.1; George and Liu, The evolution of the minimum degree ordering algorithm, 1989). If several
trees have the fewest links, the one with the highest number is next. Dofs of a tree stay together and keep their order.
The result depends only on the links; if the order by number causes little fill-in, it is kept.

All data is stored in arrays that the solver does not use at this point. ``work.L_col`` holds the links as bits, `WORD`
per number, one row per tree. ``tree_parent`` holds each tree's index among the trees of the island. By this index,
``tree_nrow`` holds the first dof of a tree, and ``mark`` its sort key. ``row_head`` lists the indices in the order of
elimination.
"""

from __future__ import annotations

from cardan.constraint.rows import is_sparse
from cardan.jit import OK, kernel
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_H
from cardan.solver.islands import run_range

NEED_H = int(GROW_H)
WORD = 32
"""Number of bits used in each 64-bit number, so that its sign bit is never set."""
LOW, HALVES, QUARTERS, BYTES, ONES = 0xFFFFFFFF, 0x55555555, 0x33333333, 0x0F0F0F0F, 0x01010101
DONE = 1 << 60
"""Key of eliminated trees."""


@kernel
def order_trees(m: Model, d: Data, island: int) -> int:
    """Reorder the dofs of an island that is solved with sparse matrices, if the order by number causes much fill-in.

    Return OK or a request to enlarge memory. Models with a dense Jacobian are small; their dofs keep the order by
    number.
    """
    if not is_sparse(m):
        return OK
    # number the trees in the order of their dofs
    first = int(d.work.island_dof[island])
    count, last = 0, -1
    for p in range(first, first + d.work.island_ndof[island]):
        dof = int(d.work.dof_at[p])
        tree = int(m.dof_treeid[dof])
        if tree != last:
            d.work.tree_parent[tree] = count
            d.work.tree_nrow[count] = dof
            count += 1
            last = tree
    words = (count + WORD - 1) // WORD
    if 2 * count * words > len(d.work.L_col):
        d.work.need = 2 * count * words
        return NEED_H
    links = find_links(m, d, island, count, words)
    # rings and rows of bodies have little fill-in in the order by number
    if natural_links(d, count, words) > 2 * links:
        eliminate_trees(d, count, words)
        # arrange the dofs so that the tree that is eliminated first is last
        p = first
        for step in range(count - 1, -1, -1):
            dof = int(d.work.tree_nrow[d.work.row_head[step]])
            tree = m.dof_treeid[dof]
            while dof < m.nv and m.dof_treeid[dof] == tree:
                d.work.dof_at[p] = dof
                d.work.dof_position[dof] = p
                p += 1
                dof += 1
    return OK


@kernel
def find_links(m: Model, d: Data, island: int, count: int, words: int) -> int:
    """Set the bits in ``work.L_col`` of all pairs of trees that share a constraint row; return the number of pairs."""
    for k in range(count * words):
        d.work.L_col[k] = 0
    begin, end = run_range(d, island)
    for run in range(begin, end):
        b = d.work.run_order[run]
        for r in range(d.work.run_start[b], d.work.run_stop[b]):
            # rows with the columns of the previous row add no links
            if r == 0 or d.efc_J_rowsuper[r - 1] == 0:
                link_row(m, d, r, words)
    links = 0
    for k in range(count * words):
        links += number_of_bits(int(d.work.L_col[k]))
    return links // 2


@kernel
def link_row(m: Model, d: Data, r: int, words: int) -> None:
    """Set the bits in ``work.L_col`` of all pairs of trees that row `r` touches; a tree's columns are contiguous."""
    adr = int(d.efc_J_rowadr[r])
    end = adr + int(d.efc_J_rownnz[r])
    if adr == end or m.dof_treeid[d.efc_J_colind[adr]] == m.dof_treeid[d.efc_J_colind[end - 1]]:
        return
    for k in range(adr, end):
        a = int(d.work.tree_parent[m.dof_treeid[d.efc_J_colind[k]]])
        if k > adr and m.dof_treeid[d.efc_J_colind[k]] == m.dof_treeid[d.efc_J_colind[k - 1]]:
            continue
        for other in range(adr, k):
            b = int(d.work.tree_parent[m.dof_treeid[d.efc_J_colind[other]]])
            if b != a:
                d.work.L_col[a * words + b // WORD] |= 1 << (b % WORD)
                d.work.L_col[b * words + a // WORD] |= 1 << (a % WORD)


@kernel
def number_of_bits(word: int) -> int:
    """Number of set bits among the lowest `WORD` bits of `word`."""
    word -= (word >> 1) & HALVES
    word = (word & QUARTERS) + ((word >> 2) & QUARTERS)
    word = (word + (word >> 4)) & BYTES
    return ((word * ONES) & LOW) >> 24


@kernel
def highest_bit(word: int) -> int:
    """Position of the highest set bit of a positive number below 2^`WORD`."""
    place = 0
    for width in (16, 8, 4, 2, 1):
        if word >> (place + width) != 0:
            place += width
    return place


@kernel
def natural_links(d: Data, count: int, words: int) -> int:
    """Number of pairs of trees that the factor links if the trees are eliminated by number, the highest first.

    The links of the factor are found with the elimination tree. The function works on a copy of the links, stored after
    the original in ``work.L_col``. The copy contains only links from a tree to trees with smaller indices.
    """
    bits = d.work.L_col
    copy = count * words
    for a in range(count):
        for w in range(words):
            below = min(max(a - w * WORD, 0), WORD)
            bits[copy + a * words + w] = bits[a * words + w] & ((1 << below) - 1)
    links = 0
    for a in range(count - 1, -1, -1):
        parent = -1
        row = copy + a * words
        for w in range(words):
            if bits[row + w] != 0:
                links += number_of_bits(int(bits[row + w]))
                parent = w * WORD + highest_bit(int(bits[row + w]))
        if parent >= 0:
            target = copy + parent * words
            for w in range(words):
                bits[target + w] |= bits[row + w]
            bits[target + parent // WORD] &= LOW ^ (1 << (parent % WORD))
    return links


@kernel
def eliminate_trees(d: Data, count: int, words: int) -> None:
    """Choose the order of elimination, tree by tree, and list it in `row_head`."""
    for a in range(count):
        set_key(d, a, count, words)
    for step in range(count):
        best = DONE
        for a in range(count):
            best = min(best, int(d.work.mark[a]))
        chosen = count - 1 - best % count
        d.work.row_head[step] = chosen
        d.work.mark[chosen] = DONE
        row = chosen * words
        for w in range(words):
            neighbours = int(d.work.L_col[row + w])
            while neighbours != 0:
                place = highest_bit(neighbours)
                neighbours ^= 1 << place
                absorb(d, w * WORD + place, chosen, words)
                set_key(d, w * WORD + place, count, words)


@kernel
def absorb(d: Data, a: int, chosen: int, words: int) -> None:
    """Link tree `a` to all trees to which `chosen` is linked, and remove its link to `chosen`."""
    for w in range(words):
        d.work.L_col[a * words + w] |= d.work.L_col[chosen * words + w]
    d.work.L_col[a * words + a // WORD] &= LOW ^ (1 << (a % WORD))
    d.work.L_col[a * words + chosen // WORD] &= LOW ^ (1 << (chosen % WORD))


@kernel
def set_key(d: Data, a: int, count: int, words: int) -> None:
    """Set the sort key of tree `a`. The key increases with the number of links.

    If two trees have equally many links, the one with the higher index has the lower key.
    """
    links = 0
    for w in range(words):
        links += number_of_bits(int(d.work.L_col[a * words + w]))
    d.work.mark[a] = links * count + count - 1 - a
