"""MJCF rules on several attributes or elements: attributes that exclude or require each other, parents, bounds.

Each rule is a function of an element that raises MjcfError if the element breaks the rule. `rules_of` returns the rules
that can be checked at the start tag. ``CLOSING_RULES`` are the rules that need the element's children.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from cardan.constants import mjNGROUP
from cardan.errors import suggestion
from cardan.spec.schema.actuator import CHARTS, INPUTS, TARGETS
from cardan.spec.schema.asset import LAYERS
from cardan.spec.schema.sensor import CONTACT_DATA, RANGE_DATA
from cardan.spec.schema.shared import ORIENTATION

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.schema.rows import ElementRow

Rule = Callable[["Element"], None]

_ORIENTATIONS = tuple(row.name for row in ORIENTATION)
_ANY_ORIENTATION = frozenset(_ORIENTATIONS)
_TARGETS = frozenset(TARGETS)
_LARGEST_GROUP = 30
_LARGEST_NUMERIC = 500
_LARGEST_COUNT = 100_000
_LARGEST_GRID = 12
_LEAST_MEMORY = 1024


def _given(element: Element, names: tuple[str, ...]) -> list[str]:
    """Return the names of attributes that the element gives explicitly."""
    return [name for name in names if name in element.attributes]


def one_orientation(element: Element) -> None:
    """Check that an element has at most one orientation and that its quaternion is not zero."""
    if len(_ANY_ORIENTATION & element.attributes.keys()) > 1:
        found = _given(element, _ORIENTATIONS)
        raise element.error(f"{' and '.join(found)} exclude each other: give one orientation", found[1])
    quat = element.attributes.get("quat")
    if quat is not None and not any(quat):
        raise element.error("a quaternion of zero length has no orientation", "quat")


def no_turned_fullinertia(element: Element) -> None:
    """Check that no orientation is given together with a full inertia, which is always in the body's frame."""
    found = _given(element, ("fullinertia", *_ORIENTATIONS))
    if len(found) > 1 and found[0] == "fullinertia":
        raise element.error(f"fullinertia and {found[1]} exclude each other", found[1])


def in_moving_body(element: Element) -> None:
    """Check that joints and inertias are not direct children of the world."""
    around = element.parent
    while around is not None and around.row.tag in ("frame", "replicate"):
        around = around.parent
    if around is not None and around.row.tag == "worldbody":
        noun = "inertia" if element.tag == "inertial" else "joints"
        raise element.error(f"the world body cannot have {noun}: put <{element.tag}> inside a <body>")


def one_target(element: Element) -> None:
    """Check that an actuator has exactly one target. In MuJoCo 4.0, the last of several counts, in a fixed order."""
    if len(_TARGETS & element.attributes.keys()) == 1:
        return
    found = _given(element, TARGETS)
    if found and element.tree.compat == "4.0":
        counts = found[-1]
        element.warn(f"{' and '.join(found)} exclude each other: only {counts} counts", counts)
        for name in found:
            if name != counts:
                del element.attributes[name]
        return
    if found:
        raise element.error(f"{' and '.join(found)} exclude each other: an actuator has one target", found[1])
    raise element.error(f"no target: give one of {', '.join(t for t in TARGETS if t in element.row.attributes)}")


def transmission_parts(element: Element) -> None:
    """Check that ``refsite`` comes with ``site``, and ``slidersite`` and ``cranklength`` with ``cranksite``.

    This is a rule of files: programs may give parts that the actuator's target does not use.
    """
    if element.line is None:
        return
    if "refsite" in element.attributes and "site" not in element.attributes:
        raise element.error("refsite needs site", "refsite")
    for name in _given(element, ("slidersite", "cranklength")):
        if "cranksite" not in element.attributes:
            raise element.error(f"{name} needs cranksite", name)


# parameters of actuator shortcuts that must not be negative
_NOT_NEGATIVE: dict[str, tuple[str, ...]] = {
    "position": ("kv", "dampratio", "timeconst"),
    "intvelocity": ("kv", "dampratio"),
    "damper": ("kv", "ctrlrange"),
    "adhesion": ("gain", "ctrlrange"),
    "muscle": ("tausmooth",),
    "dcmotor": ("motorconst", "inductance", "thermal"),
    "orientation": ("kv", "dampratio"),
    "pid": ("kv", "dampratio", "slewmax", "imax", "ki"),
}


_SIGNED_FROM = {"thermal": 3}
"""First number of a parameter that may be negative: temperatures in degrees Celsius, and their coefficient."""


