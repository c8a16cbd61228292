"""Enumerations of actuators: transmission, activation dynamics, gain and bias (spec: Computation, actuation model)."""

from cardan.enums.base import MjEnum, numbers


class mjtTrn(MjEnum):
    """Actuator transmissions: objects on which the force acts (`actuator_trntype`)."""

    mjTRN_JOINT = 0  # joint
    mjTRN_JOINTINPARENT = 1  # joint, with the axis in the parent's frame
    mjTRN_SLIDERCRANK = 2  # slider moved by a crank
    mjTRN_TENDON = 3  # tendon
    mjTRN_SITE = 4  # site: force and torque at its frame
    mjTRN_BODY = 5  # body: adhesion at its contacts
    mjTRN_SO3 = 6  # orientation of a ball joint or of two sites
    mjTRN_UNDEFINED = 1000


class mjtDyn(MjEnum):
    """Activation dynamics: relation of control and activation (`actuator_dyntype`)."""

    mjDYN_NONE = 0  # no activation
    mjDYN_INTEGRATOR = 1  # act_dot = ctrl
    mjDYN_FILTER = 2  # act_dot = (ctrl - act) / tau
    mjDYN_FILTEREXACT = 3  # the same filter, integrated exactly
    mjDYN_MUSCLE = 4  # activation and deactivation with different time constants
    mjDYN_USER = numbers(5, 7)  # act_dot from mjcb_act_dyn
    mjDYN_DCMOTOR = numbers(6, 5)  # states of a DC motor
    mjDYN_PID = numbers(7, 6)  # states of a PID controller


class mjtGain(MjEnum):
    """Types of actuator gain (`actuator_gaintype`)."""

    mjGAIN_FIXED = 0  # gainprm[0]
    mjGAIN_AFFINE = 1  # gainprm · (1, length, velocity)
    mjGAIN_MUSCLE = 2  # force-length-velocity curve of a muscle
    mjGAIN_USER = numbers(3, 6)  # value of mjcb_act_gain
    mjGAIN_DCMOTOR = numbers(4, 3)  # DC motor
    mjGAIN_SO3 = numbers(5, 4)  # orientation servo
    mjGAIN_PID = numbers(6, 5)  # PID controller


class mjtBias(MjEnum):
    """Types of actuator bias force (`actuator_biastype`)."""

    mjBIAS_NONE = 0  # zero
    mjBIAS_AFFINE = 1  # biasprm · (1, length, velocity)
    mjBIAS_MUSCLE = 2  # passive force of a muscle
    mjBIAS_USER = numbers(3, 5)  # value of mjcb_act_bias
    mjBIAS_DCMOTOR = numbers(4, 3)  # DC motor
    mjBIAS_SO3 = numbers(5, 4)  # orientation servo


class mjtLRMode(MjEnum):
    """Selection of the actuators that get an automatic length range (`mjLROpt.mode`)."""

    mjLRMODE_NONE = 0
    mjLRMODE_MUSCLE = 1  # muscles
    mjLRMODE_MUSCLEUSER = 2  # muscles and user-defined actuators
    mjLRMODE_ALL = 3  # all actuators
