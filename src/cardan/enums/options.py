"""Enumerations of `mjOption`: computations of the pipeline, and their algorithms.

Spec: computation, algorithms and settings.
"""

from cardan.enums.base import MjEnum


class mjtDisableBit(MjEnum):
    """Bits of `opt.disableflags`: each set bit disables a part of the pipeline."""

    mjDSBL_CONSTRAINT = 1 << 0  # all constraints and their solver
    mjDSBL_EQUALITY = 1 << 1  # equality constraints
    mjDSBL_FRICTIONLOSS = 1 << 2  # dry friction of joints and tendons
    mjDSBL_LIMIT = 1 << 3  # limits of joints and tendons
    mjDSBL_CONTACT = 1 << 4  # collision detection and contacts
    mjDSBL_PASSIVE = 1 << 5  # springs, dampers, gravity compensation, fluid forces
    mjDSBL_GRAVITY = 1 << 6  # gravity
    mjDSBL_CLAMPCTRL = 1 << 7  # limiting controls to ctrlrange
    mjDSBL_WARMSTART = 1 << 8  # starting the solver from the previous solution
    mjDSBL_FILTERPARENT = 1 << 9  # leaving out collisions between parent and child
    mjDSBL_ACTUATION = 1 << 10  # actuator forces
    mjDSBL_REFSAFE = 1 << 11  # keeping solref's time constant at two time steps or more
    mjDSBL_SENSOR = 1 << 12  # sensors
    mjDSBL_MIDPHASE = 1 << 13  # bounding volumes in collision detection
    mjDSBL_EULERDAMP = 1 << 14  # implicit joint damping in the Euler integrator
    mjNDISABLE = 15  # number of disable bits


class mjtEnableBit(MjEnum):
    """Bits of `opt.enableflags`: each set bit enables an optional part of the pipeline."""

    mjENBL_OVERRIDE = 1 << 0  # contact parameters are taken from opt.o_*
    mjENBL_ENERGY = 1 << 1  # potential and kinetic energy
    mjENBL_FWDINV = 1 << 2  # comparison of forward and inverse dynamics
    mjENBL_INVDISCRETE = 1 << 3  # inverse dynamics of the discrete-time step
    mjENBL_MULTICCD = 1 << 4  # several contacts for a pair of convex geoms
    mjENBL_ISLAND = 1 << 5  # discovery of constraint islands
    mjNENABLE = 6  # number of enable bits


class mjtIntegrator(MjEnum):
    """Numerical integrator that advances the state (`opt.integrator`)."""

    mjINT_EULER = 0  # semi-implicit Euler
    mjINT_RK4 = 1  # fourth-order Runge-Kutta
    mjINT_IMPLICIT = 2  # implicit in velocity
    mjINT_IMPLICITFAST = 3  # implicit in velocity, without the derivative of the Coriolis force


class mjtCone(MjEnum):
    """Shape of the friction cone of contacts (`opt.cone`)."""

    mjCONE_PYRAMIDAL = 0  # linearised cone
    mjCONE_ELLIPTIC = 1  # second-order cone


class mjtJacobian(MjEnum):
    """Storage of the constraint Jacobian `efc_J` (`opt.jacobian`)."""

    mjJAC_DENSE = 0  # full matrix
    mjJAC_SPARSE = 1  # compressed rows
    mjJAC_AUTO = 2  # sparse for large models


class mjtSolver(MjEnum):
    """Algorithm that minimises the constraint cost (`opt.solver`)."""

    mjSOL_PGS = 0  # projected Gauss-Seidel on the dual problem
    mjSOL_CG = 1  # conjugate gradient on the primal problem
    mjSOL_NEWTON = 2  # Newton's method on the primal problem