def shortcut_bounds(element: Element) -> None:
    """Check that the parameters of an actuator shortcut in `_NOT_NEGATIVE` are not negative."""
    for name in _given(element, _NOT_NEGATIVE.get(element.tag, ())):
        value = element.attributes[name]
        for number in (value if isinstance(value, tuple) else (value,))[: _SIGNED_FROM.get(name)]:
            if number < 0.0:
                raise element.error(f"must not be negative, found {number:g}", name)


def one_damping(element: Element) -> None:
    """Check that a servo does not have both ``kv`` and ``dampratio``, unless one of them is 0."""
    found = [name for name in _given(element, ("kv", "dampratio")) if element.attributes[name]]
    if len(found) > 1:
        raise element.error("kv and dampratio exclude each other", "dampratio")


def reference_frame(element: Element) -> None:
    """Check that the kind and the name of a reference frame are given together."""
    found = _given(element, ("reftype", "refname"))
    if len(found) == 1:
        other = "refname" if found == ["reftype"] else "reftype"
        raise element.error(f"{found[0]} needs {other}", other)


def two_bodies_or_sites(element: Element) -> None:
    """Check that a constraint is between ``body1`` and an optional ``body2``, or between two sites."""
    sites = _given(element, ("site1", "site2"))
    if not sites:
        for name in ("body1", "anchor") if element.tag == "connect" else ("body1",):
            if name not in element.attributes:
                raise element.error("required attribute missing, as there are no site1 and site2", name)
        return
    others = _given(element, ("body1", "body2", "anchor", "relpose"))
    if others:
        raise element.error(f"{sites[0]} and {others[0]} exclude each other", others[0])
    if len(sites) == 1:
        missing = "site2" if sites == ["site1"] else "site1"
        raise element.error(f"required attribute missing ({sites[0]} needs it)", missing)


def site_or_camera(element: Element) -> None:
    """Check that a rangefinder has one site or one camera, and that the words of ``data`` are known and in order."""
    found = _given(element, ("site", "camera"))
    if not found:
        raise element.error("required attribute missing: give site, or camera", "site")
    if len(found) > 1:
        raise element.error("site and camera exclude each other", "camera")
    in_order(element, "data", RANGE_DATA)


def contact_sensor(element: Element) -> None:
    """Check a contact sensor: at most one condition per side, ``num`` positive, words of ``data`` in order."""
    for names in (("geom1", "body1", "subtree1", "site"), ("geom2", "body2", "subtree2")):
        found = _given(element, names)
        if len(found) > 1:
            raise element.error(f"{' and '.join(found)} exclude each other", found[1])
    if element.attributes.get("num", 1) < 1:
        raise element.error(f"must be positive, found {element.attributes['num']}", "num")
    in_order(element, "data", CONTACT_DATA)


def in_order(element: Element, name: str, known: tuple[str, ...]) -> None:
    """Check that the words in attribute ``name`` are some of ``known``, in the order of ``known``, without repetition.

    The order of ``known`` is also the order of a sensor's values or an actuator's controls.
    """
    words = element.attributes.get(name, "").split()
    for word in words:
        if word not in known:
            raise element.error(f"'{word}' is not one of its words" + suggestion(word, known), name)
    if words != [word for word in known if word in words]:
        raise element.error(f"expected some of {', '.join(known)}, in this order, found '{' '.join(words)}'", name)


def actuator_input(element: Element) -> None:
    """Check the words of ``input``, which select the controls of an actuator."""
    word = element.attributes.get("input", "")
    if element.tag != "orientation" and word not in ("none", *CHARTS):
        in_order(element, "input", INPUTS)
    elif element.tag == "orientation" and word and word not in CHARTS:
        raise element.error(f"expected {' or '.join(CHARTS)}, found '{word}'", "input")


def camera_intrinsics(element: Element) -> None:
    """Check that focal lengths and principal points come with ``sensorsize``, which excludes ``fovy``."""
    if _given(element, ("focal", "focalpixel", "principal", "principalpixel")):
        if "sensorsize" not in element.attributes:
            reason = "focal lengths and principal points need it"
            raise element.error(f"required attribute missing ({reason})", "sensorsize")
    if "sensorsize" in element.attributes:
        if "fovy" in element.attributes:
            raise element.error("fovy and sensorsize exclude each other", "fovy")


def soft_edge(element: Element) -> None:
    """Check that ``softness``, the fraction of a light's cone in which the light fades, is between 0 and 1."""
    softness = element.attributes.get("softness")
    if softness is not None and not 0.0 <= softness <= 1.0:
        raise element.error(f"must be between 0 and 1, found {softness:g}", "softness")


