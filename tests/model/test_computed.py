"""Fields of MuJoCo 4.0 that follow from other fields, compared with 4.0.0; shapes that depend on compat."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.model.fields_derived import OF_FLEXES
from cardan.model.tables import DATA

XML = """
<mujoco>
  <option jacobian="{jacobian}"/>
  <asset>
    <texture name="t" type="2d" builtin="flat" width="4" height="4"/>
    <material name="x" texture="t"/>
  </asset>
  <worldbody>
    <site name="w"/>
    <body name="free" gravcomp="1">
      <freejoint/><geom name="g" size=".1 .2 .3" type="ellipsoid" quat="1 .2 .3 .4"/>
    </body>
    <body pos="0 0 1">
      <joint name="h" axis="0 1 0" limited="true" range="-1 1"/><geom size=".1" pos=".1 0 0"/>
      <body pos="0 0 1">
        <joint name="b" type="ball"/><geom size=".1" pos=".2 .1 0"/><site name="a" quat="1 .2 .1 0"/>
      </body>
    </body>
    <body pos="2 0 0"><joint type="slide" name="s"/><geom size=".1"/></body>
  </worldbody>
  <tendon>
    <spatial name="t1"><site site="a"/><site site="w"/></spatial>
    <fixed name="t2"><joint joint="s" coef="2"/><joint joint="h" coef="3"/></fixed>
  </tendon>
  <actuator><motor name="m" joint="s"/><motor tendon="t1"/><motor site="a" gear="1 0 0 0 1 0"/></actuator>
</mujoco>
"""

OF_MODEL = (
    *("nactuator", "nout", "nC", "nJten", "nJmom", "flg_gravcomp", "flg_surfacevel", "nplastic", "nhistory"),
    *("M_rownnz", "M_rowadr", "M_colind", "mapM2M", "mapM2D", "mapD2M", "D_rownnz", "D_rowadr", "D_colind", "D_diag"),
    *("B_rownnz", "B_rowadr", "B_colind", "ten_J_rownnz", "ten_J_rowadr", "ten_J_colind", "tendon_type", "mat_texid"),
    *("actuator_ctrladr", "actuator_ctrlnum", "actuator_outadr", "actuator_outnum", "actuator_ctrlspec"),
    *("jnt_stiffnesspoly", "dof_dampingpoly", "tendon_actfrclimited", "jnt_actuatorid", "actuator_historyadr"),
    *("geom_surfacevel", "sensor_intprm", "key_plastic", "jnt_limited", "geom_castshadow"),
)
OF_DATA = (
    *("M", "qLD", "ten_J", "actuator_moment", "moment_rownnz", "moment_rowadr", "moment_colind"),
    *("xiquat", "geom_xquat", "site_xquat", "efc_diagA", "nJ", "history", "plastic", "qfrc_adhesion", "eq_active"),
)
CODE = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qpos[:] = np.linspace(0.1, 0.4, m.nq)
mujoco.mj_forward(m, d)
out = {n: np.array(getattr(m, n)) for n in of_model} | {n: np.array(getattr(d, n)) for n in of_data}
"""


