"""The whole MJCF language as one table, assembled from the modules of this package.

``SCHEMA`` is the row of the root element ``<mujoco>``. ``children`` of a row are the rows of allowed child elements.
Every element and attribute of the language has a row. Rows of missing features have a mark (``later``) with the name of
the feature.
"""

from __future__ import annotations

from collections.abc import Iterator

from cardan.spec.schema.actuator import ACTUATOR, NOT_IN_DEFAULT
from cardan.spec.schema.asset import (
    ASSET,
    CUSTOM,
    DEFORMABLE,
    EXTENSION,
    FILES_OF_TEXTURES,
    LAYER_ROW,
    MATERIAL_ROW,
    MESH_ROW,
    TEXTURE_ROW,
)
from cardan.spec.schema.body import CAMERA_ROW, GEOM_ROW, JOINT_ROW, LIGHT_ROW, SITE_ROW, WORLDBODY
from cardan.spec.schema.relations import CONTACT, EQUALITY, KEYFRAME, PAIR, SPATIAL, TENDON
from cardan.spec.schema.rows import ElementRow, add_entry_defaults, element, entry_row, file, text
from cardan.spec.schema.sensor import SENSOR
from cardan.spec.schema.settings import SETTINGS

# one entry for each kind of element that takes defaults
_ENTRIES = [
    entry_row(MESH_ROW, "mesh", keep=("scale", "inertia", "maxhullvert", "convex", "threshold", "maxpieces")),
    entry_row(TEXTURE_ROW, "texture", drop=FILES_OF_TEXTURES, since="3.17.0"),
    entry_row(MATERIAL_ROW, "material", children=(LAYER_ROW,)),
    *(entry_row(row, row.tag) for row in (JOINT_ROW, GEOM_ROW, SITE_ROW)),
    *(entry_row(row, row.tag, drop=("target", "texture")) for row in (CAMERA_ROW, LIGHT_ROW)),
    entry_row(PAIR, "pair", drop=("geom1", "geom2")),
    entry_row(EQUALITY.children["joint"], "equality", keep=("active", "solref", "solimp")),
    entry_row(SPATIAL, "tendon"),
    *(entry_row(row, tag, drop=NOT_IN_DEFAULT) for tag, row in ACTUATOR.children.items() if tag != "plugin"),
]
DEFAULT = element("default", "default class: values of attributes that elements leave out",
                  text("class", "name of the class; required inside another class"),
                  children=_ENTRIES, multiplicity="R")  # fmt: skip
DEFAULT.children["default"] = DEFAULT
INCLUDE = element("include", "another file, whose content takes this place",
                  file("file", "path of the file, relative to this file or the main file", required=True))  # fmt: skip

_RELATIONS = (CONTACT, EQUALITY, TENDON, ACTUATOR, SENSOR, KEYFRAME)
SCHEMA = element(
    "mujoco",
    "the model",
    text("model", "name of the model", default="MuJoCo Model"),
    children=[*SETTINGS, DEFAULT, EXTENSION, CUSTOM, ASSET, WORLDBODY, DEFORMABLE, *_RELATIONS],
    multiplicity="!",
)


def entry_element(entry: str) -> ElementRow:
    """Return the row of the ``<default>`` entry with the tag ``entry``."""
    return DEFAULT.children[entry]


def walk(row: ElementRow = SCHEMA) -> Iterator[ElementRow]:
    """Yield every row of the table once, parents first."""
    seen: set[int] = set()
    stack = [row]
    while stack:
        row = stack.pop()
        if id(row) not in seen:
            seen.add(id(row))
            yield row
            stack.extend(list(row.children.values())[::-1])


def _complete() -> None:
    """Complete the rows of elements from the rows of their ``<default>`` entries (see `add_entry_defaults`).

    The entries of actuator shortcuts are completed from the entry ``general``.
    """
    shortcuts = [row for row in ACTUATOR.children.values() if row.tag in DEFAULT.children]
    for row in walk():
        if row.entry:
            add_entry_defaults(row, entry_element(row.entry))
    for row in shortcuts:
        add_entry_defaults(entry_element(row.tag), entry_element("general"))


_complete()