def deprecated(name: str, advice: str) -> Rule:
    """Return a rule that warns about attribute ``name``, deprecated in MuJoCo 4.0, if a model has 4.0's behaviour."""

    def rule(element: Element) -> None:
        if name in element.attributes and element.tree.compat == "4.0":
            element.warn(f"deprecated in MuJoCo 4.0: {advice}", name)

    return rule


def refuse(name: str, wrong: Callable[[Any], bool], message: str) -> Rule:
    """Return a rule that raises MjcfError if ``wrong(value)`` is true for the value of attribute ``name``.

    ``{}`` in the message is replaced by the value.
    """

    def rule(element: Element) -> None:
        value = element.attributes.get(name)
        if value is not None and wrong(value):
            raise element.error(message.format(value), name)

    return rule


def euler_sequence(element: Element) -> None:
    """Check that an Euler sequence has three letters. Warn about letters other than xyzXYZ."""
    word = element.attributes.get("eulerseq", "xyz")
    if len(word) != 3:
        raise element.error(f"expected three of the letters x, y, z, X, Y, Z, found '{word}'", "eulerseq")
    if set(word) - set("xyzXYZ"):
        element.warn(f"expected three of the letters x, y, z, X, Y, Z, found '{word}'", "eulerseq")


def bounded_count(element: Element) -> None:
    """Check that the number of copies is within bounds. Replace a negative number by 0, with a warning."""
    count = element.attributes["count"]
    if count > _LARGEST_COUNT:
        raise element.error(f"must be between 0 and {_LARGEST_COUNT}, found {count}", "count")
    if count < 0:
        element.warn(f"a negative number of copies counts as 0, found {count}", "count")
        element.attributes["count"] = 0


def bounded_sizes(element: Element) -> None:
    """Check the bounds of sizes. -1 is allowed if it is the default (automatic); a negative ``nkey`` becomes 0."""
    if element.attributes.get("nkey", 0) < 0:
        element.warn(f"a negative number of keyframes counts as 0, found {element.attributes['nkey']}", "nkey")
        element.attributes["nkey"] = 0
    for name, value in element.attributes.items():
        least = min(element.row.defaults[name], 0)
        if value < least:
            raise element.error(f"must be at least {least}, found {value}", name)
    if element.attributes.get("nkey", 0) > _LARGEST_COUNT:
        raise element.error(f"at most {_LARGEST_COUNT} keyframes, found {element.attributes['nkey']}", "nkey")
    if 0 <= element.attributes.get("memory", -1) < _LEAST_MEMORY:
        raise element.error(f"less than {_LEAST_MEMORY} bytes leave no room for a single contact", "memory")


def one_memory(given: Mapping[str, Any]) -> str | None:
    """Return the attribute of ``size`` that conflicts with ``memory``, or None."""
    if given.get("memory", -1) < 0:
        return None
    return next((name for name in ("njmax", "nstack") if given.get(name, -1) >= 0), None)


def actuator_groups(element: Element) -> None:
    """Check that the groups of actuators to disable are 0 to 30."""
    for group in element.attributes.get("actuatorgroupdisable", ()):
        if not 0 <= group <= _LARGEST_GROUP:
            raise element.error(f"groups are 0 to {_LARGEST_GROUP}, found {group}", "actuatorgroupdisable")


def numeric_size(element: Element) -> None:
    """Check that the size of a custom numeric field is 1 to 500, and that the field has at most this many numbers."""
    data = element.attributes.get("data", ())
    size = element.attributes.get("size", len(data))
    if not 1 <= size <= _LARGEST_NUMERIC:
        raise element.error(f"the size must be between 1 and {_LARGEST_NUMERIC}, found {size}", "size")
    if len(data) > size:
        raise element.error(f"{len(data)} numbers are more than the size, which is {size}", "data")


def needs_name(element: Element) -> None:
    """Check that a material has a name. Without a name, nothing can refer to the material."""
    if not element.name:
        raise element.error("required attribute missing", "name")


def texture_grid(element: Element) -> None:
    """Check that a texture's grid layout is not too long, and has one letter for each cell."""
    layout = element.attributes.get("gridlayout")
    if layout is None:
        return
    rows, columns = element.attributes.get("gridsize", (1, 1))
    if len(layout) > _LARGEST_GRID:
        raise element.error(f"at most {_LARGEST_GRID} letters, found {len(layout)}", "gridlayout")
    if len(layout) != rows * columns:
        raise element.error(f"{len(layout)} letters, but gridsize has {rows * columns} cells", "gridlayout")


