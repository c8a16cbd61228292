"""Tables of data fields that MuJoCo 3.1 does not have. They come last, so that all other slots stay fixed."""

from cardan.jit.memory.fields import Field

LATER_STATE: tuple[Field, ...] = (
    Field("history", "f8", ("nhistory",), "past controls, then past sensor values: user slot, cursor, times, values"),
)

LATER_CONTACT: tuple[Field, ...] = (
    Field(
        "contact.surfacevel",
        "f8",
        ("ncon", 3),
        "velocity of surface 2 minus 1: tangents, m/s; spin, rad/s",
        "collision",
    ),
    Field("contact.adhesion", "f8", ("ncon",), "adhesive force, N", "collision"),
)

LATER_FORCES: tuple[Field, ...] = (
    Field("qfrc_adhesion", "f8", ("nv",), "forces of adhesive contacts, part of qfrc_passive", "passive"),
)

LATER_SLEEP: tuple[Field, ...] = (
    Field("tree_asleep", "i4", ("ntree",), "below 0: awake; else asleep: the next tree of a cycle of sleeping trees"),
)

LATER_WORK: tuple[Field, ...] = (
    Field("work.actuator_load", "f8", ("nactuator",), "DC motors: forces of cogging and friction, which have no limit"),
    Field("work.actuator_length_slope", "f8", ("nactuator",), "derivative of the torque by the length: motors, servos"),
    Field("work.act_span", "f8", ("na",), "DC motors: change of an activation in a step, divided by its rate"),
    Field("work.act_change", "f8", ("na",), "DC motors: change of the bristles in a step; 0 for other activations"),
    Field("work.rk_act_change", "f8", ("na",), "act_change at the start of a Runge-Kutta step"),
    Field("work.history_value", "f8", ("nhistory",), "delayed controls and values of delayed sensors before the delay"),
    Field("work.spans_known", "i8", (), "sleep: whether work.span and work.rest are those of tree_asleep"),
    Field("work.is_settling", "i8", (), "sleep: whether forward dynamics has run for the trees that fall asleep"),
    Field("work.has_lengths", "i8", (), "sleep: whether work.dof_length is known"),
    Field("work.dof_length", "f8", ("nv",), "sleep: length by which a velocity is linear, m; 1: translation"),
    Field("work.nfresh", "i8", (), "sleep: number of bodies that are not asleep, in work.sweep_body"),
    Field("work.nspan", "i8", (), "sleep: number of spans"),
    Field("work.nrest", "i8", (), "sleep: number of rests"),
    Field("work.span", "i8", ("nbody", 14), "sleep: bodies, joints, ... of each span (see dynamics.awake)"),
    Field("work.rest", "i8", ("nbody", 11), "sleep: bodies, dofs, ... of each rest (see dynamics.awake)"),
    Field("work.unsettled", "i8", (), "sleep: which stages have not seen the present spans yet (see dynamics.awake)"),
    Field("work.sensor_rests", "i4", ("nsensor",), "sleep: whether what a sensor measures sleeps"),
    Field("work.rest_mass", "f8", ("nbody", 4), "sleep: mass below a body times its centre, kg m; mass of rests, kg"),
    Field("work.qpos_asleep", "f8", ("nq",), "sleep: qpos of sleeping trees when they fell asleep"),
    Field("work.edge_strain", "f8", ("nflexedge",), "flexes: squared length minus squared length at rest, m^2"),
    Field("work.edge_rate", "f8", ("nflexedge",), "flexes: rate of the squared length in the past step, m^2/s"),
    Field("work.edge_pull", "f8", ("nflexedge",), "discrete: tension of the edge over its length, N/m"),
    Field("work.edge_tension", "f8", ("nflexedge",), "flexes: elastic force along the edge, N"),
    Field("work.edge_drag", "f8", ("nflexedge",), "flexes: damping force along the edge, N"),
    Field("work.vertex_speed", "f8", ("nflexvert", 3), "flexes: velocity of the vertex, world frame, m/s"),
    Field("work.vertex_force", "f8", ("nflexvert", 3), "flexes: bending force on the vertex, world frame, N"),
    Field("work.vertex_drag", "f8", ("nflexvert", 3), "flexes: damping of bending, force on the vertex, N"),
)
