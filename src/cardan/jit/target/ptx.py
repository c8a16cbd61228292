"""Stages for NVIDIA GPUs: from linked modules of interleaved code to PTX, with LLVM's own NVPTX code generator.

A thread runs one world. The worlds of a launch are numbered as its threads are, and the stride from element to element
of a field is the number of threads, so that neighbouring threads read neighbouring words: memory is made for as many
worlds as a launch has threads. Three int64 rows say what a world is about to do:

    at[world]       number of the stage that it is at
    status[world]   0, or what the stage that it is at asked for
    left[world]     steps that it is still to do

and a word after them, which is set when any world stops. A *kernel* (in CUDA's sense, the `KERNEL` of a module) runs
one stage, or several that follow each other, in those worlds that are at it:

    if at[world] == stage and status[world] == 0 and left[world] > 0:
        status[world] = function(models[0] + models[1] * world, data)
        if status[world] == 0:
            at[world] = following
            if following == 0: left[world] -= 1  # that was the last stage of a step

So a world that needs more memory stops at the stage that asked, while the others go on, and goes on there later; worlds
outside a mask have no steps left to do. The two words `models` say where the slot tables of the worlds' models stand:
the distance from one to the next is 0 as long as all worlds have the same.

The mathematical library is libdevice, a module of LLVM bitcode that NVIDIA publishes (wheel nvidia-nvvm).
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from cardan.jit.front.form import CALL, WORLD_COUNT, WORLD_INDEX
from cardan.jit.front.stage import COLLIDER_MISSING

TRIPLE = "nvptx64-nvidia-cuda"
OLDEST = "sm_80"
ARCHITECTURES = (OLDEST, "sm_90", "sm_120")
"""Those that code is assembled for in tests: Ampere, Hopper, Blackwell. PTX for the oldest is assembled for all."""
KERNEL = "cardan_kernel"

_ONE_ARGUMENT = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2"),
    *("log10", "log1p", "cbrt", "erf", "erfc", "round", "nearbyint", "rint", "floor", "ceil", "trunc", "fabs", "sqrt"),
)
_MORE_ARGUMENTS = ("atan2", "pow", "hypot", "fmod", "fmin", "fmax", "copysign", "fma", "ldexp")
LIBRARY = frozenset((*_ONE_ARGUMENT, *_MORE_ARGUMENTS))
"""Functions of the mathematical library that libdevice has, all under the prefix ``__nv_``."""
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
"""Lines of assembly of a large function."""
HUGE = 30_000
"""Lines of assembly of a stage that is too large to become one function: such a stage is made frugal with registers."""
SHARED, ALONE = 600, 1200
"""Lines, with all that becomes a part of it, from which a function of such a stage stays one: called at several places,
and at one."""
_SLOT_NAME = re.compile(r'^!(\d+) = !{!"slot"', re.MULTILINE)
_SLOT_TAG = "^!(\\d+) = !{{!{name}, !{name}, i64 0}}"
_REGISTER = re.compile(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)")
_HEADER = re.compile(r'^target (?:triple|datalayout) = ".*"$', re.MULTILINE)
_PROCESSOR = re.compile(r' ?"(?:target-cpu|target-features|tune-cpu)"="[^"]*"')
_KEPT_APART = re.compile(r"^(attributes #\d+ = {.*?)\bnoinline\b", re.MULTILINE)
"""Numba keeps a stage apart from the function that calls it; a GPU would store registers between the two."""

_WORLD = f"""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define i64 @{WORLD_COUNT}() alwaysinline {{
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %count = mul nuw nsw i32 %size, %blocks
  %wide = zext i32 %count to i64
  ret i64 %wide
}}
"""

_INDEX = f"""
define i64 @{WORLD_INDEX}() alwaysinline {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul nuw nsw i32 %block, %size
  %world = add nuw nsw i32 %before, %thread
  %wide = zext i32 %world to i64
  ret i64 %wide
}}
"""

_INDEX_OF_MANY = f"""
define i64 @{WORLD_INDEX}() alwaysinline {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %own = zext i32 %thread to i64
  %step = zext i32 %size to i64
  %first = zext i32 %block to i64
  %before = mul nuw nsw i64 %first, %step
  %wide = add nuw nsw i64 %before, %own
  ret i64 %wide
}}
"""
"""For launches of a thread an element, of which there may be more than 2^31."""

_BODY = """
define internal void @cardan_body_{k}(ptr %models, i64 %d, i64 %stage, i64 %following, ptr %rows{parameters}) {{
entry:
  %world = call i64 @{index}()
  %count = call i64 @{count}()
  %second = add i64 %world, %count
  %third = add i64 %second, %count
  %at_place = getelementptr i64, ptr %rows, i64 %world
  %status_place = getelementptr i64, ptr %rows, i64 %second
  %left_place = getelementptr i64, ptr %rows, i64 %third
  %at = load i64, ptr %at_place
  %here = icmp eq i64 %at, %stage
  br i1 %here, label %reached, label %done
reached:
  %before = load i64, ptr %status_place
  %free = icmp eq i64 %before, 0
  %left = load i64, ptr %left_place
  %more = icmp sgt i64 %left, 0
  %runs = and i1 %free, %more
  br i1 %runs, label %run, label %done
run:
  %first = load i64, ptr %models
  %stride_place = getelementptr i64, ptr %models, i64 1
  %stride = load i64, ptr %stride_place
  %distance = mul i64 %stride, %world
  %m = add i64 %first, %distance
  %result = call i64 @"{symbol}"(i64 %m, i64 %d{parameters})
  %good = icmp eq i64 %result, 0
  br i1 %good, label %next, label %stopped
next:
  store i64 %following, ptr %at_place
  %last = icmp eq i64 %following, 0
  %one = zext i1 %last to i64
  %after = sub i64 %left, %one
  store i64 %after, ptr %left_place
  br label %done
stopped:
  store i64 %result, ptr %status_place
  %rows_size = mul i64 %count, 3
  %flag_place = getelementptr i64, ptr %rows, i64 %rows_size
  store i64 1, ptr %flag_place
  br label %done
done:
  ret void
}}
"""


class PtxError(RuntimeError):
    """A stage can't become GPU code: it refers to something that the GPU does not have."""


