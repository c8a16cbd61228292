"""Canonical tree, deformable objects: flexes with the bodies of their vertices, as in the model."""

from __future__ import annotations

from cardan.mjcf.canonical.scribe import Scribe, plain
from cardan.spec.element import Element
from cardan.spec.schema.asset import DEFORMABLE

_ROW = DEFORMABLE.children["flex"]
_FLEX = {name: f"flex_{name}" for name in ("group", "dim", "radius", "rgba", "flatskin")} | {"material": "flex_matid"}
_EDGE = {"stiffness": "flex_edgestiffness", "damping": "flex_edgedamping"}
_CONTACT = {name: f"flex_{name}" for name in _ROW.children["contact"].attributes}


def put_flexes(scribe: Scribe) -> None:
    """Add all flexes, at the end of the section ``deformable``."""
    section = scribe.tree.section("deformable")
    for number in range(scribe.m.nflex):
        element = _put_flex(scribe, section, number)
        _put_part(scribe, element, "contact", _CONTACT, number)
        _put_part(scribe, element, "edge", _EDGE, number)


def _put_flex(scribe: Scribe, section: Element, number: int) -> Element:
    """Add one flex: vertices, elements, appearance."""
    m = scribe.m
    adr = int(m.flex_vertadr[number])
    vertices = slice(adr, adr + int(m.flex_vertnum[number]))
    data, dim = int(m.flex_elemdataadr[number]), int(m.flex_dim[number])
    elements = slice(data, data + (dim + 1) * int(m.flex_elemnum[number]))
    bodies = [scribe.name("body", body) or "" for body in m.flex_vertbodyid[vertices].tolist()]
    values = scribe.read(_ROW, _FLEX, number)
    values |= {
        "name": scribe.name("flex", number),
        "body": bodies[0] if m.flex_rigid[number] else " ".join(bodies),
        "element": plain(m.flex_elem[elements]),
        # a rigid flex with one body has as many vertices as are written
        "vertex": plain(m.flex_vert[vertices].ravel()) if m.flex_rigid[number] or not m.flex_centered[number] else None,
    }
    texcoord = int(m.flex_texcoordadr[number])
    if texcoord >= 0:
        values["texcoord"] = plain(m.flex_texcoord[texcoord : texcoord + len(bodies)].ravel())
    return scribe.put(section, "flex", values)


def _put_part(scribe: Scribe, flex: Element, tag: str, fields: dict[str, str], number: int) -> None:
    """Add a child of a flex if any of its values differs from the default of the language."""
    part = scribe.put(flex, tag, scribe.read(_ROW.children[tag], fields, number))
    if not part.attributes:
        flex.children.remove(part)
