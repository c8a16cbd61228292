"""Tables of model fields: the kinematic tree and all elements that are attached to its bodies."""

from cardan.jit.memory.fields import Field

QPOS: tuple[Field, ...] = (
    Field("qpos0", "f8", ("nq",), "configuration in which the model was compiled"),
    Field("qpos_spring", "f8", ("nq",), "configuration in which joint springs are at rest"),
)

BODY: tuple[Field, ...] = (
    Field("body_parentid", "i4", ("nbody",), "id of the parent body"),
    Field("body_rootid", "i4", ("nbody",), "id of the body's ancestor that is a child of the world"),
    Field("body_weldid", "i4", ("nbody",), "id of the topmost body to which this body is rigidly fixed"),
    Field("body_mocapid", "i4", ("nbody",), "number of the mocap body, or -1"),
    Field("body_jntnum", "i4", ("nbody",), "number of joints"),
    Field("body_jntadr", "i4", ("nbody",), "id of the first joint, or -1"),
    Field("body_dofnum", "i4", ("nbody",), "number of degrees of freedom"),
    Field("body_dofadr", "i4", ("nbody",), "first degree of freedom, or -1"),
    Field("body_treeid", "i4", ("nbody",), "id of the kinematic tree, or -1 if static"),
    Field("body_geomnum", "i4", ("nbody",), "number of geoms"),
    Field("body_geomadr", "i4", ("nbody",), "id of the first geom, or -1"),
    Field("body_simple", "u1", ("nbody",), "1: inertia is diagonal in the body's dofs; 2: also all joints are slides"),
    Field("body_sameframe", "u1", ("nbody",), "1: the inertial frame is the body's frame; 3: only parallel to it"),
    Field("body_pos", "f8", ("nbody", 3), "position in the parent's frame, m"),
    Field("body_quat", "f8", ("nbody", 4), "orientation in the parent's frame"),
    Field("body_ipos", "f8", ("nbody", 3), "centre of mass in the body's frame, m"),
    Field("body_iquat", "f8", ("nbody", 4), "orientation of the principal axes in the body's frame"),
    Field("body_mass", "f8", ("nbody",), "mass, kg"),
    Field("body_subtreemass", "f8", ("nbody",), "mass of the subtree that starts here, kg"),
    Field("body_inertia", "f8", ("nbody", 3), "principal moments of inertia, kg m^2"),
    Field("body_invweight0", "f8", ("nbody", 2), "mean inverse inertia at qpos0: translation, rotation"),
    Field("body_gravcomp", "f8", ("nbody",), "fraction of the weight that is compensated"),
    Field("body_margin", "f8", ("nbody",), "largest margin of the body's geoms, m"),
    Field("body_user", "f8", ("nbody", "nuser_body"), "user values"),
    Field("body_plugin", "i4", ("nbody",), "plugin instance, or -1"),
    Field("body_contype", "i4", ("nbody",), "union of the contact types of the body's geoms"),
    Field("body_conaffinity", "i4", ("nbody",), "union of the contact affinities of the body's geoms"),
    Field("body_bvhadr", "i4", ("nbody",), "first node of the body's bounding volume hierarchy, or -1"),
    Field("body_bvhnum", "i4", ("nbody",), "number of nodes of the body's bounding volume hierarchy"),
)

BVH: tuple[Field, ...] = (
    Field("bvh_depth", "i4", ("nbvh",), "depth of the node in its tree"),
    Field("bvh_child", "i4", ("nbvh", 2), "children of the node, or -1"),
    Field("bvh_nodeid", "i4", ("nbvh",), "geom, element or triangle in a leaf; -1 for other nodes"),
    Field("bvh_aabb", "f8", ("nbvhstatic", 6), "box of the node: centre and half sizes, m"),
)

