"""Activity analysis of a stage: the places to which its pointers may point, and the numbers that have a tangent.

Both are least fixed points over all instructions, in any order. A *place* is a field of a structure, an array on the
stack, or a constant of the module. A place is *active* if some of its numbers may have a tangent. A number that is
computed from an active number is active, too. A parameter of a part (a function that is not inlined) may have the value
of the argument in any call of the part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from cardan.jit.memory.fields import WORDS, Field, Struct
from cardan.tangents.scalar import NAME, Instruction, Scalar, TransformError

SLOT_BYTES = 8 * WORDS
ARRAY, STACK, CONSTANT, SLOT = "array", "stack", "constant", "slot"

Place = tuple[str, str, int]
"""Kind, name (a field such as ``d.qpos``; ``m`` or ``d`` for a slot), and byte offset in the slot table (for a
slot)."""

ARITHMETIC = frozenset(("fadd", "fsub", "fmul", "fdiv", "frem", "fneg"))
PIECEWISE_CONSTANT = frozenset(("floor", "ceil", "rint", "round", "trunc", "nearbyint", "roundeven"))
OPERAND = rf"(?:{NAME}|-?[\w.+-]+|@[\w.$-]+|@\"[^\"]*\")"

_GEP = re.compile(rf"(?:(?:inbounds|nuw|nusw) )*(\S+), ptr ({OPERAND}|@\S+), (?:i64|i32) ({OPERAND})$")
_LOAD = re.compile(rf"(\w+), ptr ({OPERAND}|@\S+?)(?:,|$)")
_STORE = re.compile(rf"(\w+) ({OPERAND}), ptr ({OPERAND})(?:,|$)")
_SELECT = re.compile(rf"(?:\w+ )*?i1 ({OPERAND}), (\w+) ({OPERAND}), \2 ({OPERAND})$")
_PHI = re.compile(r"(?:(?:fast|reassoc|nsz|contract|nnan|ninf|arcp|afn) )*(double|float|ptr|i\d+) (\[.*)$")
_INCOMING = re.compile(rf"\[ ({OPERAND}|@\S+), ({NAME}) \]")
_BINARY = re.compile(rf"(?:[a-z]+ )*(double|float) ({OPERAND})(?:, ({OPERAND}))?$")
_CALL = re.compile(r"(?:[a-z]+ |range\(.*?\) )*(double|float|void|i\d+|ptr) (@[\w.$-]+|%[\w.$-]+)\((.*)\)[^()]*$")
_CALL_OF_PART = re.compile(r"(?:[a-z]+ |range\(.*?\) )*i32 (@[\w.$-]+|@\"[^\"]*\")\((.*)\)[^()]*$")
_ATTRIBUTE = re.compile(r" [a-z_]+\((?:[^()]|\([^()]*\))*\)")  # attribute of an argument, with brackets
_ALLOCA = re.compile(r"(?:\[(\d+) x )?(\w+)\]?(?:, (?:i64|i32) (\d+))?")
_COMPARE = re.compile(rf"(?:(?:fast|reassoc|nsz|contract|nnan|ninf|arcp|afn) )*(\w+) double ({OPERAND}), ({OPERAND})$")


def _match(pattern: re.Pattern[str], instruction: Instruction) -> re.Match[str]:
    match = pattern.match(instruction.rest)
    if match is None:
        raise TransformError(f"no rule for the instruction {instruction.line.strip()}")
    return match


def _reader(pattern: re.Pattern[str]) -> Callable[[Instruction], tuple[str, ...]]:
    return lambda instruction: _match(pattern, instruction).groups()


gep = _reader(_GEP)
"""Element type, pointer and index of a `getelementptr`."""
load = _reader(_LOAD)
"""Type and pointer of a `load`."""
store = _reader(_STORE)
"""Type, value and pointer of a `store`."""
select = _reader(_SELECT)
"""Condition, type and the two values of a `select`."""
comparison = _reader(_COMPARE)
"""Predicate and operands of a comparison of numbers."""


def phi(instruction: Instruction) -> tuple[str, list[tuple[str, str]]]:
    """Return the type of a `phi` instruction, and its values, each with the block from which it comes."""
    kind, incoming = _match(_PHI, instruction).groups()
    return kind, _INCOMING.findall(incoming)


def operands(instruction: Instruction) -> tuple[str, ...]:
    """Return the operands of an arithmetic instruction on floating-point numbers."""
    _, first, second = _match(_BINARY, instruction).groups()
    return (first,) if second is None else (first, second)


def call(instruction: Instruction) -> tuple[str, str, list[str]]:
    """Return type, name and arguments of a `call`; names of LLVM's intrinsics without their prefix and suffix."""
    kind, name, arguments = _match(_CALL, instruction).groups()
    name = re.sub(r"^@(?:llvm\.)?|(?:\.(?:f64|p0|i64|i32|i1|i8))+$", "", name)
    return kind, name, [a.split()[-1] for a in arguments.split(", ")] if arguments else []


