"""Random numbers of marks on textures: the additive feedback generator that C libraries of Linux have as `rand`.

Each number is the sum of those 3 and 31 before it, modulo 2^32, and its lowest bit is dropped; the first 31 come from
the generator of Park and Miller (1988), "Random number generators: good ones are hard to find".
"""

from __future__ import annotations

import numpy as np

ORDER, LAG = 31, 3
SKIPPED = 341
"""Numbers that are left out at the beginning."""
MOST = 2147483647
"""The largest number, and the modulus of the first ones."""
WORD = 0xFFFFFFFF


def doubled(relation: np.ndarray) -> np.ndarray:
    """The relation between numbers twice as far apart: the polynomial times the one with odd signs turned (Graeffe)."""
    turned = relation.copy()
    turned[1::2] = 0 - turned[1::2]
    product = np.zeros(2 * ORDER + 1, np.uint32)
    for j in range(ORDER + 1):
        product[j : j + ORDER + 1] += relation[j] * turned
    return product[::2]


def random_numbers(count: int, seed: int) -> np.ndarray:
    """Numbers from 0 to `MOST`, (count,) uint32.

    The sum of a relation's coefficients times numbers `step` apart is 0; as the step grows, so do the runs of numbers
    that are found at once.
    """
    first = [seed]
    while len(first) < ORDER:
        first.append(16807 * first[-1] % MOST)
    total = count + SKIPPED
    word = np.zeros(max(total, ORDER), np.uint32)
    word[:ORDER] = first[LAG:] + first[:LAG]
    relation = np.zeros(ORDER + 1, np.uint32)
    relation[[0, LAG, ORDER]] = 1, WORD, WORD
    known, step = ORDER, 1
    while known < total:
        while known >= 2 * step * ORDER:
            relation, step = doubled(relation), 2 * step
        lags = np.flatnonzero(relation[1:]) + 1
        end = min(known + step * int(lags[0]), total)
        for lag in lags:
            word[known:end] -= relation[lag] * word[known - lag * step : end - lag * step]
        known = end
    return word[SKIPPED:total] >> 1
