"""Rows of the MJCF table for assets and extras: ``asset``, ``custom``, ``extension``, ``deformable``."""

from __future__ import annotations

from dataclasses import replace

from cardan.spec.schema import rows
from cardan.spec.schema.keywords import (
    BUILTIN,
    COLORSPACE,
    CONVEX,
    ELASTIC_2D,
    EMBED,
    FLEX_EQUALITY,
    FLEX_ORDER,
    MARK,
    MESH_BUILTIN,
    MESH_INERTIA,
    OBJECT,
    SECTION,
    SELF_COLLIDE,
    TEXTURE,
    TEXTURE_ROLE,
)
from cardan.spec.schema.rows import (
    OWN,
    boolean,
    element,
    file,
    integer,
    integers,
    keyword,
    real,
    reals,
    reference,
    text,
)
from cardan.spec.schema.shared import CLASS, CONTACT_SHARED, GROUP, RGBA, classed, config, name, plugin, solver

NUMBERS = (0, None)
_SIDES = ("right", "left", "up", "down", "front", "back")  # of a cube texture

TEXTURE_ROW = element(
    "texture",
    "image, from a file or made by the compiler",
    name("texture"),
    replace(CLASS, since="3.17.0"),
    keyword("type", TEXTURE, "cube", "how the texture is put on geoms"),
    file("file", "image file"),
    text("content_type", "media type of the file"),
    integers("gridsize", 2, (1, 1), "rows and columns of the image's grid of sides"),
    text("gridlayout", "sides in the grid, row by row: R, L, U, D, F, B, or . for none", default="............"),
    *(file(f"file{side}", f"image file of the {side} side") for side in _SIDES),
    keyword("builtin", BUILTIN, "none", "image that the compiler makes"),
    reals("rgb1", 3, (0.8, 0.8, 0.8), "first colour"),
    reals("rgb2", 3, (0.5, 0.5, 0.5), "second colour"),
    keyword("mark", MARK, "none", "marks on top of the image"),
    reals("markrgb", 3, (0.0, 0.0, 0.0), "colour of marks"),
    real("random", 0.01, "probability of a random mark at a pixel"),
    integer("width", 0, "width of the image that is made, pixels"),
    integer("height", 0, "height of the image that is made, pixels"),
    boolean("hflip", False, "flip horizontally"),
    boolean("vflip", False, "flip vertically"),
    keyword("colorspace", COLORSPACE, "auto", "colour space of the pixels", since="3.3.3"),
    integer("nchannel", 3, "channels of the image: 1 to 4, 3 unless a 2d texture is read from a file", since="3.2.1"),
    keyword(
        "embed",
        EMBED,
        "auto",
        "whether the pixels are in the model",
        since="3.17.0",
    ),
    kind="texture",
    entry="texture",
)

LAYERS = {f"layer {role}": role for role in TEXTURE_ROLE if role not in ("user", "rgb")}
"""Attributes of a material in the tree that hold textures of layers, with the role of each texture.

In MJCF, these textures are ``layer`` elements. The texture with the role ``rgb`` is the attribute ``texture``.
"""
LAYER_ROW = element(
    "layer",
    "texture with a role",
    reference("texture", "texture", "texture", required=True),
    keyword("role", {role: k for role, k in TEXTURE_ROLE.items() if k}, None, "role of the texture", required=True),
    since="3.2.5",
)

FILES_OF_TEXTURES = ("content_type", "file", *(f"file{side}" for side in _SIDES))
"""Attributes of textures that default classes do not have."""

MATERIAL_ROW = classed(
    "material",
    "appearance of geoms, sites and tendons",
    reference("texture", "texture", "texture of the material"),
    reals("texrepeat", 2, (1.0, 1.0), "repetitions of the texture"),
    boolean("texuniform", False, "texture repeated by length, not by geom"),
    real("emission", 0.0, "emission, in units of the diffuse colour"),
    real("specular", 0.5, "specularity"),
    real("shininess", 0.5, "shininess"),
    real("reflectance", 0.0, "reflectance"),
    real("metallic", 1.0, "metallicity; negative: not given", default_4_0=-1.0),
    real("roughness", 1.0, "roughness; negative: not given", default_4_0=-1.0),
    reals("rgba", 4, (1.0, 1.0, 1.0, 1.0), "colour and opacity"),
    (reference(layer, "texture", f"texture of the {role}", since="3.2.1") for layer, role in LAYERS.items()),
    children=[LAYER_ROW],
)

