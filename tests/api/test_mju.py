"""Every `mju_*` function against the reference, on random arguments; wrong arguments are refused likewise."""

import mujoco
import numpy as np
import pytest

from cardan.api.mju import MJU
from cardan.errors import FatalError

rng = np.random.default_rng(0)


def unit(n=4):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def rotation():
    mat = np.zeros(9)
    mujoco.mju_quat2Mat(mat, unit())
    return mat


def symmetric():
    a = rng.normal(size=(3, 3))
    return (a + a.T).ravel()


def factor():
    a = rng.normal(size=(4, 4))
    return np.linalg.cholesky(a @ a.T + np.eye(4))


def definite():
    a = rng.normal(size=(4, 4))
    return a @ a.T + np.eye(4)


def r(*shape):
    return lambda: rng.normal(size=shape)


def out(*shape, dtype=float):
    return lambda: rng.normal(size=shape).astype(dtype)


def scalar(low=-3.0, high=3.0):
    return lambda: float(rng.uniform(low, high))


def pick(*values):
    return lambda: values[rng.integers(len(values))]


NTOTAL, NBAND, NDENSE = 6, 3, 2
NSTORED = (NTOTAL - NDENSE) * NBAND + NDENSE * NTOTAL
BAND = [lambda: NTOTAL, lambda: NBAND, lambda: NDENSE]


def band(positive=True):
    """A band-dense matrix; positive definite, by its diagonal."""
    mat = rng.normal(size=NSTORED)
    for i in range(NTOTAL if positive else 0):
        mat[mujoco.mju_bandDiag(i, NTOTAL, NBAND, NDENSE)] += 9
    return mat


def band_factor():
    mat = band()
    mujoco.mju_cholFactorBand(mat, NTOTAL, NBAND, NDENSE, 0, 0)
    return mat


MUSCLE = pick(
    np.array([0.75, 1.05, 200.0, 200, 0.5, 1.6, 1.5, 1.3, 1.2]), np.array([0.7, 1.1, -1, 100, 0.5, 1.6, 1, 1.3, 1.4])
)

