"""Newest versions of other packages, on MuJoCo 4.0.0 and on Cardan with compat 4.0.

Each program is a text that stores numbers in ``result``. It runs in a process of its own on each engine. The page
``docs/clients-later.md`` is written by ``python -m clients.later_programs [WORDS]`` in the environment of
``requirements-later.txt`` (``make clients-later``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from clients.comparison import ROOT, installed

ENGINES = {
    "mujoco": (),
    "cardan": ("-m", "cardan.as_mujoco", "--compat", "4.0"),
    "cardan 3.1": ("-m", "cardan.as_mujoco", "--compat", "3.1"),
}
"""Arguments of Python with which a program runs on an engine."""
ALLOWED = 1e-6
"""Largest difference of a number, relative where it is above 1. MJX, Warp and Newton compute in single precision."""
PAGE = ROOT / "docs" / "clients-later.md"
KEPT = ROOT / "build" / "clients-later.json"
LIMIT = 900  # seconds for one program

MODEL = """'''<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .09"><freejoint/><geom size=".1"/></body>
<body pos="-.5 0 .14"><freejoint/><geom type="capsule" size=".05 .1"/>
 <body pos="0 0 .2"><joint name="j" axis="0 1 0" damping=".1" range="-60 60" limited="true"/>
  <geom type="capsule" size=".04 .1"/></body></body>
</worldbody><actuator><motor joint="j" gear="2"/></actuator></mujoco>'''"""

_GYMNASIUM = """
import gymnasium
for name in ("Hopper-v5", "Ant-v5", "Humanoid-v5", "Pusher-v5"):
    program = gymnasium.make(name, disable_env_checker=True)
    told = [program.reset(seed=1)[0]]
    program.action_space.seed(1)
    told += [program.step(program.action_space.sample())[0] for _ in range(7)]
    result += [float(x) for row in told for x in row]
"""

_ROBOTICS = """
import gymnasium, gymnasium_robotics
for name in ("FetchReach-v4", "AdroitHandDoor-v1", "HandReach-v3"):
    program = gymnasium.make(name, disable_env_checker=True)
    program.reset(seed=1)
    program.action_space.seed(1)
    told = [program.step(program.action_space.sample())[0] for _ in range(5)]
    told = [row["observation"] if isinstance(row, dict) else row for row in told]
    result += [float(x) for row in told for x in row]
"""

_METAWORLD = """
import gymnasium, metaworld
program = gymnasium.make("Meta-World/MT1", env_name="reach-v3", seed=0, disable_env_checker=True)
program.reset(seed=1)
program.action_space.seed(1)
result += [float(x) for _ in range(10) for x in program.step(program.action_space.sample())[0]]
"""

_ROBOSUITE = """
import robosuite
np.random.seed(1)
program = robosuite.make("Lift", robots="Panda", has_renderer=False, has_offscreen_renderer=False, use_camera_obs=False)
program.reset()
low, high = program.action_spec
for _ in range(5):
    told = program.step(np.random.uniform(low, high))[0]
    result += [float(x) for name in sorted(told) for x in np.ravel(told[name])]
"""

_MINK = """
import mink, mujoco, gymnasium, os
folder = os.path.join(os.path.dirname(gymnasium.__file__), "envs/mujoco/assets")
m = mujoco.MjModel.from_xml_path(os.path.join(folder, "humanoid.xml"))
configuration = mink.Configuration(m)
tasks = [mink.FrameTask(name, "body", position_cost=1.0, orientation_cost=0.1) for name in ("left_foot", "right_foot")]
for task in tasks:
    task.set_target_from_configuration(configuration)
    task.set_target(task.transform_target_to_world.plus(np.array([0.05, 0.02, 0.1, 0, 0, 0.1])))
tasks.append(mink.PostureTask(m, cost=1e-2))
tasks[-1].set_target_from_configuration(configuration)
for _ in range(10):
    velocity = mink.solve_ik(configuration, tasks, 0.02, "daqp", 1e-6, limits=[mink.ConfigurationLimit(m)])
    configuration.integrate_inplace(velocity, 0.02)
