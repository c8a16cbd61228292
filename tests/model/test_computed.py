"""Fields of MuJoCo 4.0 that follow from other fields, compared with 4.0.0; shapes that depend on compat."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

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
    for array in (d.M, d.ten_J, m.M_colind, m.dof_length):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match="M"):
        d.M = 0
    m.jnt_limited[1] = False
    assert cardan.MjModel.from_xml_string("<mujoco/>").nC == 0
    assert not m.joint("h").limited[0]


def test_named_access() -> None:
    """Elements have their parts of computed fields."""
    m, d = state_of(XML.format(jacobian="dense"), "4.0")
    np.testing.assert_array_equal(d.body("free").xiquat, d.xiquat[1])
    np.testing.assert_array_equal(d.geom("g").xquat, d.geom_xquat[0])
    np.testing.assert_array_equal(d.site("a").xquat, d.site_xquat[1])
    np.testing.assert_array_equal(m.tendon("t2").J_colind, [6, 10])
    assert m.joint("h").limited.dtype == bool
    assert m.joint("b").dampingpoly.shape == (3, 2)


@pytest.mark.parametrize(("name", "feature"), [("flex_interp", "elasticity"), ("iefc_aref", "islands")])
def test_fields_of_missing_features(name: str, feature: str) -> None:
    """The error names the feature."""
    m, d = state_of(XML.format(jacobian="dense"), "4.0")
    with pytest.raises(AttributeError, match=rf"{name} is not supported yet \(.*{feature}"):
        getattr(m if name == "flex_interp" else d, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        d.nonsense  # noqa: B018
