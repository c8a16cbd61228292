"""Fields as kernels of inverse kinematics see them; written by `python -m cardan.ik.fields`."""

from typing import Final

from cardan.maths.types import (
    Array1,
    Array2,
    IntArray1,
    IntArray2,
)
from cardan.model.kernel_views import Data

class Problem:
    n: int
    dof: Final[IntArray1]
    column: Final[IntArray1]
    qadr: Final[IntArray1]
    low: Final[Array1]
    high: Final[Array1]
    speed: Final[Array1]
    joint: Final[IntArray1]
    moves: Final[IntArray1]
    body: Final[IntArray1]
    geom: Final[IntArray1]
    site: Final[IntArray1]
    needs_com: int
    task_kind: Final[IntArray1]
    task_flags: Final[IntArray1]
    task_frame: Final[IntArray2]
    task_root: Final[IntArray2]
    task_row: Final[IntArray1]
    task_rows: Final[IntArray1]
    task_adr: Final[IntArray1]
    task_cost: Final[Array2]
    task_gain: Final[Array1]
    task_damping: Final[Array1]
    task_local: Final[Array2]
    task_axis: Final[Array2]
    posture_cost: Final[Array2]
    equality: Final[IntArray1]
    tendons: int
    pair: Final[IntArray2]
    closest: int
    evaluate: int
    minimise: int
    damping: float
    place_tolerance: float
    turn_tolerance: float
    steps: int
    starts: int
    margin: float
    reach: float
    pair_gain: float
    limit_gain: float
    share: float
    largest_step: float
    stall: float
    settles: int
    dt: float
    target: Final[Array2]
    given: Final[Array2]
    base: int
    given_count: int
    given_step: int
    table: Final[Array2]
    table_pose: Final[Array2]
    found: Final[Array2]
    error: Final[Array2]
    ok: Final[IntArray1]
    effort: Final[IntArray2]
    row: int
    cost: float
    place_error: float
    turn_error: float
    broken: float
    missing: float
    breach: float
    rel: Final[Array2]
    J: Final[Array2]
    r: Final[Array1]
    posture: Final[Array2]
    H: Final[Array2]
    g: Final[Array1]
    saved: Final[Array1]
    move: Final[Array1]
    rank: Final[Array1]
    direction: Final[IntArray2]
    goal: Final[Array1]
    multiplier: Final[Array1]
    slope: Final[Array2]
    x: Final[Array1]
    x_low: Final[Array1]
    x_high: Final[Array1]
    A: Final[Array2]
    b: Final[Array1]
    nequal: int
    nrow: int
    L: Final[Array2]
    V: Final[Array2]
    Q: Final[Array2]
    R: Final[Array2]
    u: Final[Array1]
    active: Final[IntArray1]
    nactive: int
    state: Final[IntArray1]
    v: Final[Array1]
    w: Final[Array1]
    y: Final[Array1]
    z: Final[Array1]

class Ik(Data):
    ik: Final[Problem]
