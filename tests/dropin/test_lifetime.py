"""Views outlive their owners, data is freed at once, threads don't disturb each other, copies stand alone."""

import copy
import pickle
import threading
import weakref

import numpy as np
from dropin.side_by_side import XML

import cardan

THREADS, STEPS = 4, 200


def world():
    m = cardan.MjModel.from_xml_string(XML)
    return m, cardan.MjData(m)


def test_a_view_outlives_its_data():
    m, d = world()
    cardan.mj_step(m, d)
    qpos, contacts, before = d.qpos, d.contact, d.qpos.copy()
    gone = weakref.ref(d)
    del d
    assert gone() is None  # no cycle keeps it
    assert len(contacts) == 0
    np.testing.assert_array_equal(qpos, before)


def test_a_view_follows_the_steps():
    m, d = world()
    qpos, torso = d.qpos, d.xpos[1]
    cardan.mj_step(m, d, 20)
    assert qpos is d.qpos
    np.testing.assert_array_equal(torso, d.body("torso").xpos)


def test_threads_give_what_one_thread_gives():
    m, _ = world()
    together, alone = ([cardan.MjData(m) for _ in range(THREADS)] for _ in range(2))
    for k in range(THREADS):
        together[k].qvel[0] = alone[k].qvel[0] = k
    threads = [threading.Thread(target=cardan.mj_step, args=(m, d, STEPS)) for d in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for d, expected in zip(together, alone, strict=True):
        cardan.mj_step(m, expected, STEPS)
        np.testing.assert_array_equal(d.qpos, expected.qpos)


def test_a_copied_option_stands_alone():
    m, _ = world()
    other = copy.copy(m.opt)
    assert other == m.opt
    other.timestep, other.gravity[2] = 1.0, 0.0
    assert (m.opt.timestep, m.opt.gravity[2]) == (0.005, -9.81)


def test_a_pickled_contact_keeps_its_numbers():
    m, d = world()
    d.qpos[2] = 0.19
    cardan.mj_forward(m, d)
    contact = pickle.loads(pickle.dumps(d.contact[0]))
    assert contact == d.contact[0]
    assert [c.dist for c in d.contact[::-1]] == [c.dist for c in d.contact][::-1]