@cache
def _machine(architecture: str) -> Any:
    """A code generator for an architecture."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=architecture, features="", opt=3)


def find_libdevice() -> Path:
    """The file of libdevice: of the wheel nvidia-nvvm, or of an installed CUDA toolkit.

    Raises:
        PtxError: there is none.
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
        symbol: name of its function.
        text: the module (see `cardan.jit.front.compile.linked_module`).
        called: the functions, in the order of their numbers from 1 on: collision functions of `collision`, shapes of
            collision functions for shapes. Their numbers stand where tables for this processor have addresses.
    """

    symbol: str
    text: str
    called: tuple[Code, ...] = ()


NOTHING = Code("", "")
"""Stands for a number at which nothing is called."""


def _switch(name: str, functions: Sequence[str]) -> str:
    """The function that calls another one by its number, from 1 on; `COLLIDER_MISSING` for other numbers."""
    numbered = [(k, f) for k, f in enumerate(functions, start=1) if f]
    cases = "\n".join(f"    i64 {k}, label %case{k}" for k, _ in numbered)
    blocks = "\n".join(
        f'case{k}:\n  %r{k} = call i64 @"{f}"(i64 %m, i64 %d, i64 %a, i64 %b)\n  ret i64 %r{k}' for k, f in numbered
    )
    declared = "\n".join(f'declare i64 @"{f}"(i64, i64, i64, i64)' for _, f in numbered)
    return f"""
{declared}
define i64 @{name}(i64 %number, i64 %m, i64 %d, i64 %a, i64 %b) noinline {{
  switch i64 %number, label %missing [
{cases}
  ]
missing:
  ret i64 {COLLIDER_MISSING}
{blocks}
}}
"""


def _modules(code: Code, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Names and texts of all modules that a stage needs, its own first; each depth of calls has its own switch."""
    switch = f"{CALL}_{depth}" if depth else CALL
    yield code.symbol, re.sub(rf"@{CALL}\b", f"@{switch}", code.text)
    for callee in code.called:
        if callee is not NOTHING:
            yield from _modules(callee, depth + 1)


def _callees(code: Code) -> set[str]:
    """Symbols of all functions that are called by number, at any depth."""
    called = [callee for callee in code.called if callee is not NOTHING]
    return {symbol for callee in called for symbol in (callee.symbol, *_callees(callee))}


def module_texts(*codes: Code) -> list[str]:
    """Texts of the modules of stages and of all that they call by number; the switches are the last."""
    modules = {symbol: text for code in codes for symbol, text in _modules(code)}
    return [*modules.values(), "\n".join(_switches(codes))]


