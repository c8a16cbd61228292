"""On which degrees of freedom tendons depend, and paths over what is not there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from cardan import MjModel
from cardan.model.derived import attach_derived

XML = """<mujoco><worldbody><site name="w"/>
 <body name="a"><joint name="a0" type="slide"/><joint name="a1"/><geom size=".1"/><site name="a"/>
  <body name="b" pos="1 0 0"><joint name="b"/><geom size=".1"/><site name="b"/></body>
  <body name="c" pos="0 1 0"><joint name="c"/><geom name="c" size=".1"/><site name="c" pos=".5 0 0"/></body>
 </body>
 <body name="d" pos="3 0 0"><freejoint/><geom size=".1"/><site name="d"/><site name="e" pos="1 0 0"/></body>
</worldbody><tendon>
 <spatial><site site="w"/><site site="b"/></spatial>
 <spatial><site site="b"/><geom geom="c"/><site site="d"/></spatial>
 <spatial><site site="d"/><site site="e"/></spatial>
 <spatial><site site="w"/><site site="a"/><pulley divisor="2"/><site site="b"/><site site="c"/></spatial>
 <spatial><site site="b"/><site site="c"/></spatial>
 <fixed><joint joint="c" coef="1"/><joint joint="a1" coef="1"/><joint joint="c" coef="1"/></fixed>
</tendon></mujoco>"""


@pytest.fixture
def tied() -> MjModel:
    return MjModel.from_xml_string(XML)


def rows(m: MjModel, name: str) -> list[list[int]]:
    """All rows of a pattern."""
    adr, columns = (m._memory.arrays[f"aux.{name}"] for name in (f"{name}_rowadr", f"{name}_colind"))
    return [columns[start:end].tolist() for start, end in pairwise(adr)]


def test_rows_hold_what_moves_one_end_of_a_segment_only(tied: MjModel) -> None:
    assert rows(tied, "ten") == [[0, 1, 2], [*range(10)], [], [0, 1, 2, 3], [2, 3], [1, 3]]


def test_stored_rows_hold_what_moves_both_ends_too(tied: MjModel) -> None:
    assert rows(tied, "ten_J") == [[0, 1, 2], [*range(10)], [], [0, 1, 2, 3], [0, 1, 2, 3], [1, 3]]


def test_entries_of_fixed_tendons(tied: MjModel) -> None:
    assert tied._memory.arrays["aux.wrap_entry"].tolist()[-3:] == [1, 0, 1]


@pytest.mark.parametrize(
    ("field", "place", "value"), [("wrap_objid", 0, 99), ("tendon_num", 5, 99), ("wrap_objid", -1, 7)]
)
def test_a_path_over_what_is_not_there_is_refused(tied: MjModel, field: str, place: int, value: int) -> None:
    getattr(tied, field)[place] = value
    number = 0 if place == 0 else 5
    with pytest.raises(ValueError, match=f"the path of tendon {number} contains an object that does not exist"):
        attach_derived(tied)


def test_a_model_without_tendons_has_no_rows() -> None:
    m = MjModel.from_xml_string("<mujoco/>")
    assert rows(m, "ten") == []
    np.testing.assert_array_equal(m._memory.arrays["aux.wrap_entry"], [])
