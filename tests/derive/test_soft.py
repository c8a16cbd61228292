"""Exact derivatives of steps with flexes: vertices, edges and each kind of contact, against differences of a step."""

from __future__ import annotations

import os

import numpy as np
import pytest
from derive.differences import Outcome, moved, richardson
from derive.test_constrained import check, in_contact, solve_to_the_end, some

import cardan
from cardan.derive.contact import (
    CONVEX_APART,
    ELEMENTS_APART,
    OF_ELEMENTS,
    OF_SEGMENTS,
    ON_CONVEX,
    ON_FACE,
    ON_FIELD,
    ON_PLANE,
    ON_SEGMENT,
    ON_TRIANGLE,
    ON_VERTEX,
    contact_codes,
)
from cardan.derive.linearisation import linearisation
from cardan.enums import mjtIntegrator

FULL = pytest.mark.skipif(os.environ.get("CARDAN_FULL_TESTS") != "1", reason="compiles for long: CARDAN_FULL_TESTS=1")
FLEX = """<flexcomp name="{name}" type="grid" dim="{dim}" count="{count}" spacing=".1 .1 .1" radius=".02" pos="{pos}"
quat="{quat}" mass=".5"><edge equality="{rigid}" stiffness="{stiffness}" damping="{damping}"/>
<contact selfcollide="{own}" internal="{inner}"/></flexcomp>"""
HILLS = " ".join(str(i * 7 % 5 / 5) for i in range(25))
FLOOR = '<geom type="plane" size="2 2 .1"/>'
BALL = '<body pos=".03 .01 .11"><freejoint/><geom size=".08" mass=".2"/></body>'
BOX = '<body pos=".03 .01 .09"><freejoint/><geom type="box" size=".1 .08 .06" mass=".2"/></body>'
EGG = '<body pos=".03 .01 .05"><freejoint/><geom type="ellipsoid" size=".06 .08 .05" mass=".2"/></body>'
DRUM = '<body pos=".03 .01 .05"><freejoint/><geom type="cylinder" size=".06 .05" mass=".2"/></body>'


def flex(count: str, pos: str = "0 0 .018", name: str = "one", **options: str) -> str:
    """A flex of a grid of vertices; its dimension is the number of counts above 1."""
    given = {"rigid": "true", "stiffness": "0", "damping": "0", "own": "none", "inner": "false", "quat": "1 0 0 0"}
    dim = sum(word != "1" for word in count.split())
    return FLEX.format(name=name, dim=dim, count=count, pos=pos, **(given | options))


def model(*parts: str) -> cardan.MjModel:
    """A model of some parts, whose solver goes to the end."""
    assets = f'<asset><hfield name="hills" nrow="5" ncol="5" size="1 1 .1 .1" elevation="{HILLS}"/></asset>'
    m = cardan.MjModel.from_xml_string(f"<mujoco>{assets}<worldbody>{''.join(parts)}</worldbody></mujoco>")
    solve_to_the_end(m)
    return m


def squashed(m: cardan.MjModel, share: float) -> cardan.MjData:
    """A state in which all vertices have moved towards the middle, in one direction more than in the others."""
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    places = d.flexvert_xpos - d.flexvert_xpos.mean(axis=0)
    d.qpos[:] = -(places * np.array([share, 0.9 * share, 0.2 * share])).reshape(-1)[: m.nq]
    d.qpos += 0.003 * np.random.default_rng(1).normal(size=m.nq)
    cardan.mj_forward(m, d)
    return d


def test_springs_and_a_plane() -> None:
    m = model(FLOOR, flex("5 1 1", rigid="false", stiffness="50", damping="1"))
    d = in_contact(m, 20)
    assert contact_codes(m, d) == (ON_PLANE,)
    check(d, some(m, 15))


def test_constrained_edges_and_a_ball() -> None:
    m = model(FLOOR, flex("5 1 1"), BALL)
    d = in_contact(m, 30)
    assert contact_codes(m, d) == (ON_PLANE, ON_SEGMENT)
    assert d.ne > 0
    check(d, some(m, 15))


