"""Compilation of stages for NVIDIA GPUs: from linked modules of interleaved code to PTX, with LLVM's NVPTX back end.

Each thread runs one world; the index of the world is the number of the thread. The stride between elements of a field
is the number of threads, so that neighbouring threads read neighbouring words. Memory is therefore allocated for as
many worlds as a launch has threads. Three int64 rows contain the state of each world:

    at[world]       number of the stage that the world has reached
    status[world]   0, or the request of that stage
    left[world]     number of steps that the world still has to do

A word after these rows is set when any world stops. A *kernel* (in CUDA's sense, the `KERNEL` of a module) runs one
stage, or several consecutive ones, in the worlds that have reached it:

    if at[world] == stage and status[world] == 0 and left[world] > 0:
        status[world] = function(models[0] + models[1] * world, data)
        if status[world] == 0:
            at[world] = following
            if following == 0: left[world] -= 1  # that was the last stage of a step

A world that needs more memory stops at the stage that requests it, while the others continue, and resumes there later.
Worlds outside a mask have no steps left to do. The two words `models` are the address of the slot table of the first
world's model, and the distance to the next model's slot table: 0 if all worlds have the same model.

The mathematical library is libdevice, a module of LLVM bitcode that NVIDIA publishes (wheel nvidia-nvvm).
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from cardan.jit.front.stage import CALL
from cardan.jit.target.gpu_kernels import INDEX, INDEX_OF_MANY, KERNEL, WORLD, kernel_text, switch

TRIPLE = "nvptx64-nvidia-cuda"
OLDEST = "sm_80"
ARCHITECTURES = (OLDEST, "sm_90", "sm_120")
"""Architectures for which tests assemble code: Ampere, Hopper, Blackwell. The PTX is written for the oldest of
these."""

_ONE_ARGUMENT = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2"),
    *("log10", "log1p", "cbrt", "erf", "erfc", "round", "nearbyint", "rint", "floor", "ceil", "trunc", "fabs", "sqrt"),
)
_MORE_ARGUMENTS = ("atan2", "pow", "hypot", "fmod", "fmin", "fmax", "copysign", "fma", "ldexp")
LIBRARY = frozenset((*_ONE_ARGUMENT, *_MORE_ARGUMENTS))
"""Functions of the mathematical library that libdevice provides, with the prefix ``__nv_``."""
_CALLED = re.compile(rf'@"?({"|".join(sorted(LIBRARY))})(f?)"?(?=\()')
_INTRINSIC = re.compile(
    r'@"?llvm\.(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|log|log2|log10|pow)\.f(32|64)"?(?=\()'
)
_DECLARATION = re.compile(r'^declare .*?@"?([\w.$]+)"?\(.*$', re.MULTILINE)
_REDUCTION = re.compile(
    r"^  (%\d+) = sitofp i64 (%\d+) to double\n  (%\d+) = fmul double \1, 0x(\w{16})\n"
    r"  (%\d+) = fptrunc double \3 to float$",
    re.MULTILINE,
)
_BY_NUMBER = re.compile(rf"call i64 @{CALL}(?:_\d+)?\(")
_DEFINITION = re.compile(r'^define [^@\n]*@"?([\w.$]+)"?\(.*?^}$', re.MULTILINE | re.DOTALL)
_CALLEE = re.compile(r'\bcall [^@\n]*@"?([\w.$]+)"?\(')
LARGE = 150
"""Smallest number of lines of assembly of a large function (see `_around_calls`)."""
HUGE = 30_000
"""Number of lines of assembly above which a stage is not inlined into one function, to save registers."""
SHARED, ALONE = 600, 1200
"""Limits for functions of a stage above `HUGE`, in lines with inlined calls included. A longer function is not inlined.
The first limit is for functions called at several places, the second for those called at one place."""
_SLOT_NAME = re.compile(r'^!(\d+) = !{!"slot"', re.MULTILINE)
_SLOT_TAG = "^!(\\d+) = !{{!{name}, !{name}, i64 0}}"
_REGISTER = re.compile(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)")
_HEADER = re.compile(r'^target (?:triple|datalayout) = ".*"$', re.MULTILINE)
_PROCESSOR = re.compile(r' ?"(?:target-cpu|target-features|tune-cpu)"="[^"]*"')
_KEPT_APART = re.compile(r"^(attributes #\d+ = {.*?)\bnoinline\b", re.MULTILINE)
"""Attribute with which Numba prevents a stage from being inlined into its caller; on a GPU, the call would spill
registers."""


class PtxError(RuntimeError):
    """Error: a stage can't be compiled for a GPU, or a tool or library that compilation needs is missing."""


