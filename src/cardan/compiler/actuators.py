"""Actuators: their transmissions, dynamics, gains and biases, in the general form (spec: modeling, "Actuators")."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cardan.compiler.columns import Resolved, classes_of, split_powers, table
from cardan.compiler.controllers import CONTROLLERS, check_controllers, so3_target, states_of_controller
from cardan.compiler.controls import addresses, control_columns, inputs_of, number_of_controls, spread
from cardan.compiler.history import add_histories
from cardan.compiler.plugins import plugin_activations
from cardan.enums.codes import TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON
from cardan.errors import MjcfError
from cardan.plugins.registry import size_of
from cardan.spec.actuator import SHORTCUT_ATTRIBUTES, SHORTCUTS, apply_shortcut
from cardan.spec.defaults import overlay
from cardan.spec.layout import register_actuator_sizes
from cardan.spec.schema.keywords import BIAS, DYN, GAIN, TRANSMISSION

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


# kind of the target, by the attribute with its name, in the order in which attributes are looked up
_TARGETS = {"joint": "joint", "jointinparent": "joint", "tendon": "tendon", "cranksite": "site", "site": "site"}
_TARGETS |= {"body": "body"}
_SECOND_TARGETS = {"cranksite": "slidersite", "site": "refsite"}
_DRIVEN = (TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON)  # types of transmission that pass on armature and damping
_SCALAR_JOINTS = (2, 3)  # slide, hinge
_NOT_NEGATIVE_CONTROLS = ("damper", "adhesion")

_ACTUATOR = table(
    *("actuator", "actearly", "actrange", "armature", "biasprm", "cranklength", "ctrlrange", "damping", "dynprm"),
    *("forcerange", "gainprm", "gear", "group"),
    dyntype=("dyntype", DYN),
    gaintype=("gaintype", GAIN),
    biastype=("biastype", BIAS),
)
"""Fields copied from attributes of the general form. Keywords are stored as their numbers."""
_SERVO_DYNAMICS = ("none", "filterexact", "integrator", "pid")
_MOST_ACTIVATIONS = 100_000


def add_actuators(build: Build) -> None:
    """Fill the columns ``actuator_*`` with the values of all actuators, in the user's order."""
    elements = build.tree.section("actuator").children
    if not elements:
        return
    actuators = Resolved(elements, _general_forms(elements))
    build.enter_all("actuator", [element.attributes.get("name") for element in elements])
    targets = [_transmission(build, element) for element in elements]
    outnum = [3 if gain == "so3" else 1 for gain in actuators["gaintype"]]
    for number, outputs in enumerate(outnum):
        if outputs > 1:
            targets[number] = so3_target(build, elements[number], targets[number])
    inputs = inputs_of(actuators, build.tree.compat)
    _check_parameters(actuators, inputs)
    plugins = [build.own_instances.get(element) for element in elements]
    actnum = _activations(actuators)
    for number, plugin in enumerate(plugins):
        if plugin is not None:
            actnum[number] += size_of(plugin.plugin.actdim, plugin.config)
            given = elements[number].attributes.get("actdim", -1)
            if given not in (-1, actnum[number]):
                raise elements[number].error(f"plugin and dynamics have {actnum[number]} activations", "actdim")
    first = [*accumulate(actnum, initial=build.sizes.get("na", 0))]
    build.sizes["na"] = first.pop()
    columns = actuators.columns(_ACTUATOR) | {
        "actuator_trntype": [code for code, _, _ in targets],
        "actuator_trnid": [(target, other) for _, target, other in targets],
        "actuator_outadr": addresses(outnum),
        "actuator_outnum": outnum,
        "actuator_actadr": [adr if count else -1 for adr, count in zip(first, actnum, strict=True)],
        "actuator_actnum": actnum,
        "actuator_lengthrange": actuators.get("lengthrange", (0.0, 0.0)),
        "actuator_plugin": [-1 if plugin is None else plugin.id for plugin in plugins],
        "actuator_user": build.users("actuator", actuators),
    }
    split_powers(columns, "actuator_damping")
    _check_transmitted(elements, columns)
    _inherit_ranges(build, actuators, targets, inputs, columns)
    ctrl, force, act = (_limits(build, actuators, what, columns) for what in ("ctrl", "force", "act"))
    columns |= {"actuator_forcelimited": force, "actuator_actlimited": act}
    for element, limited, word in zip(elements, act, actuators["dyntype"], strict=True):
        if limited and word == "none":
            raise element.error("a range of activations needs activation dynamics: set dyntype", "actrange")
    columns |= control_columns(actuators, inputs, ctrl, columns["actuator_ctrlrange"])
    columns |= {name: spread(columns[name], outnum) for name in ("actuator_gear", "actuator_lengthrange")}
    add_histories(build, "actuator", actuators, columns["actuator_ctrlnum"])
    build.columns.update(columns)


