"""Sensors (spec: modeling, "Sensors"): a table of the types of sensors, and the sensors of a model."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.compiler.columns import Resolved
from cardan.compiler.history import add_histories, intervals
from cardan.enums.codes import GEOM_MESH, SENS_CONTACT, SENS_PLUGIN, SENS_RANGEFINDER, SENS_TACTILE, SENS_USER
from cardan.plugins.registry import size_of
from cardan.sensor import contact, rangefinder, tactile
from cardan.sensor.table import SENSORS as KINDS
from cardan.spec.schema.keywords import DATA_TYPE, GEOM, OBJECT, OBJECT_KIND, REDUCE, SENSOR, STAGE
from cardan.spec.schema.sensor import CONTACT_DATA, RANGE_DATA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardan.compiler.build import Build
    from cardan.compiler.plugins import Instance
    from cardan.spec.element import Element

_AXIS, _QUAT = DATA_TYPE["axis"], DATA_TYPE["quaternion"]


class SensorRow(NamedTuple):
    """Fixed properties of a type of sensor: its code, the number and type of its values, its stage, its object.

    ``about`` is the attribute that names the object, such as "joint". Three values are special: "objname" (an object of
    any kind), "geom1" (a geom or a body), and "" (no object).
    """

    type: int
    dim: int
    datatype: int
    stage: int
    about: str


_KINDS = {kind.type: kind for kind in KINDS}
_TAGS = {
    "site": "touch accelerometer velocimeter gyro force torque magnetometer rangefinder camprojection",
    "joint": "jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc",
    "tendon": "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc",
    "actuator": "actuatorpos actuatorvel actuatorfrc",
    "objname": "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc "
    "insidesite",
    "body": "subtreecom subtreelinvel subtreeangmom",
    "geom1": "distance normal fromto",
    "": "clock e_potential e_kinetic",
}
"""Tags of sensors, by `SensorRow.about`."""


def _row(tag: str, about: str) -> SensorRow:
    """Return the row of a sensor tag, from the engine's table of sensors."""
    kind = _KINDS[SENSOR[tag]]
    # in 4.0.0, the kinetic energy has the stage of positions; it is computed when velocities are known
    stage = STAGE["pos"] if tag == "e_kinetic" else int(kind.stage)
    return SensorRow(SENSOR[tag], kind.dim, int(kind.datatype), stage, about)


SENSORS = {tag: _row(tag, about) for about, tags in _TAGS.items() for tag in tags.split()}
_SCALAR, _BALL, _LIMITABLE = ("slide", "hinge"), ("ball",), ("slide", "hinge", "ball")
_LIMITED_JOINT = ("jointlimitpos", "jointlimitvel", "jointlimitfrc")
# sensors that are defined only for some kinds of joints
_JOINT_TYPES: dict[str, tuple[str, ...]] = {
    "jointpos": _SCALAR,
    "jointvel": _SCALAR,
    "jointactuatorfrc": _SCALAR,
    **dict.fromkeys(("ballquat", "ballangvel"), _BALL),
    **dict.fromkeys(_LIMITED_JOINT, _LIMITABLE),
}
_LIMITED_TENDON = ("tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")
_OF_OUTPUTS = ("actuatorpos", "actuatorvel", "actuatorfrc")
"""Sensors with one value for each force output of an actuator."""
_DISTANCES = ("distance", "normal", "fromto")
_NOT_COMPACT = ("plane", "hfield", "sdf")  # types of geoms that cannot be enclosed by a site
_MOST_VALUES = 10_000_000
_FIXED_DIM = {_AXIS: 3, _QUAT: 4}  # number of values, for data types where it is fixed
_UNBOUNDED = (_AXIS, _QUAT)  # data types that a cutoff cannot bound