result += configuration.q.tolist()
"""

_DM_CONTROL = """
from dm_control import suite
for domain, task in (("cartpole", "swingup"), ("humanoid", "walk"), ("dog", "walk"), ("quadruped", "walk")):
    program = suite.load(domain, task, task_kwargs={"random": 1})
    program.reset()
    spec, actions = program.action_spec(), np.random.default_rng(1)
    for _ in range(5):
        told = program.step(actions.uniform(spec.minimum, spec.maximum)).observation
        result += [float(x) for name in sorted(told) for x in np.ravel(told[name])]
"""

_MJX = f"""
import jax, mujoco
from mujoco import mjx
m = mujoco.MjModel.from_xml_string({MODEL})
d = mujoco.MjData(m)
d.ctrl[:] = 0.3
mujoco.mj_forward(m, d)
there, data = mjx.put_model(m, impl="jax"), mjx.put_data(m, d, impl="jax")
data = jax.jit(mjx.step)(there, data)
result += np.asarray(data.qpos, float).tolist()
"""

_WARP = f"""
import mujoco, mujoco_warp, warp
warp.config.quiet = True
m = mujoco.MjModel.from_xml_string({MODEL})
d = mujoco.MjData(m)
d.ctrl[:] = 0.3
mujoco.mj_forward(m, d)
with warp.ScopedDevice("cpu"):
    there, data = mujoco_warp.put_model(m), mujoco_warp.put_data(m, d)
    for name in ("body_mass", "body_inertia", "geom_size", "dof_invweight0", "qpos0", "opt.timestep"):
        value = there
        for part in name.split("."):
            value = getattr(value, part)
        result += np.ravel(value.numpy()).astype(float).tolist()
    for name in ("qpos", "qacc", "xpos"):
        result += np.ravel(getattr(data, name).numpy()).astype(float).tolist()
    mujoco_warp.get_data_into(d, m, data)
result += d.qacc.tolist()
"""

_NEWTON = """
import newton, warp, gymnasium, os
folder = os.path.join(os.path.dirname(gymnasium.__file__), "envs/mujoco/assets")
with warp.ScopedDevice("cpu"):
    builder = newton.ModelBuilder()
    builder.add_mjcf(os.path.join(folder, "half_cheetah.xml"))
    m = builder.finalize()
    solver = newton.solvers.SolverMuJoCo(m, use_mujoco_cpu=True)
    before, after, control = m.state(), m.state(), m.control()
    for _ in range(10):
        solver.step(before, after, control, None, 0.002)
        before, after = after, before
    result += before.joint_q.numpy().astype(float).tolist()
"""

_PLAYGROUND = """
import jax
from mujoco_playground import registry
settings = registry.get_default_config("CartpoleBalance")
if hasattr(settings, "impl"):
    settings.impl = "jax"
program = registry.load("CartpoleBalance", config=settings)
state = jax.jit(program.reset)(jax.random.PRNGKey(0))
state = jax.jit(program.step)(state, np.full(program.action_size, 0.3))
result += np.asarray(state.obs, float).tolist()
"""

_BASELINES = """
import torch
from stable_baselines3 import PPO
torch.set_num_threads(1)
policy = PPO("MlpPolicy", "Hopper-v5", n_steps=128, batch_size=64, seed=1, device="cpu")
policy.learn(256)
result += [float(x) for row in policy.get_parameters()["policy"].values() for x in row.ravel()[:50]]
"""


class Program(NamedTuple):
    """A program: the distribution that it needs, what it does in a few words, and its text."""

    package: str
    does: str
    text: str


PROGRAMS = (
    Program("gymnasium", "4 environments, 7 steps each", _GYMNASIUM),
    Program("gymnasium-robotics", "3 environments, 5 steps each", _ROBOTICS),
    Program("metaworld", "reach-v3, 10 steps", _METAWORLD),
    Program("robosuite", "Lift with a Panda, 5 steps", _ROBOSUITE),
    Program("mink", "inverse kinematics of a humanoid, 10 steps", _MINK),
    Program("dm_control", "4 tasks of the suite, 5 steps each", _DM_CONTROL),
    Program("mujoco-mjx", "model and data put there, a step", _MJX),
    Program("mujoco-warp", "model and data put there and taken back, on the CPU", _WARP),
    Program("newton", "half cheetah by the solver MuJoCo, on the CPU, 10 steps", _NEWTON),
    Program("playground", "CartpoleBalance, a step", _PLAYGROUND),
    Program("stable_baselines3", "PPO on Hopper-v5, 256 steps: weights of the policy", _BASELINES),
)
"""The programs, a package each."""

START = "import json, numpy as np\nresult = []\n{}\nprint('\\n' + json.dumps(result))"


class Outcome(NamedTuple):
    """Numbers that a program stored, or the last line of its error, and the seconds that it took."""

    numbers: list[float]
    error: str
    seconds: float


def outcome(program: Program, engine: str) -> Outcome:
    """Run a program on an engine, in a process of its own."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    settings = {"PYTHONPATH": os.pathsep.join(paths), "MUJOCO_GL": "disable", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-W", "ignore", *ENGINES[engine], "-c", START.format(program.text)]
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, check=False, env={**os.environ, **settings}, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return Outcome([], f"took more than {LIMIT} s", LIMIT)
    seconds = time.perf_counter() - start
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        return Outcome([], lines[-1] if lines else f"ended with status {done.returncode}", seconds)
    return Outcome(json.loads(done.stdout.strip().splitlines()[-1]), "", seconds)


