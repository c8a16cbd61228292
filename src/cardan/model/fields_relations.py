"""Rows of the model: what relates elements to each other (pairs, constraints, tendons, actuators, sensors), custom data and names."""

from cardan.jit.fields import Field

PAIR: tuple[Field, ...] = (
    Field("pair_dim", "i4", ("npair",)),
    Field("pair_geom1", "i4", ("npair",)),
    Field("pair_geom2", "i4", ("npair",)),
    Field("pair_signature", "i4", ("npair",)),
    Field("pair_solref", "f8", ("npair", 2)),
    Field("pair_solreffriction", "f8", ("npair", 2)),
    Field("pair_solimp", "f8", ("npair", 5)),
    Field("pair_margin", "f8", ("npair",)),
    Field("pair_gap", "f8", ("npair",)),
    Field("pair_friction", "f8", ("npair", 5)),
)

EXCLUDE: tuple[Field, ...] = (
    Field("exclude_signature", "i4", ("nexclude",)),
)

EQUALITY: tuple[Field, ...] = (
    Field("eq_type", "i4", ("neq",)),
    Field("eq_obj1id", "i4", ("neq",)),
    Field("eq_obj2id", "i4", ("neq",)),
    Field("eq_active0", "u1", ("neq",)),
    Field("eq_solref", "f8", ("neq", 2)),
    Field("eq_solimp", "f8", ("neq", 5)),
    Field("eq_data", "f8", ("neq", 11)),
)

TENDON: tuple[Field, ...] = (
    Field("tendon_adr", "i4", ("ntendon",)),
    Field("tendon_num", "i4", ("ntendon",)),
    Field("tendon_matid", "i4", ("ntendon",)),
    Field("tendon_group", "i4", ("ntendon",)),
    Field("tendon_limited", "u1", ("ntendon",)),
    Field("tendon_width", "f8", ("ntendon",)),
    Field("tendon_solref_lim", "f8", ("ntendon", 2)),
    Field("tendon_solimp_lim", "f8", ("ntendon", 5)),
    Field("tendon_solref_fri", "f8", ("ntendon", 2)),
    Field("tendon_solimp_fri", "f8", ("ntendon", 5)),
    Field("tendon_range", "f8", ("ntendon", 2)),
    Field("tendon_margin", "f8", ("ntendon",)),
    Field("tendon_stiffness", "f8", ("ntendon",)),
    Field("tendon_damping", "f8", ("ntendon",)),
    Field("tendon_frictionloss", "f8", ("ntendon",)),
    Field("tendon_lengthspring", "f8", ("ntendon", 2)),
    Field("tendon_length0", "f8", ("ntendon",)),
    Field("tendon_invweight0", "f8", ("ntendon",)),
    Field("tendon_user", "f8", ("ntendon", "nuser_tendon")),
    Field("tendon_rgba", "f4", ("ntendon", 4)),
)

WRAP: tuple[Field, ...] = (
    Field("wrap_type", "i4", ("nwrap",)),
    Field("wrap_objid", "i4", ("nwrap",)),
    Field("wrap_prm", "f8", ("nwrap",)),
)

ACTUATOR: tuple[Field, ...] = (
    Field("actuator_trntype", "i4", ("nu",)),
    Field("actuator_dyntype", "i4", ("nu",)),
    Field("actuator_gaintype", "i4", ("nu",)),
    Field("actuator_biastype", "i4", ("nu",)),
    Field("actuator_trnid", "i4", ("nu", 2)),
    Field("actuator_actadr", "i4", ("nu",)),
    Field("actuator_actnum", "i4", ("nu",)),
    Field("actuator_group", "i4", ("nu",)),
    Field("actuator_ctrllimited", "u1", ("nu",)),
    Field("actuator_forcelimited", "u1", ("nu",)),
    Field("actuator_actlimited", "u1", ("nu",)),
    Field("actuator_dynprm", "f8", ("nu", 10)),
    Field("actuator_gainprm", "f8", ("nu", 10)),
    Field("actuator_biasprm", "f8", ("nu", 10)),
    Field("actuator_actearly", "u1", ("nu",)),
    Field("actuator_ctrlrange", "f8", ("nu", 2)),
    Field("actuator_forcerange", "f8", ("nu", 2)),
    Field("actuator_actrange", "f8", ("nu", 2)),
    Field("actuator_gear", "f8", ("nu", 6)),
    Field("actuator_cranklength", "f8", ("nu",)),
    Field("actuator_acc0", "f8", ("nu",)),
    Field("actuator_length0", "f8", ("nu",)),
    Field("actuator_lengthrange", "f8", ("nu", 2)),
    Field("actuator_user", "f8", ("nu", "nuser_actuator")),
    Field("actuator_plugin", "i4", ("nu",)),
)

