"""Problems of inverse kinematics: tables made from a model and its tasks, and the memory of each thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cardan.api.pipeline import mj_kinematics
from cardan.dynamics.tendon import has_spatial_tendons, spatial_tendon_stage, tendon
from cardan.enums.codes import EQ_CONNECT, EQ_JOINT, EQ_TENDON, EQ_WELD, JNT_BALL, JNT_FREE, OBJ_SITE
from cardan.ik.avoidance import closest_points
from cardan.ik.chains import Chains
from cardan.ik.evaluation import evaluate
from cardan.ik.fields import IK
from cardan.ik.quadratic import solve_program
from cardan.ik.rows import TaskRows, element_id
from cardan.ik.tasks import Task
from cardan.jit import StructMemory, addresses
from cardan.jit.front.stage import HERE
from cardan.model import MjData, MjModel, internals
from cardan.threads import Crew, processors

EQUALITY_ROWS = {EQ_CONNECT: 3, EQ_WELD: 6, EQ_JOINT: 1, EQ_TENDON: 1}


class Problem:
    """Tasks of a model, ready to solve.

    Args:
        m: model.
        tasks: the tasks.
        pairs: pairs of geoms that keep a distance, (npair, 2) ids.
        limits: whether joint limits hold.
        joints: ids of the joints that may move; None: all.

    Raises:
        ValueError: a task, a pair or a joint does not fit the model, or the model has an equality constraint of a flex.
        TypeError: an object of the list is not a task.
    """

    def __init__(
        self, m: MjModel, tasks: Sequence[Task], pairs: np.ndarray, limits: bool, joints: Iterable[int] | None
    ) -> None:
        if internals.form(m) != HERE:
            raise ValueError("inverse kinematics needs a model in double precision, not one of a batch in float32")
        self.m, self.tasks, self.pairs, self.limits = m, tuple(tasks), pairs, limits
        self.rows = TaskRows(m, self.tasks)
        chains = Chains(m)
        equality = active_equalities(m)
        moving = chains.dofs_of(self.rows.bodies()) | self.rows.other_dofs(chains)
        allowed = np.ones(m.nv, bool) if joints is None else np.isin(m.dof_jntid, list(joints))
        moving, self.equality = closure(chains, equality, moving & allowed, allowed)
        self.dof = np.flatnonzero(moving)
        self.joint = np.unique(m.dof_jntid[self.dof])
        if not len(self.dof):
            raise ValueError("no joint moves a frame of the tasks: check frame names, and the list of joints")
        self.scalar = (m.jnt_type[m.dof_jntid[self.dof]] != JNT_FREE) & (m.jnt_type[m.dof_jntid[self.dof]] != JNT_BALL)
        self.tables = self._tables(chains)
        self.crew = Crew(processors(), "cardan-ik")
        self.workers: list[StructMemory] = []
        self._datas: list[MjData] = []
        self.options: dict[str, float] = {}
        self.table: tuple[np.ndarray, np.ndarray] = (np.zeros((0, m.nq)), np.zeros((0, 0)))
        self.table_key: object = None
        self.effort = np.zeros((0, 2), np.int32)
        self._speeds: object = None

    def _tables(self, chains: Chains) -> dict[str, np.ndarray]:
        """Return the arrays of the problem that all threads share, by field."""
        m, n = self.m, len(self.dof)
        column = np.full(m.nv, -1)
        column[self.dof] = np.arange(n)
        qadr = np.where(self.scalar, m.jnt_qposadr[m.dof_jntid[self.dof]], -1)
        couples = [e for e in self.equality if m.eq_type[e] == EQ_TENDON]
        bodies, geoms, sites = self._placed(chains, bool(couples))
        tables = {
            "dof": self.dof, "column": column, "qadr": qadr, "joint": self.joint,
            "low": np.full(n, -np.inf), "high": np.full(n, np.inf), "speed": np.full(n, np.inf),
            "body": bodies, "geom": geoms, "site": sites, "pair": self.pairs, "equality": self.equality,
            "moves": chains.coordinates(self.joint),
            **self.rows.tables(self.dof),
        }  # fmt: skip
        return {
            name: np.ascontiguousarray(values, IK.by_name["ik." + name].numpy_dtype) for name, values in tables.items()
        }

    def _placed(self, chains: Chains, tendons: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the bodies, geoms and sites whose poses the problem needs."""
        m = self.m
        if tendons or self.rows.needs_com:
            bodies = np.arange(1, m.nbody)
        else:
            of_constraints = [body for e in self.equality for body in bodies_of_equality(m, e)]
            bodies = chains.with_ancestors([*self.rows.bodies(), *m.geom_bodyid[self.pairs.ravel()], *of_constraints])
        if tendons:
            return bodies, np.arange(m.ngeom), np.arange(m.nsite)
        of_sites = [k for e in self.equality if m.eq_objtype[e] == OBJ_SITE for k in (m.eq_obj1id[e], m.eq_obj2id[e])]
        geoms = np.unique([*self.pairs.ravel(), *self.rows.objects("geom")])
        return bodies, geoms, np.unique([*of_sites, *self.rows.objects("site")])

    def _base(self) -> int:
        """Return the address in qpos of the free joint that moves all frames of poses, or -1."""
        m, of_poses = self.m, self.rows.bodies_of_poses()
        for joint in self.joint:
            if m.jnt_type[joint] == JNT_FREE and of_poses:
                root = m.body_rootid[m.jnt_bodyid[joint]]
                if all(m.body_rootid[body] == root for body in of_poses):
                    return int(m.jnt_qposadr[joint])
        return -1

    def set_limits(self) -> None:
        """Read the joint limits of the model."""
        joint = self.m.dof_jntid[self.dof]
        limited = self.scalar & (self.m.jnt_limited[joint] != 0) & self.limits
        self.tables["low"][:] = np.where(limited, self.m.jnt_range[joint, 0], -np.inf)
        self.tables["high"][:] = np.where(limited, self.m.jnt_range[joint, 1], np.inf)

    def set_speeds(self, limits: Any) -> None:
        """Set the velocity limits: None, a number, one for each dof, or a dictionary from names of joints to numbers.

        Raises:
            ValueError: a joint does not exist, or a limit is negative.
        """
        if limits is None and self._speeds is None:
            return
        speeds = np.full(self.m.nv, np.inf)
        if isinstance(limits, dict):
            for name, value in limits.items():
                speeds[self.m.dof_jntid == element_id(self.m, "joint", name, "velocity_limits")] = value
        elif limits is not None:
            speeds[:] = limits
        if not (speeds >= 0).all():
            raise ValueError("velocity_limits: limits are numbers that are not negative")
        self.tables["speed"][:] = speeds[self.dof]
        self._speeds = limits

    def set_options(self, **options: float) -> None:
        """Set scalars of the problem for all threads."""
        if options != {name: self.options.get(name) for name in options}:
            self.options |= options
            for memory in self.workers:
                memory.set_scalars({f"ik.{name}": value for name, value in options.items()})

    def attach(self, **arrays: np.ndarray) -> None:
        """Attach the arrays of a call to all threads."""
        for memory in self.workers:
            for name, array in arrays.items():
                memory.attach(f"ik.{name}", array)

    def prepare(self, count: int) -> None:
        """Make memory for `count` threads."""
        while len(self.workers) < count:
            self.workers.append(self._worker())

    def _worker(self) -> StructMemory:
        """Return the memory of a thread: a data of the model, and the problem's tables and work."""
        m = self.m
        data = MjData(m)
        mj_kinematics(m, data)
        source = internals.memory(data)
        memory = StructMemory(IK, source.sizes, source.growable, buffers={None: source.buffer, **source.arena})
        for name in [f.name for f in source.struct.fields if f.is_attached and f.name in source.arrays]:
            memory.attach(name, source.arrays[name])
        first = len(source.struct.fields)
        memory.slots[:first] = source.slots
        self._datas.append(data)
        for name, array in {**self.tables, **self._work()}.items():
            memory.attach("ik." + name, array)
        stage = spatial_tendon_stage(m) if has_spatial_tendons(m) else tendon
        natives = addresses([closest_points, evaluate, solve_program])
        couples = any(m.eq_type[e] == EQ_TENDON for e in self.equality)
        scalars = {
            "n": len(self.dof), "base": self._base(), "needs_com": int(self.rows.needs_com),
            "settles": int(self.rows.is_mixed),
            **dict(zip(("closest", "evaluate", "minimise"), natives, strict=True)),
            "tendons": addresses([stage])[0] if couples else 0,
            **self.options,
        }  # fmt: skip
        memory.set_scalars({f"ik.{name}": value for name, value in scalars.items()})
        return memory

    def _work(self) -> dict[str, np.ndarray]:
        """Return new arrays for the work of a thread."""
        m, n = self.m, len(self.dof)
        nrow = len(self.pairs) + sum(EQUALITY_ROWS[m.eq_type[e]] for e in self.equality)
        shapes = {
            "rel": (6, n), "J": (self.rows.count, n), "r": (self.rows.count,), "posture": (self.rows.postures, n),
            "H": (n, n), "g": (n,), "saved": (m.nq,), "move": (m.nv,), "x": (n,), "x_low": (n,),
            "x_high": (n,), "A": (nrow, n), "b": (nrow,), "L": (n, n), "V": (n + 1, n), "Q": (n + 1, n),
            "R": (n + 1, n + 1), "u": (n + 1,), "active": (n + 1,), "state": (nrow + 2 * n,), "v": (n,), "w": (n,),
            "y": (n + 1,), "z": (n,), "rank": (0,),
        }  # fmt: skip
        return {name: np.zeros(shape, IK.by_name["ik." + name].numpy_dtype) for name, shape in shapes.items()}


