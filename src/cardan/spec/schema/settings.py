"""Rows of the MJCF table for ``compiler``, ``option``, ``size``, ``statistic``, ``visual`` (spec: modeling, "MJCF")."""

from __future__ import annotations

from cardan.spec.schema import keywords as k
from cardan.spec.schema import rows
from cardan.spec.schema.rows import (
    OWN,
    boolean,
    element,
    integer,
    integers,
    keyword,
    real,
    reals,
    renamed,
    switch,
    text,
)


def _part(tag: str, meaning: str, *attributes: rows.Attribute) -> rows.ElementRow:
    """Return the row of a part of a settings section. Repeated parts count as one."""
    return element(tag, meaning, attributes, multiplicity="?", merged=True)


LENGTH_RANGE_ROW = _part(
    "lengthrange",
    "how length ranges of actuators are computed",
    keyword("mode", k.LENGTH_RANGE, "muscle", "actuators for which length ranges are computed"),
    boolean("useexisting", True, "keep length ranges that the model already gives"),
    boolean("uselimit", False, "take joint and tendon limits as length ranges"),
    real("accel", 20.0, "target acceleration of the search"),
    real("maxforce", 0.0, "bound on the force of the search, 0: none"),
    real("timeconst", 1.0, "time constant of the velocity damping, s"),
    real("timestep", 0.01, "time step of the search, s"),
    real("inttotal", 10.0, "total time of the search, s"),
    real("interval", 2.0, "time at the end of the search in which the length is measured, s"),
    real("tolrange", 0.05, "tolerance of convergence, relative to the range"),
)

COMPILER = element(
    "compiler",
    "how the model is compiled",
    boolean("autolimits", True, "infer 'limited' from whether a range is given"),
    real("boundmass", 0.0, "lower bound on the mass of every moving body, kg"),
    real("boundinertia", 0.0, "lower bound on the diagonal inertias of every moving body, kg m^2"),
    real("settotalmass", -1.0, "scale all masses and inertias to this total mass, kg; negative: don't"),
    boolean("balanceinertia", False, "replace inertias that break the triangle inequality by their mean"),
    boolean("strippath", False, "drop the folder part of file names"),
    keyword("coordinate", k.COORDINATE, "local", "frame of positions; only 'local' is left"),
    keyword("angle", k.ANGLE, "degree", "unit of angles in the file"),
    boolean("fitaabb", False, "fit primitive geoms to the bounding box of a mesh"),
    text("eulerseq", "three axes of Euler angles; lower case: moving, upper case: fixed", default="xyz"),
    text("meshdir", "folder of mesh and height field files"),
    text("texturedir", "folder of texture files"),
    text("assetdir", "folder of mesh and texture files"),
    boolean("discardvisual", False, "drop elements that have no effect on the dynamics"),
    boolean("convexhull", True, "compute convex hulls of meshes", until="3.2.4"),
    boolean("usethread", True, "compile with several threads"),
    boolean("fusestatic", False, "fuse bodies without joints with their parent"),
    keyword("inertiafromgeom", k.INERTIA_FROM_GEOM, "auto", "infer body inertias from geoms"),
    boolean("alignfree", False, "free joints at the inertial frame of bodies without children", since="3.2.3"),
    boolean(
        "saveinertial",
        False,
        "save the inertias of all bodies (they are saved anyway)",
        since="3.3.1",
    ),
    boolean(
        "savecompiled",
        True,
        "save compiled values; false: saving raises an error",
        since="3.16.0",
    ),
    boolean(
        "savecanonical",
        True,
        "save values that are not compiled in canonical notation",
        since="3.16.0",
    ),
    keyword(
        "passthrough",
        k.PASSTHROUGH,
        "none",
        "assets that are not read into the model",
        since="3.17.0",
    ),
    integers("inertiagrouprange", 2, (0, 5), "geom groups that count for inertias: first, last"),
    keyword("conflict", k.CONFLICT, "warning", "settings in which an attached model differs", since="3.10.0"),
    boolean(
        "exactmeshinertia",
        False,
        "compute mesh inertias exactly, also for meshes that are not convex",
        until="3.2.4",
    ),
    children=[LENGTH_RANGE_ROW],
    merged=True,
)

