"""Random numbers of marks on textures: the additive feedback generator that C libraries of Linux have as `rand`.

Each number is the sum of those 3 and 31 before it, modulo 2^32, and its lowest bit is dropped; the first 31 come from
the generator of Park and Miller (1988), "Random number generators: good ones are hard to find".
"""

from __future__ import annotations

from math import isqrt

import numpy as np

ORDER, LAG = 31, 3
SKIPPED = 341
"""Numbers that are left out at the beginning."""
MOST = 2147483647
"""The largest number, and the modulus of the first ones."""


def random_numbers(count: int, seed: int) -> np.ndarray:
    """Numbers from 0 to `MOST`, (count,) uint32.

    The sequence is cut into runs of one length, which are drawn side by side.
    """
    first = [seed]
    while len(first) < ORDER:
        first.append(16807 * first[-1] % MOST)
    total = count + SKIPPED - ORDER
    length = 3 * isqrt(total) + 1  # more and shorter runs would spend their time on their starts
    state = _starts(np.array(first[LAG:] + first[:LAG], np.uint32)[:, None], length, -(-total // length))
    word = np.empty((ORDER + length, state.shape[1]), np.uint32)
    word[:ORDER] = state
    for k in range(ORDER, len(word)):
        np.add(word[k - ORDER], word[k - LAG], out=word[k])
    return word[ORDER:].T.ravel()[SKIPPED - ORDER : total] >> 1


def _starts(state: np.ndarray, length: int, runs: int) -> np.ndarray:
    """The `ORDER` numbers before each run, (ORDER, runs), from those before the first one."""
    step = np.eye(ORDER, k=1, dtype=np.uint32)
    step[-1, [0, -LAG]] = 1
    advance = np.linalg.matrix_power(step, length)
    while state.shape[1] < runs:  # as many again
        state = np.hstack([state, advance @ state])
        advance = advance @ advance
    return state[:, :runs]
