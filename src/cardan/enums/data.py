"""Enumerations of `mjData`: constraint rows, state elements, warnings and timers.

Spec: simulation, state and control.
"""

from cardan.enums.base import MjEnum, numbers


class mjtConstraint(MjEnum):
    """Kinds of scalar constraint rows (`efc_type`)."""

    mjCNSTR_EQUALITY = 0
    mjCNSTR_FRICTION_DOF = 1  # dry friction of a dof
    mjCNSTR_FRICTION_TENDON = 2  # dry friction of a tendon
    mjCNSTR_LIMIT_JOINT = 3
    mjCNSTR_LIMIT_TENDON = 4
    mjCNSTR_CONTACT_FRICTIONLESS = 5  # normal force alone
    mjCNSTR_CONTACT_PYRAMIDAL = 6  # edge of a pyramidal cone
    mjCNSTR_CONTACT_ELLIPTIC = 7  # component of an elliptic cone


class mjtConstraintState(MjEnum):
    """State of a constraint row at the solution (`efc_state`)."""

    mjCNSTRSTATE_SATISFIED = 0  # no cost, no force
    mjCNSTRSTATE_QUADRATIC = 1  # quadratic part of the cost
    mjCNSTRSTATE_LINEARNEG = 2  # linear part below (friction loss)
    mjCNSTRSTATE_LINEARPOS = 3  # linear part above (friction loss)
    mjCNSTRSTATE_CONE = 4  # squared distance to the elliptic cone


class mjtState(MjEnum):
    """Bits that select parts of the state for `mj_getState`, `mj_setState` and `mj_stateSize`."""

    mjSTATE_TIME = 1 << 0  # time
    mjSTATE_QPOS = 1 << 1  # qpos
    mjSTATE_QVEL = 1 << 2  # qvel
    mjSTATE_ACT = 1 << 3  # act
    mjSTATE_WARMSTART = numbers(1 << 4, 1 << 5)  # qacc_warmstart
    mjSTATE_CTRL = numbers(1 << 5, 1 << 6)  # ctrl
    mjSTATE_QFRC_APPLIED = numbers(1 << 6, 1 << 7)  # qfrc_applied
    mjSTATE_XFRC_APPLIED = numbers(1 << 7, 1 << 8)  # xfrc_applied
    mjSTATE_EQ_ACTIVE = numbers(1 << 8, 1 << 9)  # eq_active
    mjSTATE_MOCAP_POS = numbers(1 << 9, 1 << 10)  # mocap_pos
    mjSTATE_MOCAP_QUAT = numbers(1 << 10, 1 << 11)  # mocap_quat
    mjSTATE_USERDATA = numbers(1 << 11, 1 << 12)  # userdata
    mjSTATE_PLUGIN = numbers(1 << 12, 1 << 13)  # plugin_state
    mjSTATE_HISTORY = numbers(1 << 13, 1 << 4)  # history; after act in the state
    mjSTATE_PLASTIC = 1 << 14  # plastic
    mjNSTATE = numbers(14, 15)  # number of state elements
    mjSTATE_PHYSICS = numbers(0x200E, 0x401E)  # qpos, qvel, act, history; in 4.0 plastic, too
    mjSTATE_FULLPHYSICS = numbers(0x300F, 0x601F)  # PHYSICS with time and plugin state
    mjSTATE_USER = numbers(0x0FE0, 0x1FC0)  # all inputs from the user: from ctrl to userdata
    mjSTATE_INTEGRATION = numbers(0x3FFF, 0x7FFF)  # all inputs of the next step


class mjtWarning(MjEnum):
    """Indices into `mjData.warning`: events that are counted and do not stop the simulation."""

    mjWARN_INERTIA = 0  # inertia matrix (nearly) singular
    mjWARN_CONTACTFULL = 1  # no room for a contact
    mjWARN_CNSTRFULL = 2  # no room for a constraint row
    mjWARN_VGEOMFULL = numbers(3, None)  # no room for a visual geom
    mjWARN_BADQPOS = numbers(4, 3)  # bad number in qpos
    mjWARN_BADQVEL = numbers(5, 4)  # bad number in qvel
    mjWARN_BADQACC = numbers(6, 5)  # bad number in qacc
    mjWARN_BADCTRL = numbers(7, 6)  # bad number in ctrl
    mjNWARNING = numbers(8, 7)  # number of warnings


class mjtTimer(MjEnum):
    """Indices into `mjData.timer`: parts of the pipeline whose duration is measured."""

    mjTIMER_STEP = 0
    mjTIMER_FORWARD = 1
    mjTIMER_INVERSE = 2
    mjTIMER_POSITION = 3  # mj_fwdPosition
    mjTIMER_VELOCITY = 4  # mj_fwdVelocity
    mjTIMER_ACTUATION = 5  # mj_fwdActuation
    mjTIMER_CONSTRAINT = 6  # mj_fwdConstraint
    mjTIMER_ADVANCE = 7  # integrator
    mjTIMER_POS_KINEMATICS = 8  # kinematics, centres of mass, tendons, transmissions
    mjTIMER_POS_INERTIA = 9  # inertia matrix and its factor
    mjTIMER_POS_COLLISION = 10  # collision detection
    mjTIMER_POS_MAKE = 11  # constraint rows
    mjTIMER_POS_PROJECT = 12  # projection of the constraints
    mjTIMER_COL_BROAD = 13  # broad phase
    mjTIMER_COL_NARROW = 14  # narrow phase
    mjNTIMER = 15  # number of timers


class mjtTaskStatus(MjEnum):
    """State of a task in a thread pool."""

    mjTASK_NEW = 0
    mjTASK_QUEUED = 1
    mjTASK_COMPLETED = 2
