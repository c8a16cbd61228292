"""Tables of model fields: pairs, constraints, tendons, actuators, sensors, custom data and names."""

from cardan.jit.memory.fields import Field

PAIR: tuple[Field, ...] = (
    Field("pair_dim", "i4", ("npair",), "dimension of the contacts"),
    Field("pair_geom1", "i4", ("npair",), "id of the first geom"),
    Field("pair_geom2", "i4", ("npair",), "id of the second geom"),
    Field("pair_signature", "i4", ("npair",), "ids of the two bodies as one number"),
    Field("pair_solref", "f8", ("npair", 2), "solref of the contacts' normal"),
    Field("pair_solreffriction", "f8", ("npair", 2), "solref of the contacts' friction"),
    Field("pair_solimp", "f8", ("npair", 5), "solimp of the contacts"),
    Field("pair_margin", "f8", ("npair",), "distance at which contacts are detected, m"),
    Field("pair_gap", "f8", ("npair",), "part of the margin in which contacts exert no force, m"),
    Field("pair_friction", "f8", ("npair", 5), "friction: two sliding, torsional (m), two rolling (m)"),
)

EXCLUDE: tuple[Field, ...] = (Field("exclude_signature", "i4", ("nexclude",), "ids of the two bodies as one number"),)

EQUALITY: tuple[Field, ...] = (
    Field("eq_type", "i4", ("neq",), "type of constraint (mjtEq)"),
    Field("eq_obj1id", "i4", ("neq",), "id of the first object"),
    Field("eq_obj2id", "i4", ("neq",), "id of the second object, or -1"),
    Field("eq_objtype", "i4", ("neq",), "kind of the objects of a connect or weld (mjtObj): bodies or sites; else 0"),
    Field("eq_active0", "u1", ("neq",), "whether the constraint is active after a reset"),
    Field("eq_solref", "f8", ("neq", 2), "solref of the constraint"),
    Field("eq_solimp", "f8", ("neq", 5), "solimp of the constraint"),
    Field("eq_data", "f8", ("neq", 11), "parameters of the constraint, which depend on the type"),
)

TENDON: tuple[Field, ...] = (
    Field("tendon_adr", "i4", ("ntendon",), "first wrap object of the path"),
    Field("tendon_num", "i4", ("ntendon",), "number of wrap objects of the path"),
    Field("tendon_matid", "i4", ("ntendon",), "id of the material, or -1"),
    Field("tendon_group", "i4", ("ntendon",), "group for visualisation"),
    Field("tendon_limited", "u1", ("ntendon",), "whether the tendon has limits"),
    Field("tendon_width", "f8", ("ntendon",), "width for drawing, m"),
    Field("tendon_solref_lim", "f8", ("ntendon", 2), "solref of the limit"),
    Field("tendon_solimp_lim", "f8", ("ntendon", 5), "solimp of the limit"),
    Field("tendon_solref_fri", "f8", ("ntendon", 2), "solref of the friction loss"),
    Field("tendon_solimp_fri", "f8", ("ntendon", 5), "solimp of the friction loss"),
    Field("tendon_range", "f8", ("ntendon", 2), "lower and upper limit of the length"),
    Field("tendon_margin", "f8", ("ntendon",), "distance at which the limit becomes active"),
    Field("tendon_stiffness", "f8", ("ntendon",), "spring stiffness"),
    Field("tendon_damping", "f8", ("ntendon",), "damping"),
    Field("tendon_frictionloss", "f8", ("ntendon",), "friction loss, N"),
    Field("tendon_lengthspring", "f8", ("ntendon", 2), "range of lengths in which the spring is at rest"),
    Field("tendon_length0", "f8", ("ntendon",), "length at qpos0"),
    Field("tendon_invweight0", "f8", ("ntendon",), "inverse inertia at qpos0"),
    Field("tendon_user", "f8", ("ntendon", "nuser_tendon"), "user values"),
    Field("tendon_rgba", "f4", ("ntendon", 4), "colour if there is no material"),
)

WRAP: tuple[Field, ...] = (
    Field("wrap_type", "i4", ("nwrap",), "type of wrap object (mjtWrap)"),
    Field("wrap_objid", "i4", ("nwrap",), "id of the object: geom, site or joint"),
    Field("wrap_prm", "f8", ("nwrap",), "divisor, coefficient of the joint, or id of the side site"),
)

