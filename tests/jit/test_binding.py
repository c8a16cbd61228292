"""Functions of the interface as native code: what fits goes straight to the kernel, all else the careful way."""

from __future__ import annotations

import contextlib
import gc
import inspect
import pickle
import pkgutil
import sys
import threading
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import cardan
import cardan.api
from cardan.api.native_call import NativeCall
from cardan.jit import jit_enabled
from cardan.jit.binding.arguments import Array, Integer
from cardan.jit.binding.functions import Binding, KernelBinding
from cardan.jit.binding.objects import layout_is_known

XML = """
<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
 <body name="a" pos="0 0 .09"><freejoint/><geom size=".1"/><site/>
  <body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".05 .1" type="capsule"/></body></body>
 <flexcomp name="f" type="grid" dim="1" count="3 1 1" spacing=".1 .1 .1" pos="0 0 1" mass="1"/>
</worldbody></mujoco>"""
for module in pkgutil.iter_modules(cardan.api.__path__, "cardan.api."):
    import_module(module.name)  # all functions are declared then, however lazily the package imports
KERNELS = {name: b for name, b in Binding.all.items() if isinstance(b, KernelBinding)}


@pytest.fixture(scope="module")
def pair() -> tuple[Any, Any]:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    return m, d


def size_of(size: int | str, m: Any, d: Any, nray: int = 2) -> int:
    product = 1
    for factor in str(size).split("*"):
        if factor.isdigit():
            product *= int(factor)
        elif factor == "nray":
            product *= nray
        else:
            size = getattr(m, factor, None) or getattr(d, factor, None)
            product *= size if isinstance(size, int) else 2  # any length, or that of another argument
    return product


def fitting(binding: KernelBinding, m: Any, d: Any) -> list[Any]:
    """Arguments that the native code of a function accepts."""
    values: list[Any] = []
    for name in binding.abi.parameters:
        argument = binding.abi.described(name)
        if argument is None:
            values.append(m if name == "m" else d)
        elif isinstance(argument, Array):
            shape = [m.nq] if name == "state" else [size_of(n, m, d) for n in argument.shape]
            values.append(np.ones(shape, {"i4": np.int32, "u1": np.uint8}.get(argument.dtype, np.float64)))
        elif isinstance(argument, Integer):
            values.append({"nray": 2, "objtype": 1, "spec": int(cardan.mjtState.mjSTATE_QPOS)}.get(name, 0))
        else:
            values.append(0.5)
    return values