JOINT: tuple[Field, ...] = (
    Field("jnt_type", "i4", ("njnt",), "type of joint (mjtJoint)"),
    Field("jnt_qposadr", "i4", ("njnt",), "first element in qpos"),
    Field("jnt_dofadr", "i4", ("njnt",), "first degree of freedom"),
    Field("jnt_bodyid", "i4", ("njnt",), "id of the body that the joint moves"),
    Field("jnt_group", "i4", ("njnt",), "group for visualisation"),
    Field("jnt_limited", "u1", ("njnt",), "whether the joint has limits"),
    Field("jnt_actfrclimited", "u1", ("njnt",), "whether the total actuator force at the joint is limited"),
    Field("jnt_actgravcomp", "u1", ("njnt",), "whether gravity compensation counts as actuator force"),
    Field("jnt_solref", "f8", ("njnt", 2), "solref of the limit"),
    Field("jnt_solimp", "f8", ("njnt", 5), "solimp of the limit"),
    Field("jnt_pos", "f8", ("njnt", 3), "anchor in the body's frame, m"),
    Field("jnt_axis", "f8", ("njnt", 3), "axis in the body's frame"),
    Field("jnt_stiffness", "f8", ("njnt",), "spring stiffness"),
    Field("jnt_range", "f8", ("njnt", 2), "lower and upper limit, m or rad"),
    Field("jnt_actfrcrange", "f8", ("njnt", 2), "lower and upper limit of the total actuator force"),
    Field("jnt_margin", "f8", ("njnt",), "distance at which the limit becomes active"),
    Field("jnt_user", "f8", ("njnt", "nuser_jnt"), "user values"),
)

DOF: tuple[Field, ...] = (
    Field("dof_bodyid", "i4", ("nv",), "id of the body that the dof moves"),
    Field("dof_jntid", "i4", ("nv",), "id of the dof's joint"),
    Field("dof_parentid", "i4", ("nv",), "previous dof on the way to the root, or -1"),
    Field("dof_treeid", "i4", ("nv",), "id of the kinematic tree"),
    Field("dof_Madr", "i4", ("nv",), "address of the diagonal element in qM"),
    Field("dof_simplenum", "i4", ("nv",), "number of consecutive simple dofs from here"),
    Field("dof_solref", "f8", ("nv", 2), "solref of the friction loss"),
    Field("dof_solimp", "f8", ("nv", 5), "solimp of the friction loss"),
    Field("dof_frictionloss", "f8", ("nv",), "friction loss, N or N m"),
    Field("dof_armature", "f8", ("nv",), "armature inertia, kg or kg m^2"),
    Field("dof_damping", "f8", ("nv",), "damping, N s/m or N m s/rad"),
    Field("dof_invweight0", "f8", ("nv",), "diagonal of the inverse inertia matrix at qpos0"),
    Field("dof_M0", "f8", ("nv",), "diagonal of the inertia matrix at qpos0"),
)

GEOM: tuple[Field, ...] = (
    Field("geom_type", "i4", ("ngeom",), "type of geom (mjtGeom)"),
    Field("geom_contype", "i4", ("ngeom",), "bits of the geom's contact type"),
    Field("geom_conaffinity", "i4", ("ngeom",), "bits of the contact types with which the geom collides"),
    Field("geom_condim", "i4", ("ngeom",), "dimension of the geom's contacts: 1, 3, 4 or 6"),
    Field("geom_bodyid", "i4", ("ngeom",), "id of the body"),
    Field("geom_dataid", "i4", ("ngeom",), "id of the mesh or height field, or -1"),
    Field("geom_matid", "i4", ("ngeom",), "id of the material, or -1"),
    Field("geom_group", "i4", ("ngeom",), "group for visualisation"),
    Field("geom_priority", "i4", ("ngeom",), "priority of the geom's contact parameters"),
    Field("geom_plugin", "i4", ("ngeom",), "plugin instance, or -1"),
    Field(
        "geom_sameframe", "u1", ("ngeom",), "1: the geom's frame is the body's; 2: the inertia's; 3, 4: parallel to it"
    ),
    Field("geom_solmix", "f8", ("ngeom",), "weight of the geom's solver parameters in contacts"),
    Field("geom_solref", "f8", ("ngeom", 2), "solref of the geom's contacts"),
    Field("geom_solimp", "f8", ("ngeom", 5), "solimp of the geom's contacts"),
    Field("geom_size", "f8", ("ngeom", 3), "sizes, which depend on the type, m"),
    Field("geom_aabb", "f8", ("ngeom", 6), "bounding box in the geom's frame: centre and half sizes, m"),
    Field("geom_rbound", "f8", ("ngeom",), "radius of the bounding sphere, m; 0 for planes"),
    Field("geom_pos", "f8", ("ngeom", 3), "position in the body's frame, m"),
    Field("geom_quat", "f8", ("ngeom", 4), "orientation in the body's frame"),
    Field("geom_friction", "f8", ("ngeom", 3), "friction: sliding, torsional (m), rolling (m)"),
    Field("geom_margin", "f8", ("ngeom",), "distance at which contacts are detected, m"),
    Field("geom_gap", "f8", ("ngeom",), "part of the margin in which contacts exert no force, m"),
    Field("geom_fluid", "f8", ("ngeom", 12), "parameters of the interaction with the medium"),
    Field("geom_user", "f8", ("ngeom", "nuser_geom"), "user values"),
    Field("geom_rgba", "f4", ("ngeom", 4), "colour if there is no material"),
)