def stack_array(instruction: Instruction) -> tuple[str, int]:
    """Return element type and number of elements of an `alloca`."""
    count, kind, more = _match(_ALLOCA, instruction).groups()
    return kind, int(count or 1) * int(more or 1)


@dataclass(slots=True)
class Activity:
    """Values and places of a stage that may have a tangent.

    Attributes:
        places: places to which each pointer (or integer that holds an address) may point.
        values: names of the numbers that have a tangent.
        active: fields (``d.qpos``) and stack arrays that have a tangent at the end of the stage.
        reads: active fields that are read.
        writes: active fields that are written.
    """

    places: dict[str, frozenset[Place]]
    values: set[str]
    active: set[str]
    reads: set[str]
    writes: set[str]


class Analysis:
    """Activity analysis of one stage.

    Args:
        scalar: the stage in scalar form.
        structs: structures of the first two integer parameters, which are the addresses of slot tables.

    Raises:
        TransformError: there is no rule for an instruction.
    """

    def __init__(self, scalar: Scalar, structs: tuple[Struct, Struct]) -> None:
        self.scalar = scalar
        self.structs = dict(zip("md", structs, strict=True))
        self.places: dict[str, frozenset[Place]] = {}
        self.definitions = {i.result: i for i in scalar.instructions() if i.result}
        parameters = scalar.body.parameters
        names = [name for kind, name in parameters if kind == "i64"][:2]
        for letter, name in zip("md", names, strict=True):
            self.places[name] = frozenset(((SLOT, letter, 0),))
        result = parameters[0][1]
        self.places[result] = frozenset(((STACK, result, 0),))
        while self._sweep_places():
            pass

    def passed(self, instruction: Instruction) -> list[tuple[str, str, str]]:
        """Return type, name and argument for each parameter of a called part; an empty list for other instructions."""
        if instruction.operation != "call" or not self.scalar.parts:
            return []
        match = _CALL_OF_PART.match(instruction.rest)
        part = self.scalar.parts.get(match.group(1)) if match else None
        if match is None or part is None:
            return []
        arguments = [words.split()[-1] for words in _ATTRIBUTE.sub("", match.group(2)).split(", ")]
        del arguments[1]  # the pointer for an exception
        if len(arguments) != len(part.parameters):
            raise TransformError(f"no rule for the instruction {instruction.line.strip()}")
        return [(kind, name, value) for (kind, name), value in zip(part.parameters, arguments, strict=True)]

    # places ------------------------------------------------------------------

    def field_at(self, place: Place) -> tuple[Field, int]:
        """Return the field whose slot contains the place, and the index of the place's word in the slot."""
        _, letter, offset = place
        slot, byte = divmod(offset, SLOT_BYTES)
        return self.structs[letter].fields[slot], byte // 8

    def name_at(self, place: Place) -> str:
        """Return the name of a place; for a slot, the name of its field."""
        if place[0] == SLOT:
            return f"{place[1]}.{self.field_at(place)[0].name}"
        return place[1]

    def _sweep_places(self) -> bool:
        changed = False
        for instruction in self.scalar.instructions():
            for _, parameter, argument in self.passed(instruction):
                changed |= self._add_places(parameter, self._union((argument,)))
            if instruction.result:
                changed |= self._add_places(instruction.result, self._places_of(instruction))
        return changed

    def _add_places(self, value: str, found: frozenset[Place]) -> bool:
        """Record that a value may point to some places; return whether any of them is new."""
        known = self.places.get(value, frozenset())
        if found <= known:
            return False
        self.places[value] = found | known
        return True

    def _union(self, values: Iterable[str]) -> frozenset[Place]:
        return frozenset().union(*(self.places.get(value, frozenset()) for value in values))

    def _places_of(self, instruction: Instruction) -> frozenset[Place]:
        match instruction.operation:
            case "inttoptr" | "ptrtoint" | "freeze":
                values = re.findall(NAME, instruction.rest)
                return self._union(values)
            case "getelementptr":
                return self._places_of_element(instruction)
            case "load":
                return self._places_loaded(instruction)
            case "alloca":
                return frozenset(((STACK, instruction.result, 0),))
            case "phi":
                kind, incoming = phi(instruction)
                return self._union(value for value, _ in incoming) if kind in ("ptr", "i64") else frozenset()
            case "select":
                if not re.match(r"(?:\w+ )*?i1 ", instruction.rest):
                    return frozenset()
                _, kind, first, second = select(instruction)
                return self._union((first, second)) if kind in ("ptr", "i64") else frozenset()
        return frozenset()

    def _places_of_element(self, instruction: Instruction) -> frozenset[Place]:
        kind, pointer, index = gep(instruction)
        if pointer.startswith("@"):
            return frozenset(((CONSTANT, pointer, 0),))
        found = set()
        for place in self.places.get(pointer, ()):
            if place[0] == SLOT:
                offsets = self._constants(index)
                if kind != "i8" or not offsets:
                    raise TransformError(f"a slot is computed: {instruction.line.strip()}")
                found.update((SLOT, place[1], place[2] + offset) for offset in offsets)
            else:
                found.add(place)
        return frozenset(found)

    def _constants(self, value: str) -> set[int]:
        """Return the constants among which an integer is selected; an empty set if the integer is computed."""
        if not value.startswith("%"):
            return {int(value)}
        instruction = self.definitions.get(value)
        if instruction is None or instruction.operation not in ("phi", "select"):
            return set()
        values = [v for v, _ in phi(instruction)[1]] if instruction.operation == "phi" else select(instruction)[2:]
        return set().union(*(self._constants(v) for v in values))

    def _places_loaded(self, instruction: Instruction) -> frozenset[Place]:
        kind, pointer = load(instruction)
        found = set()
        if kind in ("i64", "ptr"):
            for place in self.places.get(pointer, ()):
                if place[0] == SLOT:
                    field, word = self.field_at(place)
                    if word == 0 and not field.is_scalar:
                        found.add((ARRAY, f"{place[1]}.{field.name}", 0))
        return frozenset(found)

    # fields and activity -----------------------------------------------------

    def touched(self) -> set[str]:
        """Return the names of all floating-point fields that the stage may read or write."""
        names = set()
        for places in self.places.values():
            for place in places:
                if place[0] == ARRAY or (place[0] == SLOT and self.field_at(place)[0].is_scalar):
                    names.add(self.name_at(place))
        return {name for name in names if self._field(name).dtype == "f8"}

    def stored(self) -> set[str]:
        """Return the names of all floating-point fields that the stage may write."""
        names: set[str] = set()
        for instruction in self.scalar.instructions():
            if instruction.operation == "store":
                names |= self.names_of(store(instruction)[2])
            elif instruction.operation == "call" and not instruction.result:
                _, name, arguments = call(instruction)
                if name in ("memcpy", "memmove", "memset"):
                    names |= self.names_of(arguments[0])
        return names & self.touched()

    def _field(self, name: str) -> Field:
        letter, _, field = name.partition(".")
        return self.structs[letter].by_name[field]

    def activity(self, active: Collection[str]) -> Activity:
        """Return the values and places that have a tangent if the fields `active` have one before the stage."""
        found = Activity(self.places, set(), set(active) & self.touched(), set(), set())
        while self._sweep_activity(found):
            pass
        for instruction in self.scalar.instructions():
            self._note_access(found, instruction)
        return found

    def names_of(self, pointer: str) -> set[str]:
        """Return the names of the places that a pointer may point to, except constants."""
        return {self.name_at(place) for place in self.places.get(pointer, ()) if place[0] != CONSTANT}

    def needed(self, found: Activity, keep: Collection[str]) -> set[str]:
        """Return the active fields of `keep`, and the active fields whose tangents are needed to compute theirs."""
        return {name for name in self.needed_places(found, keep) if not name.startswith("%")}

    def needed_places(self, found: Activity, keep: Collection[str]) -> set[str]:
        """Return the fields that `needed` returns, and the active stack arrays whose tangents the stage needs."""
        fields = set(keep) & found.active
        values: set[str] = set()
        instructions = list(self.scalar.instructions())[::-1]
        while True:
            before = len(fields), len(values)
            for instruction in instructions:
                self._sweep_needs(found, fields, values, instruction)
            if before == (len(fields), len(values)):
                return fields

    def known(self, found: Activity, places: Collection[str]) -> set[str]:
        """Return the numbers whose tangents can be computed from the tangents of the given fields and stack arrays."""
        known = set(found.values)
        while True:
            before = len(known)
            for instruction in self.scalar.instructions():
                passed = self.passed(instruction)
                known -= {name for _, name, value in passed if value in found.values and value not in known}
                if instruction.result not in known:
                    continue
                if instruction.operation == "load":
                    good = self.names_of(load(instruction)[1]) <= set(places)
                else:
                    operands = [v for v in re.findall(NAME, instruction.rest) if v in found.values]
                    good = all(value in known for value in operands)
                if not good:
                    known.discard(instruction.result)
            if before == len(known):
                return known

    def _sweep_needs(self, found: Activity, fields: set[str], values: set[str], instruction: Instruction) -> None:
        if instruction.operation == "store":
            kind, value, pointer = store(instruction)
            if kind == "double" and self.names_of(pointer) & fields:
                fields |= self.names_of(pointer) & found.active
                values |= {value} & found.values
        elif instruction.result in values:
            if instruction.operation == "load":
                fields |= self.names_of(load(instruction)[1])
            else:
                values |= {value for value in re.findall(NAME, instruction.rest) if value in found.values}
        elif passed := self.passed(instruction):
            values |= {value for _, name, value in passed if name in values and value in found.values}
        elif instruction.operation == "call" and not instruction.result:
            _, name, arguments = call(instruction)
            if name in ("memcpy", "memmove") and self.names_of(arguments[0]) & fields:
                fields |= (self.names_of(arguments[0]) | self.names_of(arguments[1])) & found.active

    def _sweep_activity(self, found: Activity) -> bool:
        before = len(found.values), len(found.active)
        for instruction in self.scalar.instructions():
            if instruction.operation == "store":
                kind, value, pointer = store(instruction)
                if kind == "double" and (value in found.values or self.names_of(pointer) & found.active):
                    found.active |= self.names_of(pointer)
            elif passed := self.passed(instruction):
                found.values |= {name for kind, name, value in passed if kind == "double" and value in found.values}
            elif instruction.operation == "call" and not instruction.result:
                self._sweep_copy(found, instruction)
            elif instruction.result and self._is_active(found, instruction):
                found.values.add(instruction.result)
        return before != (len(found.values), len(found.active))

    def _sweep_copy(self, found: Activity, instruction: Instruction) -> None:
        _kind, name, arguments = call(instruction)
        if name in ("memcpy", "memmove"):
            target, source = self.names_of(arguments[0]), self.names_of(arguments[1])
            if source & found.active:
                found.active |= source | target

    def _is_active(self, found: Activity, instruction: Instruction) -> bool:
        operation = instruction.operation
        if operation in ARITHMETIC:
            return any(value in found.values for value in operands(instruction))
        if operation == "load":
            kind, pointer = load(instruction)
            if kind != "double" or not self.names_of(pointer) & found.active:
                return False
            found.active |= self.names_of(pointer)
            return True
        if operation == "phi":
            kind, incoming = phi(instruction)
            return kind in ("double", "float") and any(value in found.values for value, _ in incoming)
        if operation == "select":
            _, kind, first, second = select(instruction)
            return kind in ("double", "float") and (first in found.values or second in found.values)
        if operation == "call":
            kind, name, arguments = call(instruction)
            return kind == "double" and name not in PIECEWISE_CONSTANT and any(a in found.values for a in arguments)
        if operation in ("fpext", "fptrunc", "freeze"):
            return instruction.rest.split()[1].rstrip(",") in found.values
        return False

    def _note_access(self, found: Activity, instruction: Instruction) -> None:
        if instruction.operation == "load" and instruction.result in found.values:
            found.reads |= self.names_of(load(instruction)[1])
        elif instruction.operation == "store":
            kind, _, pointer = store(instruction)
            if kind == "double":
                found.writes |= self.names_of(pointer) & found.active
        elif instruction.operation == "call" and not instruction.result:
            _, name, arguments = call(instruction)
            if name in ("memcpy", "memmove", "memset"):
                found.writes |= self.names_of(arguments[0]) & found.active
            if name in ("memcpy", "memmove"):
                found.reads |= self.names_of(arguments[1]) & found.active