ACTUATOR: tuple[Field, ...] = (
    Field("actuator_trntype", "i4", ("nactuator",), "type of transmission (mjtTrn)"),
    Field("actuator_dyntype", "i4", ("nactuator",), "type of activation dynamics (mjtDyn)"),
    Field("actuator_gaintype", "i4", ("nactuator",), "type of gain (mjtGain)"),
    Field("actuator_biastype", "i4", ("nactuator",), "type of bias (mjtBias)"),
    Field("actuator_trnid", "i4", ("nactuator", 2), "ids of the objects on which the actuator acts"),
    Field("actuator_actadr", "i4", ("nactuator",), "first activation, or -1"),
    Field("actuator_actnum", "i4", ("nactuator",), "number of activations"),
    Field("actuator_group", "i4", ("nactuator",), "group for visualisation and for switching off"),
    Field("actuator_ctrllimited", "u1", ("nu",), "whether the control is limited"),
    Field("actuator_forcelimited", "u1", ("nactuator",), "whether the force is limited"),
    Field("actuator_actlimited", "u1", ("nactuator",), "whether the activation is limited"),
    Field("actuator_dynprm", "f8", ("nactuator", 10), "parameters of the activation dynamics"),
    Field("actuator_gainprm", "f8", ("nactuator", 10), "parameters of the gain"),
    Field("actuator_biasprm", "f8", ("nactuator", 10), "parameters of the bias"),
    Field("actuator_actearly", "u1", ("nactuator",), "whether the force uses the activation of the next step"),
    Field("actuator_ctrlrange", "f8", ("nu", 2), "lower and upper limit of the control"),
    Field("actuator_forcerange", "f8", ("nactuator", 2), "lower and upper limit of the force"),
    Field("actuator_actrange", "f8", ("nactuator", 2), "lower and upper limit of the activation"),
    Field("actuator_gear", "f8", ("nout", 6), "factors of the transmission"),
    Field("actuator_cranklength", "f8", ("nactuator",), "length of the crank of a slider-crank, m"),
    Field("actuator_acc0", "f8", ("nout",), "norm of the acceleration that a unit force causes at qpos0"),
    Field("actuator_length0", "f8", ("nout",), "length at qpos0"),
    Field("actuator_lengthrange", "f8", ("nout", 2), "smallest and largest length"),
    Field("actuator_user", "f8", ("nactuator", "nuser_actuator"), "user values"),
    Field("actuator_plugin", "i4", ("nactuator",), "plugin instance, or -1"),
)

SENSOR: tuple[Field, ...] = (
    Field("sensor_type", "i4", ("nsensor",), "type of sensor (mjtSensor)"),
    Field("sensor_datatype", "i4", ("nsensor",), "kind of values (mjtDataType)"),
    Field("sensor_needstage", "i4", ("nsensor",), "stage after which the sensor is computed (mjtStage)"),
    Field("sensor_objtype", "i4", ("nsensor",), "type of the object (mjtObj)"),
    Field("sensor_objid", "i4", ("nsensor",), "id of the object"),
    Field("sensor_reftype", "i4", ("nsensor",), "type of the reference object (mjtObj)"),
    Field("sensor_refid", "i4", ("nsensor",), "id of the reference object, or -1"),
    Field("sensor_dim", "i4", ("nsensor",), "number of values"),
    Field("sensor_adr", "i4", ("nsensor",), "first value in sensordata"),
    Field("sensor_cutoff", "f8", ("nsensor",), "bound on the values; 0: none"),
    Field("sensor_noise", "f8", ("nsensor",), "standard deviation of the noise (stored, not applied)"),
    Field("sensor_user", "f8", ("nsensor", "nuser_sensor"), "user values"),
    Field("sensor_plugin", "i4", ("nsensor",), "plugin instance, or -1"),
)

PLUGIN: tuple[Field, ...] = (
    Field("plugin", "i4", ("nplugin",), "number of the plugin in the registry"),
    Field("plugin_stateadr", "i4", ("nplugin",), "first state in plugin_state"),
    Field("plugin_statenum", "i4", ("nplugin",), "number of states"),
    Field("plugin_attr", "char", ("npluginattr",), "attributes, as zero-terminated text"),
    Field("plugin_attradr", "i4", ("nplugin",), "first byte of the attributes"),
)

