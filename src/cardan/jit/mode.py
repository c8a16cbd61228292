"""Whether stages run as native code or in the interpreter.

``CARDAN_JIT=0`` (or Numba's own ``NUMBA_DISABLE_JIT=1``) runs every stage as plain Python on the same memory, with all
indices checked: slow, and made for debugging, coverage and tests.
"""

from __future__ import annotations

import os

_OFF = ("0", "false", "no", "off")

jit_enabled: bool = os.environ.get("CARDAN_JIT", "1").lower() not in _OFF and os.environ.get(
    "NUMBA_DISABLE_JIT", "0"
) in ("", *_OFF)
