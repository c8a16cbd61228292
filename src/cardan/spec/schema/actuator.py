"""Rows of the MJCF table for actuators (spec: modeling, "Actuators" and "Actuator shortcuts")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cardan.spec.schema.keywords import BIAS, DYN, GAIN, TRISTATE
from cardan.spec.schema.rows import (
    Attribute,
    ElementRow,
    boolean,
    coefficients,
    element,
    integer,
    keyword,
    real,
    reals,
    reference,
    text,
)
from cardan.spec.schema.shared import CLASS, GROUP, HISTORY, PLUGIN_CHOICE, USER, config, name

TRANSMISSION: tuple[Attribute, ...] = (
    reference("joint", "joint", "joint that the actuator acts on"),
    reference("jointinparent", "joint", "joint that the actuator acts on, with the axis in the parent's frame"),
    reference("tendon", "tendon", "tendon that the actuator acts on"),
    reference("slidersite", "site", "site of the slider"),
    reference("cranksite", "site", "site of the crank's pin"),
    reference("site", "site", "site that the actuator acts on"),
)
TARGETS: tuple[str, ...] = ("joint", "jointinparent", "tendon", "cranksite", "site", "body")

INPUTS: tuple[str, ...] = ("pos", "vel", "ff", "voltage", "pressure")
"""Words of ``input``, in the order in which they must be given."""
CHARTS: tuple[str, ...] = ("expmap", "quat")
"""Words of the ``input`` of orientation servos."""

_REFSITE = reference("refsite", "site", "site relative to which forces act")
_BODY = reference("body", "body", "body that the actuator acts on")
_NAMES: tuple[Attribute, ...] = (name("actuator"), CLASS)
_LENGTHRANGE = reals("lengthrange", 2, (0.0, 0.0), "range of lengths of the transmission")
_GEAR = reals("gear", (1, 6), (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), "scale of length and force, or axes of them")
_CRANKLENGTH = real("cranklength", 0.0, "length of the crank's rod, m")
_FORCE: tuple[Attribute, ...] = (
    keyword("forcelimited", TRISTATE, "auto", "whether the force is limited; auto: when a range is given"),
    reals("forcerange", 2, (0.0, 0.0), "range of the force"),
)
_CTRLLIMITED = keyword("ctrllimited", TRISTATE, "auto", "whether the control is limited; auto: when a range is given")
_CTRLRANGE = reals("ctrlrange", 2, (0.0, 0.0), "range of the control")
_ACTRANGE = reals("actrange", 2, (0.0, 0.0), "range of the activation")
_ACTLIMITED = keyword("actlimited", TRISTATE, "auto", "whether the activation is limited; auto: when a range is given")
_LIMITS = (_CTRLLIMITED, _CTRLRANGE, _ACTLIMITED, _ACTRANGE)
_INHERITRANGE = real("inheritrange", 0.0, "take the range of the target, scaled by this; 0: don't")
_ACTEARLY = boolean("actearly", False, "force from the next activation")
_ARMATURE: tuple[Attribute, ...] = (
    real("armature", 0.0, "inertia of the rotor", since="3.7"),
    replace(coefficients("damping", "damping coefficient; quadratic, cubic coefficient"), since="3.7"),
)
_VELRANGE = reals("velrange", 2, (0.0, 0.0), "range of the velocity setpoint", since="3.12")
_FFRANGE = reals("ffrange", 2, (0.0, 0.0), "range of the feedforward", since="3.12")


def _input(meaning: str, default: str | None = None) -> Attribute:
    """Return the row of the attribute ``input``, which selects the controls of an actuator."""
    return text("input", f"controls: {meaning}", default=default, since="3.12")


# attributes of all actuators except those on bodies
_COMMON: tuple[Attribute, ...] = (
    *_NAMES, GROUP, *TRANSMISSION, _GEAR, _CRANKLENGTH, _LENGTHRANGE, *_ARMATURE, *HISTORY, USER
)  # fmt: skip

DYNAMICS: tuple[Attribute, ...] = (
    keyword("dyntype", DYN, "none", "activation dynamics"),
    keyword("gaintype", GAIN, "fixed", "gain"),
    keyword("biastype", BIAS, "none", "bias"),
    *(
        reals(f"{which}prm", (1, 10), (first, *[0.0] * 9), f"parameters of the {which}")
        for which, first in (("dyn", 1.0), ("gain", 1.0), ("bias", 0.0))
    ),
)

GENERAL = element(
    "general",
    "actuator with any transmission, activation dynamics, gain and bias",
    _COMMON,
    _FORCE,
    _LIMITS,
    DYNAMICS,
    _ACTEARLY,
    integer("actdim", -1, "number of activations; -1: as the dynamics need"),
    replace(_INHERITRANGE, since="3.12"),
    _input("what the control is (pos, vel, pressure), without effect; or those of a pid or DC motor"),
    _VELRANGE,
    _FFRANGE,
    _REFSITE,
    _BODY,
    kind="actuator",
    entry="general",
)


def _shortcut(tag: str, meaning: str, *rows: Attribute, **more: Any) -> ElementRow:
    """Return the row of an actuator shortcut with the attributes ``rows``."""
    return element(tag, meaning, rows, kind="actuator", entry="general", **more)


_SERVO: tuple[Attribute, ...] = (
    real("kp", None, "position gain; undefined: that of the default class, at first 1"),
    real("kv", None, "velocity gain; undefined: that of the default class, at first 0"),
    real("dampratio", None, "damping ratio, in place of kv"),
)

SHORTCUTS: tuple[ElementRow, ...] = (
    _shortcut("motor", "direct drive", *_COMMON, *_FORCE, _CTRLLIMITED, _CTRLRANGE, _REFSITE),
    _shortcut(
        "position",
        "position servo",
        *_COMMON, *_FORCE, _CTRLLIMITED, _CTRLRANGE, _REFSITE, *_SERVO, _INHERITRANGE,
        real("timeconst", None, "time constant of a first-order filter, s; 0: none"),
    ),
    _shortcut(
        "velocity",
        "velocity servo",
        *_COMMON, *_FORCE, _CTRLLIMITED, _CTRLRANGE, _REFSITE,
        real("kv", None, "velocity gain; undefined: that of the default class, at first 1"),
    ),
    _shortcut(
        "intvelocity",
        "integrated velocity servo",
        *_COMMON, *_FORCE, _CTRLLIMITED, _CTRLRANGE, replace(_ACTLIMITED, since="3.14"), _ACTRANGE, _REFSITE,
        *_SERVO, _INHERITRANGE,
    ),
    _shortcut(
        "damper",
        "damper whose coefficient is the control",
        *_COMMON, *_FORCE, _CTRLRANGE, _REFSITE, real("kv", None, "damping per unit of control; undefined: 0"),
    ),
    _shortcut(
        "cylinder",
        "pneumatic or hydraulic cylinder",
        *_COMMON, *_FORCE, _CTRLLIMITED, _CTRLRANGE, _REFSITE,
        real("timeconst", 1.0, "time constant of the pressure, s"),
        real("area", 1.0, "area of the piston, m^2"),
        real("diameter", None, "diameter of the piston, m"),
        reals("bias", 3, (0.0, 0.0, 0.0), "bias parameters"),
    ),
    _shortcut(
        "muscle",
        "muscle",
        *(row for row in _COMMON if row.name != "site"), *_FORCE, _CTRLLIMITED, _CTRLRANGE,
        reals("timeconst", 2, (0.01, 0.04), "time constants of activation and deactivation, s"),
        real("tausmooth", 0.0, "width of the transition between time constants"),
        reals("range", 2, (0.75, 1.05), "operating lengths, in optimal lengths"),
        real("force", -1.0, "peak force at rest, N; negative: from scale"),
        real("scale", 200.0, "scale of the peak force"),
        real("lmin", 0.5, "lower end of the force-length curve"),
        real("lmax", 1.6, "upper end of the force-length curve"),
        real("vmax", 1.5, "velocity at which the force vanishes"),
        real("fpmax", 1.3, "passive force at lmax"),
        real("fvmax", 1.2, "active force at saturated lengthening"),
    ),
    _shortcut(
        "adhesion",
        "adhesion at contacts of a body",
        *_NAMES, GROUP, USER, *HISTORY, *_FORCE, _CTRLRANGE, _BODY, real("gain", 1.0, "gain"),
    ),
)  # fmt: skip

PLUGIN_ACTUATOR = element(
    "plugin",
    "actuator computed by a plugin",
    _COMMON,
    _FORCE,
    _LIMITS,
    (row for row in DYNAMICS if row.name in ("dyntype", "dynprm")),
    _ACTEARLY,
    integer("actdim", -1, "number of activations, of plugin and dynamics together; -1: as they need", since="3.6"),
    *PLUGIN_CHOICE,
    children=[config()],
    kind="actuator",
    entry="general",
)

# actuators that MuJoCo 3.1 does not have
_SITE_OR_BALL = tuple(row for row in TRANSMISSION if row.name in ("joint", "site"))
LATER_ACTUATORS: tuple[ElementRow, ...] = (
    _shortcut(
        "orientation",
        "orientation servo",
        *_NAMES, GROUP, *_SITE_OR_BALL, *_FORCE, _CTRLRANGE, _REFSITE, *_SERVO, *HISTORY, USER,
        _input("expmap or quat", "expmap"),
        since="3.11",
    ),
    _shortcut(
        "pid",
        "PID controller",
        *_COMMON, *_FORCE, _CTRLLIMITED, _CTRLRANGE, _REFSITE, *_SERVO, _INHERITRANGE,
        real("ki", 0.0, "integral gain"),
        real("imax", 0.0, "bound on the integral; 0: none"),
        real("slewmax", 0.0, "bound on the rate of the position setpoint; 0: none"),
        _input("some of pos, vel, ff", "pos vel"),
        reals("posrange", 2, (0.0, 0.0), "range of the position setpoint"),
        _VELRANGE, _FFRANGE,
        since="3.12",
    ),
    _shortcut(
        "dcmotor",
        "DC motor",
        *_COMMON, _CTRLLIMITED, _CTRLRANGE, _REFSITE,
        real("resistance", None, "resistance of the winding, ohm"),
        reals("motorconst", (1, 2), (0.0, 0.0), "torque constant, N m/A, and back-EMF constant, V s/rad"),
        reals("nominal", (1, 3), (0.0, 0.0, 0.0), "voltage, stall torque and no-load speed"),
        reals("inductance", (1, 2), (0.0, 0.0), "inductance, H, and electrical time constant, s"),
        reals("thermal", (1, 6), (0.0,) * 6, "thermal resistance, capacitance, time constant, temperature coefficient, "
              "reference and ambient temperature"),
        reals("saturation", (1, 3), (0.0, 0.0, 0.0), "bounds on torque, current and its rate"),
        reals("cogging", (1, 3), (0.0, 0.0, 0.0), "amplitude, number of poles and phase of the cogging torque"),
        reals("lugre", (1, 5), (0.0,) * 5, "LuGre friction: stiffness, damping, Coulomb, static, Stribeck velocity"),
        reals("controller", (1, 6), (0.0,) * 6, "kp, ki, kd, bounds on slew rate, integral and voltage"),
        _input("some of pos, vel, ff, voltage; or none", "voltage"),
        since="3.7",
    ),
)  # fmt: skip

# attributes of actuators that default classes cannot hold
NOT_IN_DEFAULT: tuple[str, ...] = (*(row.name for row in TRANSMISSION), "refsite", "body", "lengthrange", "tausmooth")

ACTUATOR = element(
    "actuator", "actuators", children=[GENERAL, *SHORTCUTS, *LATER_ACTUATORS, PLUGIN_ACTUATOR], merged=True
)
