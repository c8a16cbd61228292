"""Actuators (spec: modeling, "Actuators"): transmissions, activations, gains, in the general form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.compiler.nodes import unnamed
from cardan.enums import mjtTrn
from cardan.plugins.registry import size_of
from cardan.spec.schema.keywords import BIAS, DYN, GAIN

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

SLIDERCRANK = int(mjtTrn.mjTRN_SLIDERCRANK)

# transmissions: attribute with the target's name, number, kind of the target, attribute with a second target
_TRANSMISSIONS: tuple[tuple[str, int, str, str | None], ...] = (
    ("joint", int(mjtTrn.mjTRN_JOINT), "joint", None),
    ("jointinparent", int(mjtTrn.mjTRN_JOINTINPARENT), "joint", None),
    ("tendon", int(mjtTrn.mjTRN_TENDON), "tendon", None),
    ("cranksite", SLIDERCRANK, "site", "slidersite"),
    ("site", int(mjtTrn.mjTRN_SITE), "site", "refsite"),
    ("body", int(mjtTrn.mjTRN_BODY), "body", None),
)
_SCALAR_JOINTS = (2, 3)  # slide, hinge
_NOT_NEGATIVE_CONTROLS = ("damper", "adhesion")

_SERVO_DYNAMICS = ("none", "filterexact", "integrator")
_MOST_ACTIVATIONS = 100_000


def add_actuators(build: Build) -> None:
    """Actuators, in the user's order: columns ``actuator_*``."""
    alike: dict[_Key, tuple[dict[str, Any], Any]] = {}
    for element in build.tree.section("actuator").children:
        key = _key(element)
        known = alike.get(key) if key else None
        if known:
            row = {**known[0], "actuator_trnid": (build.ids["joint"][element.attributes["joint"]], -1)}
            build.enter("actuator", element.name)
            build.user("actuator", element, known[1])
        else:
            values = element.resolved()
            row = _actuator(build, element, values)
            # what has activations or inherits a range depends on more than its attributes
            if key and not row["actuator_actnum"] and not values.get("inheritrange"):
                alike[key] = row, values["user"]
        build.rows["actuator"].append(row)
    build.put_rows("actuator")


_Key = tuple[str, int, tuple[Any, ...]]


def _key(element: Element) -> _Key | None:
    """What actuators on joints have in common whose rows differ in the joint alone; None for all other actuators."""
    given = element.attributes
    if "joint" not in given or element.tag == "plugin":
        return None
    return element.tag, id(element.default_class), unnamed(element, "joint")


def _transmission(build: Build, element: Element, values: dict[str, Any]) -> tuple[int, int, int]:
    """Number of the transmission, id of its target, id of its second target or -1."""
    for attribute, code, kind, other in _TRANSMISSIONS:
        name = values.get(attribute)
        if name:
            second = values.get(other) if other else None
            if code == SLIDERCRANK:
                _check_crank(element, values)
            return code, build.ids[kind][name], build.ids[kind][second] if second else -1
    raise element.error("no target: give one of " + ", ".join(row[0] for row in _TRANSMISSIONS))


def _check_crank(element: Element, values: dict[str, Any]) -> None:
    """A slider-crank has a slider and a rod."""
    if not values["slidersite"]:
        raise element.error("required attribute missing: a slider-crank needs slidersite", "slidersite")
    if not values["cranklength"] > 0.0:
        raise element.error(f"must be positive, found {values['cranklength']:g}", "cranklength")


def _check_muscle(element: Element, prm: tuple[float, ...], attribute: str) -> None:
    """The parameters of a muscle make sense."""
    low, high, _, scale, lmin, lmax, vmax, fpmax, fvmax = prm[:9]
    if not low < high:
        raise element.error(f"range of a muscle: the first must be below the second, found {low:g} {high:g}", attribute)
    if not lmin < 1.0 < lmax:
        raise element.error(f"a muscle needs lmin < 1 < lmax, found {lmin:g} and {lmax:g}", attribute)
    for name, value in (("scale", scale), ("vmax", vmax), ("fpmax", fpmax), ("fvmax", fvmax)):
        if not value > 0.0:
            raise element.error(f"{name} of a muscle must be positive, found {value:g}", attribute)


def _check_parameters(element: Element, values: dict[str, Any]) -> None:
    """Muscles have a muscle's parameters; dampers and adhesion have no negative controls."""
    for which in ("gain", "bias"):
        if values[f"{which}type"] == "muscle":
            _check_muscle(element, values[f"{which}prm"], f"{which}prm")
    if element.tag in _NOT_NEGATIVE_CONTROLS and min(values["ctrlrange"]) < 0.0:
        raise element.error("must not be negative", "ctrlrange")