NUMERIC: tuple[Field, ...] = (
    Field("numeric_adr", "i4", ("nnumeric",), "first value in numeric_data"),
    Field("numeric_size", "i4", ("nnumeric",), "number of values"),
    Field("numeric_data", "f8", ("nnumericdata",), "values of all numeric fields"),
)

TEXT: tuple[Field, ...] = (
    Field("text_adr", "i4", ("ntext",), "first byte in text_data"),
    Field("text_size", "i4", ("ntext",), "number of bytes, the final zero included"),
    Field("text_data", "char", ("ntextdata",), "bytes of all texts, zero-terminated"),
)

TUPLE: tuple[Field, ...] = (
    Field("tuple_adr", "i4", ("ntuple",), "first object in tuple_objid"),
    Field("tuple_size", "i4", ("ntuple",), "number of objects"),
    Field("tuple_objtype", "i4", ("ntupledata",), "type of the object (mjtObj)"),
    Field("tuple_objid", "i4", ("ntupledata",), "id of the object"),
    Field("tuple_objprm", "f8", ("ntupledata",), "parameter of the object"),
)

KEY: tuple[Field, ...] = (
    Field("key_time", "f8", ("nkey",), "time, s"),
    Field("key_qpos", "f8", ("nkey", "nq"), "configuration"),
    Field("key_qvel", "f8", ("nkey", "nv"), "velocity"),
    Field("key_act", "f8", ("nkey", "na"), "activations"),
    Field("key_mpos", "f8", ("nkey", "nmocap*3"), "positions of the mocap bodies, m"),
    Field("key_mquat", "f8", ("nkey", "nmocap*4"), "orientations of the mocap bodies"),
    Field("key_ctrl", "f8", ("nkey", "nu"), "controls"),
)

NAME: tuple[Field, ...] = (
    Field("name_bodyadr", "i4", ("nbody",), "where the body's name starts in names"),
    Field("name_jntadr", "i4", ("njnt",), "where the joint's name starts in names"),
    Field("name_geomadr", "i4", ("ngeom",), "where the geom's name starts in names"),
    Field("name_siteadr", "i4", ("nsite",), "where the site's name starts in names"),
    Field("name_camadr", "i4", ("ncam",), "where the camera's name starts in names"),
    Field("name_lightadr", "i4", ("nlight",), "where the light's name starts in names"),
    Field("name_flexadr", "i4", ("nflex",), "where the flex's name starts in names"),
    Field("name_meshadr", "i4", ("nmesh",), "where the mesh's name starts in names"),
    Field("name_skinadr", "i4", ("nskin",), "where the skin's name starts in names"),
    Field("name_hfieldadr", "i4", ("nhfield",), "where the height field's name starts in names"),
    Field("name_texadr", "i4", ("ntex",), "where the texture's name starts in names"),
    Field("name_matadr", "i4", ("nmat",), "where the material's name starts in names"),
    Field("name_pairadr", "i4", ("npair",), "where the pair's name starts in names"),
    Field("name_excludeadr", "i4", ("nexclude",), "where the excluded pair's name starts in names"),
    Field("name_eqadr", "i4", ("neq",), "where the equality constraint's name starts in names"),
    Field("name_tendonadr", "i4", ("ntendon",), "where the tendon's name starts in names"),
    Field("name_actuatoradr", "i4", ("nactuator",), "where the actuator's name starts in names"),
    Field("name_sensoradr", "i4", ("nsensor",), "where the sensor's name starts in names"),
    Field("name_numericadr", "i4", ("nnumeric",), "where the numeric field's name starts in names"),
    Field("name_textadr", "i4", ("ntext",), "where the text field's name starts in names"),
    Field("name_tupleadr", "i4", ("ntuple",), "where the tuple's name starts in names"),
    Field("name_keyadr", "i4", ("nkey",), "where the keyframe's name starts in names"),
    Field("name_pluginadr", "i4", ("nplugin",), "where the plugin instance's name starts in names"),
    Field("names", "char", ("nnames",), "all names, zero-terminated; the model's name comes first"),
    Field("names_map", "i4", ("nnames_map",), "hash tables of names, one for each type of object"),
)

PATHS: tuple[Field, ...] = (Field("paths", "char", ("npaths",), "all file paths, zero-terminated"),)
