"""Elasticity plugins without a reference: rest shapes, balance of forces, derivatives of energies, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity.elastic_models import block, cable, particles, sheet

import cardan
from cardan.errors import MjcfError
from cardan.plugins.strain import metrics

CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "shell": ("shell", sheet, {"young": 1e4, "poisson": 0.3, "thickness": 0.02}),
    "membrane": ("membrane", sheet, {"young": 1e4, "poisson": 0.3, "thickness": 0.01}),
    "solid": ("solid", block, {"young": 100, "poisson": 0.3}),
}


def model(case: str) -> cardan.MjModel:
    """Particles with elements between them."""
    plugin, shape, config = CASES[case]
    return cardan.MjModel.from_xml_string(particles(plugin, shape(3), config))


def forces(m: cardan.MjModel, displacement: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the vertices and forces on them (n, 3), after a displacement."""
    d = cardan.MjData(m)
    d.qpos[:] = displacement.ravel()
    cardan.mj_forward(m, d)
    return d.xpos[1:].copy(), d.qfrc_passive.reshape(-1, 3).copy()


@pytest.mark.parametrize("case", CASES)
def test_forces_balance(case: str) -> None:
    m = model(case)
    points, force = forces(m, 0.02 * np.random.default_rng(0).normal(size=(m.nq // 3, 3)))
    scale = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() < 1e-10 * scale
    if case != "shell":  # a plate's energy is that of small rotations
        assert np.abs(np.cross(points, force).sum(axis=0)).max() < 1e-10 * scale


@pytest.mark.parametrize("case", ["membrane", "solid"])
def test_rigid_motions_cost_nothing(case: str) -> None:
    m = model(case)
    rest, force = forces(m, np.zeros((m.nq // 3, 3)))
    assert np.abs(force).max() < 1e-12
    turn = np.zeros(9)
    cardan.mju_quat2Mat(turn, np.array([0.5, 0.5, -0.5, 0.5]))
    _, force = forces(m, rest @ turn.reshape(3, 3).T + (1.0, 2.0, 3.0) - rest)
    assert np.abs(force).max() < 1e-9


@pytest.mark.parametrize("case", CASES)
def test_forces_have_an_energy(case: str) -> None:
    m = model(case)
    n, step = m.nq, 1e-6
    at = 0.01 * np.random.default_rng(1).normal(size=n)
    stiffness = np.empty((n, n))
    for k in range(n):
        moved = at.copy()
        moved[k] += step
        stiffness[:, k] = (forces(m, moved)[1] - forces(m, at)[1]).ravel() / step
    assert np.abs(stiffness - stiffness.T).max() < 1e-4 * np.abs(stiffness).max()


def test_a_uniform_stretch_is_that_of_the_material() -> None:
    # a tetrahedron stretched along x by 1 + e has the Green strain (2 e + e^2) / 2 there
    rest = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]])
    shear, volume, e = 3.0, 1.0 / 6.0, 0.1
    quadratic = metrics(rest, np.array([[0, 1, 2, 3]]), 0.0, shear, 1.0)[0]
    stretched = rest * (1.0 + e, 1.0, 1.0)
    squares = [((p[b] - p[a]) @ (p[b] - p[a])) for p in (stretched, rest) for a in range(4) for b in range(a + 1, 4)]
    elongation = np.array(squares[:6]) - np.array(squares[6:])
    strain = 0.5 * (2.0 * e + e * e)
    assert 0.5 * elongation @ quadratic @ elongation == pytest.approx(volume * shear * strain**2)


def test_a_straight_cable_turns_a_helix_back() -> None:
    m = cardan.MjModel.from_xml_string(cable(1, 5, True))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert np.abs(d.qfrc_passive).max() > 1e-3
    assert not d.qfrc_passive[:6].any()  # forces between segments move nothing as a whole


SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
BAD: dict[str, tuple[str, np.ndarray, dict[str, Any], str]] = {
    "vertex": ("membrane", np.array([[0, 1, 4]]), {}, "face names vertex 4; there are 4"),
    "negative": ("shell", np.array([[0, 1, -1]]), {}, "face names vertex -1; there are 4"),
    "flat solid": ("solid", np.array([[0, 1, 2, 3]]), {}, "an element has no volume"),
    "line": ("shell", np.array([[0, 1, 1], [1, 0, 2]]), {}, "a triangle has no area"),
    "poisson": ("solid", np.array([[0, 1, 2, 3]]), {"poisson": "0.5"}, "poisson must be between -1 and 0.5"),
    "young": ("solid", np.array([[0, 1, 2, 3]]), {"young": "stiff"}, "young must be a number, found 'stiff'"),
    "unknown": ("shell", np.array([[0, 1, 2]]), {"damping": "1"}, "no attribute 'damping'; it has: face, edge"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_explained(case: str) -> None:
    plugin, elements, config, message = BAD[case]
    with pytest.raises(MjcfError, match=message) as caught:
        cardan.MjModel.from_xml_string(particles(plugin, (SQUARE, elements), {"young": 1, **config}))
    assert caught.value.line is not None


def test_text_in_place_of_elements() -> None:
    xml = particles("shell", (SQUARE, np.array([[0, 1, 2]])), {"young": 1}).replace("0 1 2", "0 one 2")
    with pytest.raises(MjcfError, match="face must hold numbers of vertices"):
        cardan.MjModel.from_xml_string(xml)


def test_segments_need_geoms() -> None:
    xml = cable(1, 3, False)
    first = xml.index("<geom", xml.index("<geom") + 1)
    bare = xml[:first] + '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' + xml[xml.index("/>", first) + 2 :]
    with pytest.raises(MjcfError, match="body 2 needs a geom, to be a segment of a cable"):
        cardan.MjModel.from_xml_string(bare)
