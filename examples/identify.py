"""Masses and friction of a sliding box and of an arm from two seconds of motion, by exact sensitivities.

The method is that of Levenberg and Marquardt: each round simulates with the present parameters, takes the derivatives
of the states by them from one sweep, and solves a small least-squares problem for the logarithms of the parameters.
A box that chatters on its corners leaves some pieces of the motion with large errors whatever its parameters are. Least
squares would follow these; so residuals are weighted by Cauchy's loss, in units of their median (Holland and Welsch,
Robust regression using iteratively reweighted least-squares, Communications in Statistics A6, 1977).
Run it with ``python examples/identify.py [picture.png]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tangent_space import differences

import cardan
import cardan.rollout
from cardan.batch import Batch

BOX = """
<mujoco model="sliding box">
  <option timestep="0.005" cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="3 3 .1" friction=".01"/>
    <body name="box" pos="0 0 .04">
      <freejoint/>
      <geom name="box" type="box" size=".15 .15 .04" mass="2" friction=".3 .01 .001"/>
      <site name="push" pos="0 .02 0"/>
    </body>
  </worldbody>
  <actuator><motor site="push" gear="1 0 0 0 0 0" name="x"/><motor site="push" gear="0 1 0 0 0 0" name="y"/></actuator>
</mujoco>
"""

ARM = """
<mujoco model="arm">
  <option timestep="0.005"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" damping=".1" frictionloss=".2"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1.5"/>
      <body name="lower" pos="0 0 -.4">
        <joint name="elbow" axis="0 1 0" damping=".05" frictionloss=".1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".025" mass=".8"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator>
