"""Numbers of enumerations and values of constants in a process with compat 4.0: those of MuJoCo 4.0.0."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.compat import VARIABLE
from cardan.enums.numbering import bits_inward
from cardan.model import internals
from cardan.step.state import NSTATE, engine_bits

XML = """
<mujoco>
  <option><flag gravity="disable" island="disable" energy="enable"/></option>
  <worldbody>
    <body name="b"><joint name="j"/><geom size=".1"/><site name="s"/></body>
    <body mocap="true"/>
  </worldbody>
  <actuator><general joint="j" gaintype="user" dyntype="user" actdim="1"/><motor joint="j"/></actuator>
  <sensor><gyro name="g" site="s"/><clock/><user dim="1"/><framequat objtype="body" objname="b"/></sensor>
  <keyframe><key/></keyframe>
</mujoco>
"""

NAMES = {
    "members": "{n: {k: int(v) for k, v in getattr(mujoco, n).__members__.items()} for n in dir(mujoco) "
    "if n.startswith('mjt') or n.startswith('mjr') and hasattr(getattr(mujoco, n), '__members__')}",
    "constants": "{n: getattr(mujoco, n) for n in dir(mujoco) if n[:3] in ('mjM', 'mjN', 'mjP', 'mjS', 'mjV', 'mjD', "
    "'mjE', 'mjT', 'mjL', 'mjF', 'mjR') and isinstance(getattr(mujoco, n), (int, float, tuple))}",
}


@pytest.fixture(autouse=True)
def compat(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the version of the process for one test."""
    monkeypatch.setenv(VARIABLE, "")
    cardan.set_compat("4.0")
    yield
    cardan.set_compat(None)


def test_members_are_those_of_4_0() -> None:
    """Every enumeration, every member, every number."""
    for name, members in later_run(f"out = {NAMES['members']}").items():
        assert {key: int(m) for key, m in getattr(cardan, name).__members__.items()} == members, name


def test_constants_are_those_of_4_0() -> None:
    """Numbers and tables of words."""
    for name, value in later_run(f"out = {NAMES['constants']}").items():
        assert getattr(cardan, name) == value, name


def test_names_follow_the_version() -> None:
    """A name means the enumeration of the current version; members of the other version are errors that say so."""
    assert int(cardan.mjtSensor.mjSENS_CLOCK) == 45
    with pytest.raises(AttributeError, match=r"no member mjDSBL_PASSIVE .* only with compat 3\.1"):
        cardan.mjtDisableBit.mjDSBL_PASSIVE  # noqa: B018
    cardan.set_compat(None)
    assert int(cardan.mjtSensor.mjSENS_CLOCK) == 40
    with pytest.raises(AttributeError, match=r"no member mjDSBL_ISLAND .* only with compat 4\.0"):
        cardan.mjtDisableBit.mjDSBL_ISLAND  # noqa: B018


def test_copies_of_members() -> None:
    """Members of both numberings survive copies and pickles."""
    member = cardan.mjtSensor.mjSENS_CLOCK
    assert copy.copy(member) is member
    assert pickle.loads(pickle.dumps(member)) is member
    cardan.set_compat(None)
    assert int(pickle.loads(pickle.dumps(member))) == 45


def test_option_flags() -> None:
    """Flags are read and set in the bits of the process; three features change from enabled to disabled."""
    m = cardan.MjModel.from_xml_string(XML)
    bits, on = cardan.mjtDisableBit, cardan.mjtEnableBit
    expected = later_run("o = mujoco.MjModel.from_xml_string(x).opt; out = (o.disableflags, o.enableflags)", x=XML)
    assert (m.opt.disableflags, m.opt.enableflags) == expected
    m.opt.disableflags |= bits.mjDSBL_MULTICCD | bits.mjDSBL_SPRING
    m.opt.enableflags = on.mjENBL_FWDINV
    assert m.opt.disableflags == bits.mjDSBL_GRAVITY | bits.mjDSBL_ISLAND | bits.mjDSBL_MULTICCD | bits.mjDSBL_SPRING
    m.opt.disableflags &= ~int(bits.mjDSBL_ISLAND)
    assert m.opt.enableflags == on.mjENBL_FWDINV
    with pytest.raises(ValueError, match="mjtEnableBit has no members with the bits 0x100000"):
        m.opt.enableflags = 1 << 20
    cardan.set_compat(None)
    early, bits = cardan.mjtEnableBit, cardan.mjtDisableBit
    assert m.opt.enableflags == early.mjENBL_FWDINV | early.mjENBL_ISLAND | early.mjENBL_NATIVECCD
    assert m.opt.disableflags == bits.mjDSBL_GRAVITY | bits.mjDSBL_SPRING


