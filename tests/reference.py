"""Bridges between the reference engine and Cardan, for parity tests."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np

from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import DATA, MODEL, SIZE_NAMES
from cardan.plugins import STOCK

NEWER = {
    "is_4_0": lambda ref: 0,
    "eq_objtype": lambda ref: 0,
    "site_dataid": lambda ref: -1,
    "vis.global_.cameraid": lambda ref: -1,
    "vis.global_.orthographic": lambda ref: 0,
    "geom_piece": lambda ref: 0,
    "eq_relative": lambda ref: 0,
    "geom_castshadow": lambda ref: 1,
    "cam_projection": lambda ref: 0,
    "cam_output": lambda ref: 1,
    "light_type": lambda ref: ref.light_directional,
    "light_texid": lambda ref: -1,
    "light_intensity": lambda ref: 0.0,
    "light_range": lambda ref: 10.0,
    "light_softness": lambda ref: 0.2,
    "tex_colorspace": lambda ref: 0,
    "tex_nchannel": lambda ref: 3,
    "flg_surfacevel": lambda ref: 0,
    "flg_adhesion": lambda ref: 0,
    "geom_surfacevel": lambda ref: 0.0,
    "geom_adhesion": lambda ref: 0.0,
    "pair_adhesion": lambda ref: 0.0,
    "nstick": lambda ref: 0,
    "geom_stick": lambda ref: 0,
    "geom_lagged": lambda ref: 0,
    "pair_stick": lambda ref: 0,
    "pair_lagged": lambda ref: 0,
    "jnt_stiffnesspoly": lambda ref: 0.0,
    "dof_dampingpoly": lambda ref: 0.0,
    "tendon_stiffnesspoly": lambda ref: 0.0,
    "tendon_dampingpoly": lambda ref: 0.0,
    "tendon_armature": lambda ref: 0.0,
    "tendon_actfrclimited": lambda ref: 0,
    "tendon_actfrcrange": lambda ref: 0.0,
    "actuator_armature": lambda ref: 0.0,
    "actuator_damping": lambda ref: 0.0,
    "actuator_dampingpoly": lambda ref: 0.0,
    "nhistory": lambda ref: 0,
    "nactuator": lambda ref: ref.nu,
    "nout": lambda ref: ref.nu,
    "actuator_ctrladr": lambda ref: np.arange(ref.nu),
    "actuator_ctrlnum": lambda ref: 1,
    "actuator_ctrlspec": lambda ref: 0,
    "actuator_outadr": lambda ref: np.arange(ref.nu),
    "actuator_outnum": lambda ref: 1,
    "actuator_history": lambda ref: 0,
    "actuator_historyadr": lambda ref: -1,
    "actuator_delay": lambda ref: 0.0,
    "sensor_intprm": lambda ref: 0,
    "sensor_history": lambda ref: 0,
    "sensor_historyadr": lambda ref: -1,
    "sensor_delay": lambda ref: 0.0,
    "sensor_interval": lambda ref: 0.0,
    "opt.sleep_tolerance": lambda ref: 1e-3,
    "tree_sleep_policy": lambda ref: 2,
    "nflexelemedge": lambda ref: 0,
    "nflexstiffness": lambda ref: 0,
    "nflexbending": lambda ref: 0,
    "flex_damping": lambda ref: 0.0,
    "flex_elemedgeadr": lambda ref: -1,
    "flex_stiffnessadr": lambda ref: -1,
    "flex_bendingadr": lambda ref: -1,
    "flex_edgeflap": lambda ref: -1,
    "flex_elemedge": lambda ref: 0,
    "flex_stiffness": lambda ref: 0.0,
    "flex_bending": lambda ref: 0.0,
    "mat_layertexid": lambda ref: np.where(np.arange(10) == 1, ref.mat_texid[:, None], -1),
}
"""Fields that 3.1.6 does not have, and their values in a model of 3.1.6."""
NEWER_DATA = ("history", "contact.surfacevel", "contact.adhesion", "qfrc_adhesion", "stick", "tree_asleep")
NEWER_DATA += ("contact.law", "contact.deformation", "contact.lagged")
"""Fields of data that 3.1.6 does not have."""
# the reference's Python binding shows these as empty arrays (docs/differences.md)
_EMPTY = ("vis.rgba.bv", "vis.rgba.bvactive")
UNREADABLE = (*_EMPTY, *NEWER)


def _get(owner, dotted: str):
    for part in dotted.split("."):
        owner = getattr(owner, part)
    return owner


def roomy_model(path: Path) -> mujoco.MjModel:
    """The reference's model of a file, with more memory than the file asks for, if it asks for little."""
    text = path.read_text()
    more = re.sub(r'<size memory="\d\d?M"', '<size memory="250M"', text)
    if more == text:
        return mujoco.MjModel.from_xml_path(str(path))
    assets = {file.name: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    return mujoco.MjModel.from_xml_string(more, assets)


def model_from_reference(ref: mujoco.MjModel) -> MjModel:
    """A Cardan model with every field copied from a compiled reference model."""
    sizes = {name: getattr(ref, name, 0) for name in SIZE_NAMES} | {"nactuator": ref.nu, "nout": ref.nu}
    m = MjModel(sizes)
    for field in MODEL.fields:
        if field.is_attached or field.name in (*SIZE_NAMES, *_EMPTY):
            continue
        value = NEWER[field.name](ref) if field.name in NEWER else _get(ref, field.name)
        if field.is_scalar:
            m._memory.scalars[field.name][0] = value
        elif isinstance(value, bytes):
            m._memory.arrays[field.name][:] = np.frombuffer(value, np.int8)
        else:
            array = m._memory.arrays[field.name]
            array[...] = value if field.name in NEWER else np.asarray(value).reshape(array.shape)
    m.name_plugins(STOCK[number].name for number in ref.plugin)  # both number them alike
    m.finalize()
    return m


STATE_AND_INPUTS = (
    *("qpos", "qvel", "act", "qacc_warmstart", "userdata"),
    *("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat"),
)


def copy_state(ref: mujoco.MjData, d: MjData) -> None:
    """Copy the full physics state and the inputs from a reference data."""
    d.time = ref.time
    for name in STATE_AND_INPUTS:
        getattr(d, name)[...] = getattr(ref, name)


def data_from_reference(m: MjModel, ref: mujoco.MjData) -> MjData:
    """A Cardan data with every field copied from a reference data (contacts and constraint rows included)."""
    d = MjData(m)
    counts = {"ncon": ref.ncon, "nefc": ref.nefc, "nnzJ": ref.nnzJ, "nisland": ref.nisland}
    for capacity, count in counts.items():
        if count > d._memory.sizes[capacity]:
            d.grow(capacity, count)
    for field in DATA.fields:
        if field.name.startswith(("work.", "solver.", "timer.", "warning.", "island_")) or field.is_attached:
            continue
        if (
            "nefc_dual" in field.shape
            or "nisland" in field.shape
            or field.name in ("threadpool", "dof_island", "dof_islandind", "efc_island", *NEWER_DATA)
        ):
            continue
        value = _get(ref, field.name)
        if field.is_scalar:
            d._memory.scalars[field.name][0] = value
        else:
            array = d._memory.arrays[field.name]
            value = np.asarray(value)
            array[tuple(slice(0, n) for n in value.shape)] = value
    return d