</mujoco>
"""


ACCURACY = 1e-3
"""Relative change of the parameters in a round after which no other one follows."""


@dataclass(frozen=True)
class Task:
    """What is to be found, and from what motion.

    Attributes:
        xml: the model, with the true parameters.
        numbers: names of the numbers of the model that are parameters; with the mass of a body, its inertia changes in
            proportion.
        guess: factors of the true parameters to begin with.
        force: controls at a time, s.
        compared: which coordinates of the states are compared (2 nv: positions, then velocities).
    """

    xml: str
    numbers: tuple[str, ...]
    guess: tuple[float, ...]
    force: Callable[[float], tuple[float, ...]]
    compared: tuple[int, ...]


TASKS = {
    "box": Task(
        BOX,
        ("body_mass[1]", "geom_friction[1, 0]"),
        (0.5, 2.0),
        lambda t: (12.0 * np.sin(5.0 * t), 10.0 * np.cos(3.0 * t)),
        (0, 1, 5),  # place and heading: it chatters on its corners, which tells nothing
    ),
    "arm": Task(
        ARM,
        ("body_mass[1]", "body_mass[2]", "dof_frictionloss[0]", "dof_frictionloss[1]"),
        (0.6, 1.5, 2.0, 0.5),
        lambda t: (3.0 * np.sin(4.0 * t), np.cos(7.0 * t)),
        (0, 1, 2, 3),
    ),
}


@dataclass
class Found:
    """What came out.

    Attributes:
        truth: the true parameters.
        parameters: those of each round, the guess first.
        errors: root mean square of the residuals of each round.
        seconds: processor time that it took.
    """

    truth: np.ndarray
    parameters: list[np.ndarray] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def converged(self) -> bool:
        """Whether all parameters are within 1 % of the truth."""
        return bool(np.abs(self.parameters[-1] / self.truth - 1.0).max() < 0.01)


class Parameters:
    """Numbers of a model, with access as one vector; and data to simulate with."""

    def __init__(self, m: Any, d: Any, names: tuple[str, ...]) -> None:
        self.m, self.d, self.names = m, d, names
        self.places = [
            (name.split("[")[0], tuple(int(k) for k in name.split("[")[1][:-1].split(","))) for name in names
        ]
        self.inertia = {
            k: m.body_inertia[i] / m.body_mass[i] for k, (f, i) in enumerate(self.places) if f == "body_mass"
        }

    def get(self) -> np.ndarray:
        """Their values."""
        return np.array([getattr(self.m, name)[where] for name, where in self.places])

    def put(self, values: np.ndarray) -> None:
        """Set them, and the inertia that belongs to masses."""
        for k, ((name, where), value) in enumerate(zip(self.places, values, strict=True)):
            getattr(self.m, name)[where] = value
            if k in self.inertia:
                self.m.body_inertia[where] = value * self.inertia[k]


@dataclass
class Recording:
    """Motion that was measured, cut into pieces: each is simulated from its first state (multiple shooting).

    Errors of the parameters have little time to grow within a piece, so that the problem stays nearly linear; a
    whole trajectory that bumps, sticks and slides has many local minima.

    Attributes:
        states: measured states (nstep + 1, nq + nv).
        controls: (nstep, nu).
        piece: number of steps of a piece.
    """

    states: np.ndarray
    controls: np.ndarray
    piece: int

    def pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """States (n, piece + 1, ...) and controls (n, piece, nu) of the pieces."""
        starts = range(0, len(self.controls), self.piece)
        states = [self.states[k : k + self.piece + 1] for k in starts]
        return np.array(states), np.array([self.controls[k : k + self.piece] for k in starts])


def simulate(engine: Any, m: Any, d: Any, starts: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """States (n, nstep + 1, nq + nv) of n pieces, from their first ones (n, nq + nv) and controls (n, nstep, nu)."""
    rows = np.hstack([np.zeros((len(starts), 1)), starts])  # the time goes first
    states, _ = engine.rollout.rollout(m, d, rows, controls)
    return np.concatenate([starts[:, None], states[..., 1:]], axis=1)


def measure(engine: Any, m: Any, controls: np.ndarray, noise: float, piece: int) -> Recording:
    """Simulate from rest at qpos0, and disturb what is measured."""
    rng = np.random.default_rng(0)
    states = simulate(engine, m, engine.MjData(m), np.concatenate([m.qpos0, np.zeros(m.nv)])[None], controls[None])[0]
    for state in states:
        qpos = state[: m.nq].copy()
        engine.mj_integratePos(m, qpos, noise * rng.standard_normal(m.nv), 1.0)
        state[: m.nq] = qpos
        state[m.nq :] += noise * rng.standard_normal(m.nv)
    return Recording(states, controls, piece)


class Pieces:
    """Simulations of pieces of a motion, and how they depend on the parameters.

    Args:
        parameters: the parameters, and the model that they are those of.
        starts: first states of the pieces, (n, nq + nv).
        controls: (n, nstep, nu).
    """

    def __init__(self, parameters: Parameters, starts: np.ndarray, controls: np.ndarray) -> None:
        self.parameters, self.starts, self.controls = parameters, starts, controls

    def simulate(self) -> np.ndarray:
        """States of all pieces with the present parameters, (n, nstep + 1, nq + nv)."""
        raise NotImplementedError

    def slopes(self) -> np.ndarray:
        """Derivatives by the parameters of what was simulated last, (n, nstep + 1, 2 nv, number of parameters)."""
        raise NotImplementedError


class RecordedPieces(Pieces):
    """Pieces as worlds of a batch that records them: derivatives are exact, from one sweep over the tape."""

    def __init__(self, parameters: Parameters, starts: np.ndarray, controls: np.ndarray) -> None:
        super().__init__(parameters, starts, controls)
        self.batch = Batch(parameters.m, len(starts), nthread=1)
        self.own = Parameters(self.batch.model, parameters.d, parameters.names)
        self.by: dict[str, dict[str, Any]] = {name: {name: 1.0} for name in parameters.names}
        for k, name in enumerate(parameters.names):
            if k in self.own.inertia:
                self.by[name][f"body_inertia[{self.own.places[k][1][0]}]"] = self.own.inertia[k]
        self.tape: Any = None

    def simulate(self) -> np.ndarray:
        """States of all pieces with the present parameters."""
        self.own.put(self.parameters.get())
        nq, batch = self.own.m.nq, self.batch
        batch.qpos, batch.qvel = self.starts[:, :nq], self.starts[:, nq:]
        batch.qacc_warmstart = 0.0
        self.tape = batch.record(self.controls.shape[1], self.controls)
        return np.concatenate([self.tape.qpos, self.tape.qvel], axis=-1)

    def slopes(self) -> np.ndarray:
        """Derivatives by the parameters of what was simulated last."""
        found = self.tape.sensitivities(self.by)
        return np.stack([found[name][0] for name in self.by], axis=-1)


def typical(residual: np.ndarray) -> np.ndarray:
    """A typical size of the residuals of each coordinate: their median, but no less than a part of their mean."""
    size = np.abs(residual)
    return np.maximum(np.median(size, axis=(0, 1)), 0.1 * size.mean(axis=(0, 1))) + 1e-12


def loss(residual: np.ndarray, scale: np.ndarray) -> float:
    """Cauchy's loss, which residuals far above the scale hardly change."""
    return float(np.log1p((residual / scale) ** 2).sum())


