"""Checks of PID controllers, DC motors and orientation servos, and the number of activations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cardan.enums.codes import JNT_BALL, TRN_JOINT, TRN_SITE, TRN_SO3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.columns import Resolved
    from cardan.spec.element import Element

Values = dict[str, Any]


def _check_pid(element: Element, values: Values, inputs: list[str]) -> None:
    gain, dyn, bias = values["gaintype"], values["dyntype"], values["biastype"]
    if gain != "pid":
        raise element.error(f"dyntype 'pid' needs gaintype 'pid', found '{gain}'", "dyntype")
    if bias != "affine":
        raise element.error(f"gaintype 'pid' needs biastype 'affine', found '{bias}'", "biastype")
    if dyn not in ("none", "pid"):
        raise element.error(f"gaintype 'pid' needs dyntype 'none' or 'pid', found '{dyn}'", "dyntype")
    ki, (imax, slewmax) = values["gainprm"][0], values["dynprm"][:2]
    if ki and dyn == "none":
        raise element.error(f"an integral gain (gainprm[0]) needs dyntype 'pid', found a gain of {ki:g}", "gainprm")
    for name, value in (("imax (dynprm[0])", imax), ("slewmax (dynprm[1])", slewmax)):
        if dyn == "pid" and value < 0.0:
            raise element.error(f"{name} of a PID controller must not be negative, found {value:g}", "dynprm")
    if dyn == "pid" and "pos" not in inputs:
        raise element.error(f"ki and slewmax need the input pos, found '{' '.join(inputs)}'", "input")


def _check_motor(element: Element, values: Values, inputs: list[str]) -> None:
    for name in ("gaintype", "dyntype", "biastype"):
        if values[name] != "dcmotor":
            raise element.error(f"a DC motor needs dcmotor for all three types, found '{values[name]}'", name)
    if not values["actearly"]:
        raise element.error("a DC motor needs actearly: write <dcmotor>, or set actearly", "actearly")
    resistance, constant = values["gainprm"][:2]
    if constant < 0.0 or (constant == 0.0 and inputs != ["none"]):
        remedy = "give motorconst, or voltage and speed of nominal"
        raise element.error(f"the motor constant must be positive, found {constant:g}: {remedy}", "motorconst")
    if not resistance > 0.0:
        remedy = "give resistance, or voltage and torque of nominal"
        raise element.error(f"the resistance must be positive, found {resistance:g}: {remedy}", "resistance")
    if (values["dynprm"][2] > 0.0) != (values["dynprm"][3] > 0.0):
        needed = "two of resistance, capacitance and time constant"
        raise element.error(f"a thermal model needs {needed}", "thermal")
    kp, ki, kd = values["gainprm"][4:7]
    if (kp or ki or kd or values["dynprm"][7] > 0.0) and not {"pos", "vel", "ff"}.intersection(inputs):
        raise element.error("a controller needs one of the inputs pos, vel and ff", "input")
    if ki and "pos" not in inputs:
        raise element.error("an integral gain needs the input pos", "input")


def _check_servo(element: Element, values: Values, inputs: list[str]) -> None:
    if values["gaintype"] != "so3" or values["biastype"] != "so3":
        name = "biastype" if values["gaintype"] == "so3" else "gaintype"
        raise element.error(f"gaintype and biastype must both be 'so3', found '{values[name]}'", name)
    if values["dyntype"] not in ("none", "integrator"):
        reason = f"gaintype 'so3' needs dyntype 'none' or 'integrator', found '{values['dyntype']}'"
        raise element.error(reason, "dyntype")
    if values["dyntype"] != "none" and inputs == ["quat"]:
        raise element.error("quaternions need dyntype 'none': write input=\"expmap\"", "input")
    gain, bias = values["gainprm"][0], values["biasprm"][1]
    if gain != -bias:
        raise element.error(f"gaintype 'so3' needs biasprm[1] = -gainprm[0], found {bias:g} and {gain:g}", "biasprm")
    if values["forcerange"][0] != 0.0:
        reason = f"the range is that of the torque's norm: it must begin at 0, found {values['forcerange'][0]:g}"
        raise element.error(reason, "forcerange")


CONTROLLERS = {"pid": _check_pid, "dcmotor": _check_motor}
"""Types of gain and dynamics with parameters of their own, and the functions that check them."""
_CHECKS = CONTROLLERS | {"so3": _check_servo}


def check_controllers(actuators: Resolved, inputs: Sequence[list[str]]) -> None:
    """Check PID controllers, DC motors and orientation servos; ``inputs`` are the words of each actuator's ``input``.

    Raises:
        MjcfError: a parameter is missing or invalid, or types of gain, dynamics and bias do not fit.
    """
    kinds = [*zip(actuators["gaintype"], actuators["dyntype"], actuators["biastype"], strict=True)]
    for element, words, found in zip(actuators.elements, inputs, kinds, strict=True):
        for kind, check in _CHECKS.items():
            if kind in found:
                check(element, element.resolved(), words)


def so3_target(build: Build, element: Element, target: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the transmission of an orientation servo, from that which its attributes describe.

    Raises:
        MjcfError: the servo is not on a ball joint, and not on a site with a reference site.
    """
    kind, first, second = target
    if kind == TRN_JOINT and build.columns["jnt_type"][first] != JNT_BALL:
        raise element.error("an orientation servo needs a ball joint, or a site and a refsite", "joint")
    if kind == TRN_SITE and second < 0:
        raise element.error("required attribute missing: an orientation servo on a site needs refsite", "refsite")
    if kind not in (TRN_JOINT, TRN_SITE):
        raise element.error("an orientation servo needs a ball joint, or a site and a refsite")
    return TRN_SO3, first, second


def states_of_controller(element: Element, given: int) -> int:
    """Return the number of activations of a PID controller or DC motor; ``given`` is its ``actdim``, or -1.

    Raises:
        MjcfError: the parameters need another number than the given one, or a PID controller needs none.
    """
    values = element.resolved()
    gain, dyn = values["gainprm"], values["dynprm"]
    if values["dyntype"] == "pid":
        number = sum(value > 0.0 for value in (dyn[1], gain[0]))
        if not number:
            raise element.error("dyntype 'pid' needs ki (gainprm[0]) or slewmax (dynprm[1]) above 0", "dyntype")
    else:
        number = sum(value > 0.0 for value in (dyn[7], gain[5], dyn[2], dyn[5], dyn[0]))
    if given not in (-1, number):
        raise element.error(f"this actuator needs {number} activations, found {given}", "actdim")
    return number