FLAG = _part(
    "flag",
    "parts of the pipeline that can be switched off or on",
    switch("constraint", True, "all constraints"),
    switch("equality", True, "equality constraints"),
    switch("frictionloss", True, "friction loss constraints"),
    switch("limit", True, "joint and tendon limits"),
    switch("contact", True, "collision detection and contacts"),
    switch(
        "passive",
        True,
        "joint and tendon springs and dampers, fluid forces, custom passive forces",
        until="3.3.5",
    ),
    switch("spring", True, "springs of joints, tendons and flexes", since="3.3.6"),
    switch("damper", True, "dampers of joints, tendons and flexes; without both, no passive forces", since="3.3.6"),
    switch("gravity", True, "gravity"),
    switch("clampctrl", True, "clamping of controls to their range"),
    switch("warmstart", True, "warm start of the solver"),
    switch("filterparent", True, "no contacts between a body and its parent"),
    switch("actuation", True, "actuator forces"),
    switch("refsafe", True, "time constants of constraints at least twice the time step"),
    switch("sensor", True, "sensors"),
    switch("midphase", True, "mid phase of collision detection"),
    switch("eulerdamp", True, "joint damping treated implicitly by the Euler integrator"),
    switch("autoreset", True, "reset of the data when a value is invalid; without it, only a warning", since="3.2.1"),
    switch("override", False, "contact parameters overridden by those in option"),
    switch("energy", False, "potential and kinetic energy"),
    switch("fwdinv", False, "comparison of forward and inverse dynamics"),
    switch("invdiscrete", False, "inverse dynamics for discrete time"),
    switch("multiccd", False, "several contacts from the general convex collider", default_4_0=True),
    switch("island", False, "constraint islands", default_4_0=True),
    switch(
        "nativeccd",
        False,
        "exact convex collisions (GJK and EPA), not portal refinement",
        since="3.2.3",
        default_4_0=True,
    ),
    switch("sleep", False, "sleeping of trees at rest", since="3.4"),
    switch("diagexact", False, "exact diagonal of the constraint-space inertia", since="3.9", later="flag diagexact"),
    switch("ipc", False, "barrier contacts of flexes", since="3.14", later="barrier contacts"),
    switch("speculative", False, "contacts of fast geoms before they touch", since="4.0", later="speculative contacts"),
)

_MPR_ITERATIONS = integer(
    "mpr_iterations", 50, "largest number of iterations of the convex collider", until="3.2.2", default_4_0=35
)
_MPR_TOLERANCE = real("mpr_tolerance", 1e-6, "tolerance of the convex collider", until="3.2.2")

OPTION = element(
    "option",
    "options of the simulation",
    real("timestep", 0.002, "simulation time step, s"),
    real("apirate", 100.0, "update rate of remote interfaces, Hz", until="3.3.6"),
    real("impratio", 1.0, "ratio of frictional to normal constraint impedance"),
    reals("gravity", 3, (0.0, 0.0, -9.81), "gravitational acceleration, m/s^2"),
    reals("wind", 3, (0.0, 0.0, 0.0), "velocity of the medium, m/s"),
    reals("magnetic", 3, (0.0, -0.5, 0.0), "magnetic flux"),
    real("density", 0.0, "density of the medium, kg/m^3"),
    real("viscosity", 0.0, "viscosity of the medium, Pa s"),
    real("o_margin", 0.0, "contact margin when contact parameters are overridden, m"),
    reals("o_solref", (1, 2), (0.02, 1.0), "contact reference when overridden"),
    reals("o_solimp", (1, 5), (0.9, 0.95, 0.001, 0.5, 2.0), "contact impedance when overridden"),
    reals("o_friction", (1, 5), (1.0, 1.0, 0.005, 0.0001, 0.0001), "contact friction when overridden"),
    keyword("integrator", k.INTEGRATOR, "Euler", "numerical integrator"),
    keyword("cone", k.CONE, "pyramidal", "friction cone"),
    keyword("jacobian", k.JACOBIAN, "auto", "storage of constraint Jacobians"),
    keyword("solver", k.SOLVER, "Newton", "constraint solver"),
    integer("iterations", 100, "largest number of solver iterations"),
    real("tolerance", 1e-8, "tolerance of the solver"),
    integer("ls_iterations", 50, "largest number of line search iterations"),
    real("ls_tolerance", 0.01, "tolerance of the line search"),
    integer("noslip_iterations", 0, "largest number of no-slip iterations"),
    real("noslip_tolerance", 1e-6, "tolerance of the no-slip solver"),
    _MPR_ITERATIONS,
    renamed("ccd_iterations", _MPR_ITERATIONS, "3.2.3"),
    _MPR_TOLERANCE,
    renamed("ccd_tolerance", _MPR_TOLERANCE, "3.2.3"),
    real("sleep_tolerance", 1e-3, "speed below which trees may sleep", since="3.4"),
    integer("sdf_iterations", 10, "iterations of the collider of signed distance fields"),
    integer("sdf_initpoints", 40, "starting points of the collider of signed distance fields"),
    integers("actuatorgroupdisable", (1, 31), None, "actuator groups (0 to 30) that are switched off"),
    children=[FLAG],
    merged=True,
)