# makers of the arguments of one random call
CASES = {
    "mju_zero3": [out(3)], "mju_copy3": [out(3), r(3)], "mju_scl3": [out(3), r(3), scalar()],
    "mju_add3": [out(3), r(3), r(3)], "mju_sub3": [out(3), r(3), r(3)], "mju_addTo3": [out(3), r(3)],
    "mju_subFrom3": [out(3), r(3)], "mju_addToScl3": [out(3), r(3), scalar()],
    "mju_addScl3": [out(3), r(3), r(3), scalar()], "mju_normalize3": [out(3)], "mju_normalize4": [out(4)],
    "mju_normalize": [out(5)], "mju_norm3": [r(3)], "mju_norm": [r(5)], "mju_dot3": [r(3), r(3)],
    "mju_dist3": [r(3), r(3)], "mju_cross": [out(3), r(3), r(3)], "mju_zero4": [out(4)], "mju_unit4": [out(4)],
    "mju_copy4": [out(4), r(4)], "mju_zero": [out(5)], "mju_fill": [out(5), scalar()], "mju_copy": [out(5), r(5)],
    "mju_sum": [out(5)], "mju_L1": [out(5)], "mju_scl": [out(5), r(5), scalar()], "mju_add": [out(5), r(5), r(5)],
    "mju_sub": [out(5), r(5), r(5)], "mju_addTo": [out(5), r(5)], "mju_subFrom": [out(5), r(5)],
    "mju_addToScl": [out(5), r(5), scalar()], "mju_addScl": [out(5), r(5), r(5), scalar()], "mju_dot": [r(5), r(5)],
    "mju_isZero": [pick(np.zeros(4), np.ones(4))], "mju_insertionSort": [out(7)],
    "mju_insertionSortInt": [lambda: rng.integers(-9, 9, 7).astype(np.int32)],
    "mju_f2n": [out(4), out(4, dtype=np.float32)], "mju_n2f": [out(4, dtype=np.float32), r(4)],
    "mju_d2n": [out(4), r(4)], "mju_n2d": [out(4), r(4)],
    "mju_mulMatVec": [out(2), r(2, 3), r(3)], "mju_mulMatTVec": [out(3), r(2, 3), r(2)],
    "mju_mulVecMatVec": [r(3), r(3, 3), r(3)], "mju_transpose": [out(3, 2), r(2, 3)],
    "mju_symmetrize": [out(3, 3), r(3, 3)], "mju_eye": [out(3, 3)], "mju_mulMatMat": [out(2, 4), r(2, 3), r(3, 4)],
    "mju_mulMatMatT": [out(2, 4), r(2, 3), r(4, 3)], "mju_mulMatTMat": [out(2, 4), r(3, 2), r(3, 4)],
    "mju_sqrMatTD": [out(3, 3), r(2, 3), pick(None, np.array([2.0, 3.0]))],
    "mju_cholFactor": [lambda: np.tril(definite()), pick(1e-6, 0.0)], "mju_cholSolve": [out(4), factor, r(4)],
    "mju_cholUpdate": [factor, lambda: 0.3 * rng.normal(size=4), pick(0, 1)],
    "mju_rotVecQuat": [out(3), r(3), unit], "mju_negQuat": [out(4), unit], "mju_mulQuat": [out(4), unit, unit],
    "mju_mulQuatAxis": [out(4), unit, r(3)], "mju_axisAngle2Quat": [out(4), lambda: unit(3), scalar()],
    "mju_quat2Vel": [out(3), unit, scalar(0.1, 2)], "mju_subQuat": [out(3), unit, unit],
    "mju_quat2Mat": [out(9), unit], "mju_mat2Quat": [out(4), rotation], "mju_derivQuat": [out(4), unit, r(3)],
    "mju_quatIntegrate": [unit, r(3), scalar()], "mju_quatZ2Vec": [out(4), r(3)],
    "mju_euler2Quat": [out(4), r(3), pick("xyz", "XYZ", "zxz", "ZyX")],
    "mju_mulPose": [out(3), out(4), r(3), unit, r(3), unit], "mju_negPose": [out(3), out(4), r(3), unit],
    "mju_trnVecPose": [out(3), r(3), unit, r(3)], "mju_rotVecMat": [out(3), r(3), rotation],
    "mju_rotVecMatT": [out(3), r(3), rotation],
    "mju_transformSpatial": [out(6), r(6), pick(0, 1), r(3), r(3), rotation],
    "mju_min": [scalar(), scalar()], "mju_max": [scalar(), scalar()],
    "mju_clip": [scalar(), scalar(-2, 0), scalar(0, 2)],
    "mju_sign": [pick(-2.0, 0.0, 3.0)], "mju_round": [pick(2.5, -2.5, 0.4, -0.6)],
    "mju_isBad": [pick(1.0, 1e11, -1e11, np.nan, np.inf)], "mju_sigmoid": [scalar(-0.5, 1.5)],
    "mju_Halton": [lambda: int(rng.integers(0, 1000)), pick(2, 3, 5)],
    "mju_springDamper": [scalar(), scalar(), pick(10.0, 1.0, 0.0), pick(0.5, 2.0, 9.0), scalar(0.01, 1)],
    "mju_type2Str": [lambda: int(rng.integers(0, 27))],
    "mju_bandDiag": [pick(0, 2, 4, 5), *BAND],
    "mju_band2Dense": [out(NTOTAL, NTOTAL), r(NSTORED), *BAND, pick(0, 1)],
    "mju_dense2Band": [out(NSTORED), r(NTOTAL, NTOTAL), *BAND],
    "mju_bandMulMatVec": [out(NTOTAL), r(1, NSTORED), r(NTOTAL, 1), *BAND, lambda: 1, pick(0, 1)],
    "mju_cholSolveBand": [out(NTOTAL), band_factor, r(NTOTAL), *BAND],
    "mju_muscleGain": [scalar(0.2, 2), scalar(), pick(np.array([0.4, 1.7])), scalar(0.5, 2), MUSCLE],
    "mju_muscleBias": [scalar(0.2, 2), pick(np.array([0.4, 1.7])), scalar(0.5, 2), MUSCLE],
    "mju_muscleDynamics": [scalar(-0.5, 1.5), scalar(0, 1), lambda: np.array([0.01, 0.04, rng.choice([0, 0.2])])],
    "mju_writeNumBytes": [pick(0, 1, 1023, 1024, 1025, 1536, 5 << 19, 1 << 30, 1 << 60, 1 << 63)],
    "mju_warningText": [lambda: int(rng.integers(-1, 10)), pick(0, 7, 1 << 40)],
    "mju_str2Type": [pick("geom", "xbody", "equality", "nothing", "key")],
}  # fmt: skip
# random numbers, printing, eigenvectors, whose signs are free, and pyramids, where the reference's binding takes one
# dimension less than it checks for (docs/differences.md): tested below
ELSEWHERE = {
    "mju_standardNormal",
    "mju_printMat",
    "mju_printMatSparse",
    "mju_eig3",
    "mju_cholFactorBand",  # leaves other numbers where nothing is stored
    "mju_boxQP",
    "mju_writeLog",
    "mju_encodePyramid",
    "mju_decodePyramid",
}


def copies(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


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
        for argument in function.__code__.co_varnames[: function.__code__.co_argcount]:
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
    force = np.array([5.0, *rng.normal(size=2)])
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