def test_what_touches_changes_natively() -> None:
    """Derivatives of states one after the other, whose contacts are of other vertices and elements."""
    m = model(FLOOR, flex("5 1 1"), BALL)
    d = cardan.MjData(m)
    one, each = np.zeros((2 * m.nv, 2 * m.nv)), np.zeros((2 * m.nv, 2 * m.nv))
    for k in range(6):
        d.qvel[-6:-4] = 1.0 - 0.4 * k, 0.3
        for _ in range(20):
            cardan.mj_step(m, d)
        cardan.mjd_transition(m, d, one, None, None, None)
        fresh = cardan.MjModel.from_xml_string(cardan_text(m))
        solve_to_the_end(fresh)
        e = cardan.MjData(fresh)
        e.qpos[:], e.qvel[:], e.qacc_warmstart[:] = d.qpos, d.qvel, d.qacc_warmstart
        cardan.mjd_transition(fresh, e, each, None, None, None)
        np.testing.assert_allclose(one, each, rtol=0.0, atol=1e-8 * np.abs(each).max())


def cardan_text(m: cardan.MjModel) -> str:
    """The text of the model of the test above, which knows no derivatives of before."""
    assert m.nflex == 1
    return f"<mujoco><worldbody>{FLOOR}{flex('5 1 1')}{BALL}</worldbody></mujoco>"


def test_a_tetrahedron_from_inside() -> None:
    m = model(flex("2 2 2", pos="0 0 1", inner="true"))
    d = squashed(m, 0.75)
    assert contact_codes(m, d) == (ON_FACE,)
    check(d, some(m, 12), share=0.3)


@FULL
@pytest.mark.parametrize(
    ("kinds", "parts", "steps"),
    [
        ((ON_PLANE, ON_TRIANGLE), (FLOOR, flex("3 3 1"), BALL), 30),
        ((ON_PLANE, ON_CONVEX), (FLOOR, flex("3 3 1"), BOX), 30),
        ((ON_PLANE, ON_SEGMENT), (FLOOR, flex("5 1 1"), BOX), 30),
        ((ON_FIELD,), ('<geom type="hfield" hfield="hills"/>', flex("3 3 1", pos="0 0 .08")), 60),
        (
            (ON_PLANE, OF_SEGMENTS),
            (FLOOR, flex("5 1 1"), flex("4 1 1", pos=".01 .02 .055", name="two", quat="1 0 0 1")),
            20,
        ),
        ((ON_PLANE, OF_ELEMENTS), (FLOOR, flex("3 3 1"), flex("3 3 1", pos=".01 .02 .055", name="two")), 20),
    ],
)
def test_each_kind_of_contact(kinds: tuple[int, ...], parts: tuple[str, ...], steps: int) -> None:
    m = model(*parts)
    d = in_contact(m, steps)
    assert set(contact_codes(m, d)) >= set(kinds)
    check(d, some(m, 14), share=0.5)


@FULL
def test_a_cloth_from_inside() -> None:
    m = model(flex("3 3 1", pos="0 0 1", inner="true", rigid="false"))
    d = squashed(m, 0.7)
    assert ON_VERTEX in contact_codes(m, d)
    check(d, some(m, 12), share=0.3)


@FULL
@pytest.mark.parametrize("integrator", list(mjtIntegrator.__members__.values())[1:4], ids=lambda kind: kind.name[6:])
def test_integrators(integrator: mjtIntegrator) -> None:
    m = model(FLOOR, flex("5 1 1", rigid="false", stiffness="50", damping="1"))
    m.opt.integrator = integrator
    check(in_contact(m, 20), some(m, 12))


REACH = 0.3