class Odd:
    """Raises whatever one asks of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def wrong_values() -> list[Any]:
    return [
        *(None, True, "text", b"text", [], [1.0, 2.0], (1,), {}, 1, -1, 10**30, -(10**30), 2.5, float("nan")),
        *(np.float64(1), np.int32(1), np.int64(-5), np.zeros(0), np.zeros(3)[::2], np.zeros((3, 3)).T),
        np.zeros(3, ">f8"),
        *(np.zeros((2, 2, 2)), np.zeros(4, np.float32), np.zeros(4, object), np.zeros((), float), np.matrix("1 2 3")),
        *(np.frombuffer(bytes(24)), np.zeros(25, np.uint8)[1:].view(np.float64), Odd(), object(), cardan.MjModel, type),
        *(cardan.mjtObj.mjOBJ_GEOM, object.__new__(cardan.mjtObj), object.__new__(cardan.MjData)),
        object.__new__(cardan.MjModel),
    ]  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_no_wrong_argument_crashes(name, pair):
    function, arguments = KERNELS[name].builtin, fitting(KERNELS[name], *pair)
    for i in range(len(arguments)):
        for wrong in wrong_values():
            values = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            values[i] = wrong
            try:
                function(*values)
            except (TypeError, ValueError, IndexError, OverflowError, cardan.FatalError) as error:
                assert str(error)
            except (RuntimeError, AttributeError):
                assert isinstance(wrong, (Odd, cardan.MjData, cardan.MjModel, cardan.mjtObj))
    for count in range(len(arguments)):
        with pytest.raises(TypeError):
            function(*arguments[:count])
    with pytest.raises(TypeError):
        function(*arguments, 1)
    with pytest.raises(TypeError):
        function(*arguments[:-1], nonsense=1)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
@pytest.mark.parametrize("name", KERNELS)
def test_what_fits_never_goes_the_careful_way(name, pair, monkeypatch):
    binding = KERNELS[name]
    arguments = fitting(binding, *pair)
    parameters = binding.abi.parameters
    try:
        first = binding.builtin(*arguments)
    except cardan.FatalError:  # these values are refused for what they are
        return
    assert layout_is_known()

    def careful(self: Any, args: Any, kwargs: Any) -> None:
        raise AssertionError(f"{name} went the careful way")

    monkeypatch.setattr(NativeCall, "careful", careful)
    for split in range(len(arguments) + 1):
        by_name = dict(zip(parameters[split:], arguments[split:], strict=True))
        result = binding.builtin(*arguments[:split], **dict(reversed(by_name.items())))
        assert type(result) is type(first)


def test_both_ways_give_the_same(pair):
    for name, binding in KERNELS.items():
        rng = np.random.default_rng(1)
        arguments = fitting(binding, *pair)
        for value in arguments:
            if isinstance(value, np.ndarray) and value.dtype == np.float64:
                value[...] = rng.normal(size=value.shape)
        twin = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            result = binding.builtin(*arguments)  # first, because it loads the native code
        except cardan.FatalError:
            continue
        np.testing.assert_equal(result, binding.careful(tuple(twin), {}), name)
        for value, other in zip(arguments, twin, strict=True):
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(value, other, name)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_references_are_balanced(pair):
    m, d = pair
    target, source = np.zeros((3, m.nv)), np.ones(3)
    for _ in range(10):
        cardan.mj_jac(m, d, target, None, source, 1)
    things = (m, d, target, source, cardan.mj_jac)
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(1000):
        cardan.mj_jac(m, d, target, None, source, body=1)
        cardan.mj_step(m, d)
        cardan.mj_step(m, d, nstep=2)
        with contextlib.suppress(TypeError):
            cardan.mj_jac(m, d, target, None, source[:2], 1)
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert all(abs(a - b) < 100 for a, b in zip(after, before, strict=True)), (before, after)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_results_are_counted_once(pair):
    quat, before = np.ones(4), sys.getrefcount(None)
    for _ in range(100_000):
        cardan.mju_negQuat(quat, quat)
    assert abs(sys.getrefcount(None) - before) < 10_000  # others use None, too


def test_arrays_at_odd_addresses():
    target, quat = (np.zeros(33, np.uint8)[1:].view(np.float64) for _ in range(2))
    quat[:] = 0.5, 0.5, 0.5, 0.5
    cardan.mju_negQuat(target, quat)
    assert target.tolist() == [0.5, -0.5, -0.5, -0.5]


def test_functions_look_like_functions():
    for name, binding in Binding.all.items():
        function = binding.builtin
        assert (function.__name__, function.__qualname__, function.__module__) == (name, name, "cardan")
        assert pickle.loads(pickle.dumps(function)) is function
        assert list(inspect.signature(function).parameters) == list(inspect.signature(binding.function).parameters)
        assert inspect.getdoc(function) == inspect.getdoc(binding.function)


def test_steps_with_a_number(pair):
    m, _ = pair
    ends = []
    for call in (
        lambda d: [cardan.mj_step(m, d) for _ in range(6)],
        lambda d: cardan.mj_step(m, d, 6),
        lambda d: cardan.mj_step(m, d, nstep=6),
        lambda d: cardan.mj_step(m=m, d=d, nstep=np.int64(6)),
    ):
        d = cardan.MjData(m)
        call(d)
        ends.append((d.time, d.qpos.tolist()))
    assert all(end == ends[0] for end in ends)
    for wrong in ("2", 1.5, None):
        with pytest.raises(TypeError):
            cardan.mj_step(m, cardan.MjData(m), nstep=wrong)
    with pytest.raises(TypeError):
        cardan.mj_forward(m, cardan.MjData(m), nstep=1)


def test_options_may_change_while_another_thread_steps(pair):
    m = cardan.MjModel.from_xml_string(XML)
    stop = threading.Event()

    def work() -> None:
        d = cardan.MjData(m)
        while not stop.is_set():
            cardan.mj_step(m, d, 5)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for k in range(50):
        m.opt.iterations = 10 + k % 2
    stop.set()
    for thread in threads:
        thread.join()
