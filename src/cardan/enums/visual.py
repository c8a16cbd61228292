"""Enumerations of the abstract visualiser (`mjv`): cameras, labels, frames and drawing flags.

Spec: simulation, visualization.
"""

from cardan.enums.base import MjEnum, numbers


class mjtCatBit(MjEnum):
    """Bits of geom categories in a visualised scene (`mjvGeom.category`)."""

    mjCAT_STATIC = 1  # elements of the world body
    mjCAT_DYNAMIC = 2  # elements of all other bodies
    mjCAT_DECOR = 4  # decoration
    mjCAT_ALL = 7


class mjtMouse(MjEnum):
    """Actions that a mouse movement performs in a viewer."""

    mjMOUSE_NONE = 0
    mjMOUSE_ROTATE_V = 1  # rotate in the vertical plane
    mjMOUSE_ROTATE_H = 2  # rotate in the horizontal plane
    mjMOUSE_MOVE_V = 3  # move in the vertical plane
    mjMOUSE_MOVE_H = 4  # move in the horizontal plane
    mjMOUSE_ZOOM = 5
    mjMOUSE_SELECT = numbers(6, None)
    mjMOUSE_MOVE_V_REL = numbers(7, 6)  # as MOVE_V, relative to the target
    mjMOUSE_MOVE_H_REL = numbers(8, 7)  # as MOVE_H, relative to the target
    mjMOUSE_TURN_V = numbers(9, 8)  # turn the camera in the vertical plane
    mjMOUSE_TURN_H = numbers(10, 9)  # turn the camera in the horizontal plane


class mjtPertBit(MjEnum):
    """Bits of the active mouse perturbation (`mjvPerturb.active`)."""

    mjPERT_TRANSLATE = 1
    mjPERT_ROTATE = 2


class mjtCamera(MjEnum):
    """Types of the abstract camera (`mjvCamera.type`)."""

    mjCAMERA_FREE = 0
    mjCAMERA_TRACKING = 1  # follows a body
    mjCAMERA_FIXED = 2  # camera of the model
    mjCAMERA_USER = 3  # set by the program


class mjtLabel(MjEnum):
    """Objects that get a text label (`mjvOption.label`)."""

    mjLABEL_NONE = 0
    mjLABEL_BODY = 1
    mjLABEL_JOINT = 2
    mjLABEL_GEOM = 3
    mjLABEL_SITE = 4
    mjLABEL_CAMERA = 5
    mjLABEL_LIGHT = 6
    mjLABEL_TENDON = 7
    mjLABEL_ACTUATOR = 8
    mjLABEL_CONSTRAINT = 9
    mjLABEL_FLEX = 10
    mjLABEL_SKIN = 11
    mjLABEL_SELECTION = 12
    mjLABEL_SELPNT = 13  # coordinates of the selected point
    mjLABEL_CONTACTPOINT = 14
    mjLABEL_CONTACTFORCE = 15  # size of the contact force
    mjLABEL_ISLAND = 16
    mjNLABEL = 17  # number of label types


class mjtFrame(MjEnum):
    """Objects whose coordinate frame is drawn (`mjvOption.frame`)."""

    mjFRAME_NONE = 0
    mjFRAME_BODY = 1
    mjFRAME_GEOM = 2
    mjFRAME_SITE = 3
    mjFRAME_CAMERA = 4
    mjFRAME_LIGHT = 5
    mjFRAME_CONTACT = 6
    mjFRAME_WORLD = 7
    mjNFRAME = 8  # number of frame types


class mjtVisFlag(MjEnum):
    """Indices into `mjvOption.flags`: visibility of model elements."""

    mjVIS_CONVEXHULL = 0
    mjVIS_TEXTURE = 1
    mjVIS_JOINT = 2
    mjVIS_CAMERA = 3
    mjVIS_ACTUATOR = 4
    mjVIS_ACTIVATION = 5
    mjVIS_LIGHT = 6
    mjVIS_TENDON = 7
    mjVIS_RANGEFINDER = 8
    mjVIS_CONSTRAINT = 9  # equality constraints that act at points
    mjVIS_INERTIA = 10
    mjVIS_SCLINERTIA = 11
    mjVIS_PERTFORCE = 12
    mjVIS_PERTOBJ = 13
    mjVIS_CONTACTPOINT = 14
    mjVIS_ISLAND = 15
    mjVIS_CONTACTFORCE = 16
    mjVIS_CONTACTSPLIT = 17
    mjVIS_TRANSPARENT = 18
    mjVIS_AUTOCONNECT = 19
    mjVIS_COM = 20
    mjVIS_SELECT = 21
    mjVIS_STATIC = 22
    mjVIS_SKIN = 23
    mjVIS_FLEXVERT = 24
    mjVIS_FLEXEDGE = 25
    mjVIS_FLEXFACE = 26
    mjVIS_FLEXSKIN = 27  # smooth surface of a flex, in place of the rest
    mjVIS_BODYBVH = 28
    mjVIS_FLEXBVH = numbers(29, None)
    mjVIS_MESHBVH = numbers(30, 29)
    mjVIS_SDFITER = numbers(31, 30)  # iterations of the signed-distance descent
    mjNVISFLAG = numbers(32, 31)  # number of visualisation flags


class mjtRndFlag(MjEnum):
    """Indices into `mjvScene.flags`: effects of the renderer."""

    mjRND_SHADOW = 0
    mjRND_WIREFRAME = 1
    mjRND_REFLECTION = 2
    mjRND_ADDITIVE = 3
    mjRND_SKYBOX = 4
    mjRND_FOG = 5
    mjRND_HAZE = 6
    mjRND_SEGMENT = numbers(7, 8)  # random colours by object
    mjRND_IDCOLOR = numbers(8, 9)  # colours that encode segment ids
    mjRND_CULL_FACE = numbers(9, 10)
    mjRND_DEPTH = numbers(None, 7)  # depths in place of colours
    mjRND_POST_PROCESSING = numbers(None, 11)  # effects on the finished picture
    mjNRNDFLAG = numbers(10, 12)  # number of rendering flags


class mjtStereo(MjEnum):
    """Stereo rendering (`mjvScene.stereo`)."""

    mjSTEREO_NONE = 0
    mjSTEREO_QUADBUFFERED = 1
    mjSTEREO_SIDEBYSIDE = 2
