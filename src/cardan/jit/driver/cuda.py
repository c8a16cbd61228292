"""Access to CUDA's driver: a context on one GPU, memory, kernels from PTX, launches, graphs.

All calls go through `cuda.bindings.driver` (extra ``cardan[cuda]``), or through another object with the same interface;
tests use one that records all calls. All resources are freed when the `Gpu` is closed, or earlier.

It ran on one GPU; tests use a fake driver (docs/gpu.md).
"""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np

from cardan.jit.cache import store as disk
from cardan.jit.target.gpu_kernels import KERNEL

OLDEST_DRIVER = 12000
"""Oldest supported version of the driver: CUDA 12.0."""
OLDEST_CAPABILITY = (8, 0)
OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"
STARTING = ("cuLaunchKernel", "cuGraphInstantiate", "cuGraphLaunch")
"""Driver functions that may allocate local memory for a launch: stacks for all threads that run on the GPU at once."""
LESS = "make a batch of fewer worlds, or free what else is on the GPU"
NO_DRIVER = "there is no CUDA driver on this machine: install NVIDIA's display driver, or use device='cpu'"


class CudaError(RuntimeError):
    """Error: a driver call failed, or the driver or a suitable GPU is missing.

    Attributes:
        code: the driver's name of the error, such as ``"CUDA_ERROR_NO_DEVICE"``; empty if no driver call failed.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class GpuMemoryError(CudaError, MemoryError):
    """Error: the GPU has too little free memory.

    Attributes:
        asked: requested bytes.
        free: bytes that were free.
    """

    def __init__(self, asked: int, free: int, total: int, advice: str = "") -> None:
        super().__init__(
            f"the GPU has no room for {asked / 2**20:,.1f} MiB: {free / 2**20:,.1f} MiB of {total / 2**20:,.1f} MiB "
            f"are free{advice}",
            OUT_OF_MEMORY,
        )
        self.asked = asked
        self.free = free
        self.total = total


def driver_interface() -> Any:
    """Return the module `cuda.bindings.driver`.

    Raises:
        CudaError: the package is not installed.
    """
    try:
        return import_module("cuda.bindings.driver")
    except ModuleNotFoundError:
        raise CudaError("CUDA needs the package cuda-bindings: pip install 'cardan[cuda]'") from None


@contextmanager
def _without_collection() -> Iterator[None]:
    """Context manager that disables Python's garbage collection: no memory may be freed while a stream captures."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Gpu:
    """One GPU: its primary context (shared with other libraries of the process), a stream, and all resources.

    Args:
        number: number of the GPU.
        interface: the driver's interface; `driver_interface()` if not given.

    Attributes:
        number: number of the GPU.
        architecture: name of the architecture, such as ``"sm_90"``.
        multiprocessors: number of multiprocessors, each of which runs some blocks at once.
        stream: stream of all work of this object. It waits for work of other libraries on the default stream, and vice
            versa.

    Raises:
        CudaError: the package, driver or GPU is missing or too old.
    """

    def __init__(self, number: int = 0, interface: Any = None) -> None:
        self._open = False
        self.number = number
        self._interface = driver_interface() if interface is None else interface
        self._start()
        (count,) = self._call("cuDeviceGetCount")
        if not 0 <= number < count:
            raise CudaError(f"there is no GPU number {number}: this machine has {count}, counted from 0")
        (self._device,) = self._call("cuDeviceGet", number)
        capability = tuple(self._attribute(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
        if capability < OLDEST_CAPABILITY:
            have, need = (".".join(map(str, c)) for c in (capability, OLDEST_CAPABILITY))
            raise CudaError(f"GPU {number} has the compute capability {have}; {need} or later is needed")
        self.architecture = "sm_{}{}".format(*capability)
        self.multiprocessors = self._attribute("MULTIPROCESSOR_COUNT")
        self.memory: weakref.WeakSet[Memory] = weakref.WeakSet()
        self._modules: dict[str, tuple[Any, Any]] = {}  # module and kernel by the digest of their code
        self._graphs: weakref.WeakSet[Graph] = weakref.WeakSet()
        (self._context,) = self._call("cuDevicePrimaryCtxRetain", self._device)
        self._open = True
        try:
            with self.current():
                (self.stream,) = self._call("cuStreamCreate", self._flag("CUstream_flags", "CU_STREAM_DEFAULT"))
        except BaseException:
            self._open = False
            self._call("cuDevicePrimaryCtxRelease", self._device)
            raise

    def _start(self) -> None:
        try:
            result = self._interface.cuInit(0)
        except Exception as error:  # the interface looks for the driver's library at its first call
            raise CudaError(f"{NO_DRIVER} ({error})") from error
        self._check("cuInit", result)
        (self.version,) = self._call("cuDriverGetVersion")
        if self.version < OLDEST_DRIVER:
            have, need = (f"{v // 1000}.{v % 1000 // 10}" for v in (self.version, OLDEST_DRIVER))
            raise CudaError(f"the CUDA driver is too old: it supports CUDA {have}, {need} or later is needed")

    # calls -----------------------------------------------------------------------

    def _flag(self, kind: str, name: str) -> int:
        return int(getattr(getattr(self._interface, kind), name))

    def _attribute(self, name: str) -> int:
        kinds = self._interface.CUdevice_attribute
        return self._call("cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), self._device)[0]

    def _call(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        """Call a function of the driver; return its results. Raises CudaError if the call fails."""
        return self._check(name, getattr(self._interface, name)(*arguments))

    def _check(self, name: str, result: tuple[Any, ...]) -> tuple[Any, ...]:
        code, *values = result
        if int(code) == 0:
            return tuple(values)
        word = getattr(code, "name", str(code))
        if word == "CUDA_ERROR_NO_DEVICE":
            raise CudaError("there is no GPU that CUDA can use on this machine; use device='cpu'", word)
        if word == OUT_OF_MEMORY and name in STARTING:
            raise CudaError(
                f"the GPU has no room for the local memory of the threads that {name} would start: {LESS}", word
            )
        raise CudaError(f"the CUDA driver answers {word} to {name}", word)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Context manager that directs driver calls of this thread to this GPU.

        Raises:
            CudaError: the GPU was closed.
        """
        if not self._open:
            raise CudaError("this GPU was closed; what was made on it is gone")
        self._call("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            self._call("cuCtxPopCurrent")

    # memory ----------------------------------------------------------------------

    def room(self) -> tuple[int, int]:
        """Return the numbers of free bytes and of all bytes of the GPU's memory."""
        with self.current():
            free, total = self._call("cuMemGetInfo")
        return int(free), int(total)

    def allocate(self, nbytes: int) -> Memory:
        """Allocate memory on the GPU, filled with 0.

        Raises:
            GpuMemoryError: the GPU has not enough free memory.
        """
        return Memory(self, nbytes)

    def upload(self, array: np.ndarray) -> Memory:
        """Allocate memory on the GPU, and copy an array into it."""
        memory = Memory(self, array.nbytes)
        memory.write(array)
        return memory

    # code ------------------------------------------------------------------------

    def kernel(self, name: str, source: str) -> Any:
        """Return the kernel of a PTX module. Its machine code is cached on disk by architecture and driver version.

        Args:
            name: name of the stage, for messages and in the cache.
            source: PTX with the kernel `cardan.jit.target.gpu_kernels.KERNEL`.

        Raises:
            CudaError: the driver refuses the code.
        """
        key = sha256(f"{source}\n{self.architecture}\n{self.version}".encode()).hexdigest()
        if key in self._modules:
            return self._modules[key][1]
        stored = disk.read(f"gpu.{name}", key)
        with self.current():
            cubin = stored[1] if stored else self._assembled(name, source)
            (module,) = self._call("cuModuleLoadData", cubin)
            (function,) = self._call("cuModuleGetFunction", module, KERNEL.encode())
        if not stored:
            disk.write(f"gpu.{name}", key, KERNEL, cubin)
        self._modules[key] = module, function
        return function

    def _assembled(self, name: str, source: str) -> bytes:
        """Let the driver compile PTX to machine code."""
        text = source.encode() + b"\0"
        kind = self._interface.CUjitInputType.CU_JIT_INPUT_PTX
        (state,) = self._call("cuLinkCreate", 0, [], [])
        try:
            self._call("cuLinkAddData", state, kind, text, len(text), name.encode(), 0, [], [])
            address, size = self._call("cuLinkComplete", state)
            return ctypes.string_at(int(address), int(size))
        except CudaError as error:
            what = f"{name}: {error} (PTX for {self.architecture}, driver {self.version})"
            raise CudaError(what, error.code) from None
        finally:
            self._call("cuLinkDestroy", state)

    def launch(self, kernel: Any, blocks: int, threads: int, *words: int) -> None:
        """Start a kernel on the stream, with 64-bit words as parameters."""
        parameters = (words, (ctypes.c_int64,) * len(words))
        with self.current():
            self._call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, self.stream, parameters, 0)

    def capture(self, launches: Callable[[], None]) -> Graph:
        """Record all work that `launches` starts on the stream as a graph, without running it."""
        mode = self._interface.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        with self.current(), _without_collection():
            self._call("cuStreamBeginCapture", self.stream, mode)
            try:
                launches()
            except BaseException:
                code, *graph = self._interface.cuStreamEndCapture(self.stream)
                if int(code) == 0:
                    self._call("cuGraphDestroy", *graph)
                raise
            (graph,) = self._call("cuStreamEndCapture", self.stream)
            try:
                (ready,) = self._call("cuGraphInstantiate", graph, 0)
            finally:
                self._call("cuGraphDestroy", graph)
        made = Graph(self, ready)
        self._graphs.add(made)
        return made

    def wait(self) -> None:
        """Wait until all work on the stream is done.

        Raises:
            CudaError: some of the work failed.
        """
        with self.current():
            self._call("cuStreamSynchronize", self.stream)

    def wait_for(self, stream: int) -> None:
        """Make later work wait until all work that was started on another stream is done; `stream` is its handle."""
        untimed = self._flag("CUevent_flags", "CU_EVENT_DISABLE_TIMING")
        with self.current():
            (event,) = self._call("cuEventCreate", untimed)
            try:
                self._call("cuEventRecord", event, self._interface.CUstream(stream))
                self._call("cuStreamWaitEvent", self.stream, event, 0)
            finally:
                self._call("cuEventDestroy", event)

    def __del__(self) -> None:
        if getattr(self, "_open", False) and not sys.is_finalizing():
            self.close()

    def close(self) -> None:
        """Free all resources. A second call does nothing.

        Raises:
            CudaError: some work failed. All resources are then abandoned, not freed.
        """
        if not self._open:
            return
        try:
            self.wait()
            for thing in (*self._graphs, *self.memory):
                thing.free()
            with self.current():
                for module, _ in self._modules.values():
                    self._call("cuModuleUnload", module)
                self._call("cuStreamDestroy", self.stream)
        finally:  # after an error in a kernel the driver refuses every call, in the whole process
            self._modules.clear()
            self._open = False
            self._interface.cuDevicePrimaryCtxRelease(self._device)

    @property
    def is_open(self) -> bool:
        """Whether the GPU has not been closed."""
        return self._open


class Memory:
    """Block of a GPU's memory. It is freed by `free`, or when this object is deleted.

    Attributes:
        address: address on the GPU.
        nbytes: size in bytes.
    """

    def __init__(self, gpu: Gpu, nbytes: int) -> None:
        self.gpu = gpu
        self.nbytes = nbytes
        self.address = 0
        with gpu.current():
            if nbytes:
                try:
                    (pointer,) = gpu._call("cuMemAlloc", nbytes)
                except CudaError as error:
                    if error.code == OUT_OF_MEMORY:
                        raise GpuMemoryError(nbytes, *gpu.room()) from None
                    raise
                self.address = int(pointer)
                gpu.memory.add(self)
                self.zero()

    def free(self) -> None:
        """Wait for all started work, then free the memory. A second call does nothing."""
        if self.address and self.gpu.is_open:
            address, self.address = self.address, 0
            self.gpu.memory.discard(self)
            with self.gpu.current():
                self.gpu._call("cuStreamSynchronize", self.gpu.stream)
                self.gpu._call("cuMemFree", address)

    def __del__(self) -> None:
        if getattr(self, "address", 0) and not sys.is_finalizing():
            self.free()

    def zero(self) -> None:
        """Start to fill the memory with 0."""
        if self.nbytes:
            with self.gpu.current():
                self.gpu._call("cuMemsetD8Async", self.address, 0, self.nbytes, self.gpu.stream)

    def write(self, array: np.ndarray, offset: int = 0) -> None:
        """Copy an array to the memory, `offset` bytes after its start.

        Raises:
            ValueError: the array does not fit.
        """
        content = np.ascontiguousarray(array)
        self._check_range(offset, content.nbytes)
        if content.nbytes:
            with self.gpu.current():
                where = self.address + offset
                self.gpu._call("cuMemcpyHtoDAsync", where, content.ctypes.data, content.nbytes, self.gpu.stream)
            self.gpu.wait()  # the array may change now

    def read(self, shape: tuple[int, ...], dtype: Any, offset: int = 0) -> np.ndarray:
        """Wait for all started work, then return the content from `offset` bytes after the start as an array.

        Raises:
            ValueError: the array would extend beyond the end of the memory.
        """
        content = np.empty(shape, dtype)
        self._check_range(offset, content.nbytes)
        if content.nbytes:
            with self.gpu.current():
                where = self.address + offset
                self.gpu._call("cuMemcpyDtoHAsync", content.ctypes.data, where, content.nbytes, self.gpu.stream)
            self.gpu.wait()
        return content

    def _check_range(self, offset: int, nbytes: int) -> None:
        if offset < 0 or offset + nbytes > self.nbytes:
            raise ValueError(f"bytes {offset} to {offset + nbytes} are not in a memory of {self.nbytes} bytes")


class Graph:
    """CUDA graph: captured launches that start together. Kernels and parameters are fixed."""

    def __init__(self, gpu: Gpu, ready: Any) -> None:
        self.gpu = gpu
        self._ready: Any = ready

    def launch(self) -> None:
        """Start the graph on the stream.

        Raises:
            CudaError: the graph was freed.
        """
        if self._ready is None:
            raise CudaError("this graph was freed")
        with self.gpu.current():
            self.gpu._call("cuGraphLaunch", self._ready, self.gpu.stream)

    def free(self) -> None:
        """Wait for all started work, then free the graph. A second call does nothing."""
        if self._ready is not None and self.gpu.is_open:
            ready, self._ready = self._ready, None
            self.gpu._graphs.discard(self)
            with self.gpu.current():
                self.gpu._call("cuStreamSynchronize", self.gpu.stream)
                self.gpu._call("cuGraphExecDestroy", ready)

    def __del__(self) -> None:
        if getattr(self, "_ready", None) is not None and not sys.is_finalizing():
            self.free()