def _general_forms(elements: Sequence[Element]) -> list[dict[str, Any]]:
    """Return each actuator's attributes of the general form, converted from its default class and shortcut attributes.

    Attributes of the general form that are set on the element itself are not included.
    """
    known: dict[tuple[str, int, tuple[tuple[str, Any], ...]], dict[str, Any]] = {}
    bases: list[dict[str, Any]] = []
    for element, cls in zip(elements, classes_of(elements), strict=True):
        row = element.row
        assert cls is not None
        own = {name: value for name, value in element.attributes.items() if name in SHORTCUT_ATTRIBUTES}
        if row.tag == "dcmotor" and "damping" in element.attributes:
            own["damping"] = element.attributes["damping"]  # the nominal speed depends on it
        key = row.tag, id(cls), (*own.items(),)
        base = known.get(key)
        if base is None:
            base = overlay(cls.base(row), own, row.partial)
            version = element.tree.compat
            known[key] = base = apply_shortcut(row.tag, base, own, version) if row.tag in SHORTCUTS else base
        bases.append(base)
    return bases


def _transmission(build: Build, element: Element) -> tuple[int, int, int]:
    """Return the type of the transmission (`mjtTrn`), the id of its target, and the id of its second target or -1."""
    values = element.attributes  # no default class has any of these
    for attribute, kind in _TARGETS.items():
        name = values.get(attribute)
        if name:
            second = values.get(_SECOND_TARGETS.get(attribute, ""))
            if attribute == "cranksite":
                own = element.resolved()
                if not own["slidersite"]:
                    raise element.error("required attribute missing: a slider-crank needs slidersite", "slidersite")
                if not own["cranklength"] > 0.0:
                    raise element.error(f"must be positive, found {own['cranklength']:g}", "cranklength")
            return TRANSMISSION[attribute], build.ids[kind][name], build.ids[kind][second] if second else -1
    raise element.error("no target: give one of " + ", ".join(_TARGETS))


def _check_transmitted(elements: Sequence[Element], columns: dict[str, list[Any]]) -> None:
    """Check that actuators with armature or damping act on joints or tendons, which get these values."""
    values = columns["actuator_armature"], columns["actuator_damping"], columns["actuator_trntype"]
    powers = columns.get("actuator_dampingpoly", [()] * len(elements))
    for element, armature, damping, kind, poly in zip(elements, *values, powers, strict=True):
        if kind not in _DRIVEN:
            for name, given in (("armature", armature != 0.0), ("damping", damping != 0.0 or any(poly))):
                if given:
                    raise element.error("only actuators on joints and tendons have it", name)


def _check_muscle(element: Element, prm: tuple[float, ...], attribute: str) -> None:
    low, high, _, scale, lmin, lmax, vmax, fpmax, fvmax = prm[:9]
    if not low < high:
        raise element.error(f"range of a muscle: the first must be below the second, found {low:g} {high:g}", attribute)
    if not lmin < 1.0 < lmax:
        raise element.error(f"a muscle needs lmin < 1 < lmax, found {lmin:g} and {lmax:g}", attribute)
    for name, value in (("scale", scale), ("vmax", vmax), ("fpmax", fpmax), ("fvmax", fvmax)):
        if not value > 0.0:
            raise element.error(f"{name} of a muscle must be positive, found {value:g}", attribute)


def _check_parameters(actuators: Resolved, inputs: list[list[str]]) -> None:
    """Check parameters of muscles and controllers, and control ranges that must not be negative."""
    check_controllers(actuators, inputs)
    for which in ("gain", "bias"):
        words = actuators[f"{which}type"]
        if "muscle" in words:
            for element, word, prm in zip(actuators.elements, words, actuators[f"{which}prm"], strict=True):
                if word == "muscle":
                    _check_muscle(element, prm, f"{which}prm")
    for element, bounds in zip(actuators.elements, actuators["ctrlrange"], strict=True):
        if min(bounds) < 0.0 and element.row.tag in _NOT_NEGATIVE_CONTROLS:
            raise element.error("must not be negative", "ctrlrange")


