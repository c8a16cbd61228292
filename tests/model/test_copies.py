"""Copies, deep copies and pickles of models and data; assignment; growth of the arena."""

import copy
import pickle

import mujoco
import numpy as np
import pytest
from reference import data_from_reference, model_from_reference

from cardan.jit import Field, Struct, StructMemory
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import DATA, MODEL

XML = """<mujoco><option timestep="0.004" cone="elliptic"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .09"><freejoint/><geom name="ball" size=".1"/></body>
<body pos="1 0 .09" mocap="true"><geom size=".05" contype="0" conaffinity="0"/></body></worldbody>
<keyframe><key name="k" time="2"/></keyframe></mujoco>"""


@pytest.fixture
def pair():
    ref = mujoco.MjModel.from_xml_string(XML)
    ref_data = mujoco.MjData(ref)
    mujoco.mj_step(ref, ref_data)
    m = model_from_reference(ref)
    return m, data_from_reference(m, ref_data)


def numbers(owner, struct):
    """All values of a structure, by field name; arena arrays as far as they are in use."""
    found = {name: value.copy() for name, value in owner._memory.scalars.items()}
    for field in struct.fields:
        if not field.is_scalar and not field.is_attached:
            array = owner._memory.arrays[field.name]
            found[field.name] = array[: owner.ncon] if field.shape[0] == "ncon" else getattr(owner, field.name, array)
    return {name: np.array(np.frombuffer(v, np.int8) if isinstance(v, bytes) else v) for name, v in found.items()}


def assert_equal_numbers(one, other, struct):
    expected, found = numbers(one, struct), numbers(other, struct)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


COPIES = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]


@pytest.mark.parametrize("duplicate", COPIES)
def test_model_copies(pair, duplicate):
    m, _ = pair
    twin = duplicate(m)
    assert_equal_numbers(m, twin, MODEL)
    twin.opt.timestep = 1.0
    twin.geom("ball").size[0] = 7
    assert m.opt.timestep == 0.004
    assert m.geom("ball").size[0] == 0.1


@pytest.mark.parametrize("duplicate", COPIES)
def test_data_copies(pair, duplicate):
    _, d = pair
    twin = duplicate(d)
    assert d.ncon == 1
    assert d.nefc > 0
    assert_equal_numbers(d, twin, DATA)
    twin.qpos[0] = 9
    twin.contact[0].dist = 5
    assert d.qpos[0] != 9
    assert d.contact[0].dist != 5


def test_pickle_keeps_model_and_data_together(pair):
    m, d = pair
    m2, d2 = pickle.loads(pickle.dumps((m, d)))
    assert d2.model is m2


def test_new_data_is_in_the_default_state(pair):
    m, _ = pair
    d = MjData(m)
    np.testing.assert_array_equal(d.qpos, m.qpos0)
    np.testing.assert_array_equal(d.mocap_pos[0], [1, 0, 0.09])
    np.testing.assert_array_equal(d.mocap_quat[0], [1, 0, 0, 0])
    assert d.ncon == d.nefc == d.time == 0
    assert d.efc_J.shape == (0,)


def test_assignment_copies_and_checks_the_shape(pair):
    m, d = pair
    source = np.arange(7.0)
    d.qpos = source
    source[0] = 99
    assert d.qpos[0] == 0
    d.qvel = 3
    assert d.qvel.tolist() == [3] * 6
    with pytest.raises(ValueError, match=r"qpos: could not broadcast .* from shape \(2,\) into shape \(7,\)"):
        d.qpos = [1, 2]
    with pytest.raises(AttributeError, match="size"):
        m.nq = 3
    with pytest.raises(AttributeError, match="no attribute 'qpoz'"):
        d.qpoz = 3
    with pytest.raises(AttributeError):
        m.opt.gravitation = 3
    m.opt.gravity = 0, 0, -1
    assert m.opt.gravity.tolist() == [0, 0, -1]


def test_unknown_sizes_are_refused():
    with pytest.raises(ValueError, match="unknown model sizes: nqq"):
        MjModel({"nqq": 3})


def test_growth_keeps_contents(pair):
    _, d = pair
    before = numbers(d, DATA)
    for capacity in ("ncon", "nefc", "nnzJ"):
        d.grow(capacity, 5000)
        assert d._memory.sizes[capacity] >= 5000
    after = numbers(d, DATA)
    for name, value in before.items():
        if name in ("nbuffer", "narena"):
            continue
        kept = after[name][tuple(slice(0, n) for n in value.shape)]
        np.testing.assert_array_equal(kept, value, err_msg=name)
    assert len(d._memory.arrays["contact.dist"]) >= 5000
    assert d.ncon == 1
    twin = copy.copy(d)
    assert twin.contact[0].dist == d.contact[0].dist


def test_growth_of_a_matrix_keeps_rows():
    struct = Struct(
        "Grown", [Field("n", "i8", ()), Field("a", "f8", ("cap", "cap")), Field("b", "i4", (3,))], readonly=False
    )
    memory = StructMemory(struct, {"cap": 2}, ("cap",))
    memory.arrays["a"][...] = [[1, 2], [3, 4]]
    memory.grow("cap", 3)
    np.testing.assert_array_equal(memory.arrays["a"], [[1, 2, 0], [3, 4, 0], [0, 0, 0]])
    assert memory.slots[1].tolist() == [memory.arrays["a"].ctypes.data, 3, 3]


def test_a_field_name_stands_once():
    with pytest.raises(ValueError, match="twice"):
        Struct("Twice", [Field("a", "f8", ()), Field("a", "i4", ())], readonly=False)


def test_arrays_are_aligned(pair):
    m, d = pair
    for owner in (m, d):
        assert all(array.ctypes.data % 8 == 0 for array in owner._memory.arrays.values() if array.size)