SITE: tuple[Field, ...] = (
    Field("site_type", "i4", ("nsite",), "shape (mjtGeom)"),
    Field("site_bodyid", "i4", ("nsite",), "id of the body"),
    Field("site_dataid", "i4", ("nsite",), "id of the mesh, or -1"),
    Field("site_matid", "i4", ("nsite",), "id of the material, or -1"),
    Field("site_group", "i4", ("nsite",), "group for visualisation"),
    Field(
        "site_sameframe", "u1", ("nsite",), "1: the site's frame is the body's; 2: the inertia's; 3, 4: parallel to it"
    ),
    Field("site_size", "f8", ("nsite", 3), "sizes, which depend on the shape, m"),
    Field("site_pos", "f8", ("nsite", 3), "position in the body's frame, m"),
    Field("site_quat", "f8", ("nsite", 4), "orientation in the body's frame"),
    Field("site_user", "f8", ("nsite", "nuser_site"), "user values"),
    Field("site_rgba", "f4", ("nsite", 4), "colour if there is no material"),
)

CAMERA: tuple[Field, ...] = (
    Field("cam_mode", "i4", ("ncam",), "what the camera tracks (mjtCamLight)"),
    Field("cam_bodyid", "i4", ("ncam",), "id of the body"),
    Field("cam_targetbodyid", "i4", ("ncam",), "id of the body at which the camera looks, or -1"),
    Field("cam_resolution", "i4", ("ncam", 2), "width and height, pixels"),
    Field("cam_sensorsize", "f4", ("ncam", 2), "width and height of the sensor, m"),
    Field("cam_intrinsic", "f4", ("ncam", 4), "focal lengths and principal point, m"),
    Field("cam_pos", "f8", ("ncam", 3), "position in the body's frame, m"),
    Field("cam_quat", "f8", ("ncam", 4), "orientation in the body's frame"),
    Field("cam_poscom0", "f8", ("ncam", 3), "position from the subtree's centre of mass at qpos0, world axes, m"),
    Field("cam_pos0", "f8", ("ncam", 3), "position relative to the body at qpos0, world frame, m"),
    Field("cam_mat0", "f8", ("ncam", 9), "orientation at qpos0"),
    Field("cam_fovy", "f8", ("ncam",), "vertical field of view, degrees"),
    Field("cam_ipd", "f8", ("ncam",), "distance between the eyes of a stereo view, m"),
    Field("cam_user", "f8", ("ncam", "nuser_cam"), "user values"),
)

LIGHT: tuple[Field, ...] = (
    Field("light_mode", "i4", ("nlight",), "what the light tracks (mjtCamLight)"),
    Field("light_bodyid", "i4", ("nlight",), "id of the body"),
    Field("light_targetbodyid", "i4", ("nlight",), "id of the body at which the light points, or -1"),
    Field("light_directional", "u1", ("nlight",), "whether the light's rays are parallel"),
    Field("light_castshadow", "u1", ("nlight",), "whether the light casts shadows"),
    Field("light_bulbradius", "f4", ("nlight",), "radius for soft shadows, m"),
    Field("light_active", "u1", ("nlight",), "whether the light is on"),
    Field("light_pos", "f8", ("nlight", 3), "position in the body's frame, m"),
    Field("light_dir", "f8", ("nlight", 3), "direction in the body's frame"),
    Field("light_poscom0", "f8", ("nlight", 3), "position from the subtree's centre of mass at qpos0, world axes, m"),
    Field("light_pos0", "f8", ("nlight", 3), "position relative to the body at qpos0, world frame, m"),
    Field("light_dir0", "f8", ("nlight", 3), "direction at qpos0, world frame"),
    Field("light_attenuation", "f4", ("nlight", 3), "constant, linear and quadratic attenuation"),
    Field("light_cutoff", "f4", ("nlight",), "half angle of the cone, degrees"),
    Field("light_exponent", "f4", ("nlight",), "exponent of the decrease away from the axis"),
    Field("light_ambient", "f4", ("nlight", 3), "ambient colour"),
    Field("light_diffuse", "f4", ("nlight", 3), "diffuse colour"),
    Field("light_specular", "f4", ("nlight", 3), "specular colour"),
)