def _activations(actuators: Resolved) -> list[int]:
    """Check ``actdim``, and return each actuator's number of activation variables, without those of its plugin."""
    counts: list[int] = []
    columns = actuators["dyntype"], actuators["actdim"], actuators["gaintype"]
    for element, kind, given, gain in zip(actuators.elements, *columns, strict=True):
        outputs = 3 if gain == "so3" else 1
        stateful = kind != "none"
        if element.row.tag == "plugin":
            given = -1  # it counts those of the plugin, too
        if kind in CONTROLLERS:
            counts.append(states_of_controller(element, given))
            continue
        if given > 1 and kind != "user" and given != outputs:
            raise element.error(f"more than one activation needs dyntype 'user', found {given}", "actdim")
        if given >= 0 and bool(given) != stateful:
            wanted = "not be 0" if stateful else "be 0"
            raise element.error(f"must {wanted} for dyntype '{kind}', found {given}", "actdim")
        if given > _MOST_ACTIVATIONS:
            raise element.error(f"at most {_MOST_ACTIVATIONS} activations, found {given}", "actdim")
        counts.append(given if given > 1 else outputs * int(stateful))
    return counts


def _sizes(elements: Sequence[Element]) -> tuple[list[int], list[int]]:
    """Return the numbers of controls and of activations of actuators, with those of their plugins.

    An actuator that is not yet valid, in a tree that is being edited, counts as one with one control and no activation.
    """
    try:
        actuators = Resolved(elements, _general_forms(elements))
        inputs, activations = inputs_of(actuators, elements[0].tree.compat), _activations(actuators)
    except MjcfError:
        if len(elements) == 1:
            return [1], [0]
        pairs = [_sizes([element]) for element in elements]
        return [controls[0] for controls, _ in pairs], [states[0] for _, states in pairs]
    for number, element in enumerate(elements):
        if element.row.tag == "plugin":
            activations[number] += plugin_activations(element)
    return [*map(number_of_controls, actuators["gaintype"], inputs)], activations


register_actuator_sizes(_sizes)


def _limits(build: Build, actuators: Resolved, what: str, columns: dict[str, list[Any]]) -> list[bool]:
    """Return for each actuator whether a range in ``columns`` is active; ``what`` is "ctrl", "force" or "act"."""
    flag, attribute = f"{what}limited", f"{what}range"
    bounds = columns[f"actuator_{attribute}"]
    if not actuators.any_but(flag, "auto") and build.settings["autolimits"]:
        return [low < high for low, high in bounds]
    return [
        build.is_limited(element, word, pair, attribute, flag)
        for element, word, pair in zip(actuators.elements, actuators[flag], bounds, strict=True)
    ]


def _inherit_ranges(
    build: Build,
    actuators: Resolved,
    targets: list[tuple[int, int, int]],
    inputs: list[list[str]],
    columns: dict[str, list[Any]],
) -> None:
    """Set the control or activation ranges in ``columns`` that servos inherit from their targets (``inheritrange``)."""
    if not any(actuators.get("inheritrange", 0.0)):
        return
    for number, (element, (code, target, _)) in enumerate(zip(actuators.elements, targets, strict=True)):
        values = element.resolved()
        factor, gain = values.get("inheritrange") or 0.0, values["gainprm"][0]
        # the force of a servo is a gain times (control - length), so that controls are positions
        kinds = values["gaintype"], values["biastype"]
        servo = kinds == ("fixed", "affine") and values["biasprm"][1] == -gain
        if values["gaintype"] == "pid":
            servo = "pos" in inputs[number]
        if factor <= 0.0 or not servo:
            continue
        attribute = "actrange" if values["dyntype"] == "integrator" else "ctrlrange"
        if values["dyntype"] not in _SERVO_DYNAMICS:
            raise element.error("only position servos inherit a range", "inheritrange")
        if any(values[attribute]) and element.row.tag != "general":
            # an attribute of the actuator itself replaces the other attribute of its class
            given = [name for name in ("inheritrange", attribute, "posrange") if name in element.attributes]
            if len(given) != 1:
                raise element.error(f"inheritrange and {attribute} exclude each other", "inheritrange")
            if given != ["inheritrange"]:
                continue
        if code == TRN_TENDON:
            low, high = build.columns["tendon_range"][target]
        elif code == TRN_JOINT and build.columns["jnt_type"][target] in _SCALAR_JOINTS:
            low, high = build.columns["jnt_range"][target]
        else:
            raise element.error("only hinge and slide joints and tendons have a range to inherit", "inheritrange")
        if not low < high:
            raise element.error("the target has no range to inherit", "inheritrange")
        middle, reach = 0.5 * (low + high), 0.5 * (high - low) * factor
        columns[f"actuator_{attribute}"][number] = (middle - reach, middle + reach)
