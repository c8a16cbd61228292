"""Makers of random arguments for every `mju_*` function."""

import mujoco
import numpy as np

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