def identify(
    task: Task,
    engine: Any = cardan,
    simulated: type[Pieces] = RecordedPieces,
    seconds: float = 2.0,
    rounds: int = 30,
    noise: float = 1e-5,
) -> Found:
    """Find the parameters of a task.

    Args:
        task: the task.
        engine: the module that simulates.
        simulated: what simulates the pieces of the motion, and differentiates them.
        seconds: length of the recording.
        rounds: at most.
        noise: standard deviation of what is measured, in m, rad and per second.
    """
    m = engine.MjModel.from_xml_string(task.xml)
    parameters = Parameters(m, engine.MjData(m), task.numbers)
    times = np.arange(round(seconds / m.opt.timestep)) * m.opt.timestep
    states, controls = measure(engine, m, np.array([task.force(t) for t in times]), noise, 20).pieces()
    found = Found(parameters.get())
    begin = time.process_time()
    pieces = simulated(parameters, states[:, 0], controls)

    def residuals(logs: np.ndarray) -> np.ndarray:
        parameters.put(np.exp(logs))
        return differences(m, pieces.simulate(), states)[..., list(task.compared)]

    logarithms, damping, gain, moved = np.log(found.truth * task.guess), 1e-3, 1.0, 1.0
    residual = residuals(logarithms)
    while True:
        found.parameters.append(np.exp(logarithms))
        found.errors.append(float(np.sqrt((residual**2).mean())))
        if len(found.errors) > rounds or gain <= 0.0 or moved < ACCURACY:
            break
        scale = typical(residual)
        weights = 1.0 / (1.0 + (residual / scale) ** 2)
        slopes = (pieces.slopes()[:, :, list(task.compared)] * np.exp(logarithms)).reshape(-1, len(logarithms))
        weighted, gain = slopes * weights.reshape(-1, 1), 0.0
        normal, right = weighted.T @ slopes, weighted.T @ residual.reshape(-1)
        while gain <= 0.0 and damping < 1e6:
            change = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), right).clip(-1.0, 1.0)
            new = residuals(logarithms + change)
            gain = 1.0 - loss(new, scale) / loss(residual, scale)
            damping *= 10.0 if gain <= 0.0 else 0.1
            if gain > 0.0:
                logarithms, residual, moved = logarithms + change, new, float(np.abs(change).max())
    found.seconds = time.process_time() - begin
    return found


def plot(results: dict[str, Found], name: str) -> None:
    """Save the parameters of each round ÷ the true ones."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(10, 3.2), layout="constrained")
    for axis, (title, found) in zip(axes, results.items(), strict=True):
        axis.plot(np.array(found.parameters) / found.truth, "o-", label=TASKS[title].numbers)
        axis.axhspan(0.99, 1.01, alpha=0.3, color="gray")
        axis.set(title=title, xlabel="round", ylabel="÷ true value")
        axis.legend()
    figure.savefig(name, dpi=90)


def main() -> None:
    """Identify both, print what came out, and plot it where a file is named."""
    results = {name: identify(task) for name, task in TASKS.items()}
    for name, found in results.items():
        print(f"{name}: {len(found.parameters) - 1} rounds, {found.seconds:.1f} s, within 1 %: {found.converged}")
        for number, value, truth in zip(TASKS[name].numbers, found.parameters[-1], found.truth, strict=True):
            print(f"  {number}: {value:.5f} (true {truth:.5f})")
    if len(sys.argv) > 1:
        plot(results, sys.argv[1])


if __name__ == "__main__":
    main()