_SHORT = {"joint": "jnt", "camera": "cam"}  # words in the names of sizes
_MEMORY = "memory of the arena, bytes, with a suffix K, M, G, T, P or E; -1: automatic"
SIZE = element(
    "size",
    "sizes that cannot be inferred from the model",
    rows.Attribute("memory", rows.Type.MEMORY, _MEMORY, default=-1),
    integer("njmax", -1, "largest number of constraint rows; -1: automatic (deprecated)"),
    integer("nconmax", -1, "largest number of contacts; -1: automatic (deprecated)"),
    integer("nstack", -1, "size of the stack in floats; -1: automatic (deprecated)"),
    integer("nuserdata", 0, "size of mjData.userdata"),
    integer("nstick", -1, "number of contacts that are remembered from step to step; -1: automatic", since=OWN),
    integer("nkey", 0, "number of keyframes; more are made when the model has more"),
    *(
        integer(f"nuser_{_SHORT.get(of, of)}", -1, f"number of user values of each {of}; -1: as many as the longest")
        for of in ("body", "joint", "geom", "site", "camera", "tendon", "actuator", "sensor")
    ),
    merged=True,
)

STATISTIC = element(
    "statistic",
    "statistics of the model, which override the computed ones",
    real("meanmass", None, "mean mass of moving bodies, kg"),
    real("meaninertia", None, "mean diagonal of the joint-space inertia at qpos0"),
    real("meansize", None, "mean size of bodies, m"),
    real("extent", None, "half the side of the model's bounding box, m"),
    reals("center", 3, None, "centre of the model, m"),
    merged=True,
)

GLOBAL = _part(
    "global",
    "general settings of pictures",
    integer("cameraid", -1, "id of the camera at the beginning; -1: the free camera", since="3.3.4"),
    boolean("orthographic", False, "orthographic projection of the free camera", since="3.2.0"),
    real("fovy", 45.0, "vertical field of view of the free camera, degrees; if it is orthographic, m"),
    real("ipd", 0.068, "distance between the pupils of the free camera, m"),
    real("azimuth", 90.0, "initial azimuth of the free camera, degrees"),
    real("elevation", -45.0, "initial elevation of the free camera, degrees"),
    real("linewidth", 1.0, "width of lines, pixels"),
    real("glow", 0.3, "emission added to a selected body"),
    integer("offwidth", 640, "width of the off-screen buffer, pixels"),
    integer("offheight", 480, "height of the off-screen buffer, pixels"),
    real("realtime", 1.0, "initial real-time factor"),
    boolean("ellipsoidinertia", False, "draw inertias as ellipsoids, not as boxes"),
    boolean("bvactive", True, "draw only the active bounding volumes", default_4_0=False),
)

QUALITY = _part(
    "quality",
    "quality of pictures",
    integer("shadowsize", 4096, "side of the shadow texture, pixels"),
    integer("offsamples", 4, "samples per pixel off screen"),
    integer("numslices", 28, "slices around a round geom"),
    integer("numstacks", 16, "stacks along a round geom"),
    integer("numquads", 4, "quads along a side of a box"),
)

HEADLIGHT = _part(
    "headlight",
    "light at the camera",
    reals("ambient", 3, (0.1, 0.1, 0.1), "ambient colour"),
    reals("diffuse", 3, (0.4, 0.4, 0.4), "diffuse colour"),
    reals("specular", 3, (0.5, 0.5, 0.5), "specular colour"),
    integer(
        "active",
        1,
        "whether the light is on; auto: the renderer decides",
        keywords={"false": 0, "true": 1, "auto": 2},
        default_4_0=2,
    ),
)

