"""What computes derivatives is kept for the next user, whatever thread that is."""

from __future__ import annotations

from threading import Thread

import numpy as np

import cardan
from cardan.derive.jacobian import step_jacobian
from cardan.derive.linearisation import lent

PENDULUM = """
<mujoco><worldbody><body><joint axis="0 1 0"/><geom size=".1" pos="0 0 -1"/></body></worldbody></mujoco>
"""


def test_threads_that_come_and_go_leave_one_behind() -> None:
    m = cardan.MjModel.from_xml_string(PENDULUM)
    found: list[np.ndarray] = []

    def differentiate() -> None:
        d = cardan.MjData(m)
        d.qpos[:] = 0.3
        A = np.zeros((2, 2))
        cardan.mjd_transition(m, d, A, None, None, None)
        found.append(A)

    for _ in range(4):
        thread = Thread(target=differentiate)
        thread.start()
        thread.join()
    idle = [value for key, value in m._programs.items() if key[0][0] == "idle"]
    assert [len(things) for things in idle] == [1]
    for A in found[1:]:
        np.testing.assert_array_equal(A, found[0])


def test_users_at_a_time_have_one_each_and_errors_throw_it_away() -> None:
    m = cardan.MjModel.from_xml_string(PENDULUM)
    with step_jacobian(m, False) as first, step_jacobian(m, False) as second:
        assert first is not second
    with step_jacobian(m, False) as third:
        assert third is first
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    try:
        with lent(m, ("test",), make):
            raise ValueError
    except ValueError:
        pass
    with lent(m, ("test",), make) as found:
        assert found is made[1]
