"""Canonical tree: contacts, equality constraints, tendons, sensors, keyframes."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtWrap
from cardan.enums.codes import OBJ_SITE, OBJ_UNKNOWN
from cardan.mjcf.canonical.actuators import history, put_actuators
from cardan.mjcf.canonical.scribe import Scribe, Values, fields, plain, word_of
from cardan.model import internals
from cardan.spec.schema import keywords
from cardan.spec.schema.relations import EQUALITY, EQUALITY_DATA, PAIR, SPATIAL, equality_objects
from cardan.spec.schema.rows import ElementRow
from cardan.spec.schema.sensor import CONTACT_DATA, RANGE_DATA, SENSOR

# --- contact ---------------------------------------------------------------------------------------------------------

_PAIR = fields(
    "pair_", "geom1 geom2 friction solref solimp solreffriction margin gap adhesion stick lagged", condim="dim"
)


def _put_contacts(scribe: Scribe) -> None:
    """Add contact pairs and exclusions.

    If a geom has convex pieces, the pairs of its pieces are written as one pair.
    """
    m, section = scribe.m, scribe.tree.section("contact")
    for pair in range(m.npair):
        if not all(scribe.is_first(geom) for geom in (int(m.pair_geom1[pair]), int(m.pair_geom2[pair]))):
            continue
        values = scribe.read(PAIR, _PAIR, pair) | {"name": scribe.name("pair", pair)}
        scribe.put(section, "pair", values, scribe.origins.find("pair", pair))
    for exclude in range(m.nexclude):
        signature = int(m.exclude_signature[exclude])
        bodies = {"body1": scribe.name("body", signature >> 16), "body2": scribe.name("body", signature & 0xFFFF)}
        scribe.put(section, "exclude", bodies | {"name": scribe.name("exclude", exclude)})


# --- equality --------------------------------------------------------------------------------------------------------

_EQUALITY = fields("eq_", "solref solimp", active="active0")


def _put_equalities(scribe: Scribe) -> None:
    """Add equality constraints."""
    m, section = scribe.m, scribe.tree.section("equality")
    for number in range(m.neq):
        tag = keywords.EQUALITY.words[int(internals.array(m, "eq_type")[number])]
        row = EQUALITY.children[tag]
        values = scribe.read(row, _EQUALITY, number) | {"name": scribe.name("equality", number)}
        for name, part in EQUALITY_DATA[tag].items():
            entries = plain(m.eq_data[number, part])
            values[name] = entries[0] if row.attributes[name].scalar else entries
        objtype, objects = int(m.eq_objtype[number]), (int(m.eq_obj1id[number]), int(m.eq_obj2id[number]))
        for name in ("anchor", "relpose") if objtype == OBJ_SITE else ():
            values.pop(name, None)
        kind = keywords.OBJECT.words[objtype] if objtype else tag  # of joints, tendons and flexes
        for reference, obj in zip(equality_objects(row, kind), objects, strict=False):
            # if no second body is named, a body is attached to the world
            if obj or reference.name != "body2":
                values[reference.name] = scribe.name(reference.kind or "", obj)
        scribe.put(section, tag, values, scribe.origins.find("equality", number))


# --- tendon ----------------------------------------------------------------------------------------------------------

_TENDON = fields(
    "tendon_",
    "group limited range margin stiffness damping frictionloss armature width rgba",
    actuatorfrclimited="actfrclimited",
    actuatorfrcrange="actfrcrange",
    solreflimit="solref_lim",
    solimplimit="solimp_lim",
    solreffriction="solref_fri",
    solimpfriction="solimp_fri",
    springlength="lengthspring",
    material="matid",
)
_JOINT, _PULLEY, _SITE = int(mjtWrap.mjWRAP_JOINT), int(mjtWrap.mjWRAP_PULLEY), int(mjtWrap.mjWRAP_SITE)


def _put_tendons(scribe: Scribe) -> None:
    """Add fixed and spatial tendons, with their paths."""
    m, section = scribe.m, scribe.tree.section("tendon")
    for tendon in range(m.ntendon):
        adr, num = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
        tag = "fixed" if int(m.wrap_type[adr]) == _JOINT else "spatial"
        values = scribe.read(SPATIAL, _TENDON, tendon) | {"name": scribe.name("tendon", tendon)}
        scribe.put_user(values, "tendon_user", tendon)
        element = scribe.put(section, tag, values, scribe.origins.find("tendon", tendon))
        for wrap in range(adr, adr + num):
            kind, number, parameter = int(m.wrap_type[wrap]), int(m.wrap_objid[wrap]), float(m.wrap_prm[wrap])
            if kind == _JOINT:
                scribe.put(element, "joint", {"joint": scribe.name("joint", number), "coef": parameter})
            elif kind == _PULLEY:
                scribe.put(element, "pulley", {"divisor": parameter})
            elif kind == _SITE:
                scribe.put(element, "site", {"site": scribe.name("site", number)})
            else:
                side = scribe.name("site", round(parameter))
                scribe.put(element, "geom", {"geom": scribe.name("geom", number), "sidesite": side})


# --- sensor ----------------------------------------------------------------------------------------------------------


DATA_WORDS = {"contact": CONTACT_DATA, "rangefinder": RANGE_DATA}
"""Words of the attribute ``data``, in the order of their bits, by the tag of the sensor."""


def _put_sensors(scribe: Scribe) -> None:
    """Add sensors."""
    m, section = scribe.m, scribe.tree.section("sensor")
    for number in range(m.nsensor):
        tag = keywords.SENSOR.words[int(internals.array(m, "sensor_type")[number])]
        row = SENSOR.children[tag]
        known = " ".join(name for name in ("cutoff", "noise") if name in row.attributes)
        values = scribe.read(row, fields("sensor_", known), number)
        values["name"] = scribe.name("sensor", number)
        obj = (int(m.sensor_objtype[number]), int(m.sensor_objid[number]))
        ref = (int(m.sensor_reftype[number]), int(m.sensor_refid[number]))
        values |= _named(scribe, row, obj, ("objtype", "objname"), "1") | _named(
            scribe, row, ref, ("reftype", "refname"), "2"
        )
        bits, reduction, slots = m.sensor_intprm[number].tolist()
        if tag in DATA_WORDS:
            values["data"] = " ".join(word for bit, word in enumerate(DATA_WORDS[tag]) if bits >> bit & 1)
        if tag == "contact":
            values |= {"num": slots, "reduce": word_of(row.attributes["reduce"], reduction)}
        if tag == "insidesite":
            values["enclosed"] = bool(bits & 1)
        if tag == "user":
            values |= scribe.read(row, fields("sensor_", "datatype needstage dim"), number)
        values |= history(row, m.sensor_history[number], m.sensor_delay[number])
        if m.sensor_interval[number].any():
            values["interval"] = plain(m.sensor_interval[number])
        scribe.put_user(values, "sensor_user", number)
        if m.sensor_plugin[number] >= 0:
            scribe.put_choice(section, values, scribe.origins.find("sensor", number), int(m.sensor_plugin[number]))
        else:
            scribe.put(section, tag, values)


def _named(
    scribe: Scribe, row: ElementRow, obj: tuple[int, int], attributes: tuple[str, str], suffix: str
) -> dict[str, Any]:
    """Return the attributes that name one object of a sensor, with their values. If there is no object, return {}.

    The object ``obj`` is given by its type (`mjtObj`) and id. If the sensor's ``row`` has the two ``attributes`` (for
    kind and name), these are used. If not, one attribute is named after the kind, possibly with ``suffix``: ``geom1``.
    """
    code, number = obj
    if code == OBJ_UNKNOWN or number < 0:
        return {}
    word = keywords.OBJECT.words[code]
    name = scribe.name(keywords.OBJECT_KIND[word], number)
    if attributes[0] in row.attributes:
        return dict(zip(attributes, (word, name), strict=True))
    choices = (word, word + suffix, "subtree" + suffix)  # the subtree of a body is the object of type xbody
    return {next(attribute for attribute in choices if attribute in row.attributes): name}


# --- keyframe --------------------------------------------------------------------------------------------------------

_KEY = fields("key_", "time qpos qvel act mpos mquat ctrl")


def _put_keyframes(scribe: Scribe) -> None:
    """Add keyframes up to the last one that has a name or differs from the initial state."""
    m, section = scribe.m, scribe.tree.section("keyframe")
    row = section.row.children["key"]
    mocap = [body for _, body in sorted((i, b) for b, i in enumerate(m.body_mocapid.tolist()) if i >= 0)]
    # the state of a keyframe that leaves everything out
    initial: Values = {
        "qpos": plain(m.qpos0),
        "qvel": (0.0,) * m.nv,
        "act": (0.0,) * m.na,
        "ctrl": (0.0,) * m.nu,
        "mpos": plain(m.body_pos[mocap].ravel()),
        "mquat": plain(m.body_quat[mocap].ravel()),
    }
    for key in range(m.nkey):
        values = scribe.read(row, _KEY, key) if m.nkey else {}
        told = {name: value for name, value in values.items() if value != initial.get(name, value)}
        scribe.put(section, "key", {"time": values["time"], **told, "name": scribe.name("key", key)})
    while section.children and not section.children[-1].attributes:
        section.children.pop()


def put_relations(scribe: Scribe) -> None:
    """Add contacts, equality constraints, tendons, actuators, sensors and keyframes."""
    for put in (_put_contacts, _put_equalities, _put_tendons, put_actuators, _put_sensors, _put_keyframes):
        put(scribe)