def difference(a: list[float], b: list[float]) -> float:
    """Return the largest difference of two lists of numbers, relative where they are above 1."""
    if len(a) != len(b):
        return float("inf")
    x, y = np.array(a), np.array(b)
    return float(np.max(np.abs(x - y) / np.maximum(1.0, np.abs(y)), initial=0.0))


def compared(program: Program) -> tuple[str, bool]:
    """Return how a program fared, for a line of the table, and whether it got as far as on MuJoCo 4.0.0."""
    reference, cardan = outcome(program, "mujoco"), outcome(program, "cardan")
    if reference.error:  # the package was made for an earlier version
        version = "4.0"
        if cardan.error:
            version, cardan = "3.1", outcome(program, "cardan 3.1")
        here = f"fails, too: {cardan.error}" if cardan.error else f"runs with compat {version}"
        return f"fails: {reference.error} | {here} | |", True
    if cardan.error:
        return f"{len(reference.numbers)} numbers | **fails: {cardan.error}** | |", False
    apart = difference(cardan.numbers, reference.numbers)
    times = f"{reference.seconds:.1f} s, {cardan.seconds:.1f} s"
    return f"{len(reference.numbers)} numbers | agree to {apart:.0e} | {times} |", apart <= ALLOWED


TEXT = f"""# Newest versions of other packages

`make clients-later` installs the packages of `tests/clients/requirements-later.txt` in an environment of their own,
runs a short program of each with MuJoCo 4.0.0 and, through `python -m cardan.as_mujoco --compat 4.0`, with Cardan, and
writes this page. The programs (`tests/clients/later_programs.py`) get the same seeds; their numbers agree
if they differ by less than {ALLOWED:.0e}, relative where they are above 1. Times are those of the whole process, with
imports. After the seventh step the feet of Gymnasium's humanoid touch the ground, and its solver, projected
Gauss-Seidel, stops on another path than that of 4.0.0: the state then differs by 2e-4. [clients.md](clients.md) has
longer comparisons, with the versions made for MuJoCo 3.1.6.

| package | program | on MuJoCo 4.0.0 | on Cardan | times |
| --- | --- | --- | --- | --- |
"""


def main() -> None:
    """Run the programs, or those whose packages the command line names, and write the page."""
    words = sys.argv[1:]
    kept = json.loads(KEPT.read_text()) if words and KEPT.exists() else {}
    right = True
    for program in PROGRAMS:
        if installed(program.package) and (not words or any(word in program.package for word in words)):
            line, same = compared(program)
            kept[program.package] = f"| {program.package} {installed(program.package)} | {program.does} | {line}"
            right &= same
            print(kept[program.package], flush=True)
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(kept, indent=1))
    Path(PAGE).write_text(TEXT + "\n".join(kept[p.package] for p in PROGRAMS if p.package in kept) + "\n")
    sys.exit(0 if right else "some programs differ: see above")


if __name__ == "__main__":
    main()
