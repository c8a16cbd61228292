"""Rows of the MJCF table for ``worldbody``, ``body`` and their content (spec: modeling, "Kinematic tree")."""

from __future__ import annotations

from dataclasses import replace

from cardan.spec.schema import keywords as k
from cardan.spec.schema.asset import (
    CELLCOUNT,
    FLEX_SHARED,
    FLEXCOMP_EDGE,
    INTERPOLATED,
    NUMBERS,
    flex_contact,
    flex_elasticity,
)
from cardan.spec.schema.rows import (
    boolean,
    element,
    file,
    integer,
    integers,
    keyword,
    keywords,
    real,
    reals,
    reference,
    text,
)
from cardan.spec.schema.shared import (
    CONTACT_ADHESION,
    CONTACT_MEMORY,
    CONTACT_SHARED,
    GROUP,
    POSE,
    RGBA,
    USER,
    classed,
    name,
    passive,
    plugin,
    solver,
)

CHILDCLASS = reference("childclass", "default", "default class of the elements inside")
MATERIAL = reference("material", "material", "material, for its appearance")
COLOUR = reals("rgba", 4, RGBA, "colour and opacity, when there is no material")
FROMTO = reals("fromto", 6, None, "two end points of the Z axis, m; sets position, orientation and length")

INERTIAL = element(
    "inertial",
    "mass and inertia of the body",
    POSE,
    reals("pos", 3, None, "position of the inertial frame, m", required=True),
    real("mass", None, "mass, kg", required=True),
    reals("diaginertia", 3, None, "diagonal of the inertia in the inertial frame, kg m^2"),
    reals("fullinertia", 6, None, "inertia: xx, yy, zz, xy, xz, yz, kg m^2"),
    multiplicity="?",
)

JOINT_ROW = classed(
    "joint",
    "degrees of freedom of the body",
    keyword("type", k.JOINT, "hinge", "kind of joint"),
    GROUP,
    reals("pos", 3, (0.0, 0.0, 0.0), "position of the joint in the body's frame, m"),
    reals("axis", 3, (0.0, 0.0, 1.0), "axis of hinge or slide, in the body's frame"),
    reals(
        "springdamper", 2, (0.0, 0.0), "time constant (s) and damping ratio from which stiffness and damping are made"
    ),
    *passive("joint"),
    boolean("actuatorgravcomp", False, "gravity compensation counts as actuator force"),
    real("ref", 0.0, "position of the joint in the initial configuration"),
    real("springref", 0.0, "position at which the spring is at rest"),
    real("armature", 0.0, "inertia of the rotor"),
    USER,
)

FREEJOINT = element(
    "freejoint",
    "free joint, without default class",
    name("joint"),
    GROUP,
    keyword("align", k.ALIGN_FREE, "auto", "whether the body's frame becomes its inertial frame, "
            "if it has no children; auto: as compiler alignfree", since="3.2.3"),
    kind="joint",
)  # fmt: skip

GEOM_ROW = classed(
    "geom",
    "shape that collides, is drawn and gives inertia",
    keyword("type", k.GEOM, "sphere", "shape"),
    *CONTACT_SHARED,
    GROUP,
    reals("size", (1, 3), (0.0, 0.0, 0.0), "sizes of the shape, m"),
    MATERIAL,
    real("mass", None, "mass, kg; undefined: from the density"),
    real("density", 1000.0, "density, kg/m^3"),
    boolean("shellinertia", False, "mass on the surface"),
    FROMTO,
    *POSE,
    boolean("castshadow", True, "casts shadows", since="4.0"),
    reference("hfield", "hfield", "height field of the shape"),
    reference("mesh", "mesh", "mesh of the shape"),
    real("fitscale", 1.0, "scale of a shape fitted to a mesh"),
    reals("surfacevel", (1, 6), (0.0,) * 6, "velocity of the surface in the geom's frame, m/s and rad/s",
          since="3.11"),
    CONTACT_ADHESION,
    *CONTACT_MEMORY,
    COLOUR,
    keyword("fluidshape", k.FLUID_SHAPE, "none", "fluid forces by the shape of geoms"),
    reals("fluidcoef", (1, 5), (0.5, 0.25, 1.5, 1.0, 1.0), "coefficients of the fluid forces"),
    USER,
    children=[plugin()],
)  # fmt: skip

SITE_ROW = classed(
    "site",
    "frame of interest",
    keyword("type", k.SITE, "sphere", "shape"),
    GROUP,
    MATERIAL,
    reals("size", (1, 3), (0.005, 0.005, 0.005), "sizes of the shape, m"),
    FROMTO,
    *POSE,
    reference("mesh", "mesh", "mesh of the shape", since="3.13"),
    COLOUR,
    USER,
)