MESH_ROW = classed(
    "mesh",
    "triangle mesh",
    file("file", "mesh file"),
    text("content_type", "media type of the file"),
    reals("scale", 3, (1.0, 1.0, 1.0), "scaling along the axes"),
    keyword("inertia", MESH_INERTIA, "legacy", "how mass is distributed", since="3.2.5"),
    boolean("smoothnormal", False, "average normals over faces"),
    integer("maxhullvert", -1, "most vertices of the convex hull; -1: no bound", since="3.2"),
    reals("vertex", NUMBERS, None, "vertex positions, m"),
    reals("normal", NUMBERS, None, "vertex normals"),
    reals("texcoord", NUMBERS, None, "texture coordinates"),
    integers("face", NUMBERS, None, "vertex numbers of the faces"),
    reals("refpos", 3, (0.0, 0.0, 0.0), "origin of the mesh, m"),
    reals("refquat", 4, (1.0, 0.0, 0.0, 0.0), "orientation of the mesh"),
    keyword("builtin", MESH_BUILTIN, None, "shape that the compiler makes", since="3.3.5"),
    reals("params", NUMBERS, None, "parameters of the shape that the compiler makes", since="3.3.5"),
    reference("material", "material", "material of geoms that have none", since="3.3.6"),
    keyword("convex", CONVEX, "hull", "shape that collides: convex hull, convex pieces, or the mesh itself", since=OWN),
    real("threshold", 0.05, "concavity that convex pieces may have, 0.01 to 1 (relative)", since=OWN),
    integer("maxpieces", -1, "largest number of convex pieces; -1: no limit", since=OWN),
    children=[plugin()],
)

HFIELD_ROW = element(
    "hfield",
    "height field",
    name("height field"),
    file("file", "image or binary file"),
    text("content_type", "media type of the file"),
    integer("nrow", 0, "rows"),
    integer("ncol", 0, "columns"),
    reals("size", 4, None, "radius x, radius y, elevation, base, m", required=True),
    reals("elevation", NUMBERS, None, "elevations"),
    kind="hfield",
)


def skin() -> rows.ElementRow:
    """Return the row of a skin, which is allowed in ``asset`` and in ``deformable``."""
    bone = element(
        "bone",
        "bone of the skin",
        reference("body", "body", "body of the bone", required=True),
        reals("bindpos", 3, None, "position at binding, m", required=True),
        reals("bindquat", 4, None, "orientation at binding", required=True),
        integers("vertid", NUMBERS, None, "vertices that the bone moves", required=True),
        reals("vertweight", NUMBERS, None, "weights of the vertices", required=True),
    )
    return element(
        "skin",
        "surface that follows bodies",
        name("skin"),
        file("file", "skin file"),
        reference("material", "material", "material of the skin"),
        reals("rgba", 4, RGBA, "colour and opacity"),
        real("inflate", 0.0, "distance by which vertices are moved along normals, m"),
        GROUP,
        reals("vertex", NUMBERS, None, "vertex positions, m"),
        reals("texcoord", NUMBERS, None, "texture coordinates"),
        integers("face", NUMBERS, None, "vertex numbers of the faces"),
        children=[bone],
        kind="skin",
    )


MODEL_ROW = element(
    "model",
    "another model, parts of which can be attached",
    text("name", "name for attach; without it, the name of the model in the file"),
    file("file", "path of the model, relative to this one", required=True),
    text("content_type", "text/xml"),
    since="3.2.0",
)

ASSET = element(
    "asset",
    "textures, materials, meshes, height fields and models to attach",
    children=[MESH_ROW, HFIELD_ROW, skin(), TEXTURE_ROW, MATERIAL_ROW, MODEL_ROW],
    merged=True,
)

TUPLE_ELEMENT = element(
    "element",
    "object in a tuple",
    keyword("objtype", OBJECT, None, "kind of the object", required=True),
    reference("objname", "@objtype", "name of the object", required=True),
    real("prm", 0.0, "parameter of the object"),
)

TEXT = element(
    "text",
    "text",
    name("text", required=True),
    text("data", "the text; since 3.13.0, a CDATA section inside the element can contain it instead"),
    kind="text",
)

CUSTOM = element(
    "custom",
    "user data",
    children=[
        element(
            "numeric",
            "numbers",
            name("numbers", required=True),
            integer("size", None, "how many numbers, 1 to 500; undefined: as many as data has"),
            reals("data", NUMBERS, (), "the numbers; missing ones are 0"),
            kind="numeric",
        ),
        TEXT,
        element("tuple", "list of objects", name("tuple", required=True), children=[TUPLE_ELEMENT], kind="tuple"),
    ],
    merged=True,
)

