"""Programs of other packages behind one face: open, reset with a seed, step with an action."""

from __future__ import annotations

import importlib
import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from unittest.mock import patch

import numpy as np

Array = np.ndarray

os.environ.setdefault("MUJOCO_GL", "disable")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


class Trace(NamedTuple):
    """An episode.

    Attributes:
        first: numbers of the first observation and state.
        before: the whole state before each step.
        after: numbers of what each step told, and of the state after it.
    """

    first: Array
    before: list[Array]
    after: list[Array]


class Session(Protocol):
    """An environment or another program that steps a model."""

    def physics(self) -> tuple[Any, Any]:
        """The engine's model and data, which a reset may have made anew."""
        ...

    def reset(self, seed: int) -> Any:
        """Start an episode; the first observation."""
        ...

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        """So many random actions, within the bounds of the program."""
        ...

    def step(self, action: Array) -> Any:
        """One step; all that the program is told about it."""
        ...


def numbers(value: Any) -> Array:
    """All numbers of nested dictionaries, sequences and arrays, in a fixed order."""
    if value is None:
        return np.zeros(0)
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return np.concatenate([numbers(item) for item in value]) if value else np.zeros(0)
    return np.asarray(value, dtype=float).ravel()


def difference(a: Array, b: Array) -> float:
    """Largest difference of two arrays of numbers, relative where they are above 1."""
    if a.shape != b.shape:
        return np.inf
    if not a.size or np.array_equal(a, b, equal_nan=True):
        return 0.0
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(b)))
    return float(np.max(np.where(np.isnan(apart), np.inf, apart)))


def _uniform(generator: np.random.Generator, low: Array, high: Array, count: int) -> Array:
    """Random actions between bounds; where there are none, in [-1, 1]."""
    low, high = (np.where(np.isfinite(bound), bound, sign) for bound, sign in ((low, -1.0), (high, 1.0)))
    return generator.uniform(low, high, (count, *low.shape))


class Gymnasium:
    """An environment that Gymnasium makes, its own or one of a package that registers some.

    With `anew` each reset makes the environment anew: for those that keep more than the state over a reset.
    """

    def __init__(self, name: str, package: str = "", anew: bool = False, **options: Any) -> None:
        import gymnasium

        if package:
            __import__(package)
        self.make = partial(gymnasium.make, name, disable_env_checker=True, **options)
        self.env = self.make()
        self.anew = anew

    def physics(self) -> tuple[Any, Any]:
        env = self.env.unwrapped
        for inner in ("robot_env", "ant_env", "point_env"):
            env = getattr(env, inner, env)
        return env.unwrapped.model, env.unwrapped.data

    def reset(self, seed: int) -> Any:
        if self.anew:
            self.env = self.make()
        return self.env.reset(seed=seed)[0]

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        space = self.env.action_space
        return _uniform(generator, space.low, space.high, count).astype(space.dtype)

    def step(self, action: Array) -> Any:
        return self.env.step(action)[:3]


class _DmEnvironment:
    """An environment of dm_control; it goes on after the end of an episode."""

    env: Any

    def physics(self) -> tuple[Any, Any]:
        return self.env.physics.model.ptr, self.env.physics.data.ptr

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        spec = self.env.action_spec()
        return _uniform(generator, spec.minimum, spec.maximum, count)

    def step(self, action: Array) -> Any:
        told = self.env.step(action)
        self.env._reset_next_step = False
        return told.observation, told.reward, told.discount


class Suite(_DmEnvironment):
    """A task of dm_control's suite."""

    def __init__(self, domain: str, task: str) -> None:
        from dm_control import suite

        self.env = suite.load(domain, task, task_kwargs={"random": 0})

    def reset(self, seed: int) -> Any:
        self.env.task.random.seed(seed)
        return self.env.reset().observation


def _without_cameras(task: Any, **options: Any) -> Any:
    """An environment of dm_control's composer whose cameras observe nothing."""
    from dm_control.composer.environment import Environment

    groups = [entity.observables.as_dict() for entity in task.root_entity.iter_entities() if entity.observables]
    for observable in (observable for group in (*groups, task.task_observables) for observable in group.values()):
        if type(observable).__name__ == "MJCFCamera":
            observable.enabled = False
    return Environment(task, **options)


class Composed(_DmEnvironment):
    """An environment of dm_control's composer, by the module and the function that makes it; without cameras.

    With `anew` each reset makes the environment anew: for random mazes, which draw from NumPy's global generator.
    """

    def __init__(self, module: str, function: str, *arguments: Any, anew: bool = False, **options: Any) -> None:
        self.make = partial(getattr(importlib.import_module(module), function), *arguments, **options)
        self.anew = anew
        if not anew:
            self._open()

    def _open(self) -> None:
        from dm_control import composer

        with patch.object(composer, "Environment", _without_cameras):
            self.env = self.make()

    def reset(self, seed: int) -> Any:
        if self.anew:
            np.random.seed(seed)
            self._open()
        self.env.random_state.seed(seed)
        return self.env.reset().observation

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        spec = self.env.action_spec()
        if isinstance(spec, list):  # a team: an action for each player
            return np.stack([_uniform(generator, one.minimum, one.maximum, count) for one in spec], axis=1)
        return super().actions(generator, count)

    def step(self, action: Array) -> Any:
        return super().step(list(action) if isinstance(self.env.action_spec(), list) else action)