CAMERA_ROW = classed(
    "camera",
    "camera",
    keyword("mode", k.CAMLIGHT, "fixed", "how the camera moves"),
    reference("target", "body", "body that the camera looks at"),
    keyword("projection", k.PROJECTION, "perspective", "projection of pictures", since="3.5.0"),
    boolean(
        "orthographic",
        False,
        "orthographic, not perspective",
        since="3.2.0",
        until="3.4.0",
        alias="projection",
        means={False: "perspective", True: "orthographic"},
    ),
    keywords("output", k.CAMERA_OUTPUT, ("rgb",), "images that the camera makes", since="3.5.0"),
    real("fovy", 45.0, "vertical field of view, degrees; of orthographic cameras, m"),
    real("ipd", 0.068, "distance between the pupils, m"),
    integers("resolution", 2, (1, 1), "width and height of the picture, pixels"),
    *POSE,
    reals("focal", 2, (0.0, 0.0), "focal lengths, m"),
    reals("focalpixel", 2, (0.0, 0.0), "focal lengths, pixels"),
    reals("principal", 2, (0.0, 0.0), "offset of the principal point, m"),
    reals("principalpixel", 2, (0.0, 0.0), "offset of the principal point, pixels"),
    reals("sensorsize", 2, (0.0, 0.0), "size of the sensor, m"),
    USER,
)

LIGHT_ROW = classed(
    "light",
    "light",
    keyword("mode", k.CAMLIGHT, "fixed", "how the light moves"),
    reference("target", "body", "body that the light shines at"),
    keyword("type", k.LIGHT, "spot", "type of the light", since="3.3.3"),
    boolean("directional", False, "directional, not spot", alias="type", means={False: "spot", True: "directional"}),
    reference("texture", "texture", "texture of an image light", since="3.3.3"),
    real("intensity", 0.0, "intensity for physically based renderers, cd", since="3.3.3"),
    real("range", 10.0, "distance beyond which the light has no effect, for such renderers, m", since="3.3.3"),
    real("softness", 0.2, "part of the cutoff angle in which the light fades, for such renderers", since="3.12.0"),
    boolean("castshadow", True, "casts shadows"),
    boolean("active", True, "is on"),
    POSE[0],
    reals("dir", 3, (0.0, 0.0, -1.0), "direction"),
    reals("attenuation", 3, (1.0, 0.0, 0.0), "constant, linear and quadratic attenuation"),
    real("cutoff", 45.0, "cutoff angle, degrees"),
    real("exponent", 10.0, "softness of the cutoff"),
    reals("ambient", 3, (0.0, 0.0, 0.0), "ambient colour"),
    reals("diffuse", 3, (0.7, 0.7, 0.7), "diffuse colour"),
    reals("specular", 3, (0.3, 0.3, 0.3), "specular colour"),
    real("bulbradius", 0.02, "radius of the bulb, m"),
)


# elements inside ``composite``, made from the rows of the elements that they set
_GEOM, _SITE = GEOM_ROW.attributes, SITE_ROW.attributes
# composites have no polynomials: MuJoCo 4.0 does not have composites
_JOINT = {
    name: replace(row, high=1, polynomial=False) if row.polynomial else row
    for name, row in JOINT_ROW.attributes.items()
}
_LIMITS = ("group", "stiffness", "damping", "limited", "range", "margin", "frictionloss")
_SOLVERS = [*solver("fix", "equality constraint"), *solver("limit", "limit"), *solver("friction", "friction loss")]
_PARTS = [
    element("joint", "joints of the object",
            keyword("kind", k.COMPOSITE_JOINT, None, "which joints", required=True),
            (_JOINT[n] for n in (*_LIMITS, "armature", "axis", "type")), _SOLVERS),
    element("tendon", "tendons of the object",
            keyword("kind", k.COMPOSITE_TENDON, None, "which tendons", required=True),
            (_JOINT[n] for n in _LIMITS), _SOLVERS, MATERIAL, COLOUR, real("width", 0.003, "width, m")),
    element("skin", "skin of the object", GROUP, MATERIAL, COLOUR, boolean("texcoord", False, "texture coordinates"),
            real("inflate", 0.0, "inflation, m"), integer("subgrid", 0, "vertices between bodies"), multiplicity="?"),
    element("geom", "geoms of the object", CONTACT_SHARED,
            (_GEOM[n] for n in ("type", "group", "size", "material", "rgba", "mass", "density")), multiplicity="?"),
    element("site", "sites of the object", (_SITE[n] for n in ("group", "size", "material", "rgba")),
            multiplicity="?"),
    element("pin", "fixed vertex", integers("coord", (1, 2), None, "grid coordinates of the vertex", required=True)),
    plugin(),
]  # fmt: skip

COMPOSITE_ROW = element(
    "composite",
    "object made of many bodies",
    text("prefix", "prefix of the names"),
    keyword("type", k.COMPOSITE, None, "kind of object", required=True),
    integers("count", (1, 3), (1, 1, 1), "number of elements in each dimension"),
    real("spacing", None, "spacing of elements, m"),
    reals("offset", 3, (0.0, 0.0, 0.0), "offset from the parent, m"),
    reals(
        "size", (1, 3), (1.0, 0.0, 0.0), "length of a curve, m; amplitude, m, and half turns of its cos(s) and sin(s)"
    ),
    text("curve", "coordinates along a cable, one to three of: s, cos(s), sin(s), 0"),
    text("initial", "joint of a cable's first body: free, ball or none", default="ball"),
    real("flatinertia", 0.0, "accepted, without effect"),
    *solver("smooth", "smoothing constraint"),
    reals("vertex", NUMBERS, None, "vertex positions, m"),
    integers("face", NUMBERS, None, "triangles of a sheet of particles: vertex numbers, from 1"),
    children=_PARTS,
    until="3.17",
)

