"""The driver of GPUs, against an interface that keeps account of every call: order, sizes, errors, graphs, leaks."""

import ctypes
import gc
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from jit.fake_cuda import FakeDriver, Result

from cardan.jit.driver.cuda import CudaError, Gpu, GpuMemoryError

PTX = "// a stage\n.visible .entry cardan_kernel(\n)"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))


@pytest.fixture
def driver():
    return FakeDriver()


@pytest.fixture
def gpu(driver):
    gpu = Gpu(interface=driver)
    yield gpu
    gpu.close()
    assert driver.left() == {}
    assert driver.contexts == []


def test_a_gpu_is_opened_and_closed(driver):
    gpu = Gpu(interface=driver)
    assert gpu.architecture == "sm_90"
    names = driver.names()
    assert names[0] == "cuInit"
    assert names.index("cuDevicePrimaryCtxRetain") < names.index("cuStreamCreate")
    gpu.close()
    assert driver.names()[-3:] == ["cuStreamSynchronize", "cuStreamDestroy", "cuDevicePrimaryCtxRelease"]
    assert driver.left() == {} and driver.contexts == []
    gpu.close()
    with pytest.raises(CudaError, match="was closed"):
        gpu.allocate(8)


@pytest.mark.parametrize(
    ("machine", "number", "words"),
    [
        ({"count": 0}, 0, "there is no GPU that CUDA can use"),
        ({"count": 2}, 2, "no GPU number 2: this machine has 2"),
        ({"count": 2}, -1, "no GPU number -1"),
        ({"version": 11080}, 0, "too old: it supports CUDA 11.8, 12.0 or later"),
        ({"capability": (7, 5)}, 0, "compute capability 7.5; 8.0 or later"),
    ],
)
def test_machines_that_will_not_do(machine, number, words):
    driver = FakeDriver(**machine)
    with pytest.raises(CudaError, match=words):
        Gpu(number, interface=driver)
    assert driver.left() == {}


def test_a_gpu_without_a_stream_is_given_back(driver):
    driver.failing["cuStreamCreate"] = Result.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(CudaError, match="OUT_OF_MEMORY to cuStreamCreate"):
        Gpu(interface=driver)
    assert driver.left() == {} and driver.contexts == []


def test_without_the_package_the_extra_is_named(monkeypatch):
    for name in ("cuda.bindings", "cuda.bindings.driver"):  # an earlier test may have imported it
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CudaError, match=r"pip install 'cardan\[cuda\]'"):
        Gpu()


def test_without_a_driver_the_error_says_so():
    pytest.importorskip("cuda.bindings", reason="cuda-bindings is not installed (extra cardan[cuda])")
    try:
        gpu = Gpu()
    except CudaError as error:
        assert "driver" in str(error) or "no GPU" in str(error)
    else:  # a machine with a GPU
        assert gpu.architecture.startswith("sm_")
        gpu.close()


def test_arguments_are_of_the_kinds_that_the_real_interface_takes():
    """It converts arguments, then looks for the driver's library: only that may fail."""
    real = pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed (extra cardan[cuda])")
    try:
        real.cuInit(0)
    except RuntimeError as error:
        missing = type(error)
    else:
        pytest.skip("there is a driver: calls would be done")
    words = ((1, -2), (ctypes.c_int64, ctypes.c_int64))
    for call in (
        lambda: real.cuStreamCreate(int(real.CUstream_flags.CU_STREAM_DEFAULT)),
        lambda: real.cuEventCreate(int(real.CUevent_flags.CU_EVENT_DISABLE_TIMING)),
        lambda: real.cuEventRecord(real.CUevent(0), real.CUstream(0)),
        lambda: real.cuStreamWaitEvent(real.CUstream(0), real.CUevent(0), 0),
        lambda: real.cuEventDestroy(real.CUevent(0)),
        lambda: real.cuModuleLoadData(b"code"),
        lambda: real.cuLinkCreate(0, [], []),
        lambda: real.cuMemAlloc(8),
        lambda: real.cuMemsetD8Async(4096, 0, 8, real.CUstream(0)),
        lambda: real.cuMemcpyHtoDAsync(4096, np.zeros(1).ctypes.data, 8, real.CUstream(0)),
        lambda: real.cuMemcpyDtoHAsync(np.zeros(1).ctypes.data, 4096, 8, real.CUstream(0)),
        lambda: real.cuLaunchKernel(real.CUfunction(0), 1, 1, 1, 32, 1, 1, 0, real.CUstream(0), words, 0),
        lambda: real.cuStreamBeginCapture(
            real.CUstream(0), real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        ),
        lambda: real.cuModuleGetFunction(real.CUmodule(0), b"cardan_kernel"),
        lambda: real.cuGraphInstantiate(real.CUgraph(0), 0),
        lambda: real.cuLinkAddData(
            real.CUlinkState(0), real.CUjitInputType.CU_JIT_INPUT_PTX, b"code\0", 5, b"name", 0, [], []
        ),
    ):
        with pytest.raises(missing, match="driver"):
            call()


