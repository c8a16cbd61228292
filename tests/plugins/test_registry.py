"""The registry of engine plugins: own plugins in Python and compiled, instances, states, copies, files, errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import mjtState
from cardan.errors import FatalError, MjcfError
from cardan.plugins import PLUGINS

NAME = "test.plugin"


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """Own plugins are gone after each test."""
    before = dict(PLUGINS)
    yield
    PLUGINS.clear()
    PLUGINS.update(before)


def counter(m: Any, d: Any, instance: int) -> None:
    """Count steps in the first number of the state."""
    d.plugin_state[m.plugin_stateadr[instance]] += 1.0


def push(m: Any, d: Any, instance: int, capability: int) -> None:
    """A force of 2 plus the state, on the first dof."""
    d.qfrc_passive[0] += 2.0 + d.plugin_state[m.plugin_stateadr[instance]]


BOTH = pytest.mark.parametrize("compiled", [False, True])


def own(function: Any, compiled: bool) -> Any:
    """The function itself, or a compiled copy."""
    if not compiled:
        return function
    clone = type(function)(function.__code__, function.__globals__, function.__name__)
    return cardan.kernel(clone)


def body_model(plugin: str = NAME, inner: str = "", extension: str = "") -> cardan.MjModel:
    """A sliding body with a plugin."""
    return cardan.MjModel.from_xml_string(f"""
    <mujoco><option gravity="0 0 0"/>
      <extension><plugin plugin="{plugin}">{extension}</plugin></extension>
      <worldbody><body><joint type="slide" name="j"/><geom size=".1"/><site name="s"/>{inner}</body></worldbody>
    </mujoco>""")


def pushing(compiled: bool, **more: Any) -> cardan.MjModel:
    """A model with an own plugin of passive forces that counts steps."""
    cardan.register_plugin(
        NAME,
        capabilities="passive",
        attributes=["a", "b"],
        nstate=2,
        compute=own(push, compiled),
        advance=own(counter, compiled),
        **more,
    )
    return body_model(inner=f'<plugin plugin="{NAME}"><config key="b" value="7 8"/></plugin>')


@BOTH
def test_passive_forces_and_state(compiled: bool) -> None:
    m = pushing(compiled)
    d = cardan.MjData(m)
    for _ in range(3):
        cardan.mj_step(m, d)
    assert d.plugin_state.tolist() == [3.0, 0.0]
    assert d.qfrc_passive[0] == 4.0
    assert m.body_plugin.tolist() == [-1, 0]
    assert cardan.plugin_config(m, 0) == {"b": "7 8"}
    m.opt.disableflags |= cardan.mjtDisableBit.mjDSBL_PASSIVE
    cardan.mj_forward(m, d)
    assert d.qfrc_passive[0] == 0.0


@BOTH
def test_state_is_copied_saved_and_reset(compiled: bool) -> None:
    m = pushing(compiled)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, nstep=4)
    assert copy.copy(d).plugin_state[0] == copy.deepcopy(d).plugin_state[0] == 4.0
    assert pickle.loads(pickle.dumps(d)).plugin_state[0] == 4.0
    state = np.zeros(cardan.mj_stateSize(m, mjtState.mjSTATE_PLUGIN))
    cardan.mj_getState(m, d, state, mjtState.mjSTATE_PLUGIN)
    assert state.tolist() == [4.0, 0.0]
    other = cardan.mj_copyData(cardan.MjData(m), m, d)
    assert other.plugin_state[0] == 4.0
    cardan.mj_resetData(m, d)
    assert d.plugin_state[0] == 0.0
    cardan.mj_setState(m, d, state, mjtState.mjSTATE_PLUGIN)
    assert d.plugin_state[0] == 4.0


@BOTH
def test_reset_follows_resets_of_every_kind(compiled: bool) -> None:
    m = pushing(compiled, reset=own(counter, compiled))
    d = cardan.MjData(m)
    assert d.plugin_state[0] == 1.0
    cardan.mj_resetData(m, d)
    assert d.plugin_state[0] == 1.0
    d.qpos[0] = np.nan
    with pytest.warns(RuntimeWarning, match="qpos"):
        cardan.mj_step(m, d)
    assert d.plugin_state[0] == 2.0  # reset, then one step


def test_life_of_an_instance() -> None:
    calls: list[Any] = []

    def init(m: Any, d: Any, instance: int) -> dict[str, int]:
        calls.append("init")
        return {"made": instance}

    def copied(dest: Any, m: Any, src: Any, instance: int) -> None:
        calls.append("copy")
        cardan.plugin_data(m, dest, instance)["made"] = cardan.plugin_data(m, src, instance)["made"] + 1

    m = pushing(False, init=init, copy=copied, destroy=lambda data, instance: calls.append(("destroy", data["made"])))
    calls.clear()  # the compiler made data, too
    d = cardan.MjData(m)
    cardan.mj_resetData(m, d)
    assert d.plugin_data[0] == id(cardan.plugin_data(m, d, 0))
    e = copy.copy(d)
    assert cardan.plugin_data(m, e, 0) == {"made": 1}
    assert calls == ["init", "init", "copy"]
    del d
    assert calls[-1] == ("destroy", 0)


@cardan.kernel
def rate(m: Any, d: Any, instance: int) -> None:
    """The first activation of each actuator grows by 2 per second."""
    for i in range(m.nu):
        if m.actuator_plugin[i] == instance:
            d.act_dot[m.actuator_actadr[i]] = 2.0


def test_data_are_made_to_load_a_model_only_where_plugins_may_look_at_them() -> None:
    seen = []

    def init(m: Any, d: Any, instance: int) -> None:
        seen.append(type(d))

    pushing(False, init=init)
    assert seen == [cardan.MjData]
    shell = """<mujoco><extension><plugin plugin="mujoco.elasticity.shell"/></extension><worldbody>
        <flexcomp name="f" type="direct" dim="2" radius=".01" point="0 0 0 .1 0 0 {} 0 .3 0 0" element="0 1 2 1 3 2">
        <plugin plugin="mujoco.elasticity.shell"><config key="young" value="1e4"/>
        <config key="thickness" value=".01"/></plugin></flexcomp></worldbody></mujoco>"""
    assert cardan.MjModel.from_xml_string(shell.format("0 .1")).nplugin == 1
    with pytest.raises(MjcfError, match="a triangle has no area"):
        cardan.MjModel.from_xml_string(shell.format(".2 0"))


def test_actuator_with_activations_and_compiled_data() -> None:
    number = cardan.plugin_number

    @cardan.kernel
    def native(m: Any, d: Any, instance: int, capability: int) -> None:
        for i in range(m.nu):
            if m.actuator_plugin[i] == instance:
                d.actuator_force[i] = number(d, instance, 1) * d.ctrl[i]

    cardan.register_plugin(
        NAME,
        capabilities=["actuator"],
        attributes=["k"],
        actdim=lambda config: 1 if "k" in config else 0,
        init=lambda m, d, i: np.array([0.0, float(cardan.plugin_config(m, i).get("k", "5"))]),
        compute=native,
        act_dot=rate,
    )
    m = cardan.MjModel.from_xml_string(f"""
    <mujoco>
      <extension><plugin plugin="{NAME}"><instance name="i"><config key="k" value="3"/></instance></plugin></extension>
      <worldbody><body><joint type="slide" name="j"/><geom size=".1"/></body></worldbody>
      <actuator>
        <plugin joint="j" instance="i" dyntype="filter" dynprm="0.5" forcerange="-4 4"/>
        <plugin joint="j" instance="i"/>
      </actuator>
    </mujoco>""")
    assert m.actuator_actnum.tolist() == [2, 1]
    assert m.actuator_actadr.tolist() == [0, 2]
    d = cardan.MjData(m)
    d.ctrl[:] = 2.0, 1.0
    cardan.mj_forward(m, d)
    assert d.actuator_force.tolist() == [4.0, 3.0]  # 6, limited; 3
    assert d.act_dot.tolist() == [2.0, 4.0, 2.0]
    m.opt.disableactuator = 1
    cardan.mj_forward(m, d)
    assert not d.actuator_force.any()


@pytest.mark.parametrize("stage", ["POS", "VEL", "ACC"])
def test_sensor_of_each_stage(stage: str) -> None:
    def sense(m: Any, d: Any, instance: int, capability: int) -> None:
        assert capability == cardan.mjtPluginCapabilityBit.mjPLUGIN_SENSOR
        for i in np.flatnonzero(m.sensor_plugin == instance):
            d.sensordata[m.sensor_adr[i] : m.sensor_adr[i] + 2] = 9.0, d.time

    cardan.register_plugin(
        NAME,
        capabilities=("sensor",),
        needstage=getattr(cardan.mjtStage, f"mjSTAGE_{stage}"),
        nsensordata=2,
        compute=sense,
    )
    m = cardan.MjModel.from_xml_string(f"""
    <mujoco><extension><plugin plugin="{NAME}"/></extension>
      <worldbody><body><joint/><geom size=".1"/><site name="s"/></body></worldbody>
      <sensor><clock/><plugin plugin="{NAME}" cutoff="5" objtype="site" objname="s"/><clock/></sensor></mujoco>""")
    assert m.sensor_dim.tolist() == [1, 2, 1]
    assert m.sensor_type[1] == cardan.mjtSensor.mjSENS_PLUGIN
    d = cardan.MjData(m)
    d.time = 3.0
    cardan.mj_forward(m, d)
    assert d.sensordata.tolist() == [3.0, 5.0, 3.0, 3.0]


def test_names_not_numbers_are_saved(tmp_path: Any) -> None:
    cardan.register_plugin("test.first", capabilities="passive", compute=push)
    m = pushing(True)
    data, file = pickle.dumps(m), tmp_path / "model.cdn"
    cardan.mj_saveModel(m, str(file))
    PLUGINS.pop("test.first")  # another order of registration
    for n in (pickle.loads(data), cardan.MjModel.from_binary_path(str(file)), copy.deepcopy(m)):
        d = cardan.MjData(n)
        cardan.mj_step(n, d)
        assert d.plugin_state[0] == 1.0
    assert pickle.loads(data).plugin[0] == m.plugin[0] - 1
    PLUGINS.pop(NAME)
    n = pickle.loads(data)
    assert n.plugin[0] == -1
    with pytest.raises(ValueError, match=r"'test\.plugin', which is not registered: see register_plugin"):
        cardan.MjData(n)


def test_model_is_written_and_read_again() -> None:
    m = pushing(False)
    again = cardan.MjModel.from_xml_string(m.to_xml())
    assert cardan.plugin_config(again, 0) == {"b": "7 8"}
    assert again.body_plugin.tolist() == m.body_plugin.tolist()


def test_exceptions_come_out_of_the_call() -> None:
    def fail(m: Any, d: Any, instance: int, capability: int) -> None:
        raise KeyError("mine")

    cardan.register_plugin(NAME, capabilities="passive", compute=fail)
    m = body_model(inner=f'<plugin plugin="{NAME}"/>')
    d = cardan.MjData(m)
    with pytest.raises(KeyError, match="mine"):
        cardan.mj_step(m, d)


WRONG = {
    '<plugin plugin="test.none"/>': r"no plugin 'test\.none'; register it",
    '<plugin plugin="mujoco.sdf.bolt"/>': r"'mujoco\.sdf\.bolt' is not declared: add",
    "<plugin/>": "plugin or instance must be given",
    '<plugin instance="x"/>': "there is no plugin named 'x'",
    '<plugin instance="i" plugin="mujoco.sdf.bolt"/>': r"instance 'i' is one of test\.plugin",
    f'<plugin plugin="{NAME}"><config key="c" value="1"/></plugin>': "no attribute 'c'; it has: a, b",
    f'<plugin plugin="{NAME}"><config value="1"/></plugin>': "key",
    f'<plugin plugin="{NAME}"><config key="a" value="bad"/></plugin>': "a must be good",
    f'<plugin plugin="{NAME}"><config key="a" value="1"/><config key="a" value="2"/></plugin>': "'a' stands twice",
}


@pytest.mark.parametrize("inner", WRONG)
def test_bad_input_is_explained(inner: str) -> None:
    def validate(config: Any) -> None:
        if config.get("a") == "bad":
            raise ValueError("a must be good")

    cardan.register_plugin(NAME, capabilities="passive", attributes=["a", "b"], compute=push, validate=validate)
    with pytest.raises(MjcfError, match=WRONG[inner]):
        body_model(inner=inner, extension='<instance name="i"/>')


def test_other_capability_is_explained() -> None:
    cardan.register_plugin(NAME, capabilities=["actuator", "sensor"], compute=push)
    with pytest.raises(MjcfError, match=r"does not support passive forces; it supports actuator forces, sensors"):
        body_model(inner=f'<plugin plugin="{NAME}"/>')


def test_registration_is_checked() -> None:
    with pytest.raises(ValueError, match=r"'mujoco\.sdf\.bolt' is a plugin of the package"):
        cardan.register_plugin("mujoco.sdf.bolt", capabilities="passive", compute=push)
    with pytest.raises(ValueError, match="capabilities must be some of actuator, sensor, passive"):
        cardan.register_plugin(NAME, capabilities="sdf", compute=push)
    with pytest.raises(ValueError, match="compute is missing"):
        cardan.register_plugin(NAME, capabilities="passive")
    with pytest.raises(TypeError, match="init must be a function, not int"):
        cardan.register_plugin(NAME, capabilities="passive", compute=push, init=3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="name must be a string"):
        cardan.register_plugin(7, capabilities="passive", compute=push)  # pyright: ignore[reportArgumentType]


def test_packages_are_found_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    from cardan.plugins import registry

    def register() -> None:
        cardan.register_plugin("test.entry", capabilities="passive", compute=push)

    class Entry:
        def load(self) -> Any:
            return register

    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: [Entry()] if group == "cardan.plugins" else []
    )
    registry._load_packages.cache_clear()
    assert body_model("test.entry", '<plugin plugin="test.entry"/>').nplugin == 1


def test_libraries_of_the_reference_are_built_in(tmp_path: Any) -> None:
    cardan.mj_loadPluginLibrary("/anywhere/libsdf.so")
    with pytest.raises(FatalError, match=r"'mine\.so' contains native plugins.*cardan\.register_plugin"):
        cardan.mj_loadPluginLibrary("mine.so")
    cardan.mj_loadAllPluginLibraries(str(tmp_path))


def test_arguments_are_checked() -> None:
    m = pushing(False)
    with pytest.raises(IndexError, match="no plugin instance 3; the model has 1"):
        cardan.plugin_config(m, 3)
