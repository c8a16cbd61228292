"""Flexes in specifications: built by a program, read, edited, deleted, attached."""

from __future__ import annotations

import pytest
from fields_compared import differences

import cardan
from cardan import mjtEq
from cardan.enums import mjtFlexSelf
from cardan.errors import MjcfError

ROPE = '<flexcomp name="rope" dim="1" count="4 1 1" spacing="0.1 1 1"><pin id="0"/><edge equality="true"/></flexcomp>'
XML = f'<mujoco><worldbody><body name="base">{ROPE}</body></worldbody></mujoco>'


def test_built_by_a_program() -> None:
    spec = cardan.MjSpec()
    for i, name in enumerate("abc"):
        body = spec.worldbody.add_body(name=name, pos=[i, 0, 0])
        body.add_joint(type=cardan.mjtJoint.mjJNT_SLIDE)
        body.add_geom(size=[0.1, 0, 0])
    flex = spec.add_flex(name="f", dim=1, vertbody=["a", "b", "c"], elem=[0, 1, 1, 2], edgedamping=2, condim=1)
    flex.selfcollide = mjtFlexSelf.mjFLEXSELF_SAP
    flex.radius = 0.25
    spec.add_equality(type=mjtEq.mjEQ_FLEX, name1="f")
    m = spec.compile()
    assert (m.nflex, m.nflexedge, m.neq, flex.id) == (1, 2, 1, 0)
    view = m.flex("f")
    assert (view.condim[0], view.selfcollide[0], view.radius[0], view.edgedamping[0]) == (1, 3, 0.25, 2.0)
    assert m.eq_type[0] == mjtEq.mjEQ_FLEX
    assert list(flex.vertbody) == ["a", "b", "c"]
    assert not differences(m, cardan.MjModel.from_xml_string(spec.to_xml()))


def test_what_is_read_can_be_edited() -> None:
    spec = cardan.MjSpec.from_string(XML)
    flex = spec.flex("rope")
    assert flex is spec.flexes[0]
    assert flex.vertbody[0] == "base"
    (equality,) = spec.equalities
    assert (equality.type, equality.name1, equality.name2) == (mjtEq.mjEQ_FLEX, "rope", "")
    flex.vert[0] = -1.0
    flex.solref = [0.05, 1.0]
    m = spec.compile()
    assert m.flex_vert[0, 0] == -1.0
    assert m.flex_solref[0, 0] == 0.05
    with pytest.raises(MjcfError, match="one object"):
        equality.name2 = "rope"
    with pytest.raises(MjcfError, match="selfcollide"):
        flex.selfcollide = "maybe"
    with pytest.raises(MjcfError, match="vertbody"):
        flex.vertbody = ["a b"]


def test_deleting_a_body_deletes_its_flex() -> None:
    spec = cardan.MjSpec.from_string(XML)
    spec.delete(spec.body("rope_2"))
    assert spec.flexes == []
    assert spec.equalities == []
    assert spec.compile().nbody == 4


def test_attached_flexes_have_names_of_their_own() -> None:
    child, parent = cardan.MjSpec.from_string(XML), cardan.MjSpec()
    frame = parent.worldbody.add_frame(pos=[0, 0, 1])
    frame.attach_body(child.body("base"), "left-", "")
    other = parent.worldbody.add_frame(pos=[0, 0, 2])
    other.attach_body(child.body("base"), "right-", "")
    m = parent.compile()
    assert (m.nflex, m.neq, m.nbody) == (2, 2, 9)
    assert m.flex("right-rope").vertbodyid.tolist() == [5, 6, 7, 8]
    assert m.flex_xvert0[4:, 2].tolist() == pytest.approx([2.0] * 4)
