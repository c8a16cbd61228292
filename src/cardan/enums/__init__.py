"""All enumerations of the interface (`mjt*`), with the names and values of MuJoCo 3.1.6.

There is one module per part of the system: options, model, actuation, sensor, data, visual, render.
"""

from cardan.enums.actuation import (
    mjtBias,
    mjtDyn,
    mjtGain,
    mjtLRMode,
    mjtTrn,
)
from cardan.enums.data import (
    mjtConstraint,
    mjtConstraintState,
    mjtState,
    mjtTaskStatus,
    mjtTimer,
    mjtWarning,
)
from cardan.enums.model import (
    mjtCamLight,
    mjtEq,
    mjtFlexSelf,
    mjtGeom,
    mjtJoint,
    mjtObj,
    mjtPluginCapabilityBit,
    mjtTexture,
    mjtWrap,
)
from cardan.enums.options import (
    mjtCone,
    mjtDisableBit,
    mjtEnableBit,
    mjtIntegrator,
    mjtJacobian,
    mjtSolver,
)
from cardan.enums.render import (
    mjtButton,
    mjtDepthMap,
    mjtEvent,
    mjtFont,
    mjtFontScale,
    mjtFramebuffer,
    mjtGridPos,
    mjtItem,
)
from cardan.enums.sensor import (
    mjtDataType,
    mjtSensor,
    mjtStage,
)
from cardan.enums.visual import (
    mjtCamera,
    mjtCatBit,
    mjtFrame,
    mjtLabel,
    mjtMouse,
    mjtPertBit,
    mjtRndFlag,
    mjtStereo,
    mjtVisFlag,
)

__all__ = [
    "mjtBias",
    "mjtButton",
    "mjtCamLight",
    "mjtCamera",
    "mjtCatBit",
    "mjtCone",
    "mjtConstraint",
    "mjtConstraintState",
    "mjtDataType",
    "mjtDepthMap",
    "mjtDisableBit",
    "mjtDyn",
    "mjtEnableBit",
    "mjtEq",
    "mjtEvent",
    "mjtFlexSelf",
    "mjtFont",
    "mjtFontScale",
    "mjtFrame",
    "mjtFramebuffer",
    "mjtGain",
    "mjtGeom",
    "mjtGridPos",
    "mjtIntegrator",
    "mjtItem",
    "mjtJacobian",
    "mjtJoint",
    "mjtLRMode",
    "mjtLabel",
    "mjtMouse",
    "mjtObj",
    "mjtPertBit",
    "mjtPluginCapabilityBit",
    "mjtRndFlag",
    "mjtSensor",
    "mjtSolver",
    "mjtStage",
    "mjtState",
    "mjtStereo",
    "mjtTaskStatus",
    "mjtTexture",
    "mjtTimer",
    "mjtTrn",
    "mjtVisFlag",
    "mjtWarning",
    "mjtWrap",
]
