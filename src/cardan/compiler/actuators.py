"""Actuators (spec: modeling, "Actuators"): transmissions, activations, gains, in the general form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums import mjtTrn
from cardan.spec.schema.keywords import BIAS, DYN, GAIN

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

# transmissions: attribute with the target's name, number, kind of the target
_TRANSMISSIONS: tuple[tuple[str, int, str], ...] = (
    ("joint", int(mjtTrn.mjTRN_JOINT), "joint"),
    ("jointinparent", int(mjtTrn.mjTRN_JOINTINPARENT), "joint"),
    ("tendon", int(mjtTrn.mjTRN_TENDON), "tendon"),
)
_SCALAR_JOINTS = (2, 3)  # slide, hinge
_NOT_NEGATIVE = ("kv", "dampratio", "timeconst", "inheritrange")


def add_actuators(build: Build) -> None:
    """Actuators, in the user's order: columns ``actuator_*``."""
    for element in build.tree.section("actuator").children:
        for name in _NOT_NEGATIVE:
            if element.tag != "velocity" and element.attributes.get(name, 0.0) < 0.0:
                raise element.error(f"must not be negative, found {element.attributes[name]:g}", name)
        _add_actuator(build, element, element.resolved())


def _transmission(build: Build, element: Element, values: dict[str, Any]) -> tuple[int, int]:
    """Number of the transmission and id of its target."""
    for attribute, code, kind in _TRANSMISSIONS:
        name = values.get(attribute)
        if name:
            return code, build.ids[kind][name]
    raise element.error("no target: give one of " + ", ".join(row[0] for row in _TRANSMISSIONS))


def _add_actuator(build: Build, element: Element, values: dict[str, Any]) -> None:
    """One actuator."""
    code, target = _transmission(build, element, values)
    actnum = _activations(element, values)
    na = build.sizes.get("na", 0)
    build.sizes["na"] = na + actnum
    ctrlrange = _control_range(build, element, values, code, target)
    build.enter("actuator", element.name)
    build.put(
        actuator_trntype=code,
        actuator_dyntype=DYN[values["dyntype"]],
        actuator_gaintype=GAIN[values["gaintype"]],
        actuator_biastype=BIAS[values["biastype"]],
        actuator_trnid=(target, -1),
        actuator_actadr=na if actnum else -1,
        actuator_actnum=actnum,
        actuator_group=values["group"],
        actuator_ctrllimited=build.is_limited(element, values["ctrllimited"], ctrlrange, "ctrlrange", "ctrllimited"),
        actuator_forcelimited=build.is_limited(
            element, values["forcelimited"], values["forcerange"], "forcerange", "forcelimited"
        ),
        actuator_actlimited=_activation_limited(build, element, values),
        actuator_dynprm=values["dynprm"],
        actuator_gainprm=values["gainprm"],
        actuator_biasprm=values["biasprm"],
        actuator_actearly=values["actearly"],
        actuator_ctrlrange=ctrlrange,
        actuator_forcerange=values["forcerange"],
        actuator_actrange=values["actrange"],
        actuator_gear=values["gear"],
        actuator_cranklength=0.0,
        actuator_lengthrange=values["lengthrange"],
        actuator_plugin=-1,
    )
    build.user("actuator", element, values["user"])


def _activations(element: Element, values: dict[str, Any]) -> int:
    """How many activation variables the dynamics have."""
    stateful = values["dyntype"] != "none"
    given = values["actdim"]
    if given > 1:
        raise element.error(f"more than one activation needs dyntype 'user', found {given}", "actdim")
    if given >= 0 and bool(given) != stateful:
        raise element.error(f"must be {int(stateful)} for dyntype '{values['dyntype']}', found {given}", "actdim")
    return int(stateful)


def _activation_limited(build: Build, element: Element, values: dict[str, Any]) -> bool:
    """Whether the activation has a range, which needs an activation."""
    limited = build.is_limited(element, values["actlimited"], values["actrange"], "actrange", "actlimited")
    if limited and values["dyntype"] == "none":
        raise element.error("a range of activations needs activation dynamics: set dyntype", "actrange")
    return limited


def _control_range(
    build: Build, element: Element, values: dict[str, Any], code: int, target: int
) -> tuple[float, float]:
    """Range of the control: given, or the target's range widened by ``inheritrange`` about its middle."""
    factor = values.get("inheritrange") or 0.0
    if factor <= 0.0:
        return values["ctrlrange"]
    if any(values["ctrlrange"]):
        raise element.error("inheritrange and ctrlrange exclude each other", "inheritrange")
    columns = build.columns
    if code == int(mjtTrn.mjTRN_TENDON):
        low, high = columns["tendon_range"][target]
    elif columns["jnt_type"][target] in _SCALAR_JOINTS:
        low, high = columns["jnt_range"][target]
    else:
        raise element.error("only hinge and slide joints and tendons have a range to inherit", "inheritrange")
    if not low < high:
        raise element.error("the target has no range to inherit", "inheritrange")
    middle, reach = 0.5 * (low + high), 0.5 * (high - low) * factor
    return (middle - reach, middle + reach)