def _actuator(build: Build, element: Element, values: dict[str, Any]) -> dict[str, Any]:
    """Enter one actuator; its row."""
    code, target, other = _transmission(build, element, values)
    _check_parameters(element, values)
    plugin = build.own_instances.get(element)
    actnum = _activations(element, values) + (size_of(plugin.plugin.actdim, plugin.config) if plugin else 0)
    na = build.sizes.get("na", 0)
    build.sizes["na"] = na + actnum
    inherits = "actrange" if values["dyntype"] == "integrator" else "ctrlrange"
    values[inherits] = _inherited_range(build, element, values, inherits, code, target)
    build.enter("actuator", element.name)
    build.user("actuator", element, values["user"])
    return {
        "actuator_trntype": code,
        "actuator_dyntype": DYN[values["dyntype"]],
        "actuator_gaintype": GAIN[values["gaintype"]],
        "actuator_biastype": BIAS[values["biastype"]],
        "actuator_trnid": (target, other),
        "actuator_actadr": na if actnum else -1,
        "actuator_actnum": actnum,
        "actuator_group": values["group"],
        "actuator_ctrllimited": build.is_limited(
            element, values["ctrllimited"], values["ctrlrange"], "ctrlrange", "ctrllimited"
        ),
        "actuator_forcelimited": build.is_limited(
            element, values["forcelimited"], values["forcerange"], "forcerange", "forcelimited"
        ),
        "actuator_actlimited": _activation_limited(build, element, values),
        "actuator_dynprm": values["dynprm"],
        "actuator_gainprm": values["gainprm"],
        "actuator_biasprm": values["biasprm"],
        "actuator_actearly": values["actearly"],
        "actuator_ctrlrange": values["ctrlrange"],
        "actuator_forcerange": values["forcerange"],
        "actuator_actrange": values["actrange"],
        "actuator_gear": values["gear"],
        "actuator_cranklength": values["cranklength"],
        "actuator_lengthrange": values.get("lengthrange", (0.0, 0.0)),
        "actuator_plugin": plugin.id if plugin else -1,
    }


def _activations(element: Element, values: dict[str, Any]) -> int:
    """How many activation variables the dynamics have."""
    kind, given = values["dyntype"], values["actdim"]
    stateful = kind != "none"
    if given > 1 and kind != "user":
        raise element.error(f"more than one activation needs dyntype 'user', found {given}", "actdim")
    if given >= 0 and bool(given) != stateful:
        raise element.error(f"must {'not be 0' if stateful else 'be 0'} for dyntype '{kind}', found {given}", "actdim")
    if given > _MOST_ACTIVATIONS:
        raise element.error(f"at most {_MOST_ACTIVATIONS} activations, found {given}", "actdim")
    return given if given > 1 else int(stateful)


def _is_limited(build: Build, element: Element, values: dict[str, Any], what: str) -> bool:
    """Whether the range of the control, the force or the activation holds."""
    limited, bounds = f"{what}limited", f"{what}range"
    return build.is_limited(element, values[limited], values[bounds], bounds, limited)


def _activation_limited(build: Build, element: Element, values: dict[str, Any]) -> bool:
    """Whether the activation has a range, which needs an activation."""
    limited = _is_limited(build, element, values, "act")
    if limited and values["dyntype"] == "none":
        raise element.error("a range of activations needs activation dynamics: set dyntype", "actrange")
    return limited


def _inherited_range(
    build: Build, element: Element, values: dict[str, Any], attribute: str, code: int, target: int
) -> tuple[float, float]:
    """A range of the control or the activation: given, or the target's scaled by ``inheritrange``."""
    factor = values.get("inheritrange") or 0.0
    if factor <= 0.0 or not _is_servo(values):
        return values[attribute]
    if values["dyntype"] not in _SERVO_DYNAMICS:
        raise element.error("only position servos inherit a range", "inheritrange")
    if any(values[attribute]) and "inheritrange" in element.row.attributes:
        raise element.error(f"inheritrange and {attribute} exclude each other", "inheritrange")
    low, high = _target_range(build, element, code, target)
    if not low < high:
        raise element.error("the target has no range to inherit", "inheritrange")
    middle, reach = 0.5 * (low + high), 0.5 * (high - low) * factor
    return (middle - reach, middle + reach)


def _is_servo(values: dict[str, Any]) -> bool:
    """Whether the force is a gain times (control - length), so that controls are positions."""
    gain = values["gainprm"][0]
    return values["biastype"] == "affine" and gain != 0.0 and values["biasprm"][1] == -gain


def _target_range(build: Build, element: Element, code: int, target: int) -> tuple[float, float]:
    """Range of a tendon or of a hinge or slide joint."""
    columns = build.columns
    if code == int(mjtTrn.mjTRN_TENDON):
        return columns["tendon_range"][target]
    if code == int(mjtTrn.mjTRN_JOINT) and columns["jnt_type"][target] in _SCALAR_JOINTS:
        return columns["jnt_range"][target]
    raise element.error("only hinge and slide joints and tendons have a range to inherit", "inheritrange")
