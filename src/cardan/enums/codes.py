"""Members of enumerations as plain integers for kernels, named as in MuJoCo, but without the prefix ``mj``."""

from cardan.enums import (
    mjtBias,
    mjtCamera,
    mjtCamLight,
    mjtCatBit,
    mjtCone,
    mjtConstraint,
    mjtConstraintState,
    mjtCtrlChart,
    mjtCtrlInput,
    mjtDataType,
    mjtDisableBit,
    mjtDyn,
    mjtEnableBit,
    mjtEq,
    mjtFlexSelf,
    mjtFrame,
    mjtGain,
    mjtGeom,
    mjtIntegrator,
    mjtJacobian,
    mjtJoint,
    mjtObj,
    mjtPluginCapabilityBit,
    mjtSensor,
    mjtSleepPolicy,
    mjtSolver,
    mjtStage,
    mjtState,
    mjtTexture,
    mjtTrn,
    mjtWarning,
    mjtWrap,
)

BIAS_AFFINE = int(mjtBias.mjBIAS_AFFINE)
BIAS_DCMOTOR = int(mjtBias.mjBIAS_DCMOTOR)
BIAS_MUSCLE = int(mjtBias.mjBIAS_MUSCLE)
BIAS_NONE = int(mjtBias.mjBIAS_NONE)
BIAS_SO3 = int(mjtBias.mjBIAS_SO3)
BIAS_USER = int(mjtBias.mjBIAS_USER)

CAMLIGHT_TARGETBODY = int(mjtCamLight.mjCAMLIGHT_TARGETBODY)
CAMLIGHT_TRACK = int(mjtCamLight.mjCAMLIGHT_TRACK)
CAMLIGHT_TRACKCOM = int(mjtCamLight.mjCAMLIGHT_TRACKCOM)

CAMERA_TRACKING = int(mjtCamera.mjCAMERA_TRACKING)

CAT_DECOR = int(mjtCatBit.mjCAT_DECOR)
CAT_DYNAMIC = int(mjtCatBit.mjCAT_DYNAMIC)

CHART_EXPMAP = int(mjtCtrlChart.mjCHART_EXPMAP)
CHART_QUAT = int(mjtCtrlChart.mjCHART_QUAT)
CONE_PYRAMIDAL = int(mjtCone.mjCONE_PYRAMIDAL)

CNSTR_CONTACT_ELLIPTIC = int(mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC)
CNSTR_CONTACT_FRICTIONLESS = int(mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)
CNSTR_CONTACT_PYRAMIDAL = int(mjtConstraint.mjCNSTR_CONTACT_PYRAMIDAL)
CNSTR_EQUALITY = int(mjtConstraint.mjCNSTR_EQUALITY)
CNSTR_FRICTION_DOF = int(mjtConstraint.mjCNSTR_FRICTION_DOF)
CNSTR_FRICTION_TENDON = int(mjtConstraint.mjCNSTR_FRICTION_TENDON)
CNSTR_LIMIT_JOINT = int(mjtConstraint.mjCNSTR_LIMIT_JOINT)
CNSTR_LIMIT_TENDON = int(mjtConstraint.mjCNSTR_LIMIT_TENDON)

CNSTRSTATE_CONE = int(mjtConstraintState.mjCNSTRSTATE_CONE)
CNSTRSTATE_LINEARNEG = int(mjtConstraintState.mjCNSTRSTATE_LINEARNEG)
CNSTRSTATE_LINEARPOS = int(mjtConstraintState.mjCNSTRSTATE_LINEARPOS)
CNSTRSTATE_QUADRATIC = int(mjtConstraintState.mjCNSTRSTATE_QUADRATIC)
CNSTRSTATE_SATISFIED = int(mjtConstraintState.mjCNSTRSTATE_SATISFIED)

DATATYPE_POSITIVE = int(mjtDataType.mjDATATYPE_POSITIVE)
DATATYPE_REAL = int(mjtDataType.mjDATATYPE_REAL)

DSBL_ACTUATION = int(mjtDisableBit.mjDSBL_ACTUATION)
DSBL_AUTORESET = int(mjtDisableBit.mjDSBL_AUTORESET)
DSBL_CLAMPCTRL = int(mjtDisableBit.mjDSBL_CLAMPCTRL)
DSBL_CONSTRAINT = int(mjtDisableBit.mjDSBL_CONSTRAINT)
DSBL_CONTACT = int(mjtDisableBit.mjDSBL_CONTACT)
DSBL_DAMPER = int(mjtDisableBit.mjDSBL_DAMPER)
DSBL_EQUALITY = int(mjtDisableBit.mjDSBL_EQUALITY)
DSBL_EULERDAMP = int(mjtDisableBit.mjDSBL_EULERDAMP)
DSBL_FILTERPARENT = int(mjtDisableBit.mjDSBL_FILTERPARENT)
DSBL_FRICTIONLOSS = int(mjtDisableBit.mjDSBL_FRICTIONLOSS)
DSBL_GRAVITY = int(mjtDisableBit.mjDSBL_GRAVITY)
DSBL_LIMIT = int(mjtDisableBit.mjDSBL_LIMIT)
DSBL_MIDPHASE = int(mjtDisableBit.mjDSBL_MIDPHASE)
DSBL_PASSIVE = int(mjtDisableBit.mjDSBL_PASSIVE)
DSBL_REFSAFE = int(mjtDisableBit.mjDSBL_REFSAFE)
DSBL_SENSOR = int(mjtDisableBit.mjDSBL_SENSOR)
DSBL_SPRING = int(mjtDisableBit.mjDSBL_SPRING)
DSBL_WARMSTART = int(mjtDisableBit.mjDSBL_WARMSTART)

