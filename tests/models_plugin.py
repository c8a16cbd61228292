"""Random models with engine plugins: on flexcomps, composites, bodies, actuators, sensors and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

Random = np.random.Generator
NAMES = (
    *("elasticity.cable", "elasticity.membrane", "elasticity.shell", "elasticity.solid"),
    *("pid", "sensor.touch_grid", "sdf.torus"),
)
EXTENSION = "".join(f'<plugin plugin="mujoco.{name}"/>' for name in NAMES)
OPTIONS = """<option timestep="0.001" integrator="{}" solver="{}" cone="{}" jacobian="{}" tolerance="1e-12"/>
<size memory="50M"/>"""


def one_of(rng: Random, *values: Any) -> Any:
    """One of the values."""
    return values[int(rng.integers(len(values)))]


def plugin(name: str, **config: Any) -> str:
    """An implicit instance of a plugin."""
    settings = "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())
    return f'<plugin plugin="mujoco.{name}">{settings}</plugin>'


def material(rng: Random, name: str) -> str:
    """An instance of a plugin for solids, membranes or shells."""
    config = {"young": f"{rng.uniform(1e3, 5e4):.4g}", "poisson": f"{rng.uniform(0, 0.45):.3g}"}
    if name != "solid":
        config["thickness"] = "1e-2"
    if name != "shell" and rng.random() < 0.5:
        config["damping"] = "1e-3"
    return plugin(f"elasticity.{name}", **config)


def flexcomp(rng: Random, name: str) -> str:
    """A sheet or a block of a material, in the air above the plane."""
    kind, dim, count = one_of(
        rng, ("grid", 2, "4 5 1"), ("disc", 2, "5 5 1"), ("grid", 3, "3 3 4"), ("box", 3, "3 4 3"),
        ("cylinder", 3, "4 4 3"), ("ellipsoid", 3, "4 4 4"),
    )  # fmt: skip
    closed = kind in ("box", "cylinder", "ellipsoid")
    pins = '<pin id="0 1"/>' if not closed and rng.random() < 0.4 else ""
    edge = one_of(rng, "", '<edge damping="0.05"/>', '<edge equality="true"/>') if dim == 2 else ""
    selfcollide = one_of(rng, "none", "narrow", "bvh", "sap", "auto")
    elastic = material(rng, "solid" if dim == 3 else one_of(rng, "membrane", "shell"))
    shape = f'type="{kind}" dim="{dim}" count="{count}" spacing=".07 .06 .08" mass="{one_of(rng, 1, 2)}" radius=".006"'
    place = f'pos="0 0 {rng.uniform(0.1, 0.3):.3g}" euler="{one_of(rng, "0 0 0", "20 -10 40")}"'
    contact = f'<contact selfcollide="{selfcollide}" internal="{one_of(rng, "true", "false")}"/>'
    comp = f'<flexcomp name="{name}" {shape} {place}>{pins}{edge}{contact}{elastic}</flexcomp>'
    if closed:
        comp = f'<body name="{name}-b" pos="0 0 .3"><freejoint/><geom size=".02" mass="1"/>{comp}</body>'
    return comp


def composite(rng: Random) -> str:
    """A cable, or particles with a material between them."""
    if rng.random() < 0.5:
        shape = one_of(rng, ("box", ".04 .01 .005"), ("capsule", ".008 0.02"), ("cylinder", ".008 .02"))
        cable = plugin("elasticity.cable", twist="1e6", bend=one_of(rng, "4e6", "1e7"), vmax="0.05")
        return f"""<composite type="cable" curve="{one_of(rng, "s", "cos(s) sin(s) s", "s 0 sin(s)")}" count="8 1 1"
          size="{one_of(rng, ".5", ".4 .1 6")}" offset="0 1 .6" initial="{one_of(rng, "none", "free", "ball")}">{cable}
          <joint kind="main" damping=".02"/><geom type="{shape[0]}" size="{shape[1]}" condim="1"/></composite>"""
    tendon = one_of(rng, "", '<tendon kind="main" width=".01"/>')
    solid = rng.random() < 0.5
    elastic = material(rng, "solid" if solid else one_of(rng, "shell", "membrane"))
    return f"""<composite type="particle" count="{"3 3 3" if solid else "4 4 1"}" spacing=".1" offset="0 1 .6">
      <geom size=".02" mass=".05"/>{tendon}{elastic}</composite>"""


def devices(rng: Random) -> tuple[str, str, str]:
    """A body with a touch grid, driven by PID actuators: bodies, actuators, sensors."""
    inside = """<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide"/><joint name="r" damping=".1"/>
      <geom type="ellipsoid" size=".1 .12 .06" contype="2" conaffinity="2"/><site name="pad" pos="0 0 .05"/>"""
    gains = {"kp": one_of(rng, 20, 40), "ki": one_of(rng, 0, 20), "kd": one_of(rng, 0, 2)}
    if rng.random() < 0.5:
        gains |= {"slewmax": 3, "imax": 1}
    dynamics = one_of(rng, "", 'dyntype="filter" dynprm=".05"', 'dyntype="integrator" actrange="-1 1"')
    servo = plugin("pid", **gains).replace("<plugin ", f'<plugin joint="z" ctrlrange="-1 1" {dynamics} ', 1)
    gamma, channels = one_of(rng, 0, 0.5), one_of(rng, 1, 3, 6)
    grid = plugin("sensor.touch_grid", size="5 4", fov="60 45", gamma=gamma, nchannel=channels)
    sensor = grid.replace("<plugin ", '<plugin name="touch" objtype="site" objname="pad" ', 1)
    body = f'<body name="finger" pos=".1 .1 .12">{inside}</body>'
    return body, servo, sensor


def plugin_model(seed: int) -> str:
    """A random model with plugins; settings of the solver go round with the seed."""
    rng = np.random.default_rng(seed)
    options = OPTIONS.format(
        one_of(rng, "Euler", "RK4", "implicit", "implicitfast"), one_of(rng, "Newton", "CG", "PGS"),
        one_of(rng, "pyramidal", "elliptic"), one_of(rng, "dense", "sparse"),
    )  # fmt: skip
    world, servo, sensor = devices(rng) if seed % 2 else ("", "", "")
    world += flexcomp(rng, "f") if seed % 3 else composite(rng)
    if seed % 5 == 0:
        torus = plugin("sdf.torus", radius1="0.1", radius2="0.04")
        geom = f'<geom type="sdf" size=".1" mass="1" mesh="torus">{torus}</geom>'
        world += f'<body pos="-.5 -.5 .06"><freejoint/>{geom}</body>'
        world += '<body pos="-.4 -.5 .25"><freejoint/><geom size=".05"/></body>'
        asset = f'<asset><mesh name="torus">{torus}</mesh></asset>'
    else:
        asset = ""
    # the grid does not meet flexes: forces on it have the wrong sign in the reference (docs/differences.md)
    both = 'contype="3" conaffinity="3"'
    world += f'<body pos=".05 .05 .6"><freejoint/><geom size=".04" {both}/></body>'
    world += f'<geom type="plane" size="2 2 .1" {both}/>'
    return (
        f"<mujoco>{options}<extension>{EXTENSION}</extension>{asset}<worldbody>{world}</worldbody>"
        f"<actuator>{servo}</actuator><sensor>{sensor}</sensor></mujoco>"
    )