def accelerations_agree(d: cardan.MjData, kind: int, columns: int = 14) -> None:
    """Accelerations with contacts at a distance have the derivatives of their own values."""
    m = d.model
    found = cardan.derivatives(m, d, "qacc", ("qpos", "qvel"), "forward", "smooth", REACH)
    exact = np.hstack([found["qacc", "qpos"], found["qacc", "qvel"]])
    with linearisation(m, "forward", REACH) as course:

        def outcome(direction: int, step: float) -> Outcome:
            course.start(moved(d, direction, step))
            own = course.d
            return Outcome(own.qacc.copy(), own.contact.vert.tobytes() + own.contact.elem.tobytes())

        outcome(0, 0.0)
        assert contact_codes(m, course.d) == (kind,)
        assert course.d.efc_force[course.d.ne :].any()
        smooth = 0
        for k in np.unique(np.linspace(0, 2 * m.nv - 1, columns).astype(int)).tolist():
            expected, is_smooth = richardson(lambda step, k=k: outcome(k, step), 1e-5)
            smooth += is_smooth
            if is_smooth:
                np.testing.assert_allclose(exact[:, k], expected, rtol=0.0, atol=1e-6 * np.abs(exact).max())
    assert smooth > 0.7 * columns


def hanging(*parts: str, seed: int = 3) -> cardan.MjData:
    """A state of a model in which nothing touches, not quite in line."""
    d = cardan.MjData(model(*parts))
    rng = np.random.default_rng(seed)
    d.qpos += 0.004 * rng.normal(size=d.model.nq)
    d.qvel[:] = 0.2 * rng.normal(size=d.model.nv)
    cardan.mj_forward(d.model, d)
    assert d.ncon == 0
    return d


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (ON_PLANE, (FLOOR, flex("5 1 1", pos="0 0 .2"))),
        (ON_SEGMENT, (flex("5 1 1", pos="0 0 .3"), BALL)),
    ],
    ids=["plane", "ball"],
)
def test_contacts_at_a_distance(kind: int, parts: tuple[str, ...]) -> None:
    accelerations_agree(hanging(*parts), kind)


@FULL
@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (ON_TRIANGLE, (flex("3 3 1", pos="0 0 .3"), BALL)),
        (CONVEX_APART, (flex("3 3 1", pos="0 0 .3"), BOX)),
        (OF_SEGMENTS, (flex("5 1 1"), flex("4 1 1", pos=".01 .02 .2", name="two", quat="1 0 0 1"))),
        (CONVEX_APART, (flex("2 2 2", pos="0 0 .3"), BOX)),
        (ELEMENTS_APART, (flex("3 3 1"), flex("3 3 1", pos=".01 .02 .2", name="two", quat=".9 .3 .1 0"))),
        (CONVEX_APART, (flex("2 2 2", pos="0 0 .3", quat=".9 .3 .2 .1"), EGG)),
        (CONVEX_APART, (flex("2 2 2", pos="0 0 .3"), DRUM)),
    ],
    ids=[
        "triangles, ball",
        "triangles, box",
        "segments",
        "tetrahedra, box",
        "triangles",
        "tetrahedra, egg",
        "tetrahedra, drum",
    ],
)
def test_each_kind_at_a_distance(kind: int, parts: tuple[str, ...]) -> None:
    accelerations_agree(hanging(*parts), kind)


def test_a_flex_before_touch_and_in_touch() -> None:
    """Before touch the floor is felt; a flex that touches has the exact derivatives."""
    m = model(FLOOR, flex("5 1 1"))
    d = cardan.MjData(m)
    far, near = ([np.zeros((2 * m.nv, 2 * m.nv)) for _ in range(2)] for _ in range(2))
    for height, (exact, smooth) in ((0.1, far), (0.0, near)):
        d.qpos[2::3] = height
        cardan.mjd_transition(m, d, exact, None, None, None)
        cardan.mjd_transition(m, d, smooth, None, None, None, contacts="smooth", reach=REACH)
    by_height = slice(m.nv + 2, 2 * m.nv, 3), slice(2, m.nv, 3)
    assert np.abs(far[0][by_height]).max() < np.abs(far[1][by_height]).max()
    assert (far[1][by_height].sum(axis=1) < -1e-3).any()  # the nearer, the more upwards
    np.testing.assert_array_equal(near[0], near[1])
