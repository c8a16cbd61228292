"""The tables of fields against the reference: the same names, shapes and element types in MjModel and MjData."""

import mujoco
import numpy as np
import pytest
from models import model_path
from reference import NEWER, NEWER_DATA, UNREADABLE, data_from_reference, model_from_reference

from cardan.model.tables import DATA, MODEL

NAMES = ("humanoid", "crowd", "clutter")

# the reference's binding shows no length for these (docs/differences.md)
ISLAND_FIELDS = {name for name in DATA.by_name if "island" in name}


@pytest.fixture(scope="module", params=NAMES)
def pair(request):
    ref = mujoco.MjModel.from_xml_path(str(model_path(request.param)))
    ref_data = mujoco.MjData(ref)
    for _ in range(200):
        mujoco.mj_step(ref, ref_data)
    m = model_from_reference(ref)
    return ref, ref_data, m, data_from_reference(m, ref_data)


def value_attributes(owner) -> dict[str, object]:
    """Attributes that hold numbers: scalars, arrays and bytes."""
    found = {}
    for name in dir(owner):
        if not name.startswith("_"):
            value = getattr(owner, name)
            if isinstance(value, int | float | bytes | np.ndarray):
                found[name] = value
    return found


def assert_same_kind(name, own, expected):
    if isinstance(expected, np.ndarray):
        assert own.shape == expected.shape, name
        assert own.dtype == expected.dtype, name
    else:
        assert type(own) is type(expected), name


def assert_same_attributes(own, expected, skip=()):
    theirs = value_attributes(expected)
    assert theirs
    for name, value in theirs.items():
        if name not in skip:
            assert hasattr(own, name), name
            assert_same_kind(name, getattr(own, name), value)


def assert_no_attribute_of_our_own(struct, owner, prefix):
    for field in struct.members(prefix):
        assert hasattr(owner, field.name[len(prefix) :]) or field.name in (*NEWER, *NEWER_DATA), field.name


def test_model_fields(pair):
    ref, _, m, _ = pair
    assert_same_attributes(m, ref)
    assert_no_attribute_of_our_own(MODEL, ref, "")
    for name, value in value_attributes(ref).items():
        np.testing.assert_array_equal(np.asarray(getattr(m, name)), np.asarray(value), err_msg=name)


def test_data_fields(pair):
    _, ref, _, d = pair
    assert_same_attributes(d, ref, skip=ISLAND_FIELDS | {"efc_AR", "efc_AR_rownnz", "efc_AR_rowadr", "efc_AR_colind"})
    assert_no_attribute_of_our_own(DATA, ref, "")
    for name in (
        "qpos",
        "qvel",
        "qM",
        "xpos",
        "cdof",
        "efc_J",
        "efc_D",
        "efc_aref",
        "efc_KBIP",
        "ncon",
        "nefc",
        "time",
    ):
        np.testing.assert_array_equal(np.asarray(getattr(d, name)), np.asarray(getattr(ref, name)), err_msg=name)


@pytest.mark.parametrize("group", ["opt", "stat"])
def test_groups(pair, group):
    ref, _, m, _ = pair
    assert_same_attributes(getattr(m, group), getattr(ref, group))
    assert_no_attribute_of_our_own(MODEL, getattr(ref, group), group + ".")


def test_visual_groups(pair):
    ref, _, m, _ = pair
    skip = {name.rpartition(".")[2] for name in UNREADABLE}
    for prefix in MODEL.prefixes:
        if prefix.startswith("vis.") and prefix != "vis.":
            group = prefix[4:-1]
            assert_same_attributes(getattr(m.vis, group), getattr(ref.vis, group), skip)
            assert_no_attribute_of_our_own(MODEL, getattr(ref.vis, group), prefix)


def test_records(pair):
    _, ref, _, d = pair
    assert ref.ncon > 0
    assert_same_attributes(d.contact, ref.contact)
    assert_same_attributes(d.contact[0], ref.contact[0])
    assert_no_attribute_of_our_own(DATA, ref.contact[0], "contact.")
    assert len(d.contact) == len(ref.contact) == ref.ncon
    for name in ("warning", "timer", "solver"):
        assert len(getattr(d, name)) == len(getattr(ref, name))
        assert_same_attributes(getattr(d, name)[0], getattr(ref, name)[0])


def test_every_field_says_what_it_is():
    undocumented = [f.name for f in (*MODEL.fields, *DATA.fields) if not f.doc]
    assert not undocumented
