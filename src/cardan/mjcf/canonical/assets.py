"""Canonical tree: assets and custom data. References to files and inline data are kept in their original form."""

from __future__ import annotations

from cardan.mjcf.canonical.scribe import Scribe, Values, asset_name, fields, plain
from cardan.spec.element import Element
from cardan.spec.schema.asset import DEFORMABLE, LAYERS, MATERIAL_ROW
from cardan.spec.schema.keywords import OBJECT, OBJECT_KIND, TEXTURE_ROLE

_MATERIAL = fields(
    "mat_", "texuniform texrepeat emission specular shininess reflectance metallic roughness rgba", texture="texid"
)
_PATHS = {"hfield": "hfield", "mesh": "mesh", "skin": "skin", "texture": "tex"}
"""Prefix of the field ``*_pathadr`` that locates the file paths, for each kind of asset."""
_SECTIONS = ("asset", "deformable", "extension")


def put_assets(scribe: Scribe) -> None:
    """Add the assets of the model, except flexes, in the order of the source."""
    for tag in _SECTIONS:
        section = scribe.tree.section(tag)
        for element in scribe.source.section(tag).children:
            names, name = scribe.names.get(element.row.kind or ""), asset_name(element)
            if element.row.kind == "material":
                if names is not None and element.name in names:
                    number = names.index(element.name or "")
                    values = scribe.read(MATERIAL_ROW, _MATERIAL, number)
                    for layer, role in LAYERS.items():
                        texture = int(scribe.m.mat_layertexid[number, TEXTURE_ROLE[role]])
                        values[layer] = scribe.name("texture", texture)
                    scribe.put(section, "material", values | {"name": element.name}, element)
            # the compiler may discard visual assets
            elif element.row.kind != "flex" and (names is None or (name in names if name else bool(names))):
                _put_asset(scribe, section, element)


def _put_asset(scribe: Scribe, section: Element, origin: Element) -> None:
    """Add one asset with its original attributes and children.

    The path of its file is taken from the model, since the path in the source may be relative to an included document.
    """
    m, kind, name = scribe.m, origin.row.kind or "", asset_name(origin)
    names = scribe.names.get(kind, ())
    values: Values = {**origin.resolved(), "name": name}
    if kind in _PATHS and name in names and "file" in origin.attributes:
        start = int(getattr(m, f"{_PATHS[kind]}_pathadr")[names.index(name or "")])
        # the path of a texture by reference includes the folder
        if start >= 0 and not (kind == "texture" and m.tex_adr[names.index(name or "")] < 0):
            values["file"] = m.paths[start : m.paths.index(b"\0", start)].decode()
    if kind == "mesh" and scribe.tree.compat == "4.0" and scribe.source.section("compiler")["exactmeshinertia"]:
        # 4.0 has no such setting of the compiler
        values["inertia"] = "exact" if values["inertia"] == "legacy" else values["inertia"]
    if kind == "hfield":
        values["size"] = plain(m.hfield_size[names.index(name or "")])
    scribe.copy_children(origin, scribe.put(section, origin.tag, values, origin))


def put_custom(scribe: Scribe) -> None:
    """Add custom numeric fields, texts and tuples."""
    m, section = scribe.m, scribe.tree.section("custom")
    for number, name in enumerate(scribe.names["numeric"]):
        adr, size = int(m.numeric_adr[number]), int(m.numeric_size[number])
        scribe.put(section, "numeric", {"name": name, "data": plain(m.numeric_data[adr : adr + size])})
    for number, name in enumerate(scribe.names["text"]):
        adr, size = int(m.text_adr[number]), int(m.text_size[number])
        scribe.put(section, "text", {"name": name, "data": bytes(m.text_data[adr : adr + size - 1]).decode()})
    for number, name in enumerate(scribe.names["tuple"]):
        element = scribe.put(section, "tuple", {"name": name})
        adr = int(m.tuple_adr[number])
        for at in range(adr, adr + int(m.tuple_size[number])):
            word = OBJECT.words[int(m.tuple_objtype[at])]
            target = scribe.name(OBJECT_KIND[word], int(m.tuple_objid[at]))
            scribe.put(element, "element", {"objtype": word, "objname": target, "prm": float(m.tuple_objprm[at])})


# --- flexes -----------------------------------------------------------------------------------------------------------

_ROW = DEFORMABLE.children["flex"]
_FLEX = fields("flex_", "group dim radius rgba flatskin", material="matid")
_EDGE = fields("flex_", "", stiffness="edgestiffness", damping="edgedamping")
_CONTACT = fields("flex_", " ".join(name for name in _ROW.children["contact"].attributes if name != "passive"))


def put_flexes(scribe: Scribe) -> None:
    """Add all flexes, at the end of the section ``deformable``."""
    m, section = scribe.m, scribe.tree.section("deformable")
    for number in range(m.nflex):
        adr = int(m.flex_vertadr[number])
        vertices = slice(adr, adr + int(m.flex_vertnum[number]))
        data, dim, rigid = int(m.flex_elemdataadr[number]), int(m.flex_dim[number]), m.flex_rigid[number]
        elements = slice(data, data + (dim + 1) * int(m.flex_elemnum[number]))
        bodies = [scribe.name("body", body) or "" for body in m.flex_vertbodyid[vertices].tolist()]
        values = scribe.read(_ROW, _FLEX, number)
        values |= {
            "name": scribe.name("flex", number),
            "body": bodies[0] if rigid else " ".join(bodies),
            "element": plain(m.flex_elem[elements]),
            # a rigid flex with one body has as many vertices as are written
            "vertex": plain(m.flex_vert[vertices].ravel()) if rigid or not m.flex_centered[number] else None,
        }
        texcoord = int(m.flex_texcoordadr[number])
        if texcoord >= 0:
            values["texcoord"] = plain(m.flex_texcoord[texcoord : texcoord + len(bodies)].ravel())
        origin = scribe.origins.find("flex", number)
        if origin is not None:
            _keep_corners(origin, values)
        element = scribe.put(section, "flex", values)
        _put_part(scribe, element, "contact", _CONTACT, number)
        _put_part(scribe, element, "edge", _EDGE, number)
        elasticity = origin.child("elasticity") if origin is not None else None
        if elasticity is not None:
            element.append("elasticity", dict(elasticity.attributes), elasticity)


def _keep_corners(origin: Element, values: Values) -> None:
    """Set materials of elements and texture coordinates of corners, which only the source has, in ``values``."""
    given = origin.attributes
    words = given.get("material", "").split()
    if len(words) > 1 and words[0] == values["material"]:
        values["material"] = given["material"]
    if given.get("elemtexcoord"):
        values |= {"texcoord": given["texcoord"], "elemtexcoord": given["elemtexcoord"]}


def _put_part(scribe: Scribe, flex: Element, tag: str, fields: dict[str, str], number: int) -> None:
    """Add a child element to a flex if any of the child's values differs from the default of the language."""
    part = scribe.put(flex, tag, scribe.read(_ROW.children[tag], fields, number))
    if not part.attributes:
        flex.children.remove(part)