def add_sensors(build: Build) -> None:
    """Add sensors, in the user's order: columns ``sensor_*``. Raises MjcfError for invalid objects or values."""
    elements = build.tree.section("sensor").children
    if not elements:
        return
    sensors = Resolved(elements)
    types = {joint.id: joint.type for body in build.bodies for joint in body.joints}
    build.enter_all("sensor", [element.attributes.get("name") for element in elements])
    plugins = [build.own_instances.get(element) for element in elements]
    rows: list[SensorRow] = []
    intprm: list[tuple[int, int, int]] = []
    objects: list[tuple[int, int]] = []
    references: list[tuple[int, int]] = []
    for number, (element, plugin) in enumerate(zip(elements, plugins, strict=True)):
        row, parameters = _row_of(build, sensors, number, plugin)
        about = _object(build, row, element)
        _check(build, element, about[1], types)
        if element.row.tag in _OF_OUTPUTS:
            row = row._replace(dim=build.columns["actuator_outnum"][about[1]])
        rows.append(row)
        intprm.append(parameters)
        objects.append(about)
        references.append(_reference(build, element))
    cutoff, noise = sensors["cutoff"], sensors.get("noise", 0.0)
    _check_bounds(elements, rows, cutoff, noise)
    dims = [row.dim for row in rows]
    add_histories(build, "sensor", sensors, dims)
    addresses = [*accumulate(dims, initial=0)]
    build.sizes["nsensordata"] = addresses.pop()
    build.columns.update(
        sensor_type=[row.type for row in rows],
        sensor_datatype=[row.datatype for row in rows],
        sensor_needstage=[row.stage for row in rows],
        sensor_objtype=[kind for kind, _ in objects],
        sensor_objid=[number for _, number in objects],
        sensor_reftype=[kind for kind, _ in references],
        sensor_refid=[number for _, number in references],
        sensor_dim=dims,
        sensor_adr=addresses,
        sensor_cutoff=cutoff,
        sensor_noise=noise,
        sensor_intprm=intprm,
        sensor_interval=intervals(sensors),
        sensor_plugin=[-1 if plugin is None else plugin.id for plugin in plugins],
        sensor_user=build.users("sensor", sensors),
    )


def _row_of(
    build: Build, sensors: Resolved, number: int, plugin: Instance | None
) -> tuple[SensorRow, tuple[int, int, int]]:
    """Return the row and the integer parameters of sensor ``number``, by its type. Raises MjcfError."""
    element = sensors.elements[number]
    row = SENSORS.get(element.row.tag)
    if element.row.tag == "contact":
        return contact_row(element)
    if element.row.tag == "rangefinder":
        return _range_row(build, element)
    if element.row.tag == "tactile":
        row = _tactile_row(build, element)
    elif element.attributes.get("enclosed"):
        return SENSORS["insidesite"]._replace(datatype=DATA_TYPE["real"]), (1, 0, 0)
    elif row is None and plugin is not None:
        dim = size_of(plugin.plugin.nsensordata, plugin.config)
        row = SensorRow(SENS_PLUGIN, dim, DATA_TYPE["real"], plugin.plugin.needstage, _any_object(element))
    elif row is None:
        row = _user_row(element, sensors.one(number))
    return row, (0, 0, 0)


def _check_bounds(
    elements: Sequence[Element], rows: Sequence[SensorRow], cutoffs: Sequence[float], noises: Sequence[float]
) -> None:
    """Check cutoffs and noises of sensors. Raises MjcfError."""
    for element, row, bound, deviation in zip(elements, rows, cutoffs, noises, strict=True):
        if bound > 0.0 and row.datatype in _UNBOUNDED and element.tag not in _DISTANCES:
            raise element.error("axes and quaternions have no cutoff", "cutoff")
        for name, value in (("cutoff", bound), ("noise", deviation)):
            if value < 0.0:
                raise element.error(f"must not be negative, found {value:g}", name)


def _user_row(element: Element, values: dict[str, Any]) -> SensorRow:
    """Return the row of a user sensor, which is specified by attributes. Raises MjcfError for invalid values."""
    dim, datatype = values["dim"], DATA_TYPE[values["datatype"]]
    if dim < 0:
        raise element.error(f"must not be negative, found {dim}", "dim")
    if dim != _FIXED_DIM.get(datatype, dim):
        raise element.error(f"must be {_FIXED_DIM[datatype]} for values of this datatype, found {dim}", "dim")
    return SensorRow(SENS_USER, dim, datatype, STAGE[values["needstage"]], _any_object(element))


