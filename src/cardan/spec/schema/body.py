"""The MJCF table, the kinematic tree: ``worldbody``, ``body`` and their content (spec: modeling, "Kinematic tree")."""

from __future__ import annotations

from cardan.spec.schema import keywords as k
from cardan.spec.schema.asset import FLEX_SHARED, NUMBERS, flex_contact, flexcomp_edge
from cardan.spec.schema.rows import (
    Attribute,
    ElementRow,
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
from cardan.spec.schema.shared import (
    CLASS,
    CONTACT_SHARED,
    GROUP,
    ORIENTATION,
    RGBA,
    USER,
    name,
    passive,
    plugin,
    position,
    solver,
)

CHILDCLASS = reference("childclass", "default", "default class of the elements inside")
MATERIAL = reference("material", "material", "material, for its appearance")
COLOUR = reals("rgba", 4, RGBA, "colour and opacity, when there is no material")
FROMTO = reals("fromto", 6, None, "two end points of the Z axis, m; sets position, orientation and length")

INERTIAL = element(
    "inertial",
    "mass and inertia of the body",
    reals("pos", 3, None, "position of the inertial frame, m", required=True),
    *ORIENTATION,
    real("mass", None, "mass, kg", required=True),
    reals("diaginertia", 3, None, "diagonal of the inertia in the inertial frame, kg m^2"),
    reals("fullinertia", 6, None, "inertia: xx, yy, zz, xy, xz, yz, kg m^2"),
    multiplicity="?",
)

JOINT_ROW = element(
    "joint",
    "degrees of freedom of the body",
    name("joint"),
    CLASS,
    keyword("type", k.JOINT, "hinge", "kind of joint"),
    GROUP,
    position("position of the joint in the body's frame, m"),
    reals("axis", 3, (0.0, 0.0, 1.0), "axis of hinge or slide, in the body's frame"),
    reals(
        "springdamper", 2, (0.0, 0.0), "time constant (s) and damping ratio from which stiffness and damping are made"
    ),
    *passive("joint"),
    keyword("actuatorfrclimited", k.TRISTATE, "auto", "whether the total actuator force is limited"),
    reals("actuatorfrcrange", 2, (0.0, 0.0), "range of the total actuator force"),
    boolean("actuatorgravcomp", False, "gravity compensation counts as actuator force"),
    real("ref", 0.0, "position of the joint in the initial configuration"),
    real("springref", 0.0, "position at which the spring is at rest"),
    real("armature", 0.0, "inertia of the rotor"),
    USER,
    kind="joint",
    entry="joint",
)

FREEJOINT = element("freejoint", "free joint, without default class", name("joint"), GROUP, kind="joint")

GEOM_ROW = element(
    "geom",
    "shape that collides, is drawn and gives inertia",
    name("geom"),
    CLASS,
    keyword("type", k.GEOM, "sphere", "shape"),
    *CONTACT_SHARED,
    GROUP,
    reals("size", (1, 3), (0.0, 0.0, 0.0), "sizes of the shape, m"),
    MATERIAL,
    real("mass", None, "mass, kg; undefined: from the density"),
    real("density", 1000.0, "density, kg/m^3"),
    boolean("shellinertia", False, "mass on the surface"),
    FROMTO,
    position(),
    *ORIENTATION,
    reference("hfield", "hfield", "height field of the shape"),
    reference("mesh", "mesh", "mesh of the shape"),
    real("fitscale", 1.0, "scale of a shape fitted to a mesh"),
    COLOUR,
    keyword("fluidshape", k.FLUID_SHAPE, "none", "fluid forces by the shape of geoms"),
    reals("fluidcoef", (1, 5), (0.5, 0.25, 1.5, 1.0, 1.0), "coefficients of the fluid forces"),
    USER,
    children=[plugin()],
    kind="geom",
    entry="geom",
)  # fmt: skip

SITE_ROW = element(
    "site",
    "frame of interest",
    name("site"),
    CLASS,
    keyword("type", k.SITE, "sphere", "shape"),
    GROUP,
    MATERIAL,
    reals("size", (1, 3), (0.005, 0.005, 0.005), "sizes of the shape, m"),
    FROMTO,
    position(),
    *ORIENTATION,
    COLOUR,
    USER,
    kind="site",
    entry="site",
)

CAMERA_ROW = element(
    "camera",
    "camera",
    name("camera"),
    CLASS,
    keyword("mode", k.CAMLIGHT, "fixed", "how the camera moves"),
    reference("target", "body", "body that the camera looks at"),
    real("fovy", 45.0, "vertical field of view, degrees"),
    real("ipd", 0.068, "distance between the pupils, m"),
    integers("resolution", 2, (1, 1), "width and height of the picture, pixels"),
    position(),
    *ORIENTATION,
    reals("focal", 2, (0.0, 0.0), "focal lengths, m"),
    reals("focalpixel", 2, (0.0, 0.0), "focal lengths, pixels"),
    reals("principal", 2, (0.0, 0.0), "offset of the principal point, m"),
    reals("principalpixel", 2, (0.0, 0.0), "offset of the principal point, pixels"),
    reals("sensorsize", 2, (0.0, 0.0), "size of the sensor, m"),
    USER,
    kind="camera",
    entry="camera",
)

LIGHT_ROW = element(
    "light",
    "light",
    name("light"),
    CLASS,
    keyword("mode", k.CAMLIGHT, "fixed", "how the light moves"),
    reference("target", "body", "body that the light shines at"),
    boolean("directional", False, "directional, not spot"),
    boolean("castshadow", True, "casts shadows"),
    boolean("active", True, "is on"),
    position(),
    reals("dir", 3, (0.0, 0.0, -1.0), "direction"),
    reals("attenuation", 3, (1.0, 0.0, 0.0), "constant, linear and quadratic attenuation"),
    real("cutoff", 45.0, "cutoff angle, degrees"),
    real("exponent", 10.0, "softness of the cutoff"),
    reals("ambient", 3, (0.0, 0.0, 0.0), "ambient colour"),
    reals("diffuse", 3, (0.7, 0.7, 0.7), "diffuse colour"),
    reals("specular", 3, (0.3, 0.3, 0.3), "specular colour"),
    real("bulbradius", 0.02, "radius of the bulb, m"),
    kind="light",
    entry="light",
)


def _composite_parts() -> list[ElementRow]:
    """Return the rows of elements inside ``composite``, made from the rows of the elements that they set."""
    joint, geom, site = JOINT_ROW.attributes, GEOM_ROW.attributes, SITE_ROW.attributes
    limits = ("group", "stiffness", "damping", "limited", "range", "margin", "frictionloss")
    solvers = [*solver("fix", "equality constraint"), *solver("limit", "limit"), *solver("friction", "friction loss")]
    return [
        element("joint", "joints of the object",
                keyword("kind", k.COMPOSITE_JOINT, None, "which joints", required=True),
                (joint[n] for n in (*limits, "armature", "axis", "type")), solvers),
        element("tendon", "tendons of the object",
                keyword("kind", k.COMPOSITE_TENDON, None, "which tendons", required=True),
                (joint[n] for n in limits), solvers, MATERIAL, COLOUR, real("width", 0.003, "width, m")),
        element("skin", "skin of the object", GROUP, MATERIAL, COLOUR, boolean("texcoord", False, "make coordinates"),
                real("inflate", 0.0, "inflation, m"), integer("subgrid", 0, "vertices between"), multiplicity="?"),
        element("geom", "geoms of the object", CONTACT_SHARED,
                (geom[n] for n in ("type", "group", "size", "material", "rgba", "mass", "density")), multiplicity="?"),
        element("site", "sites of the object", (site[n] for n in ("group", "size", "material", "rgba")),
                multiplicity="?"),
        element("pin", "fixed vertex", integers("coord", (1, 2), None, "its coordinates", required=True)),
        plugin(),
    ]  # fmt: skip


COMPOSITE_ROW = element(
    "composite",
    "object made of many bodies",
    text("prefix", "prefix of the names"),
    keyword("type", k.COMPOSITE, None, "kind of object", required=True),
    integers("count", (1, 3), (1, 1, 1), "number of elements a dimension"),
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
    children=_composite_parts(),
)

FLEXCOMP_ROW = element(
    "flexcomp",
    "flex with its bodies and joints",
    FLEX_SHARED,
    name("flex", required=True),
    keyword("type", k.FLEXCOMP, "grid", "how points and elements are made"),
    integers("count", 3, (10, 10, 10), "number of points along each axis"),
    reals("spacing", 3, (0.02, 0.02, 0.02), "spacing of points along each axis, m"),
    reals("point", NUMBERS, None, "vertex positions, m"),
    real("mass", 1.0, "total mass, kg"),
    real("inertiabox", 0.005, "half side of the boxes that give inertia, m"),
    file("file", "mesh file"),
    boolean("rigid", False, "no deformation"),
    position(),
    *ORIENTATION,
    reals("scale", 3, (1.0, 1.0, 1.0), "scaling"),
    children=[
        element("edge", "edges of the flex", flexcomp_edge(), multiplicity="?"),
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
)

MEMBERS = (
    INERTIAL,
    JOINT_ROW,
    FREEJOINT,
    GEOM_ROW,
    SITE_ROW,
    CAMERA_ROW,
    LIGHT_ROW,
    plugin(),
    COMPOSITE_ROW,
    FLEXCOMP_ROW,
)

POSE: tuple[Attribute, ...] = (position(), *ORIENTATION)

BODY = element(
    "body",
    "rigid body",
    name("body"),
    CHILDCLASS,
    *POSE,
    boolean("mocap", False, "moved by the user, not by physics"),
    real("gravcomp", 0.0, "share of gravity that is compensated"),
    USER,
    children=MEMBERS,
    multiplicity="R",
    kind="body",
)

FRAME = element(
    "frame",
    "coordinate frame around elements, without a body",
    name("frame"),
    CHILDCLASS,
    *POSE,
    children=MEMBERS,
    multiplicity="R",
    kind="frame",
)

REPLICATE = element(
    "replicate",
    "copies of what stands inside, each moved and turned further",
    integer("count", None, "number of copies", required=True),
    text("sep", "text between a name and the number of the copy"),
    reals("offset", 3, (0.0, 0.0, 0.0), "step of the position, m"),
    reals("euler", 3, (0.0, 0.0, 0.0), "step of the orientation"),
    CHILDCLASS,
    children=MEMBERS,
    multiplicity="R",
)

WORLDBODY = element("worldbody", "the world: root of the kinematic tree", children=MEMBERS, kind=None, merged=True)

# bodies, frames and copies can be nested
for _row in (BODY, FRAME, REPLICATE, WORLDBODY):
    _row.children = {**_row.children, "body": BODY, "frame": FRAME, "replicate": REPLICATE}