DYN_FILTER = int(mjtDyn.mjDYN_FILTER)
DYN_FILTEREXACT = int(mjtDyn.mjDYN_FILTEREXACT)
DYN_INTEGRATOR = int(mjtDyn.mjDYN_INTEGRATOR)
DYN_DCMOTOR = int(mjtDyn.mjDYN_DCMOTOR)
DYN_MUSCLE = int(mjtDyn.mjDYN_MUSCLE)
DYN_NONE = int(mjtDyn.mjDYN_NONE)
DYN_PID = int(mjtDyn.mjDYN_PID)
DYN_USER = int(mjtDyn.mjDYN_USER)

ENBL_ISLAND = int(mjtEnableBit.mjENBL_ISLAND)
ENBL_MULTICCD = int(mjtEnableBit.mjENBL_MULTICCD)
ENBL_NATIVECCD = int(mjtEnableBit.mjENBL_NATIVECCD)
ENBL_OVERRIDE = int(mjtEnableBit.mjENBL_OVERRIDE)
ENBL_SLEEP = int(mjtEnableBit.mjENBL_SLEEP)

EQ_CONNECT = int(mjtEq.mjEQ_CONNECT)
EQ_FLEX = int(mjtEq.mjEQ_FLEX)
EQ_JOINT = int(mjtEq.mjEQ_JOINT)
EQ_TENDON = int(mjtEq.mjEQ_TENDON)
EQ_WELD = int(mjtEq.mjEQ_WELD)

FLEXSELF_AUTO = int(mjtFlexSelf.mjFLEXSELF_AUTO)
FLEXSELF_BVH = int(mjtFlexSelf.mjFLEXSELF_BVH)
FLEXSELF_NARROW = int(mjtFlexSelf.mjFLEXSELF_NARROW)
FLEXSELF_NONE = int(mjtFlexSelf.mjFLEXSELF_NONE)

FRAME_CONTACT = int(mjtFrame.mjFRAME_CONTACT)

GAIN_AFFINE = int(mjtGain.mjGAIN_AFFINE)
GAIN_DCMOTOR = int(mjtGain.mjGAIN_DCMOTOR)
GAIN_FIXED = int(mjtGain.mjGAIN_FIXED)
GAIN_MUSCLE = int(mjtGain.mjGAIN_MUSCLE)
GAIN_PID = int(mjtGain.mjGAIN_PID)
GAIN_SO3 = int(mjtGain.mjGAIN_SO3)
GAIN_USER = int(mjtGain.mjGAIN_USER)

GEOM_ARROW = int(mjtGeom.mjGEOM_ARROW)
GEOM_ARROW1 = int(mjtGeom.mjGEOM_ARROW1)
GEOM_ARROW2 = int(mjtGeom.mjGEOM_ARROW2)
GEOM_BOX = int(mjtGeom.mjGEOM_BOX)
GEOM_CAPSULE = int(mjtGeom.mjGEOM_CAPSULE)
GEOM_CYLINDER = int(mjtGeom.mjGEOM_CYLINDER)
GEOM_ELLIPSOID = int(mjtGeom.mjGEOM_ELLIPSOID)
GEOM_FLEX = int(mjtGeom.mjGEOM_FLEX)
GEOM_HFIELD = int(mjtGeom.mjGEOM_HFIELD)
GEOM_LABEL = int(mjtGeom.mjGEOM_LABEL)
GEOM_LINE = int(mjtGeom.mjGEOM_LINE)
GEOM_LINEBOX = int(mjtGeom.mjGEOM_LINEBOX)
GEOM_MESH = int(mjtGeom.mjGEOM_MESH)
GEOM_PLANE = int(mjtGeom.mjGEOM_PLANE)
GEOM_SDF = int(mjtGeom.mjGEOM_SDF)
GEOM_SKIN = int(mjtGeom.mjGEOM_SKIN)
GEOM_SPHERE = int(mjtGeom.mjGEOM_SPHERE)
GEOM_TRIANGLE = int(mjtGeom.mjGEOM_TRIANGLE)

INPUT_FF = int(mjtCtrlInput.mjINPUT_FF)
INPUT_POS = int(mjtCtrlInput.mjINPUT_POS)
INPUT_VEL = int(mjtCtrlInput.mjINPUT_VEL)
INPUT_VOLTAGE = int(mjtCtrlInput.mjINPUT_VOLTAGE)
INT_DISCRETE = int(mjtIntegrator.mjINT_DISCRETE)
INT_IMPLICITFAST = int(mjtIntegrator.mjINT_IMPLICITFAST)

