"""The stages of the smooth dynamics in pipeline order, with the fields that each of them writes."""

from cardan.dynamics.actuation import fwd_actuation
from cardan.dynamics.bias import fwd_acceleration, rne, rne_post_constraint
from cardan.dynamics.com import com_pos, com_vel
from cardan.dynamics.energy import energy_pos, energy_vel, subtree_vel
from cardan.dynamics.inertia import crb, factor_m
from cardan.dynamics.kinematics import camlight, kinematics
from cardan.dynamics.muscle import muscles
from cardan.dynamics.passive import passive
from cardan.dynamics.tendon import spatial_tendon, tendon_velocity
from cardan.dynamics.transmission import actuator_velocity, spatial_transmission, transmission
from cardan.step.adapters import user_defaults

STAGE_FIELDS = {
    kinematics: "qpos mocap_quat xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat",
    com_pos: "subtree_com cinert cdof",
    camlight: "cam_xpos cam_xmat light_xpos light_xdir",
    spatial_tendon: "ten_length ten_wrapadr ten_wrapnum ten_J ten_J_rownnz ten_J_rowadr ten_J_colind",
    crb: "crb qM",
    factor_m: "qLD qLDiagInv qLDiagSqrtInv",
    transmission: "actuator_length actuator_moment",
    spatial_transmission: "",
    com_vel: "cvel cdof_dot",
    tendon_velocity: "ten_velocity",
    actuator_velocity: "actuator_velocity",
    passive: "qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid qfrc_passive",
    rne: "qfrc_bias",
    muscles: "",
    user_defaults: "",
    fwd_actuation: "actuator_force act_dot qfrc_actuator",
    fwd_acceleration: "qfrc_smooth qacc_smooth",
    energy_pos: "",
    energy_vel: "energy",
    subtree_vel: "subtree_linvel subtree_angmom",
    rne_post_constraint: "cacc cfrc_int cfrc_ext",
}

# inputs, and fields of which a stage writes only the entries that can be other than zero
KEPT = {"qpos", "mocap_quat", "act_dot"}
ZEROED = {"ten_J", "ten_J_rownnz", "ten_J_rowadr", "ten_J_colind", "actuator_moment"}
