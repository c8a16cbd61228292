"""Canonical tree: actuators, all in the general form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.enums.codes import CHART_EXPMAP, CHART_QUAT, TRN_SO3
from cardan.mjcf.canonical.scribe import Scribe, Values, fields, plain, word_of
from cardan.spec.schema import keywords
from cardan.spec.schema.actuator import GENERAL

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.spec.schema.rows import ElementRow

# second objects of transmissions, by the attribute that names the first
_SECOND = {"cranksite": "slidersite", "site": "refsite"}
_ACTUATOR = fields(
    "actuator_",
    "dyntype gaintype biastype dynprm gainprm biasprm forcelimited forcerange "
    "actlimited actrange actearly cranklength group armature damping",
)
_OUTPUT = fields("actuator_", "gear lengthrange")
_CONTROL = fields("actuator_", "ctrllimited ctrlrange")
_RANGES = {"vel": "velrange", "ff": "ffrange"}
_CHARTS = {CHART_EXPMAP: "expmap", CHART_QUAT: "quat"}
_SEVERAL = ("pid", "dcmotor")
"""Types of gain with a control for each word of ``input``."""


def history(row: ElementRow, history: Any, delay: float) -> Values:
    """Return the attributes of the history of an actuator or sensor; {} if it has none."""
    samples, interp = history.tolist()
    if samples <= 0:
        return {}
    return {"nsample": samples, "interp": word_of(row.attributes["interp"], interp), "delay": float(delay)}


def _controls(scribe: Scribe, actuator: int, gain: str) -> Values:
    """Return the attributes of an actuator's controls: ranges, and which controls there are."""
    m = scribe.m
    first, number, spec = (int(getattr(m, f"actuator_ctrl{part}")[actuator]) for part in ("adr", "num", "spec"))
    if gain == "so3":
        return scribe.read(GENERAL, _CONTROL, first) | {"input": _CHARTS[spec]}
    words = [word for word, bit in keywords.INPUT_BITS.items() if spec & bit]
    if gain not in _SEVERAL:
        # a declaration of what the control means, which MuJoCo 3.1 does not know
        declared = {"input": " ".join(words)} if words else {}
        return scribe.read(GENERAL, _CONTROL, first) | declared
    values: Values = {"input": " ".join(words)}
    for place, word in enumerate(words[:number], first):
        if word in _RANGES and gain == "pid":
            values[_RANGES[word]] = plain(m.actuator_ctrlrange[place])
        else:
            values |= scribe.read(GENERAL, _CONTROL, place)
    return values


def _target(m: MjModel, actuator: int) -> str:
    """Return the attribute that names the object of an actuator."""
    kind = int(m.actuator_trntype[actuator])
    if kind == TRN_SO3:
        return "site" if m.actuator_trnid[actuator, 1] >= 0 else "joint"
    return keywords.TRANSMISSION.words[kind]


def _usual_states(m: MjModel, actuator: int, gain: str) -> int:
    """Return the number of activations that an actuator has without the attribute ``actdim``."""
    if gain in _SEVERAL:
        return int(m.actuator_actnum[actuator])
    return int(m.actuator_outnum[actuator]) if m.actuator_dyntype[actuator] != 0 else 0


def put_actuators(scribe: Scribe) -> None:
    """Add actuators."""
    m, section = scribe.m, scribe.tree.section("actuator")
    for actuator in range(m.nactuator):
        values = scribe.read(GENERAL, _ACTUATOR, actuator) | {"name": scribe.name("actuator", actuator)}
        values |= scribe.read(GENERAL, _OUTPUT, int(m.actuator_outadr[actuator]))
        gain = str(values["gaintype"])
        values |= _controls(scribe, actuator, gain)
        target = _target(m, actuator)
        for attribute, number in zip((target, _SECOND.get(target)), m.actuator_trnid[actuator].tolist(), strict=True):
            if attribute is not None:
                values[attribute] = scribe.name(GENERAL.attributes[attribute].kind or "", number)
        activations = int(m.actuator_actnum[actuator])
        values["actdim"] = -1 if activations == _usual_states(m, actuator, gain) else activations
        values |= history(GENERAL, m.actuator_history[actuator], m.actuator_delay[actuator])
        scribe.put_user(values, "actuator_user", actuator)
        origin = scribe.origins.find("actuator", actuator)
        if m.actuator_plugin[actuator] >= 0:
            # 4.0 needs the number of activations, 3.1 does not know the attribute
            values["actdim"] = activations or -1 if scribe.tree.compat == "4.0" else -1
            scribe.put_choice(section, values, origin, int(m.actuator_plugin[actuator]))
        else:
            scribe.put(section, "general", values, origin)