def contact_row(element: Element) -> tuple[SensorRow, tuple[int, int, int]]:
    """Return the row of a contact sensor, and bits of its data, reduction and number of contacts. Check the data."""
    values = element.resolved()
    words = values["data"].split() or ["found"]
    chosen = [bit for bit, word in enumerate(CONTACT_DATA) if word in words]
    bits, reduction, number = sum(1 << bit for bit in chosen), REDUCE[values["reduce"]], values["num"]
    moving = bits & (contact.LINVEL | contact.ANGVEL)
    if moving and reduction == contact.NETFORCE:
        raise element.error("netforce has no velocities: leave out linvel and angvel", "data")
    if bits & (contact.FORCE | contact.TORQUE) or reduction in (contact.MAXFORCE, contact.NETFORCE):
        stage = STAGE["acc"]
    else:
        stage = STAGE["vel" if moving else "pos"]
    dim = number * sum(contact.WIDTHS[bit] for bit in chosen)
    _check_number(element, dim, "num")
    return SensorRow(SENS_CONTACT, dim, DATA_TYPE["real"], stage, "condition"), (bits, reduction, number)


def _check_number(element: Element, dim: int, attribute: str) -> None:
    """Raise MjcfError if a sensor has too many values; `attribute` is the one that leads to their number."""
    if dim > _MOST_VALUES:
        raise element.error(f"at most {_MOST_VALUES} values, found {dim}", attribute)


def values_of_ray(element: Element) -> tuple[int, int]:
    """Return the bits of the data of a rangefinder, and the number of values of each of its rays."""
    words = element.resolved()["data"].split() or ["dist"]
    chosen = [bit for bit, word in enumerate(RANGE_DATA) if word in words]
    return sum(1 << bit for bit in chosen), sum(rangefinder.WIDTHS[bit] for bit in chosen)


def _range_row(build: Build, element: Element) -> tuple[SensorRow, tuple[int, int, int]]:
    """Return the row of a rangefinder, and the bits of its data. Raises MjcfError if the camera has no resolution.

    In MuJoCo 3.1, values are at most the cutoff. In 4.0, and for other data, -1 and coordinates are bounded as well.
    """
    bits, dim = values_of_ray(element)
    about = "site"
    if "camera" in element.attributes:
        _, camera = _named(build, about := "camera", element.attributes["camera"])
        width, height = build.columns["cam_resolution"][camera]
        if width <= 0 or height <= 0:
            reason = f"the camera's resolution must be positive, found {width} {height}"
            raise element.error(reason, "camera")
        dim *= width * height
        _check_number(element, dim, "camera")
    plain = build.tree.compat == "3.1" and bits == rangefinder.DIST and about == "site"
    datatype = SENSORS["rangefinder"].datatype if plain else DATA_TYPE["real"]
    return SensorRow(SENS_RANGEFINDER, dim, datatype, STAGE["pos"], about), (bits, 0, 0)


def _condition(build: Build, element: Element, suffix: str) -> tuple[int, int]:
    """Return type and id of the object of a condition (1 or 2) of a contact sensor, or (0, -1) if there is none."""
    given = element.attributes
    for attribute, word in (("geom", "geom"), ("body", "body"), ("subtree", "xbody")):
        if attribute + suffix in given:
            return _named(build, word, given[attribute + suffix])
    return _named(build, "site", given["site"]) if suffix == "1" and "site" in given else (0, -1)


def _tactile_row(build: Build, element: Element) -> SensorRow:
    """Return the row of a tactile sensor. Raises MjcfError if its body cannot touch anything."""
    mesh, geom = build.ids["mesh"][element.attributes["mesh"]], build.ids["geom"][element.attributes["geom"]]
    body = build.columns["geom_bodyid"][geom]
    masks = zip(*(build.columns[f"geom_{name}"] for name in ("bodyid", "contype", "conaffinity")), strict=True)
    if not any(owner == body and (contype or conaffinity) for owner, contype, conaffinity in masks):
        reason = "its body has no geom that collides: contype and conaffinity of all of them are 0"
        raise element.error(reason, "geom")
    dim = tactile.CHANNELS * int(build.columns["mesh_vertnum"][mesh])
    _check_number(element, dim, "mesh")
    return SensorRow(SENS_TACTILE, dim, DATA_TYPE["real"], STAGE["vel"], "mesh")


def _any_object(element: Element) -> str:
    """Return `SensorRow.about` for a sensor that may have an object of any kind: "objname", or "" if none is given.

    Raises:
        MjcfError: only one of the attributes objtype and objname is given.
    """
    about = "objname" if "objtype" in element.attributes else ""
    if ("objtype" in element.attributes) != ("objname" in element.attributes):
        raise element.error("needs both objtype and objname, or none of them", "objname" if about else "objtype")
    return about


