"""An engine plugin of one's own: a motor that gets warm, and is weaker when it is hot.

The plugin is an actuator and a sensor at once. Its state is the temperature, which every step changes; the sensor tells
it. All its functions are compiled, so that simulations with it run without the GIL.

Run it with ``python examples/own_plugin.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import cardan
from cardan import kernel, plugin_number

MODEL = """
<mujoco>
  <extension>
    <plugin plugin="example.warm_motor">
      <instance name="motor">
        <config key="torque" value="2"/>
        <config key="heating" value="60"/>
        <config key="cooling" value="0.5"/>
      </instance>
    </plugin>
  </extension>
  <worldbody>
    <body>
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    </body>
  </worldbody>
  <actuator><plugin joint="hinge" instance="motor" ctrlrange="-1 1"/></actuator>
  <sensor><plugin name="temperature" instance="motor"/></sensor>
</mujoco>
"""

DEFAULTS = {"torque": 1.0, "heating": 50.0, "cooling": 1.0}
TORQUE, HEATING, COOLING = range(3)
AMBIENT, LIMIT = 20.0, 120.0
ACTUATOR = int(cardan.mjtPluginCapabilityBit.mjPLUGIN_ACTUATOR)


def numbers(config: Mapping[str, str]) -> np.ndarray:
    """The attributes as numbers; a wrong one is an error that names the element of the model."""
    values = np.array([float(config.get(key, default)) for key, default in DEFAULTS.items()])
    if (values < 0.0).any():
        raise ValueError("torque, heating and cooling must not be negative")
    return values


def init(m: cardan.MjModel, d: cardan.MjData, instance: int) -> np.ndarray:
    """What compiled functions get by `plugin_number`."""
    return numbers(cardan.plugin_config(m, instance))


@kernel
def reset(m: Any, d: Any, instance: int) -> None:
    """Begin at ambient temperature, degrees C."""
    d.plugin_state[m.plugin_stateadr[instance]] = AMBIENT


@kernel
def compute(m: Any, d: Any, instance: int, capability: int) -> None:
    """Forces of the actuators, or values of the sensors, of an instance."""
    temperature = d.plugin_state[m.plugin_stateadr[instance]]
    if capability == ACTUATOR:
        strength = min(max((LIMIT - temperature) / (LIMIT - AMBIENT), 0.0), 1.0)
        for i in range(m.nu):
            if m.actuator_plugin[i] == instance:
                d.actuator_force[i] = plugin_number(d, instance, TORQUE) * strength * d.ctrl[i]
    else:
        for i in range(m.nsensor):
            if m.sensor_plugin[i] == instance:
                d.sensordata[m.sensor_adr[i]] = temperature


@kernel
def advance(m: Any, d: Any, instance: int) -> None:
    """Heat by the square of the force, cool towards ambient temperature."""
    state = m.plugin_stateadr[instance]
    heat = 0.0
    for i in range(m.nu):
        if m.actuator_plugin[i] == instance:
            heat += plugin_number(d, instance, HEATING) * d.actuator_force[i] * d.actuator_force[i]
    loss = plugin_number(d, instance, COOLING) * (d.plugin_state[state] - AMBIENT)
    d.plugin_state[state] += m.opt.timestep * (heat - loss)


def register() -> None:
    """Register the plugin. A package names this function in its entry-point group ``cardan.plugins``."""
    cardan.register_plugin(
        "example.warm_motor",
        capabilities=("actuator", "sensor"),
        attributes=DEFAULTS,
        nstate=1,
        nsensordata=1,
        validate=numbers,
        init=init,
        reset=reset,
        compute=compute,
        advance=advance,
    )


def main() -> None:
    """Drive the motor for three seconds, and print what it does."""
    register()
    m = cardan.MjModel.from_xml_string(MODEL)
    d = cardan.MjData(m)
    d.ctrl[0] = 1.0
    while d.time < 3.0:
        cardan.mj_step(m, d, nstep=250)
        print(f"{d.time:.1f} s: {d.sensordata[0]:5.1f} degrees C, {d.actuator_force[0]:.2f} N m")


if __name__ == "__main__":
    main()
