"""Flags that disable passive forces: ``passive`` of MuJoCo 3.1, ``spring`` and ``damper`` of later versions.

Spec: modeling, option/flag. If springs and dampers are both disabled, all other passive forces are disabled too:
gravity compensation, fluid forces, callbacks and plugins.
"""

from __future__ import annotations

from cardan.constants import mjDSBL_DAMPER, mjDSBL_SPRING
from cardan.enums.codes import DSBL_PASSIVE
from cardan.jit import kernel
from cardan.model.kernel_views import AnyModel

NO_SPRINGS = DSBL_PASSIVE | mjDSBL_SPRING
NO_DAMPERS = DSBL_PASSIVE | mjDSBL_DAMPER


@kernel
def has_springs(m: AnyModel) -> bool:
    """Return whether the flags of a model leave springs of joints, tendons and flexes enabled."""
    return m.opt.disableflags & NO_SPRINGS == 0


@kernel
def has_dampers(m: AnyModel) -> bool:
    """Return whether the flags of a model leave dampers of joints, tendons and flexes enabled."""
    return m.opt.disableflags & NO_DAMPERS == 0


@kernel
def has_passive(m: AnyModel) -> bool:
    """Return whether the flags of a model leave passive forces enabled."""
    return has_springs(m) or has_dampers(m)
