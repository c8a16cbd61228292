"""NVIDIA's assembler, where it is installed (wheel nvidia-cuda-nvcc): what a kernel needs of a GPU, without a GPU."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cardan.jit.target.ptx import PtxError

_REGISTERS = re.compile(r"Used (\d+) registers")
_MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_SPILLS = re.compile(r"Function properties for (\S+)\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads")
_FUNCTION = re.compile(r"^\.(?:visible |weak )?(?:\.)?(?:entry|func)\b[^;{]*{.*?^}", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"(?:\)\s*|entry\s+|func\s+)([\w.$]+)\s*\(")
_CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\(\w+\),\s*)?([\w.$]+)")
_UNBOUNDED = "cannot be statically determined"
_CUMULATIVE = re.compile(r"(\d+) bytes cumulative stack size")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a thread of a kernel needs.

    Attributes:
        registers: 32-bit registers; there are 255 at most.
        stack: bytes of local memory, the frames of called functions included.
        spills: bytes of registers that are stored to local memory for lack of registers: the most that the functions
            of one chain of calls have together.
        cubin: size of the file of machine code, bytes.
    """

    registers: int
    stack: int
    spills: int
    cubin: int


def find_ptxas() -> str | None:
    """The path of ptxas, or None."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility
    except ModuleNotFoundError:
        return None
    return find_nvidia_binary_utility("ptxas")


def assemble(source: str, architecture: str, ptxas: str | None = None) -> Usage:
    """Assemble PTX for an architecture.

    Args:
        source: the PTX.
        architecture: ``"sm_90"``, say.
        ptxas: path of the assembler; found if not given.

    Raises:
        PtxError: it does not assemble, its stack has no bound (then a launch would need a limit), or there is no
            assembler.
    """
    ptxas = ptxas or find_ptxas()
    if ptxas is None:
        raise PtxError("the assembler ptxas is not there: pip install nvidia-cuda-nvcc cuda-pathfinder")
    with tempfile.TemporaryDirectory() as folder:
        file, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        file.write_text(source)
        command = [ptxas, f"-arch={architecture}", "-v", "-O3", str(file), "-o", str(cubin)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PtxError(f"ptxas refuses the code for {architecture}: {done.stderr.strip()[:2000]}")
        if _UNBOUNDED in done.stderr:
            raise PtxError(f"the stack of the code for {architecture} has no bound: {done.stderr.strip()[:2000]}")
        size = cubin.stat().st_size
    frames = [tuple(map(int, numbers)) for numbers in _MEMORY.findall(done.stderr)]
    cumulative = [int(number) for number in _CUMULATIVE.findall(done.stderr)]
    return Usage(
        registers=max(map(int, _REGISTERS.findall(done.stderr))),
        stack=max(cumulative, default=sum(frame[0] for frame in frames)),
        spills=_deepest(source, {name: max(int(a), int(b)) for name, a, b in _SPILLS.findall(done.stderr)}),
        cubin=size,
    )


def _deepest(source: str, spills: dict[str, int]) -> int:
    """The most that functions which are active together spill: the largest sum over a chain of calls."""
    callees: dict[str, set[str]] = {}
    for function in _FUNCTION.findall(source):
        name = _NAME.search(function)
        if name is not None:
            callees[name[1]] = set(_CALL.findall(function))

    @cache
    def total(name: str) -> int:
        below = [total(callee) for callee in callees.get(name, ()) if callee in callees and callee != name]
        return spills.get(name, 0) + max(below, default=0)

    return max(map(total, callees), default=0)
