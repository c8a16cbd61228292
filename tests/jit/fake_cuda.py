"""An interface of CUDA's driver that keeps account: what is open, what was called, with what.

Memory is host memory, so addresses are real. Launches run Python functions, one for each kernel, that a test gives.
While a stream captures, launches are kept; a graph runs them when it is launched.
"""

from __future__ import annotations

import ctypes
import threading
from enum import IntEnum
from types import SimpleNamespace

import numpy as np


class Result(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900


OK = (Result.CUDA_SUCCESS,)


class FakeDriver:
    """The driver of a machine with some GPUs.

    Args:
        memory: bytes of each GPU.
        version: the driver's.
        capability: of all GPUs.
        count: number of GPUs.
        run: called at each launch: (name of the stage, blocks, threads, words).
    """

    CUstream_flags = SimpleNamespace(CU_STREAM_DEFAULT=0)
    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUjitInputType = SimpleNamespace(CU_JIT_INPUT_PTX=1)
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL=1)
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=0,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=1,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=2,
    )
    multiprocessors = 2

    def __init__(self, memory=2**30, version=13000, capability=(9, 0), count=1, run=None):
        self.total, self.version, self.capability, self.count = memory, version, capability, count
        self.run = run or (lambda *launch: None)
        self.calls = []
        self._of_thread, self._lock = threading.local(), threading.RLock()
        self.open = {kind: {} for kind in ("context", "stream", "module", "link", "graph", "exec", "memory", "event")}
        self.retained = {}
        self.failing = {}  # error by the name of a function
        self._next = 1000

    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        if not name.startswith("cu"):
            return value

        def counted(*arguments):
            with self._lock:
                self.calls.append((name, arguments))
                if name in self.failing:
                    return (self.failing[name],)
                needs_context = not name.startswith(("cuInit", "cuDriver", "cuDevice", "cuCtxPush"))
                if needs_context and not self.contexts:
                    return (Result.CUDA_ERROR_INVALID_CONTEXT,)
                return value(*arguments)

        return counted

    @property
    def contexts(self):
        """The stack of a thread's current contexts."""
        return self._of_thread.__dict__.setdefault("contexts", [])

    @property
    def capturing(self):
        """The launches that a thread captures, or None."""
        return self._of_thread.__dict__.get("capturing")

    @capturing.setter
    def capturing(self, launches):
        self._of_thread.capturing = launches

    def names(self, start=0):
        """Names of the functions that were called, but those about the current context."""
        return [name for name, _ in self.calls[start:] if not name.startswith("cuCtxP")]

    def left(self):
        """What is still open, by kind."""
        return {kind: len(things) for kind, things in self.open.items() if things}

    def _new(self, kind, thing):
        self._next += 1
        self.open[kind][self._next] = thing
        return Result.CUDA_SUCCESS, self._next

    def _drop(self, kind, handle):
        return OK if self.open[kind].pop(handle, self) is not self else (Result.CUDA_ERROR_INVALID_HANDLE,)

    # devices and contexts

    def cuInit(self, flags):
        return (Result.CUDA_SUCCESS if self.count else Result.CUDA_ERROR_NO_DEVICE,)

    def cuDriverGetVersion(self):
        return Result.CUDA_SUCCESS, self.version

    def cuDeviceGetCount(self):
        return Result.CUDA_SUCCESS, self.count

    def cuDeviceGet(self, number):
        return Result.CUDA_SUCCESS, number

    def cuDeviceGetAttribute(self, attribute, device):
        return Result.CUDA_SUCCESS, (*self.capability, self.multiprocessors)[attribute]

    def cuDevicePrimaryCtxRetain(self, device):
        for handle, known in self.open["context"].items():
            if known == device:
                self.retained[device] += 1
                return Result.CUDA_SUCCESS, handle
        self.retained[device] = 1
        return self._new("context", device)

    def cuDevicePrimaryCtxRelease(self, device):
        self.retained[device] -= 1
        if self.retained[device]:
            return OK
        return self._drop("context", next(h for h, d in self.open["context"].items() if d == device))

    def cuCtxPushCurrent(self, context):
        if context not in self.open["context"]:
            return (Result.CUDA_ERROR_INVALID_CONTEXT,)
        self.contexts.append(context)
        return OK

    def cuCtxPopCurrent(self):
        return Result.CUDA_SUCCESS, self.contexts.pop()

    # streams and graphs

    def cuStreamCreate(self, flags):
        return self._new("stream", flags)

    def cuStreamDestroy(self, stream):
        return self._drop("stream", stream)

    def cuStreamSynchronize(self, stream):
        return (Result.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,) if self.capturing is not None else OK

    def CUstream(self, handle):
        return handle

    def cuEventCreate(self, flags):
        return self._new("event", flags)

    def cuEventRecord(self, event, stream):
        return OK if event in self.open["event"] else (Result.CUDA_ERROR_INVALID_HANDLE,)

    def cuStreamWaitEvent(self, stream, event, flags):
        return OK if event in self.open["event"] else (Result.CUDA_ERROR_INVALID_HANDLE,)

    def cuEventDestroy(self, event):
        return self._drop("event", event)

    def cuStreamBeginCapture(self, stream, mode):
        self.capturing = []
        return OK

    def cuStreamEndCapture(self, stream):
        launches, self.capturing = self.capturing, None
        return self._new("graph", launches)

    def cuGraphInstantiate(self, graph, flags):
        return self._new("exec", self.open["graph"][graph])

    def cuGraphDestroy(self, graph):
        return self._drop("graph", graph)

    def cuGraphExecDestroy(self, ready):
        return self._drop("exec", ready)

    def cuGraphLaunch(self, ready, stream):
        for launch in self.open["exec"][ready]:
            self.run(*launch)
        return OK

    # memory

    def _free(self):
        return self.total - sum(array.nbytes for array in self.open["memory"].values())

    def cuMemGetInfo(self):
        return Result.CUDA_SUCCESS, self._free(), self.total

    def cuMemAlloc(self, nbytes):
        if nbytes > self._free():
            return (Result.CUDA_ERROR_OUT_OF_MEMORY,)
        array = np.full(nbytes, 0xA5, np.uint8)  # nothing may rely on zeros
        self.open["memory"][array.ctypes.data] = array
        return Result.CUDA_SUCCESS, array.ctypes.data

    def cuMemFree(self, address):
        if self.capturing is not None:
            return (Result.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        return self._drop("memory", address)

    def _inside(self, address, nbytes):
        return any(
            start <= address and address + nbytes <= start + a.nbytes for start, a in self.open["memory"].items()
        )

    def _copy(self, target, source, nbytes, on_gpu):
        if self.capturing is not None:
            return (Result.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        if not self._inside(on_gpu, nbytes):
            return (Result.CUDA_ERROR_ILLEGAL_ADDRESS,)
        ctypes.memmove(target, source, nbytes)
        return OK

    def cuMemcpyHtoDAsync(self, target, source, nbytes, stream):
        return self._copy(target, source, nbytes, target)

    def cuMemcpyDtoHAsync(self, target, source, nbytes, stream):
        return self._copy(target, source, nbytes, source)

    def cuMemsetD8Async(self, address, value, nbytes, stream):
        if not self._inside(address, nbytes):
            return (Result.CUDA_ERROR_ILLEGAL_ADDRESS,)
        ctypes.memset(address, value, nbytes)
        return OK

    # code

    def cuLinkCreate(self, count, options, values):
        return self._new("link", None)

    def cuLinkAddData(self, state, kind, data, size, name, count, options, values):
        assert data.endswith(b"\0") and size == len(data)
        if b".entry cardan_kernel(" not in data:
            return (Result.CUDA_ERROR_INVALID_PTX,)
        self.open["link"][state] = ctypes.create_string_buffer(name)
        return OK

    def cuLinkComplete(self, state):
        cubin = self.open["link"][state]
        return Result.CUDA_SUCCESS, ctypes.addressof(cubin), len(cubin)

    def cuLinkDestroy(self, state):
        return self._drop("link", state)

    def cuModuleLoadData(self, image):
        return self._new("module", bytes(image).rstrip(b"\0").decode())

    def cuModuleUnload(self, module):
        return self._drop("module", module)

    def cuModuleGetFunction(self, module, name):
        return Result.CUDA_SUCCESS, self.open["module"][module]

    def cuLaunchKernel(self, function, bx, by, bz, tx, ty, tz, shared, stream, parameters, extra):
        words, types = parameters
        assert len(words) == len(types) and stream in self.open["stream"]
        if not 0 < tx <= 1024 or bx < 1:
            return (Result.CUDA_ERROR_INVALID_VALUE,)
        launch = (function, bx, tx, tuple(words))
        if self.capturing is not None:
            self.capturing.append(launch)
        else:
            self.run(*launch)
        return OK
