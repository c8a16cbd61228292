"""Enumerations of `mjModel`: the kinds of elements that a model is made of (spec: Modeling, model elements)."""

from cardan.enums.base import MjEnum, numbers


class mjtObj(MjEnum):
    """Types of named objects, as used by `mj_name2id`, sensors, tuples and equality constraints."""

    mjOBJ_UNKNOWN = 0
    mjOBJ_BODY = 1
    mjOBJ_XBODY = 2  # body, represented by its own frame instead of its inertial frame
    mjOBJ_JOINT = 3
    mjOBJ_DOF = 4
    mjOBJ_GEOM = 5
    mjOBJ_SITE = 6
    mjOBJ_CAMERA = 7
    mjOBJ_LIGHT = 8
    mjOBJ_FLEX = 9
    mjOBJ_MESH = 10
    mjOBJ_SKIN = 11
    mjOBJ_HFIELD = 12
    mjOBJ_TEXTURE = 13
    mjOBJ_MATERIAL = 14
    mjOBJ_PAIR = 15
    mjOBJ_EXCLUDE = 16
    mjOBJ_EQUALITY = 17
    mjOBJ_TENDON = 18
    mjOBJ_ACTUATOR = 19
    mjOBJ_SENSOR = 20
    mjOBJ_NUMERIC = 21
    mjOBJ_TEXT = 22
    mjOBJ_TUPLE = 23
    mjOBJ_KEY = 24
    mjOBJ_PLUGIN = 25
    mjNOBJECT = 26  # number of object types
    mjOBJ_FRAME = 100  # from here on: only in the modelling language
    mjOBJ_DEFAULT = 101
    mjOBJ_MODEL = 102


class mjtJoint(MjEnum):
    """Joint types; the comment gives the number of `qpos` and `qvel` entries."""

    mjJNT_FREE = 0  # position and quaternion (7, 6)
    mjJNT_BALL = 1  # quaternion (4, 3)
    mjJNT_SLIDE = 2  # displacement along an axis (1, 1)
    mjJNT_HINGE = 3  # angle about an axis, rad (1, 1)


class mjtGeom(MjEnum):
    """Geom types: shapes of a model, then shapes that only a visualiser draws."""

    mjGEOM_PLANE = 0
    mjGEOM_HFIELD = 1
    mjGEOM_SPHERE = 2
    mjGEOM_CAPSULE = 3
    mjGEOM_ELLIPSOID = 4
    mjGEOM_CYLINDER = 5
    mjGEOM_BOX = 6
    mjGEOM_MESH = 7
    mjGEOM_SDF = 8  # signed distance field of a plugin
    mjNGEOMTYPES = 9  # number of shapes that a model can have
    mjGEOM_ARROW = 100  # from here on: drawn only
    mjGEOM_ARROW1 = 101
    mjGEOM_ARROW2 = 102
    mjGEOM_LINE = 103
    mjGEOM_LINEBOX = 104
    mjGEOM_FLEX = 105
    mjGEOM_SKIN = 106
    mjGEOM_LABEL = 107
    mjGEOM_TRIANGLE = 108
    mjGEOM_NONE = 1001  # no geom


class mjtCamLight(MjEnum):
    """Mode in which a camera or light follows bodies (`cam_mode`, `light_mode`)."""

    mjCAMLIGHT_FIXED = 0  # fixed to its body
    mjCAMLIGHT_TRACK = 1  # position follows the body, orientation stays
    mjCAMLIGHT_TRACKCOM = 2  # position follows the centre of mass of the subtree, orientation stays
    mjCAMLIGHT_TARGETBODY = 3  # fixed position in its body, looks at the target body
    mjCAMLIGHT_TARGETBODYCOM = 4  # fixed position in its body, looks at the target's centre of mass


class mjtTexture(MjEnum):
    """Texture types (`tex_type`)."""

    mjTEXTURE_2D = 0  # flat image
    mjTEXTURE_CUBE = 1  # six images, folded round the geom
    mjTEXTURE_SKYBOX = 2  # cube drawn behind the scene


class mjtEq(MjEnum):
    """Types of equality constraints (`eq_type`)."""

    mjEQ_CONNECT = 0  # a common point of two bodies
    mjEQ_WELD = 1  # a fixed relative pose of two bodies
    mjEQ_JOINT = 2  # one joint position as a polynomial of another
    mjEQ_TENDON = 3  # one tendon length as a polynomial of another
    mjEQ_FLEX = 4  # constant lengths of the edges of a flex
    mjEQ_DISTANCE = numbers(5, 7)  # no longer supported
    mjEQ_FLEXVERT = numbers(6, 5)  # not supported
    mjEQ_FLEXSTRAIN = numbers(7, 6)  # constant strains of the cells of a flex


class mjtWrap(MjEnum):
    """Types of the objects on a tendon's path (`wrap_type`)."""

    mjWRAP_NONE = 0
    mjWRAP_JOINT = 1  # fixed tendon: constant moment arm
    mjWRAP_PULLEY = 2  # divides the path into branches
    mjWRAP_SITE = 3  # straight path through a site
    mjWRAP_SPHERE = 4  # path round a sphere
    mjWRAP_CYLINDER = 5  # path round an infinite cylinder


class mjtFlexSelf(MjEnum):
    """Method for self-collisions of a flex (`flex_selfcollide`)."""

    mjFLEXSELF_NONE = 0
    mjFLEXSELF_NARROW = 1  # every pair of elements
    mjFLEXSELF_BVH = 2  # bounding volume hierarchy
    mjFLEXSELF_SAP = 3  # sweep and prune
    mjFLEXSELF_AUTO = 4  # choice by the dimension of the flex


class mjtPluginCapabilityBit(MjEnum):
    """Bits for the parts of the computation in which a plugin takes part."""

    mjPLUGIN_ACTUATOR = 1 << 0
    mjPLUGIN_SENSOR = 1 << 1
    mjPLUGIN_PASSIVE = 1 << 2
    mjPLUGIN_SDF = 1 << 3  # signed distance fields