def test_memory_keeps_what_is_written(gpu, driver):
    memory = gpu.allocate(64)
    np.testing.assert_array_equal(memory.read((8,), np.float64), np.zeros(8))
    memory.write(np.arange(3.0), offset=16)
    np.testing.assert_array_equal(memory.read((4,), np.float64, offset=8), [0, 0, 1, 2])
    sizes = [a[2] for name, a in driver.calls if name.startswith("cuMemcpy")]
    assert sizes == [64, 24, 32]
    # what was read has arrived, what was written may be changed
    assert driver.names()[-1] == "cuStreamSynchronize"
    for bad in (lambda: memory.write(np.zeros(8), offset=8), lambda: memory.read((1,), np.int64, offset=-8)):
        with pytest.raises(ValueError, match="not in a memory of 64 bytes"):
            bad()
    transposed = np.arange(6.0).reshape(2, 3).T
    np.testing.assert_array_equal(gpu.upload(transposed).read((3, 2), np.float64), transposed)
    assert gpu.allocate(0).read((0,), np.float64).size == 0


def test_memory_that_does_not_fit_is_named():
    driver = FakeDriver(memory=2**20)
    gpu = Gpu(interface=driver)
    kept = gpu.allocate(2**19)
    with pytest.raises(GpuMemoryError, match=r"no room for 2.0 MiB: 0.5 MiB of 1.0 MiB are free") as caught:
        gpu.allocate(2**21)
    assert (caught.value.asked, caught.value.free) == (2**21, 2**19)
    assert isinstance(caught.value, MemoryError)
    kept.free()
    kept.free()
    gpu.allocate(2**20).free()
    gpu.close()
    assert driver.left() == {}


def test_memory_is_freed_with_its_object(gpu, driver):
    memory = gpu.allocate(100)
    assert driver.left()["memory"] == 1
    del memory
    gc.collect()
    assert "memory" not in driver.left()
    # what runs may still use it
    assert driver.names()[-2:] == ["cuStreamSynchronize", "cuMemFree"]


def test_a_kernel_is_assembled_once_for_an_architecture_and_a_driver(driver):
    for machine, assembled in ((driver, 1), (FakeDriver(), 0), (FakeDriver(capability=(12, 0)), 1), (FakeDriver(), 0)):
        gpu = Gpu(interface=machine)
        first = gpu.kernel("dynamics.kinematics", PTX)
        assert gpu.kernel("dynamics.kinematics", PTX) == first == "dynamics.kinematics"
        assert machine.names().count("cuLinkComplete") == assembled
        assert machine.names().count("cuModuleLoadData") == 1
        gpu.close()
        assert machine.left() == {}
    newer = FakeDriver(version=13050)
    gpu = Gpu(interface=newer)
    gpu.kernel("dynamics.kinematics", PTX)
    assert "cuLinkComplete" in newer.names()
    gpu.close()


def test_code_that_is_refused_names_the_stage(gpu, driver):
    with pytest.raises(CudaError, match=r"solver\.newton: .*INVALID_PTX to cuLinkAddData \(PTX for sm_90") as caught:
        gpu.kernel("solver.newton", "nonsense")
    assert caught.value.code == "CUDA_ERROR_INVALID_PTX"
    assert "link" not in driver.left()


