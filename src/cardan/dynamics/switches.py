"""Flags that disable passive forces: ``passive`` of MuJoCo 3.1, ``spring`` and ``damper`` of later versions.

Spec: modeling, option/flag. If springs and dampers are both disabled, all other passive forces are disabled too:
gravity compensation, fluid forces, callbacks and plugins.
"""

from __future__ import annotations

from cardan.enums.codes import DSBL_DAMPER, DSBL_PASSIVE, DSBL_SPRING
from cardan.jit import kernel
from cardan.model.kernel_views import Model

NO_SPRINGS = DSBL_PASSIVE | DSBL_SPRING
NO_DAMPERS = DSBL_PASSIVE | DSBL_DAMPER


@kernel
def has_springs(m: Model) -> bool:
    """Return whether the flags of a model leave springs of joints, tendons and flexes enabled."""
    return m.opt.disableflags & NO_SPRINGS == 0


@kernel
def has_dampers(m: Model) -> bool:
    """Return whether the flags of a model leave dampers of joints, tendons and flexes enabled."""
    return m.opt.disableflags & NO_DAMPERS == 0


@kernel
def leaves_passive(flags: int) -> bool:
    """Return whether the bits of ``disableflags`` leave passive forces enabled."""
    return flags & NO_SPRINGS == 0 or flags & NO_DAMPERS == 0


@kernel
def has_passive(m: Model) -> bool:
    """Return whether the flags of a model leave passive forces enabled."""
    return leaves_passive(m.opt.disableflags)
