"""Random numbers of marks on textures: the additive feedback generator of `rand` in C libraries of Linux.

Each number is the sum, modulo 2^32, of the numbers 3 and 31 places before it; its lowest bit is dropped. The first 31
come from the generator of Park and Miller (1988), "Random number generators: good ones are hard to find".
"""

from __future__ import annotations

from math import isqrt

import numpy as np

ORDER, LAG = 31, 3
SKIPPED = 341
"""Count of numbers that are discarded at the beginning."""
MOST = 2147483647
"""Largest number, and the modulus of the first ones."""


def random_numbers(count: int, seed: int) -> np.ndarray:
    """Return numbers from 0 to `MOST`, (count,) uint32.

    The sequence is divided into runs of equal length, which are generated side by side.
    """
    first = [seed]
    while len(first) < ORDER:
        first.append(16807 * first[-1] % MOST)
    total = count + SKIPPED - ORDER
    length = 3 * isqrt(total) + 1  # more, shorter runs would spend most time on their starts
    state = _starts(np.array(first[LAG:] + first[:LAG], np.uint32)[:, None], length, -(-total // length))
    word = np.empty((ORDER + length, state.shape[1]), np.uint32)
    word[:ORDER] = state
    for k in range(ORDER, len(word)):
        np.add(word[k - ORDER], word[k - LAG], out=word[k])
    return word[ORDER:].T.ravel()[SKIPPED - ORDER : total] >> 1


def _starts(state: np.ndarray, length: int, runs: int) -> np.ndarray:
    """Return the `ORDER` numbers before each run, (ORDER, runs), from those before the first run."""
    step = np.eye(ORDER, k=1, dtype=np.uint32)
    step[-1, [0, -LAG]] = 1
    advance = np.linalg.matrix_power(step, length)
    while state.shape[1] < runs:  # double the number of runs
        state = np.hstack([state, advance @ state])
        advance = advance @ advance
    return state[:, :runs]
