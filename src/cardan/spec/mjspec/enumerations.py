"""Enumerations that only the structs of a model specification use, and the enumeration of each keyword attribute."""

from __future__ import annotations

from cardan.enums import (
    mjtBias,
    mjtCamLight,
    mjtCone,
    mjtDataType,
    mjtDyn,
    mjtFlexSelf,
    mjtGain,
    mjtGeom,
    mjtIntegrator,
    mjtJacobian,
    mjtJoint,
    mjtLRMode,
    mjtObj,
    mjtSolver,
    mjtStage,
    mjtTexture,
)
from cardan.enums.base import MjEnum
from cardan.spec.schema import keywords as k


class mjtLimited(MjEnum):
    """Whether a range holds; auto: when a range is given."""

    mjLIMITED_FALSE = 0
    mjLIMITED_TRUE = 1
    mjLIMITED_AUTO = 2


class mjtInertiaFromGeom(MjEnum):
    """Whether body inertias are inferred from geoms; auto: where the user gives none."""

    mjINERTIAFROMGEOM_FALSE = 0
    mjINERTIAFROMGEOM_TRUE = 1
    mjINERTIAFROMGEOM_AUTO = 2


class mjtGeomInertia(MjEnum):
    """Where the mass of a geom is: in its volume, or on its surface."""

    mjINERTIA_VOLUME = 0
    mjINERTIA_SHELL = 1


class mjtBuiltin(MjEnum):
    """Textures that the compiler makes."""

    mjBUILTIN_NONE = 0
    mjBUILTIN_GRADIENT = 1
    mjBUILTIN_CHECKER = 2
    mjBUILTIN_FLAT = 3


class mjtMark(MjEnum):
    """Marks on textures that the compiler makes."""

    mjMARK_NONE = 0
    mjMARK_EDGE = 1
    mjMARK_CROSS = 2
    mjMARK_RANDOM = 3


class mjtOrientation(MjEnum):
    """Formats of orientations."""

    mjORIENTATION_QUAT = 0
    mjORIENTATION_AXISANGLE = 1
    mjORIENTATION_XYAXES = 2
    mjORIENTATION_ZAXIS = 3
    mjORIENTATION_EULER = 4


_BY_WORDS: tuple[tuple[k.Words, type[MjEnum]], ...] = (
    (k.TRISTATE, mjtLimited),
    (k.INTEGRATOR, mjtIntegrator),
    (k.CONE, mjtCone),
    (k.JACOBIAN, mjtJacobian),
    (k.SOLVER, mjtSolver),
    (k.LENGTH_RANGE, mjtLRMode),
    (k.JOINT, mjtJoint),
    (k.GEOM, mjtGeom),
    (k.SITE, mjtGeom),
    (k.CAMLIGHT, mjtCamLight),
    (k.TEXTURE, mjtTexture),
    (k.BUILTIN, mjtBuiltin),
    (k.MARK, mjtMark),
    (k.DYN, mjtDyn),
    (k.GAIN, mjtGain),
    (k.BIAS, mjtBias),
    (k.STAGE, mjtStage),
    (k.DATA_TYPE, mjtDataType),
    (k.OBJECT, mjtObj),
    (k.FRAME_OBJECT, mjtObj),
    (k.SELF_COLLIDE, mjtFlexSelf),
)
_ENUM_OF = {id(words): enumeration for words, enumeration in _BY_WORDS}


def enumeration_of(words: object) -> type[MjEnum] | None:
    """The enumeration whose numbers a table of keywords holds, None when there is none."""
    return _ENUM_OF.get(id(words))


__all__ = ["mjtBuiltin", "mjtGeomInertia", "mjtInertiaFromGeom", "mjtLimited", "mjtMark", "mjtOrientation"]
