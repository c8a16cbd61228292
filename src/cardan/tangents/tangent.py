"""Transformation of a stage in scalar form to code that computes values and their tangents in several directions.

Each number with a tangent gets a vector with one element for each direction (*lane*). Each array has a *shadow*, an
array of such vectors. The shadow is found through a second slot table, which has the same slots as the first. For a
scalar of a structure, the shadow slot contains the address of the vector. No code is written for terms without a
tangent.

Sources: Wengert 1964; Griewank and Walther, Evaluating derivatives, 2008, chapter 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from cardan.tangents.activity import (
    ARITHMETIC,
    SLOT,
    Activity,
    Analysis,
    call,
    comparison,
    gep,
    load,
    operands,
    phi,
    select,
    stack_array,
    store,
)
from cardan.tangents.rules import ONE, Lines, slopes
from cardan.tangents.scalar import NAME, Instruction, Scalar, TransformError

FLAGS = "reassoc nsz contract"
NOTHING = "zeroinitializer"
ZEROS = ("0.000000e+00", "-0.000000e+00", "0.0")
TAN_M, TAN_D = "%cardan.tangent.m", "%cardan.tangent.d"
SKIPPED = frozenset(("lifetime.start", "lifetime.end", "assume", "experimental.noalias.scope.decl"))
COPIES = frozenset(("memcpy", "memmove"))
PURE = frozenset(
    (
        *("br", "ret", "switch", "unreachable", "icmp", "add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"),
        *("sext", "zext", "trunc", "sdiv", "srem", "udiv", "urem", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast"),
        *("fpext", "fptrunc", "fcmp"),
    )
)
"""Operations that need no rule if their result has no tangent."""

# numbers far above those in a module; the root is the same as in `cardan.jit.front.native`
METADATA = """
!90000 = !{!"cardan"}
!90001 = !{!"tangent", !90000, i64 0}
!90002 = !{!90001, !90001, i64 0}
!90003 = !{!"slot", !90000, i64 0}
!90004 = !{!90003, !90003, i64 0}
!90005 = !{}
"""
TANGENT = ", !tbaa !90002"
ALIGNED = "alignstack(64)"
"""Attribute that aligns the stack, so that each spilled vector is within one cache line."""
SHADOW_SLOT = ", !tbaa !90004, !invariant.load !90005"


def shadow(value: str) -> str:
    """Return the name of a number's tangent, or of a pointer's shadow."""
    return value[:-1] + '.tan"' if value.endswith('"') else value + ".tan"


class Tangent:
    """Transformation of one stage to its tangents.

    Args:
        scalar: the stage.
        analysis: places of the stage's pointers.
        activity: values and places that have a tangent.
        keep: active fields whose tangents are read afterwards; other tangents are not stored.
        lanes: number of directions.
    """

    def __init__(
        self, scalar: Scalar, analysis: Analysis, activity: Activity, keep: Collection[str], lanes: int
    ) -> None:
        self.scalar, self.analysis, self.activity, self.lanes = scalar, analysis, activity, lanes
        needed = analysis.needed_places(activity, keep)
        self.stored = {name for name in needed if name.startswith("%") or name in keep}
        self.known = analysis.known(activity, needed)
        self.vector = f"<{lanes} x double>"
        self.out: list[str] = []
        self.count = 0
        self.splats: dict[str, str] = {}
        self.declared: dict[str, str] = {}
        self.lines = Lines(self.emit, self.fresh, self._declare)

    # small parts --------------------------------------------------------------

    def emit(self, text: str) -> None:
        """Append a line of assembly."""
        self.out.append("  " + text)

    def fresh(self) -> str:
        """Return a new name for a value."""
        self.count += 1
        return f"%cardan.t{self.count}"

    def _declare(self, name: str, arguments: int) -> str:
        symbol = f"@{name}.f64" if name.startswith("llvm.") else f"@{name}"
        self.declared[symbol] = f"declare double {symbol}({', '.join(['double'] * arguments)})"
        return symbol

    def _tangent(self, value: str) -> str:
        return shadow(value) if value in self.activity.values else NOTHING

    def _splat(self, value: str) -> str:
        """Return a vector with the same number in all lanes."""
        if not value.startswith("%"):
            return "<" + ", ".join([f"double {value}"] * self.lanes) + ">"
        if value not in self.splats:
            one, all_lanes = self.fresh(), self.fresh()
            self.emit(f"{one} = insertelement {self.vector} poison, double {value}, i64 0")
            mask = f"<{self.lanes} x i32> zeroinitializer"
            self.emit(f"{all_lanes} = shufflevector {self.vector} {one}, {self.vector} poison, {mask}")
            self.splats[value] = all_lanes
        return self.splats[value]

    def _scaled(self, factor: str, tangent: str) -> str:
        if tangent == NOTHING:
            return NOTHING
        name = self.fresh()
        self.emit(f"{name} = fmul {FLAGS} {self.vector} {self._splat(factor)}, {tangent}")
        return name

    def _sum(self, result: str, operation: str, first: str, second: str) -> None:
        self.emit(f"{result} = {operation} {FLAGS} {self.vector} {first}, {second}")

    # the whole ----------------------------------------------------------------

    def text(self, symbol: str) -> str:
        """Return the LLVM assembly of the module with the function `symbol`, which returns the status.

        The function's arguments are those of the stage, then the shadow of m and the shadow of d.
        """
        body = self.scalar.body
        result = body.parameters[0][1]
        signature = [*(f"{kind} {name}" for kind, name in body.parameters[1:]), f"i64 {TAN_M}", f"i64 {TAN_D}"]
        self.out.append(f'define i64 @"{symbol}"({", ".join(signature)}) nounwind {ALIGNED} {{')
        at = next(k for k, item in enumerate(body.items) if not isinstance(item, str))
        self._visit_all(body.items[:at], result)
        self.emit(f"{result} = alloca i64, align 8")
        self.emit(f"store i64 0, ptr {result}, align 8")
        self._visit_all(body.items[at:], result)
        self.out.append("}")
        for part in self.scalar.parts.values():
            own = [f"{kind} {name}" for kind, name in part.parameters]
            moved = [f"{kind} {shadow(name)}" for kind, name in self._moving(part.parameters)]
            signature = ", ".join(own + moved)
            self.out.append(f"define internal i32 {part.symbol}({signature}) nounwind noinline {ALIGNED} {{")
            self._visit_all(part.items, "")
            self.out.append("}")
        around = [line for line in self.scalar.around if not line.startswith("source_filename")]
        known = "\n".join(around)
        new = [line for name, line in self.declared.items() if f"{name}(" not in known]
        return "\n".join([*around, *new, *self.out, METADATA])

    def _visit_all(self, items: Sequence[str | Instruction], result: str) -> None:
        """Transform labels and instructions. `result` is the address of the status; empty for parts."""
        for item in items:
            if isinstance(item, str):
                self.splats.clear()
                self.out.append(item)
            else:
                self._visit(item, result)

    def _moving(self, parameters: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield (type of tangent or shadow, name of parameter) for each parameter of a part that has one of these."""
        for kind, name in parameters:
            if kind == "ptr":
                yield kind, name
            elif name in self.activity.values:
                yield self.vector, name

    def _call_part(self, instruction: Instruction, passed: list[tuple[str, str, str]]) -> None:
        symbol = re.search(r'@[\w.$-]+|@"[^"]*"', instruction.rest)
        values = {name: value for _, name, value in passed}
        arguments = [(kind, value) for kind, _, value in passed]
        for kind, name in self._moving((kind, name) for kind, name, _ in passed):
            moved = self._shadow_of(values[name]) if kind == "ptr" else self._tangent(values[name])
            arguments.append((kind, moved))
        result = f"{instruction.result} = " if instruction.result else ""
        text = ", ".join(f"{kind} {value}" for kind, value in arguments)
        self.emit(f"{result}call i32 {symbol.group() if symbol else ''}({text})")

    def _visit(self, instruction: Instruction, result: str) -> None:
        if instruction.operation == "ret" and result:
            status = self.fresh()
            self.emit(f"{status} = load i64, ptr {result}, align 8")
            self.emit(f"ret i64 {status}")
            return
        if passed := self.analysis.passed(instruction):
            self._call_part(instruction, passed)
            return
        moves = instruction.result in self.activity.values
        self.out.append(self._with_tangents(instruction) if instruction.operation == "fcmp" else instruction.line)
        rule = getattr(self, "_" + instruction.operation, None)
        if instruction.operation in ARITHMETIC:
            if moves and rule is not None:
                rule(instruction, *operands(instruction))
        elif rule is not None:
            rule(instruction)
        elif moves:
            value = instruction.rest.split()[1]  # conversions between widths of numbers keep the tangent
            self.emit(f"{shadow(instruction.result)} = freeze {self.vector} {self._tangent(value)}")
        elif instruction.operation not in PURE and set(re.findall(NAME, instruction.rest)) & self.activity.values:
            raise TransformError(f"no rule for the instruction {instruction.line.strip()}")

    def _with_tangents(self, instruction: Instruction) -> str:
        """Return the line of a comparison, changed so that terms that are 0 but have a tangent are not skipped.

        This affects comparisons with 0, and with other constants at which a formula is simpler (an exponent of 1).
        """
        if " double " not in instruction.rest:
            return instruction.line
        predicate, first, second = comparison(instruction)
        if second.startswith("%") or first not in self.known:
            return instruction.line
        if second in ZEROS and predicate in ("ogt", "ugt", "ole", "ule") and self._is_parameter(first):
            predicate = "une" if predicate.endswith("gt") else "oeq"
        if predicate not in ("une", "one", "oeq", "ueq"):
            return instruction.line
        equal = predicate.endswith("eq")
        value, moving, bits, any_lane = (self.fresh() for _ in range(4))
        self.emit(f"{moving} = fcmp une {self.vector} {shadow(first)}, zeroinitializer")
        self.emit(f"{bits} = bitcast <{self.lanes} x i1> {moving} to i{self.lanes}")
        self.emit(f"{any_lane} = icmp {'eq' if equal else 'ne'} i{self.lanes} {bits}, 0")
        self.emit(f"{value} = fcmp {predicate} double {first}, {second}")
        return f"  {instruction.result} = {'and' if equal else 'or'} i1 {value}, {any_lane}"

    def _is_parameter(self, value: str) -> bool:
        """Return whether a number was loaded from a parameter of the model other than `solref`.

        A value of 0 may turn a feature off. Parameters that are compared with 0 are never negative; at 0, they have the
        tangents of a positive number. The exception is `solref`, whose sign has a meaning.
        """
        definition = self.analysis.definitions.get(value)
        if definition is None or definition.operation != "load":
            return False
        names = self.analysis.names_of(load(definition)[1])
        return all(name.startswith("m.") and "solref" not in name for name in names)

    # arithmetic ---------------------------------------------------------------

    def _fneg(self, instruction: Instruction, a: str) -> None:
        self.emit(f"{shadow(instruction.result)} = fneg {self.vector} {self._tangent(a)}")

    def _fadd(self, instruction: Instruction, a: str, b: str) -> None:
        self._sum(shadow(instruction.result), "fadd", self._tangent(a), self._tangent(b))

    def _fsub(self, instruction: Instruction, a: str, b: str) -> None:
        self._sum(shadow(instruction.result), "fsub", self._tangent(a), self._tangent(b))

    def _fmul(self, instruction: Instruction, a: str, b: str) -> None:
        first, second = self._scaled(b, self._tangent(a)), self._scaled(a, self._tangent(b))
        self._sum(shadow(instruction.result), "fadd", first, second)

    def _fdiv(self, instruction: Instruction, a: str, b: str) -> None:
        """Write the tangent of the quotient q = a / b: (a' - q b') / b."""
        inverse = self.fresh()
        self.emit(f"{inverse} = fdiv {FLAGS} double {ONE}, {b}")
        by_divisor = self._scaled(instruction.result, self._tangent(b))
        difference = self.fresh()
        self._sum(difference, "fsub", self._tangent(a), by_divisor)
        self.emit(f"{shadow(instruction.result)} = fmul {FLAGS} {self.vector} {self._splat(inverse)}, {difference}")

    def _frem(self, instruction: Instruction, a: str, b: str) -> None:
        self._by_slopes(instruction, "fmod", [a, b])

    def _by_slopes(self, instruction: Instruction, name: str, arguments: list[str]) -> None:
        found = slopes(name, self.lines, arguments, instruction.result)
        total = NOTHING
        for slope, argument in zip(found, arguments, strict=True):
            term = self._scaled(slope, self._tangent(argument))
            if term != NOTHING:
                together = self.fresh()
                self._sum(together, "fadd", total, term)
                total = together
        self.emit(f"{shadow(instruction.result)} = fadd {FLAGS} {self.vector} {total}, {NOTHING}")

    def _call(self, instruction: Instruction) -> None:
        _kind, name, arguments = call(instruction)
        if name in COPIES:
            self._copy(name, arguments)
        elif name == "memset":
            self._fill(arguments)
        elif instruction.result in self.activity.values:
            self._by_slopes(instruction, name, arguments)
        elif name.startswith("%") and name not in SKIPPED:
            raise TransformError(f"a function is called by its address: {instruction.line.strip()}")

    # choices ------------------------------------------------------------------

    def _select(self, instruction: Instruction) -> None:
        if not re.match(r"(?:\w+ )*?i1 ", instruction.rest):
            return
        condition, kind, first, second = select(instruction)
        if instruction.result in self.activity.values:
            text = f"{self.vector} {self._tangent(first)}, {self.vector} {self._tangent(second)}"
            self.emit(f"{shadow(instruction.result)} = select i1 {condition}, {text}")
        elif instruction.result in self.activity.places:
            text = f"{kind} {self._shadow_of(first, kind)}, {kind} {self._shadow_of(second, kind)}"
            self.emit(f"{shadow(instruction.result)} = select i1 {condition}, {text}")

    def _phi(self, instruction: Instruction) -> None:
        kind, incoming = phi(instruction)
        if instruction.result in self.activity.values:
            values = ", ".join(f"[ {self._tangent(value)}, {block} ]" for value, block in incoming)
            self.emit(f"{shadow(instruction.result)} = phi {self.vector} {values}")
        elif instruction.result in self.activity.places:
            values = ", ".join(f"[ {self._shadow_of(value, kind)}, {block} ]" for value, block in incoming)
            self.emit(f"{shadow(instruction.result)} = phi {kind} {values}")

    def _freeze(self, instruction: Instruction) -> None:
        kind, value = instruction.rest.split()
        if instruction.result in self.activity.values:
            self.emit(f"{shadow(instruction.result)} = freeze {self.vector} {self._tangent(value)}")
        elif instruction.result in self.activity.places:
            self.emit(f"{shadow(instruction.result)} = freeze {kind} {self._shadow_of(value, kind)}")

    # memory -------------------------------------------------------------------

    def _shadow_of(self, value: str, kind: str = "ptr") -> str:
        if value in self.activity.places:
            return shadow(value)
        return "0" if kind.startswith("i") else "null"

    def _alloca(self, instruction: Instruction) -> None:
        kind, count = stack_array(instruction)
        self.emit(f"{shadow(instruction.result)} = alloca [{count * self.lanes} x {kind}], align 64")

    def _inttoptr(self, instruction: Instruction) -> None:
        value = instruction.rest.split()[1]
        if value not in self.activity.places:
            raise TransformError(f"a computed address: {instruction.line.strip()}")
        letters = {place[1] for place in self.activity.places[value] if place[0] == SLOT and not place[2]}
        names = [name for kind, name in self.scalar.body.parameters if kind == "i64"][:2]
        source = {names[0]: TAN_M, names[1]: TAN_D}.get(value, shadow(value)) if letters else shadow(value)
        self.emit(f"{shadow(instruction.result)} = inttoptr i64 {source} to ptr")

    def _ptrtoint(self, instruction: Instruction) -> None:
        value = instruction.rest.split()[1]
        if value in self.activity.places:
            self.emit(f"{shadow(instruction.result)} = ptrtoint ptr {shadow(value)} to i64")

    def _getelementptr(self, instruction: Instruction) -> None:
        kind, pointer, index = gep(instruction)
        places = self.activity.places.get(pointer)
        if places is None:
            return
        in_table = any(place[0] == SLOT for place in places)
        element = kind if in_table else f"[{self.lanes} x {kind}]"
        self.emit(f"{shadow(instruction.result)} = getelementptr {element}, ptr {shadow(pointer)}, i64 {index}")

    def _load(self, instruction: Instruction) -> None:
        kind, pointer = load(instruction)
        if instruction.result in self.activity.places:
            self.emit(f"{shadow(instruction.result)} = load {kind}, ptr {shadow(pointer)}, align 8{SHADOW_SLOT}")
        elif instruction.result in self.activity.values:
            at = self._vector_at(pointer)
            self.emit(f"{shadow(instruction.result)} = load {self.vector}, ptr {at}, align 8{TANGENT}")
        elif kind in ("i64", "ptr") and self._numbers(pointer) & self.activity.active:
            raise TransformError(f"numbers are read as integers: {instruction.line.strip()}")

    def _numbers(self, pointer: str) -> set[str]:
        """Return the fields to whose arrays a pointer may point."""
        return {place[1] for place in self.activity.places.get(pointer, ()) if place[0] == "array"}

    def _vector_at(self, pointer: str) -> str:
        """Return the address of the tangent of the number at a pointer.

        For a scalar, the address is read from the scalar's shadow slot.
        """
        if all(place[0] != SLOT for place in self.activity.places[pointer]):
            return shadow(pointer)
        address, at = self.fresh(), self.fresh()
        self.emit(f"{address} = load i64, ptr {shadow(pointer)}, align 8{SHADOW_SLOT}")
        self.emit(f"{at} = inttoptr i64 {address} to ptr")
        return at

    def _store(self, instruction: Instruction) -> None:
        kind, value, pointer = store(instruction)
        if self.analysis.names_of(pointer) & self.stored:
            if kind == "double":
                at = self._vector_at(pointer)
                self.emit(f"store {self.vector} {self._tangent(value)}, ptr {at}, align 8{TANGENT}")
            elif kind in ("i64", "ptr") and self._numbers(pointer) & self.stored:
                raise TransformError(f"numbers are written as integers: {instruction.line.strip()}")
        elif value in self.activity.places:
            raise TransformError(f"an address is stored: {instruction.line.strip()}")

    def _size(self, size: str) -> str:
        if not size.startswith("%"):
            return str(int(size) * self.lanes)
        name = self.fresh()
        self.emit(f"{name} = mul i64 {size}, {self.lanes}")
        return name

    def _fill(self, arguments: list[str]) -> None:
        target, _value, size, _ = arguments
        if self.analysis.names_of(target) & self.stored:
            self.emit(f"call void @llvm.memset.p0.i64(ptr {shadow(target)}, i8 0, i64 {self._size(size)}, i1 false)")

    def _copy(self, name: str, arguments: list[str]) -> None:
        target, source, size, _ = arguments
        if not self.analysis.names_of(target) & self.stored:
            return
        if self.analysis.names_of(source) & self.activity.active:
            text = f"ptr {shadow(target)}, ptr {shadow(source)}, i64 {self._size(size)}, i1 false"
            self.emit(f"call void @llvm.{name}.p0.p0.i64({text})")
        else:
            self.declared["@llvm.memset.p0.i64"] = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
            self._fill([target, "0", size, "false"])
