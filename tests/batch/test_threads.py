"""How worlds are dealt to threads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cardan.batch.threads import deal


@given(count=st.integers(1, 5000), nthread=st.integers(2, 64))
def test_every_world_is_dealt_once_in_smaller_and_smaller_blocks(count: int, nthread: int) -> None:
    found = deal(count, nthread)
    assert [begin for begin, _ in found] == [0, *[end for _, end in found[:-1]]]
    assert found[-1][1] == count
    sizes = [end - begin for begin, end in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    assert sizes[0] <= 1 + count // (2 * nthread)


def test_one_thread_has_all() -> None:
    assert deal(7, 1) == [(0, 7)]
    assert deal(0, 3) == []
