"""Exact derivatives of a step in which two geoms touch, for each pair of types."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from derivatives_compared import exact_jacobian
from derive.pairs import PAIRS, scene, touching
from derive.test_constrained import difference, solve_to_the_end

CLOSE = 1e-6
FULL = pytest.mark.skipif(os.environ.get("CARDAN_FULL_TESTS") != "1", reason="takes minutes: CARDAN_FULL_TESTS=1")
EACH = (
    *(("plane", "capsule"), ("plane", "cylinder"), ("plane", "box"), ("plane", "mesh"), ("sphere", "sphere")),
    *(("sphere", "box"), ("capsule", "box"), ("box", "box"), ("ellipsoid", "cylinder"), ("box", "mesh")),
)
"""A pair for most collision functions; the others are looked at with all pairs."""


def check_pair(first: str, second: str, states: int, depth: float = 0.05, **flags: Any) -> None:
    """In some states, all smooth columns agree; most columns are smooth."""
    m = scene(first, second, **flags)
    solve_to_the_end(m)
    columns = range(m.nv - 6, m.nv)  # poses of the second geom
    smooth = 0
    for d in touching(m, states, depth=depth):
        exact = exact_jacobian(m, d)
        assert np.isfinite(exact).all()
        for column in columns:
            expected, is_smooth = difference(d, column)
            if is_smooth:
                smooth += 1
                error = np.abs(exact[:, column] - expected).max()
                assert error < CLOSE * max(1.0, np.abs(exact).max()), (column, error, np.abs(exact).max())
    assert smooth > 0.5 * states * len(columns), smooth


@pytest.mark.parametrize(("first", "second"), EACH)
def test_pairs(first, second):
    check_pair(first, second, 4)


@FULL
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_all_pairs(first, second):
    check_pair(first, second, 10)


@pytest.mark.parametrize(("first", "second"), [("ellipsoid", "ellipsoid"), ("sphere", "ellipsoid")])
@pytest.mark.parametrize("depth", [0.05, 3e-3])
def test_curved_surfaces_with_exact_distances(first, second, depth):
    """Normals of shallow contacts turn as the surfaces do, not as the triangles between support points."""
    check_pair(first, second, 4, depth, nativeccd=True)


@pytest.mark.parametrize(("first", "second"), [("ellipsoid", "box"), ("ellipsoid", "mesh")])
def test_curved_surfaces_on_faces_and_edges_with_exact_distances(first, second):
    """The normal is that of the face, or turns about the edge as the curved surface says."""
    check_pair(first, second, 6, 0.05, nativeccd=True)


@FULL
@pytest.mark.parametrize(("first", "second"), [("box", "mesh"), ("cylinder", "box"), ("capsule", "mesh")])
@pytest.mark.parametrize("flag", ["multiccd", "nativeccd"])
def test_other_detections(first, second, flag):
    check_pair(first, second, 5, **{flag: True})


@pytest.mark.parametrize(("first", "second"), [("box", "box"), ("plane", "mesh")])
def test_pairs_of_4_0(first, second):
    check_pair(first, second, 4, compat="4.0")


@FULL
@pytest.mark.parametrize(
    ("first", "second"), [("box", "mesh"), ("mesh", "mesh"), ("cylinder", "box"), ("capsule", "mesh")]
)
def test_manifolds_of_4_0(first, second):
    check_pair(first, second, 6, multiccd=True, nativeccd=True, compat="4.0")