def state_of(xml: str, compat: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """Model and data after forward dynamics, as in `CODE`."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    d.qpos = np.linspace(0.1, 0.4, m.nq)
    cardan.mj_forward(m, d)
    return m, d


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_fields_are_those_of_4_0(jacobian: str) -> None:
    """Values, shapes and types of all computed fields."""
    xml = XML.format(jacobian=jacobian)
    m, d = state_of(xml, "4.0")
    for name, theirs in later_run("import numpy as np" + CODE, xml=xml, of_model=OF_MODEL, of_data=OF_DATA).items():
        own = np.array(getattr(d if name in OF_DATA else m, name))
        assert own.shape == theirs.shape, name
        assert (own.dtype == bool) == (theirs.dtype == bool), name
        np.testing.assert_allclose(own, theirs, atol=1e-9, err_msg=name)


def test_shapes_follow_the_model() -> None:
    """Models of compat 3.1 keep the shapes of 3.1.6, and have the new names as well."""
    m, d = state_of(XML.format(jacobian="dense"), "3.1")
    assert d.ten_J.shape == (2, m.nv)
    assert d.actuator_moment.shape == (3, m.nv)
    assert (d.qLD.shape, d.M.shape) == ((m.nM,), (m.nC,))
    assert (m.mat_texid.shape, m.jnt_limited.dtype) == ((1,), np.uint8)
    full = np.zeros((m.nv, m.nv))
    cardan.mj_fullM(m, full, d.qM)
    rows = np.repeat(np.arange(m.nv), m.M_rownnz)
    np.testing.assert_array_equal(full[rows, m.M_colind], d.M)


def test_computed_fields_are_read_only() -> None:
    """Writing to a copy would be lost."""
    m, d = state_of(XML.format(jacobian="dense"), "4.0")
    for array in (m.M_colind, m.dof_length, d.actuator(0).moment):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(ValueError, match="xiquat follows from other fields"):
        d.xiquat = 0
    with pytest.raises(ValueError, match="nidof follows from other fields"):
        d.nidof = d.nidof + 1
    d.xiquat, d.nidof = d.xiquat.copy(), d.nidof  # as programs do that copy all fields
    d.moment_colind[:] = d.moment_colind.copy()
    m.jnt_limited[1] = False
    assert cardan.MjModel.from_xml_string("<mujoco/>").nC == 0
    assert not m.joint("h").limited[0]


def test_computed_fields_that_write_back() -> None:
    """Arrays that have another form in 4.0 change the data, as MuJoCo's own arrays do."""
    m, d = state_of(XML.format(jacobian="dense"), "4.0")
    for name in ("M", "qLD", "actuator_moment", "ten_J"):
        array = getattr(d, name)
        assert getattr(d, name) is array, name
        array[1:][0] = 7.0
        assert getattr(d, name)[1] == 7.0 and array[1] == 7.0, name
        setattr(d, name, 3.0)
        assert (array == 3.0).all(), name
        sums = array + 1.0
        sums[0] = 9.0
        assert (getattr(d, name) == 3.0).all(), name
        other = copy.copy(d)
        getattr(other, name)[0] = 5.0
        assert getattr(d, name)[0] == 3.0, name
    assert (d.qM[m.dof_Madr] == 3.0).any()
    kept = d.M
    cardan.mj_forward(m, d)
    assert d.M is kept and not (kept == 3.0).all()


def test_changes_in_place_reach_the_data_and_nothing_else() -> None:
    m, d = state_of(XML.format(jacobian="dense"), "4.0")
    before, held = d.qM.copy(), d.M
    d.M += 1.0
    np.testing.assert_array_equal(d.qM[m.dof_Madr], before[m.dof_Madr] + 1.0)
    held *= 2.0
    np.testing.assert_array_equal(d.qM[m.dof_Madr], 2.0 * (before[m.dof_Madr] + 1.0))
    d.qM[m.dof_Madr[1]] = 50.0  # after `held` was read
    held[0] = 3.0
    assert d.qM[m.dof_Madr[1]] == 50.0
    with pytest.raises(ValueError, match="body_awake follows from other fields"):
        d.body_awake += 1


def test_computed_arrays_follow_the_number_of_rows() -> None:
    """Arrays by rows are read while rows come and go; what an earlier read returned keeps its length."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>""",
        compat="4.0",
    )
    d = cardan.MjData(m)
    lengths = set()
    for height in (0.099, 0.5, 0.2, 0.099):
        d.qpos[:] = 0, 0, height, 1, 0, 0, 0
        cardan.mj_forward(m, d)
        for name in ("map_efc2iefc", "map_iefc2efc", "iefc_type", "efc_Y_rownnz"):
            assert getattr(d, name).shape == (d.nefc,), name
        assert d.island_nefc.shape == (d.nisland,)
        lengths.add(d.nefc)
    assert len(lengths) == 2
    assert not np.may_share_memory(d.iefc_type, d.efc_type)


