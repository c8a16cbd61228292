"""Every `mju_*` function against the reference, on random arguments; wrong arguments are refused likewise."""

import inspect

import mujoco
import numpy as np
import pytest
from mju_cases import CASES, ELSEWHERE, NBAND, NDENSE, NTOTAL, band, copies, rng, symmetric

import cardan
from cardan.api import derivatives
from cardan.api.mju import MJU
from cardan.errors import FatalError
from cardan.jit.binding.functions import Binding, KernelBinding


def test_every_function_has_a_case():
    assert set(MJU) == set(CASES) | ELSEWHERE
    assert all(hasattr(mujoco, name) for name in MJU)


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    for _ in range(20):
        theirs = [make() for make in CASES[name]]
        ours = copies(theirs)
        expected = getattr(mujoco, name)(*theirs)
        result = MJU[name](*ours)
        assert type(result) is type(expected)
        if isinstance(expected, float):
            np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-13)
        else:
            assert result == expected
        for own, their in zip(ours, theirs, strict=True):
            if isinstance(their, np.ndarray):
                np.testing.assert_allclose(own, their, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", [n for n, makers in CASES.items() if n not in ("mju_isZero",)])
def test_wrong_sizes_are_refused(name):
    arguments = [make() for make in CASES[name]]
    for i, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            wrong = copies(arguments)
            wrong[i] = np.zeros((2, 3, 4), value.dtype)
            with pytest.raises(TypeError):
                MJU[name](*wrong)


@pytest.mark.parametrize("bad", [[0, 0, 0], np.zeros(3, np.float32), np.zeros(6)[::2], np.zeros(4), None])
def test_results_need_a_fitting_array(bad):
    for module in (mujoco, None):
        function = MJU["mju_add3"] if module is None else module.mju_add3
        with pytest.raises(TypeError):
            function(bad, np.zeros(3), np.zeros(3))


def test_names_of_arguments_are_those_of_the_reference():
    for name, function in MJU.items():
        line = getattr(mujoco, name).__doc__.split("\n")[0]
        for argument in inspect.signature(function).parameters:
            assert f"{argument}: " in line, (name, argument)


def test_wrong_euler_sequences():
    for seq in ("xy", "xyq"):
        with pytest.raises(mujoco.FatalError) as expected:
            mujoco.mju_euler2Quat(np.zeros(4), np.zeros(3), seq)
        with pytest.raises(FatalError) as raised:
            MJU["mju_euler2Quat"](np.zeros(4), np.zeros(3), seq)
        assert str(raised.value) == str(expected.value)


def test_special_values():
    for vec in ([0, 0, 0], [0, 0, 1], [0, 0, -1], [1e-20, 0, 0]):
        own, their = np.ones(4), np.ones(4)
        MJU["mju_quatZ2Vec"](own, vec)
        mujoco.mju_quatZ2Vec(their, vec)
        np.testing.assert_allclose(own, their, atol=1e-14)
    for n in (3, 4):
        own, their = np.zeros(n), np.zeros(n)
        assert MJU[f"mju_normalize{n}"](own) == getattr(mujoco, f"mju_normalize{n}")(their) == 0
        np.testing.assert_array_equal(own, their)
    bad = -np.eye(3)
    assert MJU["mju_cholFactor"](bad.copy(), 1e-3) == mujoco.mju_cholFactor(bad.copy(), 1e-3)
    assert MJU["mju_cholUpdate"](np.eye(3), 2 * np.ones(3), 0) == mujoco.mju_cholUpdate(np.eye(3), 2 * np.ones(3), 0)


def test_eigenvalues():
    for _ in range(10):
        mat = symmetric()
        values, vectors, quat = np.zeros(3), np.zeros(9), np.zeros(4)
        assert MJU["mju_eig3"](values, vectors, quat, mat) == 0
        v = vectors.reshape(3, 3)
        np.testing.assert_allclose(
            v @ np.diag(values) @ v.T, mat.reshape(3, 3), atol=1e-5
        )  # of the rotation's accuracy
        theirs = np.zeros(3)
        mujoco.mju_eig3(theirs, np.zeros(9), np.zeros(4), mat)
        np.testing.assert_allclose(values, theirs, rtol=1e-9)


def test_random_normal_numbers():
    second = np.zeros(1)
    values = [MJU["mju_standardNormal"](second) for _ in range(400)]
    assert abs(np.mean(values)) < 0.3
    assert 0.8 < np.std(values) < 1.2
    assert second[0] != 0


def test_printing(capsys):
    MJU["mju_printMat"](np.eye(2))
    MJU["mju_printMatSparse"]([1.0, 2.0], [1, 1], [0, 1], [1, 0])
    text = capsys.readouterr().out
    assert "1.00000000 0.00000000" in text
    assert "(1)" in text


def test_pyramids():
    mu = rng.uniform(0.5, 1, 2)
    force = np.array([5.0, *rng.uniform(-0.6, 0.6, 2)])  # inside the pyramid: others are cut
    edges, theirs = np.zeros(4), np.zeros(6)
    MJU["mju_encodePyramid"](edges, force, mu)
    mujoco.mju_encodePyramid(theirs, np.append(force, 0), np.append(mu, 1))
    np.testing.assert_allclose(edges, theirs[:4], rtol=1e-12)
    back = np.zeros(3)
    MJU["mju_decodePyramid"](back, edges, mu)
    np.testing.assert_allclose(back, force, rtol=1e-12)
    with pytest.raises(TypeError, match="twice as large"):
        MJU["mju_decodePyramid"](back, np.zeros(3), mu)
    with pytest.raises(TypeError, match="one larger"):
        MJU["mju_decodePyramid"](np.zeros(4), edges, mu)


@pytest.mark.parametrize(
    ("ntotal", "nband", "ndense"), [(6, 3, 2), (5, 1, 0), (4, 4, 0), (3, 0, 3), (1, 1, 0), (5, 7, 1)]
)
def test_band_factors(ntotal, nband, ndense):
    n = (ntotal - ndense) * nband + ndense * ntotal
    for sign in (1, 1, -1):
        theirs = rng.normal(size=n)
        for i in range(ntotal):
            theirs[mujoco.mju_bandDiag(i, ntotal, nband, ndense)] += sign * 9
        ours = theirs.copy()
        expected = mujoco.mju_cholFactorBand(theirs, ntotal, nband, ndense, 0.1, 0.01)
        result = MJU["mju_cholFactorBand"](ours, ntotal, nband, ndense, 0.1, 0.01)
        np.testing.assert_allclose(result, expected, rtol=1e-12)
        if sign > 0:
            dense = [np.zeros((ntotal, ntotal)) for _ in range(2)]
            for res, mat in zip(dense, (ours, theirs), strict=True):
                mujoco.mju_band2Dense(res, mat, ntotal, nband, ndense, 0)
            np.testing.assert_allclose(dense[0], dense[1], rtol=1e-11, atol=1e-13)


def test_band_products_with_several_vectors():
    mat, vectors, result = band(), rng.normal(size=(NTOTAL, 3)), np.zeros((NTOTAL, 3))
    MJU["mju_bandMulMatVec"](result, mat[None], vectors, NTOTAL, NBAND, NDENSE, 3, 1)
    dense = np.zeros((NTOTAL, NTOTAL))
    mujoco.mju_band2Dense(dense, mat, NTOTAL, NBAND, NDENSE, 1)
    np.testing.assert_allclose(result, dense @ vectors, rtol=1e-12)


def test_wrong_bands():
    for bad in ((4, 3, 5), (4, -1, 0), (-1, 2, 0), (4, 2, -1)):
        with pytest.raises(TypeError):
            MJU["mju_band2Dense"](np.zeros((4, 4)), np.zeros(8), *bad, 1)


def box_problem(n):
    a = rng.normal(size=(n, n))
    bounds = rng.uniform(-1, 0, n), rng.uniform(0, 1, n)
    lower, upper = (b if rng.random() < 0.7 else None for b in bounds)
    return a @ a.T + 0.1 * np.eye(n), 3 * rng.normal(size=n), lower, upper


def test_box_constrained_programs():
    for k in range(200):
        n = 1 + k % 8
        h, g, lower, upper = box_problem(n)
        start = rng.normal(size=n)
        results = []
        for function in (mujoco.mju_boxQP, MJU["mju_boxQP"]):
            x, room, index = start.copy(), np.zeros((n, n + 7)), np.zeros(n, np.int32)
            nfree = function(x, room, index, h, g, lower, upper)
            factor = np.tril(room.ravel()[: nfree**2].reshape(nfree, nfree))
            results.append((nfree, index[:nfree].tolist(), x, factor))
        assert results[0][:2] == results[1][:2]
        np.testing.assert_allclose(results[1][2], results[0][2], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(results[1][3], results[0][3], rtol=1e-9, atol=1e-9)


def test_wrong_box_programs():
    room = np.zeros((2, 9))
    assert MJU["mju_boxQP"](np.zeros(2), room, None, -np.eye(2), np.ones(2), None, None) == -1
    with pytest.raises(FatalError, match="upper bounds"):
        MJU["mju_boxQP"](np.zeros(2), room, None, np.eye(2), np.ones(2), np.ones(2), np.ones(2))
    for k, wrong in (
        (0, np.zeros(3)),
        (1, np.zeros((2, 8))),
        (2, np.zeros(1, np.int32)),
        (3, np.eye(3)),
        (4, np.zeros(3)),
    ):
        arguments = [np.zeros(2), room, None, np.eye(2), np.ones(2), None, None]
        arguments[k] = wrong
        for function in (mujoco.mju_boxQP, MJU["mju_boxQP"]):
            with pytest.raises(TypeError):
                function(*arguments)


def test_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    MJU["mju_writeLog"]("NOTE", "hello")
    lines = (tmp_path / "MUJOCO_LOG.TXT").read_text().split("\n")
    assert lines[1:] == ["NOTE: hello", "", ""]
    with pytest.raises(TypeError):
        MJU["mju_writeLog"](1, "hello")


@pytest.mark.parametrize("dt", [0.0, -0.0, 0.5])
@pytest.mark.parametrize("vector", [(0.6, 0.0, 0.0), (0.0, 1e-14, 0.0), (0.0, 1e-20, 0.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("w", [0.8, -1.0])
def test_velocities_of_small_turns_and_no_time(w: float, vector: tuple[float, ...], dt: float) -> None:
    results = [np.zeros(3), np.zeros(3)]
    for engine, result in zip((mujoco, cardan), results, strict=True):
        engine.mju_quat2Vel(result, np.array([w, *vector]), dt)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12)


SMALL_MATRICES = {"mju_mulMatVec", "mju_mulMatTVec", "mju_mulVecMatVec", "mju_sqrMatTD", "mju_transpose", "mju_eye"}
SMALL_MATRICES |= {"mju_symmetrize", "mju_cholFactor", "mju_cholSolve", "mju_cholUpdate"}
SMALL_ROTATIONS = {"mju_mat2Quat", "mju_quatZ2Vec", "mjd_quatIntegrate"}


def test_small_functions_are_native() -> None:
    """Calls of them take a tenth of a microsecond, as programs of inverse kinematics expect."""
    assert derivatives.mjd_quatIntegrate is cardan.mjd_quatIntegrate
    for name in SMALL_MATRICES | SMALL_ROTATIONS:
        assert isinstance(Binding.all.get(name), KernelBinding), name


def test_results_may_overlap_what_is_read() -> None:
    a = rng.normal(size=(3, 3))
    vector = rng.normal(size=3)
    for name, expected in (("mju_mulMatVec", a @ vector), ("mju_mulMatTVec", a.T @ vector)):
        both = vector.copy()
        MJU[name](both, a, both)
        np.testing.assert_allclose(both, expected, rtol=1e-14)
    for name, expected in (("mju_transpose", a.T), ("mju_symmetrize", 0.5 * (a + a.T)), ("mju_sqrMatTD", a.T @ a)):
        both = a.copy()
        MJU[name](both, both, *([None] if name == "mju_sqrMatTD" else []))
        np.testing.assert_allclose(both, expected, rtol=1e-14)


def test_matrices_without_elements() -> None:
    none = np.zeros((0, 0))
    assert MJU["mju_cholFactor"](none, 1.0) == 0
    MJU["mju_eye"](none)
    out = np.ones(2)
    MJU["mju_mulMatVec"](out, np.zeros((2, 0)), np.zeros(0))
    assert out.tolist() == [0.0, 0.0]


def test_a_singular_factor_gives_no_number() -> None:
    out = np.zeros(2)
    with np.errstate(all="ignore"):
        MJU["mju_cholSolve"](out, np.zeros((2, 2)), np.ones(2))
    assert not np.isfinite(out).any()