@cache
def _machine(architecture: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=architecture, features="", opt=3)


def find_libdevice() -> Path:
    """Return the file of libdevice, from the wheel nvidia-nvvm or an installed CUDA toolkit.

    Raises:
        PtxError: libdevice was not found.
    """
    advice = "the mathematical library for GPUs (libdevice) is not there: pip install 'cardan[cuda]'"
    try:
        from cuda.pathfinder import BitcodeLibNotFoundError, find_bitcode_lib
    except ModuleNotFoundError:
        raise PtxError(advice) from None
    try:
        return Path(find_bitcode_lib("device"))
    except BitcodeLibNotFoundError:
        raise PtxError(advice) from None


@dataclass(frozen=True, slots=True)
class Code:
    """A linked module of interleaved code, as text, and the functions that it calls by number.

    Attributes:
        symbol: name of the module's function.
        text: the module (see `cardan.jit.front.compile.linked_module`).
        called: functions that the module calls by number, from 1 on. `collision` calls collision functions; collision
            functions of signed-distance shapes call shapes. Tables of functions contain these numbers instead of
            addresses.
    """

    symbol: str
    text: str
    called: tuple[Code, ...] = ()


NOTHING = Code("", "")
"""Placeholder for a number that is not used."""


def _modules(code: Code, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield names and texts of all modules that a stage needs, the module of the stage first.

    The functions called by number at each depth have a switch of their own.
    """
    switch = f"{CALL}_{depth}" if depth else CALL
    yield code.symbol, re.sub(rf"@{CALL}\b", f"@{switch}", code.text)
    for callee in code.called:
        if callee is not NOTHING:
            yield from _modules(callee, depth + 1)


def _callees(code: Code) -> set[str]:
    """Return the symbols of all functions that are called by number, at any depth."""
    called = [callee for callee in code.called if callee is not NOTHING]
    return {symbol for callee in called for symbol in (callee.symbol, *_callees(callee))}


def module_texts(*codes: Code) -> list[str]:
    """List the texts of all modules: stages, functions that they call by number, and finally the switches."""
    modules = {symbol: text for code in codes for symbol, text in _modules(code)}
    return [*modules.values(), "\n".join(_switches(codes))]


def _switches(codes: Sequence[Code], depth: int = 0) -> Iterator[str]:
    """Yield the switch of each depth, for all functions that any stage calls at this depth."""
    called = max((code.called for code in codes), key=len, default=())
    yield switch([callee.symbol for callee in called], f"{CALL}_{depth}" if depth else CALL)
    if called:
        yield from _switches([callee for callee in called if callee is not NOTHING], depth + 1)


def _once(text: str) -> str:
    """Remove superfluous declarations from a module's text.

    These are repeated declarations, and declarations of functions that the module defines.
    """
    seen = set(re.findall(r'^define .*?@"?([\w.$]+)"?\(', text, re.MULTILINE))

    def first(match: re.Match[str]) -> str:
        known = match.group(1) in seen
        seen.add(match.group(1))
        return "" if known else match.group()

    return _DECLARATION.sub(first, text)


def _with_device_library(text: str) -> str:
    """Replace calls of the mathematical library in a module's text by calls of libdevice."""
    text = _INTRINSIC.sub(lambda match: f"@__nv_{match[1]}{'f' if match[2] == '32' else ''}", text)
    return _CALLED.sub(lambda match: f"@__nv_{match[1]}{match[2]}", text)


def _holding_no_slots(text: str) -> str:
    """Change a module's text so that LLVM reloads the addresses of fields after calls of other functions.

    Without this change, LLVM would move all these loads out of loops, and keep the addresses in registers during calls.
    """
    name = _SLOT_NAME.search(text)
    tag = None if name is None else re.search(_SLOT_TAG.format(name=name[1]), text, re.MULTILINE)
    return text if tag is None else re.sub(rf"(!tbaa !{tag[1]}), !invariant\.load !\d+", r"\1", text)


def _read_anew(text: str) -> str:
    """Change `WORLD` or `INDEX` so that each use reads the thread's index and the number of threads again.

    The instructions are marked as having side effects. LLVM then keeps neither these numbers nor products with them in
    registers.
    """
    return _REGISTER.sub(r'call i32 asm sideeffect "mov.u32 $0, %\1.x;", "=r"()', text)


def _parsed(text: str, layout: str) -> Any:
    """Parse a module's text for the GPU."""
    # the layout comes first: it sets the alignment of loads and stores without one of their own
    text = _KEPT_APART.sub(r"\1nounwind", _PROCESSOR.sub("", _HEADER.sub("", text)))
    text = _once(_with_device_library(text))
    return llvm.parse_assembly(f'target datalayout = "{layout}"\ntarget triple = "{TRIPLE}"\n{text}')


@cache
def _library(libdevice: Path) -> bytes:
    """Return the bitcode of libdevice, with all arithmetic of its single-precision functions in single precision.

    The original functions use double precision to reduce large angles. There, ``float(double(n) * c)``, with n of 64
    bits, is replaced by ``float(n) * float(c)``, with an error of 1.5 units in the last place.
    """
    text = str(llvm.parse_bitcode(libdevice.read_bytes()))
    return llvm.parse_assembly(_REDUCTION.sub(_in_single, text)).as_bitcode()


def _in_single(match: re.Match[str]) -> str:
    whole, number, _, constant, result = match.groups()
    scale = struct.unpack("f", struct.pack("f", struct.unpack(">d", bytes.fromhex(constant))[0]))[0]
    rounded = struct.pack(">d", scale).hex()
    return f"  {whole} = sitofp i64 {number} to float\n  {result} = fmul float {whole}, 0x{rounded}"


def ptx(*codes: Code, architecture: str = OLDEST, extra: int = 0, libdevice: Path | None = None) -> str:
    """Compile the code of a launch, which is a stage or several consecutive stages, to PTX.

    Args:
        codes: the stages; functions called by number have the same numbers in all of them.
        architecture: LLVM's name of the oldest architecture on which the code runs; it also runs on later ones.
        extra: number of integer arguments after model and data, which become parameters of the kernel.
        libdevice: the file of libdevice; found if not given.

    Returns:
        PTX with the kernel `KERNEL` (models, data, stage, following, rows, *extra). The arguments are: address of two
        words (address of the first world's model, distance to the next); address of the data's slot table; index of the
        first stage; index of the stage after the last one (0 if it ends a step); address of the rows at, status, left.

    Raises:
        PtxError: a stage calls a function that is not available on GPUs.
    """
    machine = _machine(architecture)
    layout = str(machine.target_data)
    huge = {code.text: _parts(code.text) for code in codes if code.text.count("\n") > HUGE}
    texts = (_holding_no_slots(text) if text in huge else text for text in module_texts(*codes))
    linked, *others = (_parsed(text, layout) for text in texts)
    for module in others:
        linked.link_in(module)
    symbols = [code.symbol for code in codes]
    registers = [_read_anew(text) if huge else text for text in (WORLD, INDEX)]
    linked.link_in(_parsed("\n".join([*registers, kernel_text(symbols, extra, "ptx_kernel ")]), layout))
    library = llvm.parse_bitcode(_library(libdevice or find_libdevice()))
    library.triple, library.data_layout = TRIPLE, layout
    linked.link_in(library)
    # one copy of each function called by number, and of each of several stages, which the assembler compiles separately
    apart = {symbol for code in codes for symbol in _callees(code)} | set(symbols if len(codes) > 1 else ())
    apart |= _around_calls(linked)
    for symbol in apart.union(*huge.values()):
        linked.get_function(symbol).add_function_attribute("noinline")
    return _emitted(linked, machine, ", ".join(symbols))


def _around_calls(module: Any) -> set[str]:
    """Return the functions that call others by number, and the large functions that they call directly.

    These functions are not inlined: calls by number make the caller store its registers, so few values should be live
    around such calls.
    """
    texts = {match[1]: match[0] for match in _DEFINITION.finditer(str(module))}
    calling = {name for name, text in texts.items() if _BY_NUMBER.search(text) and not name.startswith(CALL)}
    beside = {callee for name in calling for callee in _CALLEE.findall(texts[name])}
    return calling | {name for name in beside if texts.get(name, "").count("\n") > LARGE}


def _parts(text: str) -> set[str]:
    """Return the functions of a huge module that are too long to be inlined (limits `SHARED` and `ALONE`)."""
    texts = {match[1]: match[0] for match in _DEFINITION.finditer(text)}
    callees = {name: [c for c in _CALLEE.findall(body) if c in texts] for name, body in texts.items()}
    calls = Counter(callee for called in callees.values() for callee in called)

    @cache
    def size(name: str) -> int:
        """Return the number of lines of a function, inlined functions included."""
        return texts[name].count("\n") + sum(size(callee) for callee in callees[name] if not stays(callee))

    def stays(name: str) -> bool:
        return size(name) > (SHARED if calls[name] > 1 else ALONE)

    return {name for name in calls if stays(name)}


def ptx_of_text(text: str, architecture: str = OLDEST) -> str:
    """Compile LLVM assembly that defines the kernel `KERNEL` (convention ``ptx_kernel``) to PTX, without libdevice.

    The kernel may call `WORLD_INDEX` for the index of its thread and `WORLD_COUNT` for the number of threads.
    """
    machine = _machine(architecture)
    return _emitted(_parsed(f"{WORLD}\n{INDEX_OF_MANY}\n{text}", str(machine.target_data)), machine, KERNEL)


def _emitted(linked: Any, machine: Any, name: str) -> str:
    """Compile a linked module to PTX in which only the kernel is visible; `name` is for error messages."""
    for item in (*linked.functions, *linked.global_variables):
        if item.name != KERNEL and not item.is_declaration and not item.name.startswith("llvm."):
            item.linkage = "internal"
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(linked, passes)
    missing = sorted(f.name for f in linked.functions if f.is_declaration and not f.name.startswith("llvm."))
    if missing:
        raise PtxError(f"{name} can't become GPU code: it calls {', '.join(missing)}")
    return machine.emit_assembly(linked)


# NVIDIA's assembler ---------------------------------------------------------

_REGISTERS = re.compile(r"Used (\d+) registers")
_FRAMES = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_SPILLS = re.compile(r"Function properties for (\S+)\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads")
_FUNCTION = re.compile(r"^\.(?:visible |weak )?(?:\.)?(?:entry|func)\b[^;{]*{.*?^}", re.MULTILINE | re.DOTALL)
_FUNCTION_NAME = re.compile(r"(?:\)\s*|entry\s+|func\s+)([\w.$]+)\s*\(")
_CALLED_FUNCTION = re.compile(r"\bcall(?:\.uni)?\s+(?:\(\w+\),\s*)?([\w.$]+)")
_UNBOUNDED = "cannot be statically determined"
_CUMULATIVE = re.compile(r"(\d+) bytes cumulative stack size")


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources that a thread of a kernel needs.

    Attributes:
        registers: 32-bit registers; the maximum is 255.
        stack: bytes of local memory, the frames of called functions included.
        spills: bytes of values stored in local memory for lack of registers; the largest sum over any chain of calls.
        cubin: size in bytes of the kernel's machine code file.
    """

    registers: int
    stack: int
    spills: int
    cubin: int


def find_ptxas() -> str | None:
    """Return the path of NVIDIA's assembler ptxas, or None if it is not installed."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility
    except ModuleNotFoundError:
        return None
    return find_nvidia_binary_utility("ptxas")


def assemble(source: str, architecture: str, ptxas: str | None = None) -> Usage:
    """Assemble PTX for an architecture, and return the resources that the code needs.

    Args:
        source: the PTX.
        architecture: name of the architecture, such as ``"sm_90"``.
        ptxas: path of the assembler; found if not given.

    Raises:
        PtxError: the source does not assemble, its stack is not bounded, or there is no assembler.
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
    frames = [tuple(map(int, numbers)) for numbers in _FRAMES.findall(done.stderr)]
    cumulative = [int(number) for number in _CUMULATIVE.findall(done.stderr)]
    return Usage(
        registers=max(map(int, _REGISTERS.findall(done.stderr))),
        stack=max(cumulative, default=sum(frame[0] for frame in frames)),
        spills=_deepest(source, {name: max(int(a), int(b)) for name, a, b in _SPILLS.findall(done.stderr)}),
        cubin=size,
    )


def _deepest(source: str, spills: dict[str, int]) -> int:
    """Return the largest sum of the functions' spills over any chain of calls."""
    callees: dict[str, set[str]] = {}
    for function in _FUNCTION.findall(source):
        name = _FUNCTION_NAME.search(function)
        if name is not None:
            callees[name[1]] = set(_CALLED_FUNCTION.findall(function))

    @cache
    def total(name: str) -> int:
        below = [total(callee) for callee in callees.get(name, ()) if callee in callees and callee != name]
        return spills.get(name, 0) + max(below, default=0)

    return max(map(total, callees), default=0)