def test_launches_have_their_sizes_and_words(gpu, driver):
    seen = []
    driver.run = lambda *launch: seen.append(launch)
    gpu.launch(gpu.kernel("a", PTX), 4, 128, 11, -2)
    assert seen == [("a", 4, 128, (11, -2))]
    with pytest.raises(CudaError, match="INVALID_VALUE to cuLaunchKernel"):
        gpu.launch(gpu.kernel("a", PTX), 4, 2048)


def test_a_graph_runs_what_was_captured(gpu, driver):
    seen = []
    driver.run = lambda *launch: seen.append(launch)
    a, b = gpu.kernel("a", PTX), gpu.kernel("b", PTX + "//")

    def step():
        for k, kernel in enumerate((a, b, a)):
            gpu.launch(kernel, 2, 32, k)

    start = len(driver.calls)
    graph = gpu.capture(step)
    assert seen == []
    assert [name for name in driver.names(start) if name != "cuLaunchKernel"] == [
        *("cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate", "cuGraphDestroy")
    ]
    graph.launch()
    graph.launch()
    assert seen == 2 * [("a", 2, 32, (0,)), ("b", 2, 32, (1,)), ("a", 2, 32, (2,))]
    graph.free()
    graph.free()
    assert "exec" not in driver.left()
    with pytest.raises(CudaError, match="freed"):
        graph.launch()


def test_a_capture_that_fails_leaves_nothing_open(gpu, driver):
    memory = gpu.allocate(8)

    def copies():
        memory.read((1,), np.float64)  # can't be captured

    with pytest.raises(CudaError, match="CAPTURE_UNSUPPORTED"):
        gpu.capture(copies)
    assert driver.capturing is None
    assert "graph" not in driver.left()
    gpu.wait()
    driver.failing["cuGraphInstantiate"] = Result.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(CudaError, match=r"no room for the local memory .* cuGraphInstantiate .* fewer worlds"):
        gpu.capture(lambda: None)
    assert "graph" not in driver.left()


def test_work_waits_for_another_stream(gpu, driver):
    start = len(driver.calls)
    gpu.wait_for(7)
    assert driver.names(start) == ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy"]
    assert driver.calls[start + 2][1][1] == 7
    assert "event" not in driver.left()


def test_what_goes_wrong_on_the_gpu_is_told_when_it_is_waited_for(gpu, driver):
    driver.failing["cuStreamSynchronize"] = Result.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(CudaError, match="ILLEGAL_ADDRESS to cuStreamSynchronize"):
        gpu.wait()
    driver.failing.clear()


def test_everything_is_freed_with_the_gpu(driver):
    gpu = Gpu(interface=driver)
    kept = [gpu.allocate(16), gpu.upload(np.ones(3)), gpu.capture(lambda: None)]
    gpu.kernel("a", PTX)
    gpu.close()
    assert driver.left() == {}
    del kept  # freeing again does nothing
    gc.collect()
    assert driver.names().count("cuMemFree") == 2


def test_nothing_is_freed_while_a_stream_captures(gpu, driver):
    """Memory in a cycle of references, which Python's collector frees when it likes."""
    cycle = SimpleNamespace(memory=gpu.allocate(8))
    cycle.itself = cycle
    kernel = gpu.kernel("dynamics.kinematics", PTX)

    def launches():
        nonlocal cycle
        cycle = None
        made = [SimpleNamespace(number=k) for k in range(5000)]  # would have the collector run
        assert made
        gpu.launch(kernel, 1, 32)

    assert gc.isenabled()
    gpu.capture(launches).launch()
    assert gc.isenabled()
    assert driver.left()["memory"] == 1
    gc.collect()
    assert "memory" not in driver.left()


def test_after_an_error_in_a_kernel_closing_gives_up():
    driver = FakeDriver()
    gpu = Gpu(interface=driver)
    memory = gpu.allocate(8)
    driver.failing["cuStreamSynchronize"] = Result.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(CudaError, match="ILLEGAL_ADDRESS"):
        gpu.close()
    assert not gpu.is_open
    gpu.close()
    memory.free()
    assert driver.contexts == []