def _switches(codes: Sequence[Code], depth: int = 0) -> Iterator[str]:
    """The switch of each depth, which knows what is called there: the same for all that call at this depth."""
    called = max((code.called for code in codes), key=len, default=())
    yield _switch(f"{CALL}_{depth}" if depth else CALL, [callee.symbol for callee in called])
    if called:
        yield from _switches([callee for callee in called if callee is not NOTHING], depth + 1)


def _once(text: str) -> str:
    """A module's text with each declaration once, and none of what is defined in it."""
    seen = set(re.findall(r'^define .*?@"?([\w.$]+)"?\(', text, re.MULTILINE))

    def first(match: re.Match[str]) -> str:
        known = match.group(1) in seen
        seen.add(match.group(1))
        return "" if known else match.group()

    return _DECLARATION.sub(first, text)


def _with_device_library(text: str) -> str:
    """A module's text with calls of libdevice where it calls the mathematical library."""
    text = _INTRINSIC.sub(lambda match: f"@__nv_{match[1]}{'f' if match[2] == '32' else ''}", text)
    return _CALLED.sub(lambda match: f"@__nv_{match[1]}{match[2]}", text)


def _holding_no_slots(text: str) -> str:
    """A module's text in which addresses of fields may change while other functions run.

    They don't, so that all loads of them would leave their loops, and be held in registers over what is called there.
    """
    name = _SLOT_NAME.search(text)
    tag = None if name is None else re.search(_SLOT_TAG.format(name=name[1]), text, re.MULTILINE)
    return text if tag is None else re.sub(rf"(!tbaa !{tag[1]}), !invariant\.load !\d+", r"\1", text)


def _read_anew(text: str) -> str:
    """`_WORLD` or `_INDEX` for code that asks for its thread, and for the number of threads, wherever it needs them.

    To LLVM, the instructions have effects: neither numbers nor products with them are kept from one use to the next.
    """
    return _REGISTER.sub(r'call i32 asm sideeffect "mov.u32 $0, %\1.x;", "=r"()', text)


def _parsed(text: str, layout: str) -> Any:
    """A module from its text, for the GPU."""
    # the layout comes first: it says how loads and stores are aligned that don't say it themselves
    text = _KEPT_APART.sub(r"\1nounwind", _PROCESSOR.sub("", _HEADER.sub("", text)))
    text = _once(_with_device_library(text))
    return llvm.parse_assembly(f'target datalayout = "{layout}"\ntarget triple = "{TRIPLE}"\n{text}')


@cache
def _library(libdevice: Path) -> bytes:
    """The bitcode of libdevice, whose functions of single precision do nothing in double precision.

    They would where they reduce large angles: ``float(double(n) * c)``, with n of 64 bits, becomes
    ``float(n) * float(c)``, with an error of 1.5 units in the last place.
    """
    text = str(llvm.parse_bitcode(libdevice.read_bytes()))
    return llvm.parse_assembly(_REDUCTION.sub(_in_single, text)).as_bitcode()


def _in_single(match: re.Match[str]) -> str:
    whole, number, _, constant, result = match.groups()
    scale = struct.unpack("f", struct.pack("f", struct.unpack(">d", bytes.fromhex(constant))[0]))[0]
    rounded = struct.pack(">d", scale).hex()
    return f"  {whole} = sitofp i64 {number} to float\n  {result} = fmul float {whole}, 0x{rounded}"


def ptx(*codes: Code, architecture: str = OLDEST, extra: int = 0, libdevice: Path | None = None) -> str:
    """The PTX of a launch: a stage, or several that follow each other.

    Args:
        codes: the stages; what they call by number has the same numbers for all.
        architecture: the oldest architecture that it is for, as LLVM calls it; later ones take it as well.
        extra: number of integers that the function takes beside model and data: they become parameters of the kernel.
        libdevice: the file of libdevice; found if not given.

    Returns:
        A module with the kernel `KERNEL` (models, data, stage, following, rows, *extra): address of two words, that of
        the first world's model and the distance to the next; address of the data's slot table; number of the first
        stage, and of the one after the last (0: it ends a step); address of the rows at, status, left.

    Raises:
        PtxError: a stage calls something that is not there.
    """
    machine = _machine(architecture)
    layout = str(machine.target_data)
    huge = {code.text: _parts(code.text) for code in codes if code.text.count("\n") > HUGE}
    texts = (_holding_no_slots(text) if text in huge else text for text in module_texts(*codes))
    linked, *others = (_parsed(text, layout) for text in texts)
    for module in others:
        linked.link_in(module)
    symbols = [code.symbol for code in codes]
    registers = [_read_anew(text) if huge else text for text in (_WORLD, _INDEX)]
    linked.link_in(_parsed("\n".join([*registers, kernel_text(symbols, extra, "ptx_kernel ")]), layout))
    library = llvm.parse_bitcode(_library(libdevice or find_libdevice()))
    library.triple, library.data_layout = TRIPLE, layout
    linked.link_in(library)
    # one copy of what is called by number, and of each of several stages: the assembler deals with them alone
    apart = {symbol for code in codes for symbol in _callees(code)} | set(symbols if len(codes) > 1 else ())
    apart |= _around_calls(linked)
    for symbol in apart.union(*huge.values()):
        linked.get_function(symbol).add_function_attribute("noinline")
    return _emitted(linked, machine, ", ".join(symbols))