EXTENSION = element(
    "extension",
    "plugins that the model needs",
    children=[
        element(
            "plugin",
            "plugin that the model needs",
            text("plugin", "identifier of the plugin", required=True),
            children=[
                element("instance", "plugin instance", name("instance", required=True), children=[config()],
                        kind="plugin"),
            ],
        ),
    ],
    merged=True,
)  # fmt: skip


def flex_contact() -> rows.ElementRow:
    """Return the row of a flex's ``contact`` element."""
    return element(
        "contact",
        "contact parameters of the flex",
        CONTACT_SHARED,
        boolean("internal", True, "contacts within the elements", until="3.14", default_4_0=False),
        boolean("passive", False, "contacts act as passive forces", since="3.8", later="passive contacts of flexes"),
        keyword("selfcollide", SELF_COLLIDE, "auto", "contacts between elements of the flex"),
        integer("activelayers", 1, "layers of elements that collide"),
        multiplicity="?",
    )


INTERPOLATED = dict.fromkeys(("trilinear", "quadratic"), "interpolated flexes")
CELLCOUNT = integers("cellcount", 3, (1, 1, 1), "cells along each axis of an interpolated flex", since="3.5")


def flex_elasticity() -> rows.ElementRow:
    """Return the row of a flex's ``elasticity`` element."""
    return element(
        "elasticity",
        "elastic material of the flex",
        real("young", 0.0, "Young's modulus, Pa; 0: not elastic"),
        real("poisson", 0.0, "Poisson's ratio"),
        real("damping", 0.0, "time constant of the damping, s"),
        real("thickness", -1.0, "thickness of a shell, m"),
        keyword("elastic2d", ELASTIC_2D, "none", "elastic forces of a shell"),
        keyword("section", SECTION, "circle", "cross-section of a rod"),
        reals("sectionsize", 2, (0.0, 0.0), "half sizes of a rod's box, m"),
        real("shear", 0.0, "shear modulus of a rod, Pa; 0: from young and poisson"),
        reals("yield", (1, 2), (0.0, 0.0), "strain at which stretching and bending yield; 0: never"),
        multiplicity="?",
        since="3.2.4",
    )


FLEX_EDGE = (real("stiffness", 0.0, "stiffness of edges"), real("damping", 0.0, "damping of edges"))
FLEXCOMP_EDGE = (
    keyword("equality", FLEX_EQUALITY, "false", "constraints that keep edge lengths, or strains",
            later_keywords={"strain": "constraints on the strain of flexes"}),
    *solver("", "edge constraint"),
    *FLEX_EDGE,
)  # fmt: skip

FLEX_SHARED = (
    name("flex"),
    GROUP,
    integer("dim", 2, "dimension of elements: 1, 2 or 3"),
    real("radius", 0.005, "radius of elements, m"),
    reference("material", "material", "material of the flex, or one for each of its elements", many=True),
    reals("rgba", 4, RGBA, "colour and opacity"),
    boolean("flatskin", False, "flat shading"),
    reals("texcoord", NUMBERS, None, "texture coordinates"),
    integers("element", NUMBERS, None, "vertex numbers of the elements"),
)  # fmt: skip

DEFORMABLE = element(
    "deformable",
    "flexes and skins",
    children=[
        element(
            "flex",
            "deformable object",
            FLEX_SHARED,
            text("body", "bodies of the vertices", required=True, kind="body"),
            integers("element", NUMBERS, None, "vertex numbers of the elements", required=True),
            reals("vertex", NUMBERS, None, "vertex positions, m"),
            integers(
                "elemtexcoord",
                NUMBERS,
                None,
                "texture coordinates of the corners of the elements",
                since="3.2.4",
            ),
            keyword("dof", FLEX_ORDER, None, "interpolation between nodes", since="3.5", later_keywords=INTERPOLATED),
            CELLCOUNT,
            text("node", "bodies of the nodes", kind="body", since="3.3.0", later="interpolated flexes"),
            reals("nodecoord", NUMBERS, None, "node positions, m", since="3.10"),
            children=[
                flex_contact(),
                element("edge", "edges of the flex", FLEX_EDGE, multiplicity="?"),
                flex_elasticity(),
            ],
            kind="flex",
        ),
        skin(),
    ],
    merged=True,
)
