"""Programs of other packages give the reference's results on Cardan, without a change to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients.comparison import Pairs, ProgramFails, installed
from clients.programs import MANIPULATION, PROGRAMS, SUITE

STEPS = 8


@pytest.fixture(scope="module")
def pairs() -> Iterator[Pairs]:
    pairs = Pairs()
    yield pairs
    pairs.close()


def needs(package: str) -> None:
    if installed(package) is None:
        pytest.skip(f"{package} is not installed; make clients installs and runs it")


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, pairs: Pairs) -> None:
    program = PROGRAMS[name]
    needs(program.package)
    try:
        row = pairs.of(program.package).compare(name, STEPS)
    except ProgramFails as error:
        if not error.needs_opengl():
            raise
        pytest.skip("draws with the reference, too, and there is no OpenGL")
    assert row.right, row


def test_every_task_of_dm_control_is_there() -> None:
    needs("dm_control")
    from dm_control import manipulation, suite

    assert {(domain, task) for domain, tasks in SUITE.items() for task in tasks.split()} == set(suite.ALL_TASKS)
    assert {f"{task}_features" for task in MANIPULATION.split()} == set(
        manipulation.get_environments_by_tag("features")
    )
