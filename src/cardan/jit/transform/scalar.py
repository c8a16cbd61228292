"""The scalar form of a stage, and reading it: what the transformations start from.

All that a stage calls is inlined, everything is promoted to registers, nothing is vectorised. About thirty kinds of
instructions of LLVM's are left, a line each, in named blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding as llvm

from cardan.jit.driver.loader import target_machine

NAME = r'(?:%[\w.$-]+|%"[^"]*")'
_DEFINE = re.compile(r"^define (?:[\w.]+ )*?(void|i64) @([\w.$-]+|\"[^\"]*\")\((.*?)\)[^()]*\{$")
_ASSIGN = re.compile(rf"({NAME}) = (.*)$")
_PARAMETER = re.compile(rf"(i64|i32|double|ptr)\b[^,]*?({NAME})(?=,|$)")


class TransformError(RuntimeError):
    """A stage has an instruction that a transformation has no rule for."""


@dataclass(slots=True)
class Instruction:
    """One instruction: the line as it is, its result (or ""), its operation, and what stands behind that."""

    line: str
    result: str
    operation: str
    rest: str


@dataclass(slots=True)
class Function:
    """The body of a stage in scalar form.

    Attributes:
        parameters: types and names, the place of the result first.
        items: labels (as they stand, with the colon) and instructions, in order.
    """

    parameters: list[tuple[str, str]]
    items: list[str | Instruction] = field(default_factory=list)

    def instructions(self) -> Iterator[Instruction]:
        """All instructions."""
        return (item for item in self.items if isinstance(item, Instruction))


@dataclass(slots=True)
class Scalar:
    """A stage in scalar form: its body, and the declarations, constants and metadata around it."""

    body: Function
    around: list[str]


def scalar_text(symbol: str, module: Any) -> str:
    """Inline a linked module that isn't optimised yet and promote it to registers, without vectors; as text."""
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.add_function_attribute("alwaysinline")
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    passes = llvm.create_pass_builder(target_machine(), options)
    manager = passes.getModulePassManager()
    manager.add_instruction_namer_pass()
    manager.run(module, passes)
    return str(module)


def _without_metadata(text: str) -> str:
    """An instruction without what is attached to it."""
    return re.split(r",? ![a-z]", text, maxsplit=1)[0]


def _instruction(line: str) -> Instruction:
    text = _without_metadata(line.strip())
    match = _ASSIGN.match(text)
    result, text = (match.group(1), match.group(2)) if match else ("", text)
    text = re.sub(r"^(?:tail |musttail |notail )", "", text)
    operation, _, rest = text.partition(" ")
    return Instruction(line, result, operation, rest)


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines of a body, those of a switch in one."""
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
    """Read a module in scalar form: the one function that is called by the entry.

    Raises:
        TransformError: there are other functions: something was not inlined.
    """
    lines = text.splitlines()
    bodies: list[Function] = []
    around: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.startswith("define "):
            around.append(line)
            at += 1
            continue
        end = next(k for k in range(at, len(lines)) if lines[k] == "}")
        match = _DEFINE.match(line)
        if match is None:
            raise TransformError(f"no rule for the function {line}")
        if match.group(1) == "void":
            bodies.append(_function(match.group(3), lines[at + 1 : end]))
        at = end + 1
    if len(bodies) != 1:
        raise TransformError(f"{len(bodies)} functions are left where one was expected")
    return Scalar(bodies[0], around)


def _function(parameters: str, lines: list[str]) -> Function:
    function = Function([(kind, name) for kind, name in _PARAMETER.findall(parameters)])
    for line in _joined(lines):
        if line.startswith(" "):
            function.items.append(_instruction(line))
        else:
            function.items.append(line.partition(";")[0].rstrip())
    return function