def test_gravity_compensation_as_a_switch() -> None:
    """``flg_gravcomp`` switches compensation off and on, also for values that were set after compilation."""
    body = "<body><joint type='slide' axis='0 0 1'/><geom size='.1' mass='2'/></body>"
    m = cardan.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    d = cardan.MjData(m)
    m.body_gravcomp[1] = 1.0
    for value, force in ((None, 0.0), (1, 2 * 9.81), (False, 0.0), (True, 2 * 9.81)):
        if value is not None:
            m.flg_gravcomp = value
        cardan.mj_forward(m, d)
        assert d.qfrc_gravcomp[0] == pytest.approx(force, rel=1e-12)
        assert m.flg_gravcomp is bool(value)


TEXTURES = """
import numpy as np, cardan
texture = '<texture name="{}" type="2d" builtin="flat" width="2" height="2"/>'
m = cardan.MjModel.from_xml_string(f"<mujoco><asset>{texture.format('a')}{texture.format('b')}</asset></mujoco>")
assert m.tex_adr.dtype == np.int64 and np.shares_memory(m.texture("b").adr, m.tex_adr)
m.texture("b").adr[0] = 3
assert m.tex_adr[1] == 3 and m._memory.arrays["tex_adr"][1] == 3
m.tex_adr[1:] = 12
assert m.texture("b").adr[0] == 12
"""


def test_addresses_of_textures_share_memory() -> None:
    """In a process with compat 4.0, ``tex_adr`` has the type int64; all its views change the model."""
    subprocess.run([sys.executable, "-c", TEXTURES], check=True, env={**os.environ, "CARDAN_COMPAT": "4.0"})


ISLANDS = """<mujoco><option {}/><asset>
<mesh name="tetra" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/><mesh name="ball" builtin="sphere" params="2"/></asset>
<worldbody><geom type="plane" size="3 3 1"/><site name="w" pos="0 0 2"/>
<body><joint/><geom size=".1" contype="0" conaffinity="0" pos=".1 0 .5"/></body>
<body pos="0 0 .09"><freejoint/><geom size=".1"/></body>
<body pos="1 0 1"><joint name="h1" axis="0 1 0" frictionloss=".1"/><geom size=".1" pos=".1 0 0"/>
 <site name="s1"/></body>
<body pos="2 0 1"><joint name="h2" axis="0 1 0"/><geom size=".1" pos=".1 0 0"/><site name="s2"/>
 <body pos=".3 0 0"><joint/><geom size=".1" pos=".2 0 0" contype="0"/></body></body>
<body pos="-1 0 .09"><freejoint/><geom size=".1"/><site name="s3"/></body>
<body pos="-1 0 .28"><freejoint/><geom size=".1"/></body>
<body pos="-2 0 1"><joint name="h3" axis="0 1 0" range="1 2" limited="true"/><geom size=".1" pos=".1 0 0"/>
 <geom type="mesh" mesh="tetra"/><geom type="mesh" mesh="ball"/></body>
</worldbody><equality><joint joint1="h1" joint2="h2"/></equality>
<tendon><spatial><site site="s2"/><site site="s1"/><site site="s3"/></spatial>
<spatial><site site="w"/><site site="s2"/></spatial><fixed><joint joint="h3" coef="1"/></fixed></tendon></mujoco>"""

BY_ISLAND = (
    *("nisland", "nidof", "tree_island", "dof_island", "efc_island", "tendon_efcadr"),
    *("island_ntree", "island_itreeadr", "island_nv", "island_idofadr", "island_dofadr", "island_ne", "island_nf"),
    *("island_nefc", "island_iefcadr", "map_itree2tree", "map_dof2idof", "map_idof2dof", "map_efc2iefc"),
    *("map_iefc2efc", "iefc_type", "iefc_id", "iefc_frictionloss", "iefc_D", "iefc_R"),
    *("nY", "nA", "efc_Y", "efc_Y_rownnz", "efc_Y_rowadr", "efc_Y_colind"),
)
OF_NEWTON = ("iefc_aref", "iefc_state", "iefc_force", "ifrc_smooth", "ifrc_constraint", "iacc_smooth", "iacc")