def _named(build: Build, word: str, name: str) -> tuple[int, int]:
    """Return object type (`mjtObj`) and id of a named object of the kind ``word``."""
    return OBJECT[word], build.ids[OBJECT_KIND[word]][name]


def _object(build: Build, row: SensorRow, element: Element) -> tuple[int, int]:
    """Return type (`mjtObj`) and id of the sensor's object, or (0, -1) if the sensor has none."""
    if not row.about:
        return 0, -1
    if row.type == SENS_CONTACT:
        return _condition(build, element, "1")
    if row.about == "geom1":
        return _geom_or_body(build, element, 1)
    word = element.attributes["objtype"] if row.about == "objname" else row.about
    return _named(build, word, element.attributes[row.about])


def _geom_or_body(build: Build, element: Element, number: int) -> tuple[int, int]:
    """Return type and id of object ``number`` (1 or 2) of a distance sensor, which is a geom or a body.

    Raises:
        MjcfError: both or neither of the two are given.
    """
    given = [kind for kind in ("geom", "body") if f"{kind}{number}" in element.attributes]
    if len(given) != 1:
        raise element.error(f"needs either geom{number} or body{number}")
    return _named(build, given[0], element.attributes[f"{given[0]}{number}"])


def _reference(build: Build, element: Element) -> tuple[int, int]:
    """Return type and id of a sensor's second object, or (0, -1) if it has none.

    The second object is a reference frame, a camera, or the second geom or body of a distance sensor.
    """
    tag, given = element.row.tag, element.attributes
    if tag == "contact":
        return _condition(build, element, "2")
    if tag == "tactile":
        return _named(build, "geom", given["geom"])
    if tag == "insidesite":
        return _named(build, "site", given["site"])
    if tag == "camprojection":
        return _named(build, "camera", given["camera"])
    if tag in _DISTANCES:
        return _geom_or_body(build, element, 2)
    word = given.get("reftype")
    return _named(build, word, given["refname"]) if word else (0, -1)


def _check_enclosed(build: Build, element: Element, objid: int) -> None:
    """Check that the object of an ``insidesite`` sensor with ``enclosed`` consists of compact convex shapes."""
    kind = element.attributes["objtype"]
    if kind == "camera":
        raise element.error("a camera has no shape that could be enclosed", "objtype")
    if kind == "site":
        return
    bodies = {objid} if kind != "geom" else set()
    for body, parent in enumerate(build.columns["body_parentid"] if kind == "xbody" else ()):
        if body and parent in bodies:
            bodies.add(body)
    owners = build.columns.get("geom_bodyid", [])
    geoms = [objid] if kind == "geom" else [geom for geom, body in enumerate(owners) if body in bodies]
    if not geoms:
        raise element.error("the object has no geoms that could be enclosed", "objname")
    for geom in geoms:
        word = GEOM.words[int(build.columns["geom_type"][geom])]
        if word in _NOT_COMPACT:
            name = build.names["geom"][geom]
            raise element.error(f"geom '{name}' (id {geom}) is a {word}, not a compact convex shape", "objname")


def _check(build: Build, element: Element, objid: int, types: dict[int, str]) -> None:
    """Check that a sensor's object suits the sensor: for example, that a joint has limits if the sensor needs them."""
    tag = element.row.tag
    allowed = _JOINT_TYPES.get(tag)
    if allowed and types[objid] not in allowed:
        raise element.error(f"works on joints of type {', '.join(allowed)}, not {types[objid]}", "joint")
    if tag == "touch" and build.columns["site_type"][objid] == GEOM_MESH:
        raise element.error("the volume of the site must be a primitive shape, not a mesh", "site")
    if tag in _DISTANCES and _geom_or_body(build, element, 1) == _geom_or_body(build, element, 2):
        raise element.error("measures the distance of something from itself: the two must be different")
    if element.attributes.get("enclosed"):
        _check_enclosed(build, element, objid)
    if tag in _LIMITED_JOINT and not build.columns["jnt_limited"][objid]:
        raise element.error("the joint has no limits", "joint")
    if tag in _LIMITED_TENDON and not build.columns["tendon_limited"][objid]:
        raise element.error("the tendon has no limits", "tendon")
