"""The order in which a sparse Newton matrix is eliminated: by trees that are linked to few others first.

`sparse` eliminates from the last dof to the first, in island order. In a pile of bodies that are numbered layer by
layer, rows of such a factor fill up across whole layers. Here the trees of an island get places such that a tree with
the fewest links to those that are left is eliminated next (minimum degree: Davis, Direct Methods for Sparse Linear
Systems, section 7.1; George and Liu, The evolution of the minimum degree ordering algorithm, 1989). Of several, it is
the one with the highest number. Dofs of a tree stay together, and in their order. The result depends on the links
alone; where the order of numbers fills little, it stays.

All of this stands in arrays that others are done with, or need only later: in ``work.L_col`` the links, a row of bits
a tree, `WORD` in a number; in ``tree_parent`` the number of a tree among those of the island; in ``tree_nrow`` the
first dof of the tree of each number; in ``row_head`` these numbers in the order of elimination; in ``mark`` what the
next one is chosen by.
"""

from __future__ import annotations

from cardan.constraint.rows import is_sparse
from cardan.jit import OK, kernel
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_H

NEED_H = int(GROW_H)
WORD = 32
"""Bits in a number: half of what it holds, so that no bit is a sign."""
LOW, HALVES, QUARTERS, BYTES, ONES = 0xFFFFFFFF, 0x55555555, 0x33333333, 0x0F0F0F0F, 0x01010101
DONE = 1 << 60
"""Key of trees that are eliminated."""


@kernel
def order_trees(m: Model, d: Data, island: int) -> int:
    """Give the dofs of an island that is solved with sparse matrices their places; returns OK or a request for memory.

    Models with a dense Jacobian keep the order of their numbers: they are small.
    """
    if not is_sparse(m):
        return OK
    count = list_trees(m, d, island)
    words = (count + WORD - 1) // WORD
    if 2 * count * words > len(d.work.L_col):
        d.work.need = 2 * count * words
        return NEED_H
    links = find_links(m, d, island, count, words)
    # rings and rows of bodies have little fill as they are
    if natural_links(d, count, words) > 2 * links:
        eliminate_trees(d, count, words)
        place_trees(m, d, island, count)
    return OK


@kernel
def list_trees(m: Model, d: Data, island: int) -> int:
    """Number the trees of an island in the order of their dofs; returns how many there are."""
    first = int(d.work.island_dof[island])
    count = 0
    last = -1
    for p in range(first, first + d.work.island_ndof[island]):
        dof = int(d.work.dof_at[p])
        tree = int(m.dof_treeid[dof])
        if tree != last:
            d.work.tree_parent[tree] = count
            d.work.tree_nrow[count] = dof
            count += 1
            last = tree
    return count


@kernel
def find_links(m: Model, d: Data, island: int, count: int, words: int) -> int:
    """Set the bits of all trees that share a constraint row; returns the number of pairs."""
    for k in range(count * words):
        d.work.L_col[k] = 0
    begin = int(d.work.island_run[island])
    for run in range(begin, begin + d.work.island_nrun[island]):
        b = d.work.run_order[run]
        for r in range(d.work.run_start[b], d.work.run_stop[b]):
            # rows with the columns of the one before link nothing new
            if r == 0 or d.efc_J_rowsuper[r - 1] == 0:
                link_row(m, d, r, words)
    links = 0
    for k in range(count * words):
        links += number_of_bits(int(d.work.L_col[k]))
    return links // 2


@kernel
def link_row(m: Model, d: Data, r: int, words: int) -> None:
    """Set the bits of the trees that row `r` touches; their columns stand together."""
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
    """How many of the lowest `WORD` bits of a number are set."""
    word -= (word >> 1) & HALVES
    word = (word & QUARTERS) + ((word >> 2) & QUARTERS)
    word = (word + (word >> 4)) & BYTES
    return ((word * ONES) & LOW) >> 24


@kernel
def highest_bit(word: int) -> int:
    """Place of the highest bit of a number above 0."""
    place = 0
    if word >> 16 != 0:
        place += 16
    if word >> (place + 8) != 0:
        place += 8
    if word >> (place + 4) != 0:
        place += 4
    if word >> (place + 2) != 0:
        place += 2
    if word >> (place + 1) != 0:
        place += 1
    return place


@kernel
def natural_links(d: Data, count: int, words: int) -> int:
    """How many pairs of trees the factor links in the order of their numbers, by the elimination tree of the trees.

    Works on a copy of the links to trees before each, behind the links.
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
    """Choose the trees one after the other; `row_head` lists them."""
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
    """Link tree `a` with all that `chosen` is linked with, and no longer with `chosen`."""
    for w in range(words):
        d.work.L_col[a * words + w] |= d.work.L_col[chosen * words + w]
    d.work.L_col[a * words + a // WORD] &= LOW ^ (1 << (a % WORD))
    d.work.L_col[a * words + chosen // WORD] &= LOW ^ (1 << (chosen % WORD))


@kernel
def set_key(d: Data, a: int, count: int, words: int) -> None:
    """What tree `a` is chosen by: its links, then its number, the highest first."""
    links = 0
    for w in range(words):
        links += number_of_bits(int(d.work.L_col[a * words + w]))
    d.work.mark[a] = links * count + count - 1 - a


@kernel
def place_trees(m: Model, d: Data, island: int, count: int) -> None:
    """Arrange the dofs of an island so that the tree that is eliminated first stands last."""
    p = int(d.work.island_dof[island])
    for step in range(count - 1, -1, -1):
        dof = int(d.work.tree_nrow[d.work.row_head[step]])
        tree = m.dof_treeid[dof]
        while dof < m.nv and m.dof_treeid[dof] == tree:
            d.work.dof_at[p] = dof
            d.work.dof_position[dof] = p
            p += 1
            dof += 1
