"""Physical dimensions of attributes, as 4.0.0 lists them in its manual ("Units of attributes").

A dimension is written as letters with exponents: ``L`` length, ``M`` mass, ``Q`` coordinate of a joint, tendon or
transmission (a length or an angle), ``F`` the force along Q (a force or a torque), ``N`` a force. Times and angles have
no letter, as scales do not change them. An attribute with several values may have several dimensions, separated by
blanks; the last one also applies to all further values. Attributes without an entry are not scaled.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

_CONTACT = {"margin": "L", "gap": "L", "solimp": "1 1 L 1 1"}
_WIDTH = {"solimplimit": "1 1 Q 1 1", "solimpfriction": "1 1 Q 1 1"}
_PASSIVE = {
    **dict.fromkeys(("range", "margin", "springyield"), "Q"),
    **_WIDTH,
    "stiffness": "FQ-1 FQ-2 FQ-3",
    "damping": "FQ-1 FQ-2 FQ-3",
    "frictionloss": "F",
    "actuatorfrcrange": "F",
    "armature": "FQ-1",
}
_TENDON = {**_PASSIVE, "springlength": "Q", "width": "L"}
_ACTUATOR = {
    "forcerange": "F",
    "lengthrange": "Q",
    "cranklength": "L",
    "gainprm": "F FQ-1 FQ-1 1",
    "biasprm": "F FQ-1 FQ-1 1",
    "armature": "FQ-1",
    "damping": "FQ-1 FQ-2 FQ-3",
}
_SERVO = {**_ACTUATOR, "gainprm": "FQ-1 1", "ctrlrange": "Q", "velrange": "Q", "posrange": "Q"}
_PRESSURE = "NL-2"

DIMENSIONS: dict[str, dict[str, str]] = {
    "joint": {**_PASSIVE, "pos": "L", "ref": "Q", "springref": "Q"},
    "freejoint": {},
    "geom": {
        **_CONTACT, "pos": "L", "size": "L", "fromto": "L", "mass": "M", "density": "ML-3", "friction": "1 L L",
        "surfacevel": "L L L 1 1 1", "adhesion": "N",
    },
    "site": dict.fromkeys(("pos", "size", "fromto"), "L"),
    "camera": dict.fromkeys(("pos", "ipd", "focal", "principal", "sensorsize"), "L"),
    "light": {"pos": "L", "bulbradius": "L", "range": "L", "attenuation": "1 L-1 L-2"},
    "body": {"pos": "L"},
    "frame": {"pos": "L"},
    "inertial": {"pos": "L", "mass": "M", "diaginertia": "ML2", "fullinertia": "ML2"},
    "pair": {**_CONTACT, "friction": "1 1 L L L"},
    "connect": {"anchor": "L", "solimp": "1 1 L 1 1"},
    "weld": {"torquescale": "L", "solimp": "1 1 L 1 1"},
    "spatial": _TENDON,
    "fixed": _TENDON,
    "flex": {"radius": "L", "vertex": "L", "nodecoord": "L"},
    "edge": {"stiffness": "NL-1", "damping": "NL-1"},
    "contact": {**_CONTACT, "friction": "1 L L"},
    "elasticity": {"young": "NL-2", "thickness": "L", "sectionsize": "L", "shear": "NL-2"},
    "skin": {"vertex": "L", "inflate": "L"},
    "bone": {"bindpos": "L"},
    "general": _ACTUATOR,
    "motor": _ACTUATOR,
    "damper": _ACTUATOR,
    "position": _SERVO,
    "velocity": _SERVO,
    "intvelocity": {**_SERVO, "actrange": "Q"},
    "cylinder": {**_ACTUATOR, "gainprm": "FN-1L2 1", "ctrlrange": _PRESSURE},
    "muscle": {**_ACTUATOR, "gainprm": "1 1 F 1", "biasprm": "1 1 F 1"},
    "adhesion": {"forcerange": "N", "gainprm": "N 1"},
    "pid": {**_SERVO, "ffrange": "F", "dynprm": "Q Q 1"},
    "orientation": {**_ACTUATOR, "gainprm": "FQ-1 1", "biasprm": "1 FQ-1 FQ-1 1"},
}  # fmt: skip
"""Dimensions of attributes by element. Those of actuators are of their general form."""

SIZES: dict[str, str] = {"sphere": "L 1", "capsule": "L L 1", "cylinder": "L L 1"}
"""Dimensions of ``size`` of shapes with fewer than three sizes."""

CONTROLS: dict[str, tuple[str, str]] = {
    "position": ("Q", "Q"), "velocity": ("Q", "1"), "intvelocity": ("Q", "Q"), "cylinder": (_PRESSURE, _PRESSURE),
    "pid": ("", "Q"),
}  # fmt: skip
"""Dimensions of the control and the activation of actuators, where they have one."""

INPUTS: dict[str, str] = {"pos": "Q", "vel": "Q", "ff": "F"}
"""Dimensions of the controls of PID controllers, by the words of ``input``."""

SENSORS: dict[str, str] = {
    **dict.fromkeys(("touch", "force"), "N"),
    "torque": "NL",
    **dict.fromkeys(("accelerometer", "velocimeter", "rangefinder", "distance", "fromto", "subtreecom"), "L"),
    **dict.fromkeys(("framepos", "framelinvel", "framelinacc", "subtreelinvel"), "L"),
    "subtreeangmom": "NL",
    **{f"{of}{what}": dimension for of in ("joint", "tendon", "actuator", "jointlimit", "tendonlimit")
       for what, dimension in (("pos", "Q"), ("vel", "Q"), ("frc", "F"))},
    "jointactuatorfrc": "F",
    "tendonactuatorfrc": "F",
}  # fmt: skip
"""Dimensions of what sensors measure, which are those of ``cutoff`` and ``noise``."""

_LETTER = re.compile(r"([LMQFN])(-?\d+)?")


@cache
def exponents(dimension: str) -> tuple[int, int, int, int, int]:
    """Return the exponents of L, M, Q, F and N in one dimension, such as ``"FQ-1"``."""
    found: Counter[str] = Counter()
    for letter, power in _LETTER.findall(dimension):
        found[letter] += int(power or 1)
    return found["L"], found["M"], found["Q"], found["F"], found["N"]