def active_equalities(m: MjModel) -> list[int]:
    """Return the ids of the equality constraints that hold.

    Raises:
        ValueError: one of them is of a type without rows here.
    """
    active = [int(e) for e in np.flatnonzero(m.eq_active0)]
    for e in active:
        if int(m.eq_type[e]) not in EQUALITY_ROWS:
            raise ValueError(
                f"equality constraint {e} ({m.eq(e).name!r}) is of a flex; inverse kinematics has connect, weld, joint "
                "and tendon constraints: deactivate it with active='false'"
            )
    return active


def bodies_of_equality(m: MjModel, e: int) -> list[int]:
    """Return the bodies of a connect or weld constraint; no bodies for constraints of other types."""
    if m.eq_type[e] not in (EQ_CONNECT, EQ_WELD):
        return []
    objects = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
    return [int(m.site_bodyid[k]) for k in objects] if m.eq_objtype[e] == OBJ_SITE else objects


def dofs_of_equality(chains: Chains, e: int) -> np.ndarray:
    """Return a mask of the dofs that change the residual of an equality constraint, (nv,) bool."""
    m = chains.m
    mask = np.zeros(m.nv, bool)
    objects = [int(k) for k in (m.eq_obj1id[e], m.eq_obj2id[e]) if k >= 0]
    if m.eq_type[e] == EQ_JOINT:
        mask[m.jnt_dofadr[objects]] = True
    elif m.eq_type[e] == EQ_TENDON:
        start, dofs = internals.array(m, "aux.ten_rowadr"), internals.array(m, "aux.ten_colind")
        for k in objects:
            mask[dofs[start[k] : start[k + 1]]] = True
    else:
        first, second = (chains.dofs_of([body]) for body in bodies_of_equality(m, e))
        mask = first ^ second
    return mask


def closure(
    chains: Chains, equality: list[int], moving: np.ndarray, allowed: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Return the dofs that move, and the equality constraints between them.

    A constraint with a moving dof makes all its dofs move.
    """
    of = {e: dofs_of_equality(chains, e) & allowed for e in equality}
    used: list[int] = []
    while new := [e for e in equality if e not in used and (of[e] & moving).any()]:
        used += new
        for e in new:
            moving = moving | of[e]
    return chains.whole_joints(moving), sorted(used)