def _around_calls(module: Any) -> set[str]:
    """Functions that call others by number, and the large ones that they call beside.

    What a function holds in registers while another one runs is stored; so little should be alive around such calls.
    """
    texts = {match[1]: match[0] for match in _DEFINITION.finditer(str(module))}
    calling = {name for name, text in texts.items() if _BY_NUMBER.search(text) and not name.startswith(CALL)}
    beside = {callee for name in calling for callee in _CALLEE.findall(texts[name])}
    return calling | {name for name in beside if texts.get(name, "").count("\n") > LARGE}


def _parts(text: str) -> set[str]:
    """Functions of a huge module that stay functions: else there are many copies of them, and too much is alive."""
    texts = {match[1]: match[0] for match in _DEFINITION.finditer(text)}
    callees = {name: [c for c in _CALLEE.findall(body) if c in texts] for name, body in texts.items()}
    calls = Counter(callee for called in callees.values() for callee in called)

    @cache
    def size(name: str) -> int:
        """Lines of a function, with those that become a part of it."""
        return texts[name].count("\n") + sum(size(callee) for callee in callees[name] if not stays(callee))

    def stays(name: str) -> bool:
        return size(name) > (SHARED if calls[name] > 1 else ALONE)

    return {name for name in calls if stays(name)}


def ptx_of_text(text: str, architecture: str = OLDEST) -> str:
    """The PTX of a module that defines the kernel `KERNEL` itself (convention ``ptx_kernel``) and calls no library.

    It may ask for the number of its thread, and of threads, by `WORLD_INDEX` and `WORLD_COUNT`.
    """
    machine = _machine(architecture)
    return _emitted(_parsed(f"{_WORLD}\n{_INDEX_OF_MANY}\n{text}", str(machine.target_data)), machine, KERNEL)


def _emitted(linked: Any, machine: Any, name: str) -> str:
    """The PTX of a linked module of which nothing but the kernel is visible."""
    for item in (*linked.functions, *linked.global_variables):
        if item.name != KERNEL and not item.is_declaration and not item.name.startswith("llvm."):
            item.linkage = "internal"
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(linked, passes)
    missing = sorted(f.name for f in linked.functions if f.is_declaration and not f.name.startswith("llvm."))
    if missing:
        raise PtxError(f"{name} can't become GPU code: it calls {', '.join(missing)}")
    return machine.emit_assembly(linked)


def kernel_text(symbols: Sequence[str], extra: int = 0, convention: str = "") -> str:
    """The text of the kernel around the functions of stages; on other targets it is an ordinary function."""
    words = ", ".join(["i64"] * (2 + extra))
    more = "".join(f", i64 %x{k}" for k in range(extra))
    names = {"index": WORLD_INDEX, "count": WORLD_COUNT, "parameters": more}
    declared = dict.fromkeys(f'declare i64 @"{symbol}"({words})' for symbol in symbols)
    bodies = [_BODY.format(symbol=symbol, k=k, **names) for k, symbol in enumerate(symbols)]
    calls = []
    for k in range(len(symbols)):
        last = k == len(symbols) - 1
        calls += [f"  %stage{k} = add i64 %stage, {k}", f"  %next{k} = add i64 %stage, {k + 1}"]
        following = "%following" if last else f"%next{k}"
        calls.append(
            f"  call void @cardan_body_{k}(ptr %models, i64 %d, i64 %stage{k}, i64 {following}, ptr %rows{more})"
        )
    head = f"define {convention}void @{KERNEL}(ptr %models, i64 %d, i64 %stage, i64 %following, ptr %rows{more}) {{"
    return "\n".join([*declared, *bodies, head, *calls, "  ret void", "}"])