_MAP = (
    real("stiffness", 100.0, "mouse perturbation stiffness"),
    real("stiffnessrot", 500.0, "mouse rotation stiffness"),
    real("force", 0.005, "length of force arrows for a unit force"),
    real("torque", 0.1, "length of torque arrows for a unit torque"),
    real("alpha", 0.3, "transparency of dynamic geoms"),
    real("fogstart", 3.0, "start of fog, in model extents"),
    real("fogend", 10.0, "end of fog, in model extents"),
    real("znear", 0.01, "near clipping plane, in model extents"),
    real("zfar", 50.0, "far clipping plane, in model extents"),
    real("haze", 0.3, "haze, as a share of the horizon"),
    real("shadowclip", 1.0, "extent of shadows of directional lights, in model extents"),
    real("shadowscale", 0.6, "share of a spot light's cone that casts shadows"),
    real("actuatortendon", 2.0, "width of a tendon with an actuator, relative to one without"),
)

_SCALE = (
    real("forcewidth", 0.1, "force arrows: radius"),
    real("contactwidth", 0.3, "contact cylinders: width"),
    real("contactheight", 0.1, "contact cylinders: height"),
    real("connect", 0.2, "connectors: radius"),
    real("com", 0.4, "centres of mass: radius"),
    real("camera", 0.3, "cameras: size"),
    real("light", 0.3, "lights: size"),
    real("selectpoint", 0.2, "selection point: radius"),
    real("jointlength", 1.0, "joint arrows: length"),
    real("jointwidth", 0.1, "joint arrows: radius"),
    real("actuatorlength", 0.7, "actuator arrows: length"),
    real("actuatorwidth", 0.2, "actuator arrows: radius"),
    real("framelength", 1.0, "frame axes: length"),
    real("framewidth", 0.1, "frame axes: radius"),
    real("constraint", 0.1, "violated constraints: size"),
    real("slidercrank", 0.2, "slider-cranks: size"),
    real("frustum", 10.0, "camera frustum: depth"),
)

_RGBA = {
    "fog": (0.0, 0.0, 0.0, 1.0),
    "haze": (1.0, 1.0, 1.0, 1.0),
    "force": (1.0, 0.5, 0.5, 1.0),
    "inertia": (0.8, 0.2, 0.2, 0.6),
    "joint": (0.2, 0.6, 0.8, 1.0),
    "actuator": (0.2, 0.25, 0.2, 1.0),
    "actuatornegative": (0.2, 0.6, 0.9, 1.0),
    "actuatorpositive": (0.9, 0.4, 0.2, 1.0),
    "com": (0.9, 0.9, 0.9, 1.0),
    "camera": (0.6, 0.9, 0.6, 0.3),
    "light": (0.6, 0.6, 0.9, 1.0),
    "selectpoint": (0.9, 0.9, 0.1, 1.0),
    "connect": (0.2, 0.2, 0.8, 1.0),
    "contactpoint": (0.9, 0.6, 0.2, 1.0),
    "contactforce": (0.7, 0.9, 0.9, 1.0),
    "contactfriction": (0.9, 0.8, 0.4, 1.0),
    "contacttorque": (0.9, 0.7, 0.9, 1.0),
    "contactgap": (0.5, 0.8, 0.9, 1.0),
    "rangefinder": (1.0, 1.0, 0.1, 1.0),
    "constraint": (0.9, 0.0, 0.0, 1.0),
    "slidercrank": (0.5, 0.3, 0.8, 1.0),
    "crankbroken": (0.9, 0.0, 0.0, 1.0),
    "frustum": (1.0, 1.0, 0.0, 0.2),
    "bv": (0.0, 1.0, 0.0, 0.5),
    "bvactive": (1.0, 0.0, 0.0, 0.5),
}

VISUAL = element(
    "visual",
    "settings of pictures",
    children=[
        GLOBAL,
        QUALITY,
        HEADLIGHT,
        _part("map", "scale of what is drawn", *_MAP),
        _part("scale", "sizes of what is drawn, relative to the mean body size", *_SCALE),
        _part("rgba", "colours of what is drawn", *(reals(n, 4, d, f"colour of {n}") for n, d in _RGBA.items())),
    ],
    merged=True,
)

SETTINGS = (COMPILER, OPTION, SIZE, VISUAL, STATISTIC)