JAC_AUTO = int(mjtJacobian.mjJAC_AUTO)
JAC_SPARSE = int(mjtJacobian.mjJAC_SPARSE)

JNT_BALL = int(mjtJoint.mjJNT_BALL)
JNT_FREE = int(mjtJoint.mjJNT_FREE)
JNT_SLIDE = int(mjtJoint.mjJNT_SLIDE)

OBJ_ACTUATOR = int(mjtObj.mjOBJ_ACTUATOR)
OBJ_BODY = int(mjtObj.mjOBJ_BODY)
OBJ_CAMERA = int(mjtObj.mjOBJ_CAMERA)
OBJ_EQUALITY = int(mjtObj.mjOBJ_EQUALITY)
OBJ_GEOM = int(mjtObj.mjOBJ_GEOM)
OBJ_JOINT = int(mjtObj.mjOBJ_JOINT)
OBJ_SITE = int(mjtObj.mjOBJ_SITE)
OBJ_TENDON = int(mjtObj.mjOBJ_TENDON)
OBJ_UNKNOWN = int(mjtObj.mjOBJ_UNKNOWN)
OBJ_XBODY = int(mjtObj.mjOBJ_XBODY)

PLUGIN_ACTUATOR = int(mjtPluginCapabilityBit.mjPLUGIN_ACTUATOR)
PLUGIN_PASSIVE = int(mjtPluginCapabilityBit.mjPLUGIN_PASSIVE)
PLUGIN_SDF = int(mjtPluginCapabilityBit.mjPLUGIN_SDF)
PLUGIN_SENSOR = int(mjtPluginCapabilityBit.mjPLUGIN_SENSOR)

SENS_CLOCK = int(mjtSensor.mjSENS_CLOCK)
SENS_CONTACT = int(mjtSensor.mjSENS_CONTACT)
SENS_E_KINETIC = int(mjtSensor.mjSENS_E_KINETIC)
SENS_E_POTENTIAL = int(mjtSensor.mjSENS_E_POTENTIAL)
SENS_GEOMFROMTO = int(mjtSensor.mjSENS_GEOMFROMTO)
SENS_PLUGIN = int(mjtSensor.mjSENS_PLUGIN)
SENS_RANGEFINDER = int(mjtSensor.mjSENS_RANGEFINDER)
SENS_TACTILE = int(mjtSensor.mjSENS_TACTILE)
SENS_USER = int(mjtSensor.mjSENS_USER)

SLEEP_AUTO_NEVER = int(mjtSleepPolicy.mjSLEEP_AUTO_NEVER)
SLEEP_INIT = int(mjtSleepPolicy.mjSLEEP_INIT)
SLEEP_NEVER = int(mjtSleepPolicy.mjSLEEP_NEVER)
SOL_PGS = int(mjtSolver.mjSOL_PGS)

STAGE_ACC = int(mjtStage.mjSTAGE_ACC)

STATE_FULLPHYSICS = int(mjtState.mjSTATE_FULLPHYSICS)
STATE_INTEGRATION = int(mjtState.mjSTATE_INTEGRATION)

TEXTURE_2D = int(mjtTexture.mjTEXTURE_2D)

TRN_BODY = int(mjtTrn.mjTRN_BODY)
TRN_JOINT = int(mjtTrn.mjTRN_JOINT)
TRN_JOINTINPARENT = int(mjtTrn.mjTRN_JOINTINPARENT)
TRN_SITE = int(mjtTrn.mjTRN_SITE)
TRN_SLIDERCRANK = int(mjtTrn.mjTRN_SLIDERCRANK)
TRN_SO3 = int(mjtTrn.mjTRN_SO3)
TRN_TENDON = int(mjtTrn.mjTRN_TENDON)

WARN_BADCTRL = int(mjtWarning.mjWARN_BADCTRL)
WARN_BADQACC = int(mjtWarning.mjWARN_BADQACC)
WARN_BADQPOS = int(mjtWarning.mjWARN_BADQPOS)
WARN_BADQVEL = int(mjtWarning.mjWARN_BADQVEL)
WARN_CNSTRFULL = int(mjtWarning.mjWARN_CNSTRFULL)
WARN_CONTACTFULL = int(mjtWarning.mjWARN_CONTACTFULL)
WARN_INERTIA = int(mjtWarning.mjWARN_INERTIA)
WARN_VGEOMFULL = int(mjtWarning.mjWARN_VGEOMFULL)

WRAP_CYLINDER = int(mjtWrap.mjWRAP_CYLINDER)
WRAP_JOINT = int(mjtWrap.mjWRAP_JOINT)
WRAP_PULLEY = int(mjtWrap.mjWRAP_PULLEY)
WRAP_SITE = int(mjtWrap.mjWRAP_SITE)
