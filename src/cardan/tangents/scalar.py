"""The scalar form of a stage, and its parser: the starting point of the transformation to tangents.

All functions that a stage calls are inlined, except *parts*: large functions that are called at many places. Variables
are in registers, and no code is vectorised. About thirty kinds of LLVM instructions are left, one on each line, in
named blocks.

An example of a part is the support function of a convex shape, which the exact distance calls at fifty places. If it
were inlined, five sixths of the stage would be copies of it, and their optimisation would take most of a minute.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding as llvm

from cardan.jit.target.processor import target_machine

WORTH_IT = 20_000
"""A function is kept as a part only if this saves at least this number of instructions, because calls take time."""
ADDRESSES = frozenset(("retptr", "excinfo", "arg.m", "arg.d"))
"""Names of the pointers that a part may have as parameters: result, exception, model and data."""


class Calls:
    """Sizes of the functions of a linked module, and how often each function calls each of the others.

    Attributes:
        sizes: number of instructions, by function name.
        calls: number of calls of each other function, by function name.
        plain: names of the functions whose only pointers are `ADDRESSES`. The analysis must know exactly where pointers
            point, but any other pointer parameter could point to the places of all calls together.
    """

    def __init__(self, module: Any) -> None:
        self.sizes: dict[str, int] = {}
        self.calls: dict[str, Counter[str]] = {}
        self.plain: set[str] = set()
        defined = {function.name for function in module.functions if not function.is_declaration}
        for function in module.functions:
            if function.name in defined:
                self._count(function, defined)
                pointers = {argument.name for argument in function.arguments if str(argument.type) == "ptr"}
                if pointers <= ADDRESSES:
                    self.plain.add(function.name)

    def _count(self, function: Any, defined: set[str]) -> None:
        size, calls = 0, Counter[str]()
        for block in function.blocks:
            for instruction in block.instructions:
                size += 1
                if instruction.opcode == "call":
                    callee = list(instruction.operands)[-1].name
                    if callee in defined:
                        calls[callee] += 1
        self.sizes[function.name], self.calls[function.name] = size, calls

    def inlined_sizes(self, kept: set[str]) -> dict[str, int]:
        """Count the instructions of each function after inlining all functions that it calls except those in `kept`."""
        totals: dict[str, int] = {}

        def total(name: str) -> int:
            if name not in totals:
                inlined = (n * total(callee) for callee, n in self.calls[name].items() if callee not in kept)
                totals[name] = self.sizes[name] + sum(inlined)
            return totals[name]

        for name in self.sizes:
            total(name)
        return totals

    def copies(self, root: str, kept: set[str]) -> Counter[str]:
        """Count the inlined copies of each function in the function `root` and in the functions `kept`."""
        found = Counter[str]()

        def walk(name: str, times: int) -> None:
            for callee, n in self.calls[name].items():
                found[callee] += times * n
                if callee not in kept:
                    walk(callee, times * n)

        for name in (root, *kept):
            walk(name, 1)
        return found


def shared_functions(module: Any, root: str) -> set[str]:
    """Choose the functions of a linked module that are not inlined, first those that save most instructions.

    Args:
        module: a linked module that has not been optimised.
        root: the function that is called from outside. It calls only the stage, which is always inlined.
    """
    calls = Calls(module)
    kept: set[str] = set()
    while True:
        sizes, copies = calls.inlined_sizes(kept), calls.copies(root, kept)
        saved = {name: (n - 1) * sizes[name] for name, n in copies.items() if name in calls.plain - kept}
        best = max(saved, key=lambda name: saved[name], default=None)
        if best is None or saved[best] < WORTH_IT:
            return kept
        kept.add(best)


NAME = r'(?:%[\w.$-]+|%"[^"]*")'
_DEFINE = re.compile(r"^define (?:[\w.]+ )*?(void|i64) @([\w.$-]+|\"[^\"]*\")\((.*?)\)[^()]*\{$")
_ASSIGN = re.compile(rf"({NAME}) = (.*)$")
_DEFINE_PART = re.compile(r"^define .*?\bi32 @([\w.$-]+|\"[^\"]*\")\((.*)\)[^()]*\{$")
_EXCEPTION = "%excinfo"  # where Numba's functions put exceptions, which kernels don't raise: left out
_LABEL = re.compile(r'^("?)([^":]*)("?:)')
_PARAMETER = re.compile(rf"(i64|i32|double|ptr)\b[^,]*?({NAME})(?=,|$)")


class TransformError(RuntimeError):
    """Error: a stage has an instruction for which the transformation has no rule."""


@dataclass(slots=True)
class Instruction:
    """Instruction: the whole line, the name of the result (or ""), the operation, and the rest of the line."""

    line: str
    result: str
    operation: str
    rest: str


@dataclass(slots=True)
class Function:
    """The body of a stage, or of a part, in scalar form.

    Attributes:
        parameters: types and names of the parameters, the result pointer first.
        items: labels (with the colon) and instructions, in order.
        symbol: symbol of a part with the prefix ``@``; empty for the stage.
    """

    parameters: list[tuple[str, str]]
    items: list[str | Instruction] = field(default_factory=list)
    symbol: str = ""

    def instructions(self) -> Iterator[Instruction]:
        """Yield all instructions in order."""
        return (item for item in self.items if isinstance(item, Instruction))


@dataclass(slots=True)
class Scalar:
    """Stage in scalar form: its body, its parts, and the declarations, constants and metadata of its module.

    Attributes:
        body: body of the stage.
        around: all other lines of the module.
        parts: functions that the stage calls, by symbol. Names inside a part differ from those in all other functions.
    """

    body: Function
    around: list[str]
    parts: dict[str, Function] = field(default_factory=dict)

    def functions(self) -> Iterator[Function]:
        """Yield the body and the parts."""
        yield self.body
        yield from self.parts.values()

    def instructions(self) -> Iterator[Instruction]:
        """Yield all instructions in order."""
        for function in self.functions():
            yield from function.instructions()


def scalar_text(symbol: str, module: Any) -> str:
    """Convert a linked module that has not been optimised to scalar form; return it as LLVM assembly."""
    parts = shared_functions(module, symbol)
    for function in module.functions:
        if function.name in parts:  # with external linkage, they keep their parameters
            function.linkage = "external"
            function.add_function_attribute("noinline")
        elif not function.is_declaration and function.name != symbol:
            function.add_function_attribute("alwaysinline")
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    passes = llvm.create_pass_builder(target_machine(), options)
    manager = passes.getModulePassManager()
    manager.add_instruction_namer_pass()
    manager.run(module, passes)
    return str(module)


def _instruction(line: str) -> Instruction:
    text = re.split(r",? ![a-z]", line.strip(), maxsplit=1)[0]  # without metadata
    match = _ASSIGN.match(text)
    result, text = (match.group(1), match.group(2)) if match else ("", text)
    text = re.sub(r"^(?:tail |musttail |notail )", "", text)
    operation, _, rest = text.partition(" ")
    return Instruction(line, result, operation, rest)


def _joined(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a body. All lines of a ``switch`` are joined to one."""
    whole = ""
    for line in lines:
        if whole:
            whole += " " + line.strip()
            if line.strip().startswith("]"):
                yield whole
                whole = ""
        elif line.strip().startswith("switch ") and not line.rstrip().endswith("]"):
            whole = line
        elif line.strip():
            yield line