def test_passive_forces_of_a_model_of_3_1() -> None:
    """The flag that 4.0 lacks shows as both of its parts."""
    xml = '<mujoco><option><flag passive="disable"/></option></mujoco>'
    m = cardan.MjModel.from_xml_string(xml, compat="3.1")
    bits = cardan.mjtDisableBit
    assert m.opt.disableflags & (bits.mjDSBL_SPRING | bits.mjDSBL_DAMPER) == 0x60


def test_types_in_arrays() -> None:
    """Arrays of types have the numbers of the process; writing to them changes the model."""
    m = cardan.MjModel.from_xml_string(XML)
    code = "m = mujoco.MjModel.from_xml_string(x); out = [getattr(m, f).tolist() for f in fields]"
    fields = ["sensor_type", "actuator_gaintype", "actuator_biastype", "actuator_dyntype"]
    assert [getattr(m, field).tolist() for field in fields] == later_run(code, x=XML, fields=fields)
    assert m.sensor("g").type[0] == cardan.mjtSensor.mjSENS_GYRO
    m.actuator_gaintype[0] = cardan.mjtGain.mjGAIN_FIXED
    m.actuator_biastype = [cardan.mjtBias.mjBIAS_USER, cardan.mjtBias.mjBIAS_NONE]
    m.actuator(1).dyntype = cardan.mjtDyn.mjDYN_USER
    stored = [internals.array(m, field).tolist() for field in fields[1:]]
    assert stored == [[0, 0], [3, 0], [5, 5]]
    with pytest.raises(ValueError, match="read-only"):
        m.sensor_type[:2][0] = 3
    cardan.set_compat(None)
    assert m.sensor_type.tolist() == [3, 40, 42, 26]


def test_states() -> None:
    """Sizes and contents of states, by the bits of 4.0."""
    code = """
m = mujoco.MjModel.from_xml_string(x)
out = [mujoco.mj_stateSize(m, 1 << k) for k in range(15)] + [mujoco.mj_stateSize(m, 32767)]"""
    m = cardan.MjModel.from_xml_string(XML)
    sizes = [cardan.mj_stateSize(m, 1 << k) for k in range(15)] + [cardan.mj_stateSize(m, 32767)]
    assert sizes == later_run(code, x=XML)
    d, other = cardan.MjData(m), cardan.MjData(m)
    d.qpos, d.ctrl, d.time = 0.5, [0.25, 0.125], 2.0
    bits = cardan.mjtState
    state = np.zeros(cardan.mj_stateSize(m, bits.mjSTATE_INTEGRATION))
    cardan.mj_getState(m, d, state, bits.mjSTATE_INTEGRATION)
    cardan.mj_setState(m, other, state=state, sig=bits.mjSTATE_INTEGRATION)
    assert (other.qpos.item(), other.ctrl.tolist(), other.time) == (0.5, [0.25, 0.125], 2.0)
    part = np.zeros(3)
    cardan.mj_extractState(m, state, bits.mjSTATE_INTEGRATION, part, bits.mjSTATE_CTRL | bits.mjSTATE_TIME)
    assert part.tolist() == [2.0, 0.25, 0.125]
    with pytest.raises(cardan.FatalError, match="subset"):
        cardan.mj_extractState(m, part, bits.mjSTATE_CTRL | bits.mjSTATE_TIME, np.zeros(1), bits.mjSTATE_QPOS)
    with pytest.raises(cardan.FatalError, match="invalid state signature"):
        cardan.mj_getState(m, d, state, 1 << 15)
    with pytest.raises(TypeError, match="state"):
        cardan.mj_getState(m, d, state[:2], bits.mjSTATE_INTEGRATION)


def test_bits_of_states_in_the_engine() -> None:
    """The formula of the kernel agrees with the tables of members."""
    for k in range(15):
        assert engine_bits(1 << k) == bits_inward(cardan.enums.mjtState, 1 << k) & ((1 << NSTATE) - 1)


