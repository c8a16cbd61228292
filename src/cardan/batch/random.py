"""Random numbers by counter: the number of a world, a draw and a place depends on these and the seed alone.

So worlds get the same numbers in a batch of any size, on any device, in any order. The generator is Philox4x32-10
(Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).
"""

from __future__ import annotations

import numpy as np

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
ROUNDS = 10


def philox(counter: tuple[np.ndarray, ...], key: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """Four blocks of 32 random bits for each counter.

    Args:
        counter: four arrays of one shape, of 32-bit numbers held as uint64.
        key: two 32-bit numbers.

    Returns:
        Four arrays of that shape, likewise.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        p0, p1 = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (p1 >> _HALF) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _HALF) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


def uniform(worlds: np.ndarray, size: int, seed: int, draw: int) -> np.ndarray:
    """Uniform numbers in [0, 1) with 53 random bits, (k, size).

    Args:
        worlds: ids of worlds (k,).
        size: how many for each.
        seed: the seed, a 64-bit integer.
        draw: which draw; another one gives other numbers.
    """
    if size < 0 or not 0 <= seed < 1 << 64 or not 0 <= draw < 1 << 32:
        raise ValueError("size should not be negative, seed a 64-bit and draw a 32-bit number")
    pair = np.arange((size + 1) // 2, dtype=np.uint64)
    shape = (len(worlds), len(pair))
    ids = worlds.astype(np.uint64)[:, None]
    counter = (pair[None], np.uint64(draw), ids & _LOW, ids >> _HALF)
    full = tuple(np.broadcast_to(c, shape).astype(np.uint64) for c in counter)
    a, b, c, d = philox(full, (seed & 0xFFFFFFFF, seed >> 32))
    bits = np.stack([(a << _HALF) | b, (c << _HALF) | d], axis=-1).reshape(len(worlds), 2 * len(pair))[:, :size]
    return (bits >> np.uint64(11)) * 2.0**-53
