"""Enumerations of `mjOption`: computations of the pipeline, and their algorithms.

Spec: computation, algorithms and settings.
"""

from cardan.enums.base import MjEnum, numbers


class mjtDisableBit(MjEnum):
    """Bits of `opt.disableflags`: each set bit disables a part of the pipeline."""

    mjDSBL_CONSTRAINT = 1 << 0  # all constraints and their solver
    mjDSBL_EQUALITY = 1 << 1  # equality constraints
    mjDSBL_FRICTIONLOSS = 1 << 2  # dry friction of joints and tendons
    mjDSBL_LIMIT = 1 << 3  # limits of joints and tendons
    mjDSBL_CONTACT = 1 << 4  # collision detection and contacts
    mjDSBL_PASSIVE = numbers(1 << 5, None)  # springs, dampers, gravity compensation, fluid forces
    mjDSBL_GRAVITY = numbers(1 << 6, 1 << 7)  # gravity
    mjDSBL_CLAMPCTRL = numbers(1 << 7, 1 << 8)  # limiting controls to ctrlrange
    mjDSBL_WARMSTART = numbers(1 << 8, 1 << 9)  # starting the solver from the previous solution
    mjDSBL_FILTERPARENT = numbers(1 << 9, 1 << 10)  # leaving out collisions between parent and child
    mjDSBL_ACTUATION = numbers(1 << 10, 1 << 11)  # actuator forces
    mjDSBL_REFSAFE = numbers(1 << 11, 1 << 12)  # keeping solref's time constant at two time steps or more
    mjDSBL_SENSOR = numbers(1 << 12, 1 << 13)  # sensors
    mjDSBL_MIDPHASE = numbers(1 << 13, 1 << 14)  # bounding volumes in collision detection
    mjDSBL_EULERDAMP = numbers(1 << 14, 1 << 15)  # implicit joint damping in the Euler integrator
    mjDSBL_SPRING = numbers(1 << 24, 1 << 5)  # springs of joints, tendons and flexes
    mjDSBL_DAMPER = numbers(1 << 25, 1 << 6)  # their dampers; if springs are off, too, passive forces are 0
    mjDSBL_AUTORESET = numbers(1 << 26, 1 << 16)  # reset of the data when a number is bad
    mjDSBL_NATIVECCD = numbers(None, 1 << 17)  # exact convex collisions
    mjDSBL_ISLAND = numbers(None, 1 << 18)  # discovery of constraint islands
    mjDSBL_MULTICCD = numbers(None, 1 << 19)  # several contacts for a pair of convex geoms
    mjNDISABLE = numbers(15, 20)  # number of disable bits


class mjtEnableBit(MjEnum):
    """Bits of `opt.enableflags`: each set bit enables an optional part of the pipeline."""

    mjENBL_OVERRIDE = 1 << 0  # contact parameters are taken from opt.o_*
    mjENBL_ENERGY = 1 << 1  # potential and kinetic energy
    mjENBL_FWDINV = 1 << 2  # comparison of forward and inverse dynamics
    mjENBL_INVDISCRETE = 1 << 3  # inverse dynamics of the discrete-time step
    mjENBL_MULTICCD = numbers(1 << 4, None)  # several contacts for a pair of convex geoms
    mjENBL_ISLAND = numbers(1 << 5, None)  # discovery of constraint islands
    mjENBL_NATIVECCD = numbers(1 << 6, None)  # exact convex collisions (GJK and EPA), not portal refinement
    mjENBL_SLEEP = numbers(1 << 7, 1 << 4)  # sleeping of trees at rest
    mjENBL_DIAGEXACT = numbers(1 << 8, 1 << 5)  # exact diagonal of the constraint-space inertia
    mjENBL_IPC = numbers(1 << 9, 1 << 6)  # barrier contacts of flexes
    mjENBL_SPECULATIVE = numbers(1 << 10, 1 << 7)  # contacts of fast geoms before they touch
    mjNENABLE = numbers(6, 8)  # number of enable bits


class mjtIntegrator(MjEnum):
    """Numerical integrator that advances the state (`opt.integrator`)."""

    mjINT_EULER = 0  # semi-implicit Euler
    mjINT_RK4 = 1  # fourth-order Runge-Kutta
    mjINT_IMPLICIT = 2  # implicit in velocity
    mjINT_IMPLICITFAST = 3  # implicit in velocity, without the derivative of the Coriolis force
    mjINT_DISCRETE = 4  # effective metric of the discrete step


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