AT_START = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
out = [np.array(getattr(m, n)) for n in of_model], [np.array(getattr(d, n)) for n in of_data]
"""


@pytest.mark.parametrize(
    "option",
    [
        "",
        'solver="PGS" jacobian="dense"',
        'solver="PGS" jacobian="sparse"',
        "><flag island='disable'/></option><option",
    ],
)
def test_quantities_by_island(option: str) -> None:
    """Arrays of single islands and the whitened Jacobian are those of 4.0.0."""
    data = (*BY_ISLAND, *(() if "PGS" in option else OF_NEWTON))
    model = ("tendon_treenum", "tendon_treeid", "nmeshdegmax", "npolygonmax")
    xml = ISLANDS.format(option)
    of_model, of_data = later_run(AT_START, xml=xml, of_model=model, of_data=data)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    for owner, names, wanted in ((m, model, of_model), (d, data, of_data)):
        for name, values in zip(names, wanted, strict=True):
            found, scale = np.array(getattr(owner, name)), max(1.0, np.abs(values).max(initial=0.0))
            assert found.shape == values.shape, name
            np.testing.assert_allclose(found, values, rtol=0.0, atol=1e-6 * scale, err_msg=name)


def test_named_access() -> None:
    """Elements have their parts of computed fields."""
    m, d = state_of(XML.format(jacobian="dense"), "4.0")
    np.testing.assert_array_equal(d.body("free").xiquat, d.xiquat[1])
    np.testing.assert_array_equal(d.geom("g").xquat, d.geom_xquat[0])
    np.testing.assert_array_equal(d.site("a").xquat, d.site_xquat[1])
    np.testing.assert_array_equal(m.tendon("t2").J_colind, [6, 10])
    assert m.joint("h").limited.dtype == bool
    assert m.joint("b").dampingpoly.shape == (3, 2)


FLEX = """<mujoco><worldbody><body name="b">
<flexcomp name="f" type="grid" dim="2" count="2 2 1" spacing=".1 .1 .1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["flex_interp", "flexvert_lambda"])
def test_fields_of_missing_features(name: str) -> None:
    """The error names the feature; without flexes, arrays of flexes are empty."""
    m = cardan.MjModel.from_xml_string(FLEX, compat="4.0")
    d = cardan.MjData(m)
    with pytest.raises(AttributeError, match=rf"{name} is not supported yet \(.*lex"):
        getattr(m if name == "flex_interp" else d, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        d.nonsense  # noqa: B018


def test_arrays_of_flexes_without_flexes() -> None:
    """Programs that list all fields find empty arrays of the shapes of 4.0.0."""
    code = """
m = mujoco.MjModel.from_xml_string("<mujoco/>")
d = mujoco.MjData(m)
out = {}
for name in names:
    owner = next((x for x in (m, d) if hasattr(x, name)), None)
    value = getattr(owner, name, None)
    out[name] = value if owner is None or isinstance(value, int) else (value.shape, str(value.dtype))
"""
    wanted = later_run(code, names=tuple(OF_FLEXES))
    m = cardan.MjModel.from_xml_string("<mujoco/>", compat="4.0")
    d = cardan.MjData(m)
    for name, expected in wanted.items():
        for owner in (m,) if name in DATA.by_name else (m, d):
            found = getattr(owner, name)
            if name.startswith("n"):
                assert found == 0 and expected in (None, 0), name
                continue
            assert found.size == 0, name
            assert expected is None or (found.ndim, found.dtype) == (len(expected[0]), expected[1]), name