class Robosuite:
    """A task of robosuite without a screen."""

    def __init__(self, task: str, robot: str) -> None:
        import robosuite

        self.env = robosuite.make(
            task, robots=robot, has_renderer=False, has_offscreen_renderer=False, use_camera_obs=False
        )

    def physics(self) -> tuple[Any, Any]:
        return self.env.sim.model._model, self.env.sim.data._data

    def reset(self, seed: int) -> Any:
        np.random.seed(seed)
        return self.env.reset()

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        return _uniform(generator, *self.env.action_spec, count)

    def step(self, action: Array) -> Any:
        return self.env.step(action)[:3]


def _gymnasium_asset(name: str) -> str:
    """A model file of Gymnasium's."""
    from importlib.util import find_spec

    spec = find_spec("gymnasium")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).parent / "envs" / "mujoco" / "assets" / name)


class Mink:
    """Inverse kinematics with mink: frames that follow moving targets, a posture, limits."""

    PERIOD = 0.02  # s

    def __init__(
        self, model: str, frames: tuple[str, ...], apart: tuple[tuple[str, ...], tuple[str, ...]] | None
    ) -> None:
        import mink
        import mujoco

        self.model = mujoco.MjModel.from_xml_path(_gymnasium_asset(model))
        self.configuration = mink.Configuration(self.model)
        self.frames = [mink.FrameTask(name, "body", position_cost=1.0, orientation_cost=0.1) for name in frames]
        self.posture = mink.PostureTask(self.model, cost=1e-2)
        self.tasks = [*self.frames, self.posture]
        joints = [self.model.joint(j) for j in range(self.model.njnt)]
        hinges = [joint.name for joint in joints if joint.type[0] == mujoco.mjtJoint.mjJNT_HINGE]
        self.limits = [mink.ConfigurationLimit(self.model), mink.VelocityLimit(self.model, dict.fromkeys(hinges, 3.0))]
        if apart is not None:
            self.limits.append(mink.CollisionAvoidanceLimit(self.model, [apart], 0.01, 0.2))

    def physics(self) -> tuple[Any, Any]:
        return self.model, self.configuration.data

    def reset(self, seed: int) -> Any:
        import mujoco

        generator = np.random.default_rng(seed)
        start = mujoco.MjData(self.model).qpos.copy()
        for j in np.flatnonzero(self.model.jnt_limited):
            low, high = self.model.jnt_range[j]
            start[self.model.jnt_qposadr[j]] = low + (high - low) * generator.uniform(0.3, 0.7)
        self.configuration.update(start)
        self.posture.set_target_from_configuration(self.configuration)
        for task in self.frames:
            task.set_target_from_configuration(self.configuration)
        return start

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        return generator.uniform(-1.0, 1.0, (count, len(self.frames), 6)) * self.PERIOD

    def step(self, action: Array) -> Any:
        import mink

        for task, twist in zip(self.frames, action, strict=True):
            here = self.configuration.get_transform_frame_to_world(task.frame_name, "body")
            task.set_target(here.plus(twist))
        velocity = mink.solve_ik(self.configuration, self.tasks, self.PERIOD, "daqp", 1e-6, limits=self.limits)
        self.configuration.integrate_inplace(velocity, self.PERIOD)
        return velocity, [task.compute_error(self.configuration) for task in self.frames]


class Mjx:
    """MJX on the processor: model and data put there, a step, the data taken back."""

    def __init__(self, model: str) -> None:
        import jax
        import mujoco
        from mujoco import mjx

        jax.config.update("jax_enable_x64", True)
        self.mjx, self.model = mjx, mujoco.MjModel.from_xml_string(model)
        self.there = mjx.put_model(self.model)
        self.jitted = jax.jit(mjx.step)
        self.data = mujoco.MjData(self.model)

    def physics(self) -> tuple[Any, Any]:
        return self.model, self.data

    def reset(self, seed: int) -> Any:
        import mujoco

        generator = np.random.default_rng(seed)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[:] = generator.uniform(-0.5, 0.5, self.model.nv)
        mujoco.mj_forward(self.model, self.data)
        return self.data.qpos, self._contacts()

    def actions(self, generator: np.random.Generator, count: int) -> Array:
        return generator.uniform(-1.0, 1.0, (count, self.model.nu))

    def step(self, action: Array) -> Any:
        self.data.ctrl[:] = action
        data = self.jitted(self.there, self.mjx.put_data(self.model, self.data))
        self.data = self.mjx.get_data(self.model, data)
        return self.data.qacc, self.data.cvel, self.data.efc_force, self._contacts()

    def _contacts(self) -> list[Any]:
        """Of each contact the geoms, distance, place and frame; they are few here."""
        d = self.data
        return [d.ncon, d.contact.geom, d.contact.dist, d.contact.pos, d.contact.frame]