def test_parts_of_states_are_copied() -> None:
    """Only the given parts."""
    m = cardan.MjModel.from_xml_string(XML)
    d, other = cardan.MjData(m), cardan.MjData(m)
    d.qpos, d.time = 0.5, 2.0
    cardan.mj_copyState(m, d, other, cardan.mjtState.mjSTATE_PHYSICS)
    assert (other.qpos.item(), other.time) == (0.5, 0.0)
    cardan.mj_setKeyframe(m, d, 0)
    assert (m.key_qpos.item(), m.key_time.item()) == (0.5, 2.0)
    with pytest.raises(cardan.FatalError, match="index must be smaller than 1"):
        cardan.mj_setKeyframe(m, d, 1)


@pytest.mark.filterwarnings("ignore:Nan")
def test_warnings() -> None:
    """The list of warnings has the order of 4.0."""
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    d.qpos = np.nan
    cardan.mj_step(m, d)
    kind = cardan.mjtWarning.mjWARN_BADQPOS
    assert (len(d.warning), d.warning[kind].number, d.warning.number[kind]) == (7, 1, 1)
    assert [w.number for w in d.warning[2:5]] == [0, 1, 0]
    assert "QPOS" in cardan.mju_warningText(kind, 0)


def test_visual_flags() -> None:
    """Flags of options and scenes have the order of 4.0; writing to them changes the options."""
    option, scene = cardan.MjvOption(), cardan.MjvScene()
    assert (len(option.flags), len(scene.flags)) == (31, 12)
    option.flags[cardan.mjtVisFlag.mjVIS_SDFITER] = 1
    scene.flags[cardan.mjtRndFlag.mjRND_SEGMENT] = 1
    with pytest.raises(ValueError, match=r"mjRND_DEPTH: .* not supported"):
        scene.flags[cardan.mjtRndFlag.mjRND_DEPTH] = 1
    assert scene.flags[cardan.mjtRndFlag.mjRND_SEGMENT] == 1
    cardan.set_compat(None)
    assert (option.flags[cardan.mjtVisFlag.mjVIS_SDFITER], option.flags[30]) == (1, 0)
    assert (scene.flags[cardan.mjtRndFlag.mjRND_SEGMENT], scene.flags[8]) == (1, 0)


WELDS = """
<mujoco>
  <worldbody>
    <body name="a"><freejoint/><geom size=".1"/><site name="s"/></body>
    <body name="b" pos="1 0 0"><freejoint/><geom size=".1"/><site name="t"/></body>
  </worldbody>
  <equality>
    <weld name="w" body1="a" body2="b"/><weld body1="a" body2="b" relpose="1 0 0 1 0 0 0"/>
    <weld body1="a" body2="b" relpose="0 1 0 0 0 0 0"/><weld site1="s" site2="t"/>
    <connect body1="a" body2="b" anchor="0 0 1"/><weld body1="a" anchor="0 0 1"/>
  </equality>
</mujoco>
"""
SET_CONST = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = [m.eq_data.copy()]
m.qpos0[0] = 5
mujoco.mj_setConst(m, d)
out.append(m.eq_data.copy())
m.eq_data[0, 11], m.eq_data[1][11] = 0, 1
m.eq_data[2][3:6] = [1, 2, 3]
m.equality(4).data[:3] = [0, 1, 0]
m.qpos0[0] = 7
mujoco.mj_setConst(m, d)
out += [m.eq_data.copy(), m.equality("w").data.copy()]
"""


def test_twelfth_number_of_equality_data() -> None:
    """It decides whether `mj_setConst` computes the pose of a weld; assignments to rows and parts write through."""
    names = {"mujoco": cardan, "xml": WELDS}
    exec(SET_CONST, names)
    for own, theirs in zip(names["out"], later_run(SET_CONST, xml=WELDS), strict=True):
        np.testing.assert_allclose(own, theirs, atol=1e-9)
    m = copy.copy(cardan.MjModel.from_xml_string(WELDS))
    assert m.eq_data[:, 11].tolist() == [1, 0, 1, 0, 0, 1]
    m.eq_data += 1.0
    assert m.eq_data[1, 11] == 1.0 and m.eq_data[1, 0] == 1.0


def test_types_of_4_0() -> None:
    """Integers that have another type; writing to their copies changes the model."""
    m = cardan.MjModel.from_xml_string(
        '<mujoco><asset><texture name="t" type="2d" builtin="flat" width="4" height="4"/></asset></mujoco>'
    )
    assert m.tex_adr.dtype == m.texture("t").adr.dtype == np.int64
    m.tex_adr[0] = 3
    assert internals.array(m, "tex_adr")[0] == 3