def needs_content(element: Element) -> None:
    """Check that a tuple has elements and a fixed tendon has joints."""
    if not element.children:
        inside = next(iter(element.row.children))
        raise element.error(f"empty: it needs at least one <{inside}>")


_NEGATIVE = "must not be negative, found {:g}"
_POSITIVE = "must be positive, found {:g}"
_GROUPS = f"groups of skins are 0 to {mjNGROUP - 1}, found {{}}"  # the viewer shows no other groups

_BY_TAG: dict[str, tuple[Rule, ...]] = {
    "inertial": (in_moving_body, no_turned_fullinertia),
    "joint": (in_moving_body,),
    "freejoint": (in_moving_body,),
    "geom": (refuse("adhesion", lambda value: value < 0.0, _NEGATIVE),),
    "pair": (refuse("adhesion", lambda value: value < 0.0, _NEGATIVE),),
    "camera": (camera_intrinsics,),
    "light": (soft_edge,),
    "statistic": (
        deprecated("meaninertia", "it does not affect the simulation"),
        refuse("extent", lambda value: not value > 0, _POSITIVE),
    ),
    "global": (refuse("realtime", lambda value: not value > 0, _POSITIVE),),
    "map": (refuse("znear", lambda value: not value > 0, _POSITIVE),),
    "compiler": (
        deprecated("settotalmass", "scale masses in the model, or call mj_setTotalmass and mj_setConst"),
        euler_sequence,
        refuse("coordinate", lambda word: word == "global", "global coordinates are no longer in MJCF; use 'local'"),
    ),
    "size": (bounded_sizes,),
    "frame": (refuse("scale", lambda values: len(values) == 2, "expected 1 or 3 numbers, found 2"),),
    "replicate": (bounded_count,),
    "option": (actuator_groups,),
    "numeric": (numeric_size,),
    "texture": (texture_grid,),
    "mesh": (
        refuse("content_type", lambda word: word and not all(word.partition("/")),
               "expected a media type like 'model/obj', found '{}'"),
    ),
    "hfield": (refuse("file", lambda path: path == "", "the name of the file is empty"),),
    "skin": (refuse("group", lambda group: not 0 <= group < mjNGROUP, _GROUPS),),
    "material": (needs_name,),
    "connect": (two_bodies_or_sites,),
    "weld": (two_bodies_or_sites,),
    "rangefinder": (site_or_camera,),
}  # fmt: skip

# rules of every element that has the attribute
_BY_ATTRIBUTE: dict[str, Rule] = {
    "axisangle": one_orientation,
    "dampratio": one_damping,
    "reftype": reference_frame,
    "ctrlrange": shortcut_bounds,
    "input": actuator_input,
    "subtree1": contact_sensor,
}

# a rule with an entry here has nothing to check if none of these attributes is given
ABOUT: dict[Rule, frozenset[str]] = {
    one_orientation: _ANY_ORIENTATION,
    one_damping: frozenset(("kv", "dampratio")),
    reference_frame: frozenset(("reftype", "refname")),
    actuator_input: frozenset(("input",)),
    shortcut_bounds: frozenset().union(*_NOT_NEGATIVE.values()),
    transmission_parts: frozenset(("refsite", "slidersite", "cranklength")),
}


def fold_layers(element: Element) -> None:
    """Move the layers of a material to its attributes. Raises MjcfError if it has both a texture and layers."""
    layers = [child for child in element.children if child.tag == "layer"]
    if not layers:
        return
    if "texture" in element.attributes:
        raise layers[0].error("texture and layers exclude each other: write the texture as a layer of the role rgb")
    names = {role: name for name, role in LAYERS.items()}
    for layer in layers:
        name = names.get(layer.attributes["role"], "texture")
        element.attributes[name] = layer.attributes["texture"]
    element.children = [child for child in element.children if child.tag != "layer"]


def needs_data(element: Element) -> None:
    """Check that a custom text has a text: in its attribute or in a CDATA section."""
    if not element.attributes.get("data"):
        raise element.error("required attribute missing: the text must not be empty", "data")


CLOSING_RULES: dict[str, Rule] = {
    "text": needs_data,
    "material": fold_layers,
    "tuple": needs_content,
    "fixed": needs_content,
}


@cache
def rules_of(row: ElementRow) -> tuple[Rule, ...]:
    """Return the rules for elements of a row: the rules for its tag and the rules for its attributes."""
    rules = _BY_TAG.get(row.tag, ()) if not row.is_entry else ()
    for attribute, rule in _BY_ATTRIBUTE.items():
        if attribute in row.attributes:
            rules = (*rules, rule)
    return (*rules, one_target, transmission_parts) if row.kind == "actuator" else rules
