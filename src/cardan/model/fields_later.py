"""Tables of model fields that MuJoCo 3.1 does not have. They come last, so that all other slots stay fixed."""

from cardan.jit.memory.fields import Field

LATER_SIZES: tuple[Field, ...] = (
    Field("nhistory", "i8", (), "length of history"),
    Field("flg_surfacevel", "i8", (), "1 if contacts may have surface velocities, else 0"),
    Field("flg_adhesion", "i8", (), "1 if contacts may have adhesion, else 0"),
    Field("nactuator", "i8", (), "number of actuators"),
    Field("nout", "i8", (), "number of force outputs of actuators"),
    Field("nflexelemedge", "i8", (), "number of edge ids of all flex elements"),
    Field("nflexstiffness", "i8", (), "number of stiffness parameters of all flexes"),
    Field("nflexbending", "i8", (), "number of bending parameters of all flexes"),
)

FLAGS = {"flg_surfacevel": ("geom_surfacevel",), "flg_adhesion": ("geom_adhesion", "pair_adhesion")}
"""Scalars among the sizes that users may set: they choose stages. The arrays have an effect only if the flag is set."""

LATER_SETTINGS: tuple[Field, ...] = (
    Field("opt.sleep_tolerance", "f8", (), "speed below which trees may sleep, m/s"),
    Field("vis.global_.cameraid", "i4", (), "id of the initial camera; -1: the free camera"),
    Field("vis.global_.orthographic", "i4", (), "whether the projection of the free camera is orthographic"),
)

LATER_BODIES: tuple[Field, ...] = (
    Field("tree_sleep_policy", "i4", ("ntree",), "when the tree may sleep (mjtSleepPolicy)"),
    Field("geom_castshadow", "u1", ("ngeom",), "whether the geom casts shadows"),
    Field("cam_projection", "i4", ("ncam",), "projection: 0 perspective, 1 orthographic"),
    Field("cam_output", "i4", ("ncam",), "images: bits 1 rgb, 2 depth, 4 distance, 8 normal, 16 segmentation"),
    Field("light_type", "i4", ("nlight",), "type of light: 0 spot, 1 directional, 2 point, 3 image"),
    Field("light_texid", "i4", ("nlight",), "id of the texture of an image light, or -1"),
    Field("light_intensity", "f4", ("nlight",), "intensity for physically based renderers, cd"),
    Field("light_range", "f4", ("nlight",), "distance beyond which the light has no effect, for such renderers, m"),
    Field("light_softness", "f4", ("nlight",), "part of the cutoff angle in which the light fades, for such renderers"),
)

RENAMED_ARRAYS = {"tex_data": "tex_rgb"}
"""Arrays that were renamed after MuJoCo 3.1: the new name, and the name in 3.1. Both names can be used."""

LATER_ASSETS: tuple[Field, ...] = (
    Field("tex_colorspace", "i4", ("ntex",), "colour space: 0 automatic, 1 linear, 2 sRGB"),
    Field("tex_nchannel", "i4", ("ntex",), "number of channels, bytes per pixel"),
    Field("mat_layertexid", "i4", ("nmat", 10), "ids of the textures by role (mat_texid of MuJoCo 4.0), or -1"),
)

LATER_SURFACES: tuple[Field, ...] = (
    Field("geom_surfacevel", "f8", ("ngeom", 6), "velocity of the surface, geom frame, m/s and rad/s"),
    Field("geom_adhesion", "f8", ("ngeom",), "adhesive force of contacts, N"),
    Field("pair_adhesion", "f8", ("npair",), "adhesive force of contacts, N"),
)

LATER_SENSORS: tuple[Field, ...] = (
    Field(
        "sensor_intprm", "i4", ("nsensor", 3), "contact and rangefinder sensors: bits of the data, reduction, number"
    ),
)

LATER_HISTORIES: tuple[Field, ...] = (
    Field(
        "actuator_history",
        "i4",
        ("nactuator", 2),
        "number of samples in the history; interpolation: 0 zoh, 1 linear, 2 cubic",
    ),
    Field("actuator_historyadr", "i4", ("nactuator",), "start of the actuator's history, or -1"),
    Field("actuator_delay", "f8", ("nactuator",), "age of the control in use, s; 0: no delay"),
    Field("sensor_history", "i4", ("nsensor", 2), "number of samples in the history; interpolation, as for actuators"),
    Field("sensor_historyadr", "i4", ("nsensor",), "start of the sensor's history, or -1"),
    Field("sensor_delay", "f8", ("nsensor",), "age of the values in sensordata, s; 0: no delay"),
    Field(
        "sensor_interval", "f8", ("nsensor", 2), "period of the values (0: every step), time of the last before 0, s"
    ),
)

LATER_ACTUATORS: tuple[Field, ...] = (
    Field("actuator_ctrladr", "i4", ("nactuator",), "address of the first control"),
    Field("actuator_ctrlnum", "i4", ("nactuator",), "number of controls"),
    Field("actuator_ctrlspec", "i4", ("nactuator",), "inputs: bits of mjtCtrlInput, or mjtCtrlChart of a servo"),
    Field("actuator_outadr", "i4", ("nactuator",), "address of the first force output"),
    Field("actuator_outnum", "i4", ("nactuator",), "number of force outputs"),
)

LATER_PASSIVE: tuple[Field, ...] = (
    Field("jnt_stiffnesspoly", "f8", ("njnt", 2), "quadratic and cubic coefficients of the spring"),
    Field("dof_dampingpoly", "f8", ("nv", 2), "quadratic and cubic coefficients of damping"),
    Field("tendon_stiffnesspoly", "f8", ("ntendon", 2), "quadratic and cubic coefficients of the spring"),
    Field("tendon_dampingpoly", "f8", ("ntendon", 2), "quadratic and cubic coefficients of damping"),
)

LATER_TRANSMISSIONS: tuple[Field, ...] = (
    Field("tendon_armature", "f8", ("ntendon",), "inertia of changes of the length, kg or kg m^2"),
    Field("tendon_actfrclimited", "u1", ("ntendon",), "whether the total actuator force on the tendon is limited"),
    Field("tendon_actfrcrange", "f8", ("ntendon", 2), "lower and upper limit of the total actuator force"),
    Field("actuator_armature", "f8", ("nactuator",), "inertia that the joint or tendon gets, before gear^2"),
    Field("actuator_damping", "f8", ("nactuator",), "damping that the joint or tendon gets, before gear^2"),
    Field("actuator_dampingpoly", "f8", ("nactuator", 2), "quadratic and cubic coefficients of this damping"),
)

LATER_FLEXES: tuple[Field, ...] = (
    Field("flex_damping", "f8", ("nflex",), "time constant of elastic damping (Rayleigh), s"),
    Field("flex_elemedgeadr", "i4", ("nflex",), "first edge id of the elements"),
    Field("flex_stiffnessadr", "i4", ("nflex",), "first stiffness parameter, or -1"),
    Field("flex_bendingadr", "i4", ("nflex",), "first bending parameter, or -1"),
    Field("flex_edgeflap", "i4", ("nflexedge", 2), "vertices opposite to the edge of a shell that bends, or -1"),
    Field("flex_elemedge", "i4", ("nflexelemedge",), "edges of the elements"),
    Field("flex_stiffness", "f8", ("nflexstiffness",), "element matrices, 21 (dim 2) or 24 numbers each, N/m^3"),
    Field("flex_bending", "f8", ("nflexbending",), "edges of shells: 16 numbers of a matrix, N/m; volume term, N/m^2"),
)
