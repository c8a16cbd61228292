"""Keywords of MJCF attributes, each with its number in the engine's enumerations (``cardan.enums``)."""

from __future__ import annotations

from cardan.enums import (
    mjtBias,
    mjtCamLight,
    mjtCone,
    mjtDisableBit,
    mjtDyn,
    mjtEnableBit,
    mjtGain,
    mjtGeom,
    mjtIntegrator,
    mjtJacobian,
    mjtJoint,
    mjtLRMode,
    mjtObj,
    mjtSolver,
    mjtTexture,
)

Words = dict[str, int]

TRISTATE: Words = {"false": 0, "true": 1, "auto": 2}
ANGLE: Words = {"radian": 0, "degree": 1}
COORDINATE: Words = {"local": 0, "global": 1}
INERTIA_FROM_GEOM: Words = TRISTATE

INTEGRATOR: Words = {
    "Euler": int(mjtIntegrator.mjINT_EULER),
    "RK4": int(mjtIntegrator.mjINT_RK4),
    "implicit": int(mjtIntegrator.mjINT_IMPLICIT),
    "implicitfast": int(mjtIntegrator.mjINT_IMPLICITFAST),
}
CONE: Words = {"pyramidal": int(mjtCone.mjCONE_PYRAMIDAL), "elliptic": int(mjtCone.mjCONE_ELLIPTIC)}
JACOBIAN: Words = {
    "dense": int(mjtJacobian.mjJAC_DENSE),
    "sparse": int(mjtJacobian.mjJAC_SPARSE),
    "auto": int(mjtJacobian.mjJAC_AUTO),
}
SOLVER: Words = {
    "PGS": int(mjtSolver.mjSOL_PGS),
    "CG": int(mjtSolver.mjSOL_CG),
    "Newton": int(mjtSolver.mjSOL_NEWTON),
}
LENGTH_RANGE: Words = {
    "none": int(mjtLRMode.mjLRMODE_NONE),
    "muscle": int(mjtLRMode.mjLRMODE_MUSCLE),
    "muscleuser": int(mjtLRMode.mjLRMODE_MUSCLEUSER),
    "all": int(mjtLRMode.mjLRMODE_ALL),
}
JOINT: Words = {
    "free": int(mjtJoint.mjJNT_FREE),
    "ball": int(mjtJoint.mjJNT_BALL),
    "slide": int(mjtJoint.mjJNT_SLIDE),
    "hinge": int(mjtJoint.mjJNT_HINGE),
}
GEOM: Words = {
    "plane": int(mjtGeom.mjGEOM_PLANE),
    "hfield": int(mjtGeom.mjGEOM_HFIELD),
    "sphere": int(mjtGeom.mjGEOM_SPHERE),
    "capsule": int(mjtGeom.mjGEOM_CAPSULE),
    "ellipsoid": int(mjtGeom.mjGEOM_ELLIPSOID),
    "cylinder": int(mjtGeom.mjGEOM_CYLINDER),
    "box": int(mjtGeom.mjGEOM_BOX),
    "mesh": int(mjtGeom.mjGEOM_MESH),
    "sdf": int(mjtGeom.mjGEOM_SDF),
}
SITE: Words = {word: GEOM[word] for word in ("sphere", "capsule", "ellipsoid", "cylinder", "box")}
FLUID_SHAPE: Words = {"none": 0, "ellipsoid": 1}
CAMLIGHT: Words = {
    "fixed": int(mjtCamLight.mjCAMLIGHT_FIXED),
    "track": int(mjtCamLight.mjCAMLIGHT_TRACK),
    "trackcom": int(mjtCamLight.mjCAMLIGHT_TRACKCOM),
    "targetbody": int(mjtCamLight.mjCAMLIGHT_TARGETBODY),
    "targetbodycom": int(mjtCamLight.mjCAMLIGHT_TARGETBODYCOM),
}
TEXTURE: Words = {
    "2d": int(mjtTexture.mjTEXTURE_2D),
    "cube": int(mjtTexture.mjTEXTURE_CUBE),
    "skybox": int(mjtTexture.mjTEXTURE_SKYBOX),
}
BUILTIN: Words = {"none": 0, "gradient": 1, "checker": 2, "flat": 3}
MARK: Words = {"none": 0, "edge": 1, "cross": 2, "random": 3}
DYN: Words = {
    "none": int(mjtDyn.mjDYN_NONE),
    "integrator": int(mjtDyn.mjDYN_INTEGRATOR),
    "filter": int(mjtDyn.mjDYN_FILTER),
    "filterexact": int(mjtDyn.mjDYN_FILTEREXACT),
    "muscle": int(mjtDyn.mjDYN_MUSCLE),
    "user": int(mjtDyn.mjDYN_USER),
}
GAIN: Words = {
    "fixed": int(mjtGain.mjGAIN_FIXED),
    "affine": int(mjtGain.mjGAIN_AFFINE),
    "muscle": int(mjtGain.mjGAIN_MUSCLE),
    "user": int(mjtGain.mjGAIN_USER),
}
BIAS: Words = {
    "none": int(mjtBias.mjBIAS_NONE),
    "affine": int(mjtBias.mjBIAS_AFFINE),
    "muscle": int(mjtBias.mjBIAS_MUSCLE),
    "user": int(mjtBias.mjBIAS_USER),
}
OBJECT: Words = {
    name.removeprefix("mjOBJ_").lower(): int(kind)
    for name, kind in mjtObj.__members__.items()
    if name not in ("mjOBJ_UNKNOWN", "mjOBJ_DOF", "mjOBJ_FRAME", "mjNOBJECT")
}
FRAME_OBJECT: Words = {word: OBJECT[word] for word in ("body", "xbody", "geom", "site", "camera")}
STAGE: Words = {"pos": 1, "vel": 2, "acc": 3}
DATA_TYPE: Words = {"real": 0, "positive": 1, "axis": 2, "quaternion": 3}
SELF_COLLIDE: Words = {"none": 0, "narrow": 1, "bvh": 2, "sap": 3, "auto": 4}
COMPOSITE: Words = {
    "particle": 0, "grid": 1, "rope": 2, "loop": 3, "cable": 4, "cloth": 5, "box": 6, "cylinder": 7, "ellipsoid": 8,
}  # fmt: skip
COMPOSITE_JOINT: Words = {"main": 0, "twist": 1, "stretch": 2, "particle": 3}
COMPOSITE_TENDON: Words = {"main": 0, "shear": 1}
FLEXCOMP: Words = {
    "grid": 0, "box": 1, "cylinder": 2, "ellipsoid": 3, "disc": 4, "mesh": 5, "gmsh": 6, "direct": 7,
}  # fmt: skip

# kind of named object for each objtype keyword
OBJECT_KIND: dict[str, str] = {word: word for word in OBJECT} | {"xbody": "body"}

# flags of the option section: bit of each, in disableflags and in enableflags
DISABLE_FLAGS: Words = {
    name.removeprefix("mjDSBL_").lower(): int(bit)
    for name, bit in mjtDisableBit.__members__.items()
    if name.startswith("mjDSBL_")
}
ENABLE_FLAGS: Words = {
    name.removeprefix("mjENBL_").lower(): int(bit)
    for name, bit in mjtEnableBit.__members__.items()
    if name.startswith("mjENBL_")
}