def read_scalar(text: str) -> Scalar:
    """Parse a module in scalar form: the entry's function and its parts.

    Raises:
        TransformError: there are other functions, which should have been inlined.
    """
    lines = text.splitlines()
    bodies: list[Function] = []
    parts: dict[str, Function] = {}
    around: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.startswith("define "):
            around.append(line)
            at += 1
            continue
        end = next(k for k in range(at, len(lines)) if lines[k] == "}")
        match, part = _DEFINE.match(line), _DEFINE_PART.match(line)
        if match is not None and match.group(1) == "void":
            bodies.append(_function(_PARAMETER.findall(match.group(3)), lines[at + 1 : end]))
        elif match is None and part is not None:
            symbol = "@" + part.group(1)
            parts[symbol] = _part(symbol, _parameters(part.group(2)), lines[at + 1 : end], f"part{len(parts)}.")
        elif match is None:
            raise TransformError(f"no rule for the function {line}")
        at = end + 1
    if len(bodies) != 1:
        raise TransformError(f"{len(bodies)} functions are left where one was expected")
    return Scalar(bodies[0], around, _called(bodies[0], parts))


def _called(body: Function, parts: dict[str, Function]) -> dict[str, Function]:
    """Select the parts that the body calls, also indirectly. Optimisation keeps all parts, even unused ones."""
    found: dict[str, Function] = {}
    waiting = [body]
    while waiting:
        texts = [instruction.rest for instruction in waiting.pop().instructions() if instruction.operation == "call"]
        for symbol, part in parts.items():
            if symbol not in found and any(f"{symbol}(" in text for text in texts):
                found[symbol] = part
                waiting.append(part)
    return {symbol: part for symbol, part in parts.items() if symbol in found}


def _function(parameters: list[tuple[str, str]], lines: list[str]) -> Function:
    function = Function([parameter for parameter in parameters if parameter[1] != _EXCEPTION])
    for line in _joined(lines):
        if line.startswith(" "):
            function.items.append(_instruction(line))
        else:
            function.items.append(line.partition(";")[0].rstrip())
    return function


def _parameters(text: str) -> list[tuple[str, str]]:
    """Parse types and names of parameters. Attributes of parameters may contain commas in brackets."""
    while "(" in text:
        text = re.sub(r"\([^()]*\)", "", text)
    return [(words[0], words[-1]) for words in map(str.split, text.split(","))]


def _part(symbol: str, parameters: list[tuple[str, str]], lines: list[str], prefix: str) -> Function:
    """Parse a part, and put a prefix before all its names and labels."""

    def own(text: str) -> str:
        return re.sub(r'%("?)(?=[\w.$-])', rf"%\1{prefix}", text)

    own_lines = [own(line) if line.startswith(" ") else _LABEL.sub(rf"\1{prefix}\2\3", line) for line in lines]
    part = _function([(kind, own(name)) for kind, name in parameters if name != _EXCEPTION], own_lines)
    part.symbol = symbol
    return part