FLEXCOMP_ROW = element(
    "flexcomp",
    "flex with its bodies and joints",
    FLEX_SHARED,
    keyword("dof", k.FLEX_DOF, None, "how points move; undefined: full, in 3.1 radial on closed surfaces",
            since="3.3.0", later_keywords=INTERPOLATED),
    CELLCOUNT,
    name("flex", required=True),
    keyword("type", k.FLEXCOMP, "grid", "how points and elements are made"),
    integers("count", 3, (10, 10, 10), "number of points along each axis"),
    reals("spacing", 3, (0.02, 0.02, 0.02), "spacing of points along each axis, m"),
    reals("point", NUMBERS, None, "vertex positions, m"),
    real("mass", 1.0, "total mass, kg"),
    real("inertiabox", 0.005, "half side of the boxes that give inertia, m"),
    file("file", "mesh file"),
    text("mesh", "mesh asset with the points, in place of file", since="3.16"),
    reals("origin", 3, (0.0, 0.0, 0.0), "point that forms a tetrahedron with each triangle of a surface, m",
          since="3.3.1"),
    boolean("rigid", False, "no deformation"),
    *POSE,
    reals("scale", 3, (1.0, 1.0, 1.0), "scaling"),
    children=[
        element("edge", "edges of the flex", FLEXCOMP_EDGE, multiplicity="?"),
        flex_elasticity(),
        flex_contact(),
        element(
            "pin",
            "fixed vertices",
            integers("id", NUMBERS, None, "vertex numbers"),
            integers("range", NUMBERS, None, "ranges of vertex numbers"),
            integers("grid", NUMBERS, None, "grid coordinates"),
            integers("gridrange", NUMBERS, None, "ranges of grid coordinates"),
        ),
        plugin(),
    ],
    kind="flex",
)  # fmt: skip

ATTACH = element(
    "attach",
    "a part of another model, or of this one, in place of this element",
    text("model", "name of a model in asset; without it, this model"),
    text("body", "name of the body to attach, with its content"),
    text("frame", "name of the frame to attach, with its content; without body and frame, the content of the world"),
    text("prefix", "prefix of all attached names", required=True),
    since="3.2.0",
)

_IN_BODY = (INERTIAL, JOINT_ROW, FREEJOINT, GEOM_ROW, SITE_ROW, CAMERA_ROW, LIGHT_ROW)
MEMBERS = (*_IN_BODY, plugin(), COMPOSITE_ROW, FLEXCOMP_ROW, ATTACH)

BODY = element(
    "body",
    "rigid body",
    name("body"),
    CHILDCLASS,
    *POSE,
    boolean("mocap", False, "moved by the user, not by physics"),
    real("gravcomp", 0.0, "share of gravity that is compensated"),
    keyword("sleep", k.SLEEP, "auto", "when the moving tree that starts here may sleep", since="3.3.6"),
    keyword("simple", k.OPT_OUT, "auto", "whether the body may be computed as a simple one", since="3.11"),
    keyword("fuse", k.OPT_OUT, "auto", "whether fusestatic may fuse the body with its parent", since="3.11"),
    USER,
    children=MEMBERS,
    multiplicity="R",
    kind="body",
)  # fmt: skip

FRAME = element(
    "frame",
    "coordinate frame around elements, without a body",
    name("frame"),
    CHILDCLASS,
    *POSE,
    reals("scale", (1, 3), (1.0, 1.0, 1.0), "scale of the content; one value: along all axes", repeat=True,
          since="3.16", scales=True),
    keyword("scaling", k.SCALING, "similar", "which quantities are scaled", since="3.16"),
    real("massscale", 0.0, "scale of masses; 0: that of volumes", since="3.16", scales=True),
    children=MEMBERS,
    multiplicity="R",
    kind="frame",
)  # fmt: skip

REPLICATE = element(
    "replicate",
    "copies of the content, each moved and rotated relative to the previous one",
    integer("count", None, "number of copies", required=True),
    text("sep", "text between a name and the number of the copy"),
    reals("offset", 3, (0.0, 0.0, 0.0), "step of the position, m"),
    reals("euler", 3, (0.0, 0.0, 0.0), "step of the orientation"),
    text("prefix", "accepted, without effect", since="4.0"),
    CHILDCLASS,
    children=MEMBERS,
    multiplicity="R",
)

WORLDBODY = element("worldbody", "the world: root of the kinematic tree", children=MEMBERS, kind=None, merged=True)

# bodies, frames and copies can be nested
for _row in (BODY, FRAME, REPLICATE, WORLDBODY):
    _row.children = {**_row.children, "body": BODY, "frame": FRAME, "replicate": REPLICATE}