SENSOR: tuple[Field, ...] = (
    Field("sensor_type", "i4", ("nsensor",)),
    Field("sensor_datatype", "i4", ("nsensor",)),
    Field("sensor_needstage", "i4", ("nsensor",)),
    Field("sensor_objtype", "i4", ("nsensor",)),
    Field("sensor_objid", "i4", ("nsensor",)),
    Field("sensor_reftype", "i4", ("nsensor",)),
    Field("sensor_refid", "i4", ("nsensor",)),
    Field("sensor_dim", "i4", ("nsensor",)),
    Field("sensor_adr", "i4", ("nsensor",)),
    Field("sensor_cutoff", "f8", ("nsensor",)),
    Field("sensor_noise", "f8", ("nsensor",)),
    Field("sensor_user", "f8", ("nsensor", "nuser_sensor")),
    Field("sensor_plugin", "i4", ("nsensor",)),
)

PLUGIN: tuple[Field, ...] = (
    Field("plugin", "i4", ("nplugin",)),
    Field("plugin_stateadr", "i4", ("nplugin",)),
    Field("plugin_statenum", "i4", ("nplugin",)),
    Field("plugin_attr", "char", ("npluginattr",)),
    Field("plugin_attradr", "i4", ("nplugin",)),
)

NUMERIC: tuple[Field, ...] = (
    Field("numeric_adr", "i4", ("nnumeric",)),
    Field("numeric_size", "i4", ("nnumeric",)),
    Field("numeric_data", "f8", ("nnumericdata",)),
)

TEXT: tuple[Field, ...] = (
    Field("text_adr", "i4", ("ntext",)),
    Field("text_size", "i4", ("ntext",)),
    Field("text_data", "char", ("ntextdata",)),
)

TUPLE: tuple[Field, ...] = (
    Field("tuple_adr", "i4", ("ntuple",)),
    Field("tuple_size", "i4", ("ntuple",)),
    Field("tuple_objtype", "i4", ("ntupledata",)),
    Field("tuple_objid", "i4", ("ntupledata",)),
    Field("tuple_objprm", "f8", ("ntupledata",)),
)

KEY: tuple[Field, ...] = (
    Field("key_time", "f8", ("nkey",)),
    Field("key_qpos", "f8", ("nkey", "nq")),
    Field("key_qvel", "f8", ("nkey", "nv")),
    Field("key_act", "f8", ("nkey", "na")),
    Field("key_mpos", "f8", ("nkey", "nmocap*3")),
    Field("key_mquat", "f8", ("nkey", "nmocap*4")),
    Field("key_ctrl", "f8", ("nkey", "nu")),
)

NAME: tuple[Field, ...] = (
    Field("name_bodyadr", "i4", ("nbody",)),
    Field("name_jntadr", "i4", ("njnt",)),
    Field("name_geomadr", "i4", ("ngeom",)),
    Field("name_siteadr", "i4", ("nsite",)),
    Field("name_camadr", "i4", ("ncam",)),
    Field("name_lightadr", "i4", ("nlight",)),
    Field("name_flexadr", "i4", ("nflex",)),
    Field("name_meshadr", "i4", ("nmesh",)),
    Field("name_skinadr", "i4", ("nskin",)),
    Field("name_hfieldadr", "i4", ("nhfield",)),
    Field("name_texadr", "i4", ("ntex",)),
    Field("name_matadr", "i4", ("nmat",)),
    Field("name_pairadr", "i4", ("npair",)),
    Field("name_excludeadr", "i4", ("nexclude",)),
    Field("name_eqadr", "i4", ("neq",)),
    Field("name_tendonadr", "i4", ("ntendon",)),
    Field("name_actuatoradr", "i4", ("nu",)),
    Field("name_sensoradr", "i4", ("nsensor",)),
    Field("name_numericadr", "i4", ("nnumeric",)),
    Field("name_textadr", "i4", ("ntext",)),
    Field("name_tupleadr", "i4", ("ntuple",)),
    Field("name_keyadr", "i4", ("nkey",)),
    Field("name_pluginadr", "i4", ("nplugin",)),
    Field("names", "char", ("nnames",)),
    Field("names_map", "i4", ("nnames_map",)),
)

PATHS: tuple[Field, ...] = (
    Field("paths", "char", ("npaths",)),
)
