"""Writer of small native functions over 64-bit words: loads, stores, loops, early returns, calls by address.

It generates the drivers of programs and scripts, and the code between Python objects and kernels. All values, addresses
included, are words (int64). Variables are kept in memory; LLVM's optimiser moves them to registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

WORD = ir.IntType(64)
BIT = ir.IntType(1)
DOUBLE = ir.DoubleType()
BYTES = ir.IntType(8).as_pointer()


class Writer:
    """Function under construction. All its arguments and its result are words.

    Args:
        module: module to which the function is added.
        name: name of the function.
        arguments: number of arguments.

    Attributes:
        builder: llvmlite's builder, for all other instructions.
        arguments: values of the arguments.
    """

    def __init__(self, module: ir.Module, name: str, arguments: int) -> None:
        self.module = module
        self.function = ir.Function(module, ir.FunctionType(WORD, [WORD] * arguments), name)
        self.arguments = self.function.args
        self.builder: Any = ir.IRBuilder(self.function.append_basic_block("entry"))

    def constant(self, value: int) -> Any:
        """Return a constant word."""
        return ir.Constant(WORD, value)

    def load(self, address: Any, offset: int = 0, kind: Any = WORD) -> Any:
        """Write a load of a value of type `kind`, `offset` bytes after an address; return the value."""
        return self.builder.load(self._pointer(address, offset, kind))

    def store(self, address: Any, *values: Any) -> None:
        """Write stores of consecutive words from `address` on."""
        for k, value in enumerate(values):
            self.builder.store(value, self._pointer(address, 8 * k, value.type))

    def _pointer(self, address: Any, offset: int, kind: Any) -> Any:
        at = self.builder.add(address, self.constant(offset)) if offset else address
        return self.builder.inttoptr(at, kind.as_pointer())

    def row(self, table: Any, number: Any, words: int = 1) -> Any:
        """Return the address of a row of a table; each row has `words` words."""
        return self.builder.add(table, self.builder.mul(number, self.constant(8 * words)))

    def equal(self, a: Any, b: Any) -> Any:
        """Return the condition that words `a` and `b` are equal."""
        return self.builder.icmp_signed("==", a, b)

    def variable(self, value: Any) -> Any:
        """Make a variable with an initial value; `builder.load` reads it, `builder.store` sets it."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(WORD)
        self.builder.store(value, place)
        return place

    @contextmanager
    def loop(self, end: Any, first: Any = None) -> Iterator[Any]:
        """Context manager: write a loop around its body, and yield the loop counter.

        The counter runs from `first` (0 if not given) to `end` (exclusive).
        """
        counter = self.variable(self.constant(0) if first is None else first)
        with self.loop_while(lambda: self.builder.icmp_signed("<", self.builder.load(counter), end)):
            number = self.builder.load(counter)
            yield number
            self.builder.store(self.builder.add(number, self.constant(1)), counter)

    @contextmanager
    def loop_while(self, condition: Any) -> Iterator[None]:
        """Context manager: write a loop that repeats its body while a condition holds.

        The function `condition` writes the condition and returns it.
        """
        test, body, after = (self.function.append_basic_block() for _ in range(3))
        self.builder.branch(test)
        self.builder.position_at_end(test)
        self.builder.cbranch(condition(), body, after)
        self.builder.position_at_end(body)
        yield
        self.builder.branch(test)
        self.builder.position_at_end(after)

    def return_if(self, condition: Any, result: Any, at: Any = None, *values: Any) -> None:
        """Write code that returns `result` if a condition holds.

        If `at` is given, the code first stores `values` at this address.
        """
        with self.builder.if_then(condition):
            if at is not None:
                self.store(at, *values)
            self.builder.ret(result)

    def return_unless_zero(self, status: Any, at: Any = None, *values: Any) -> None:
        """Write code that returns `status` if it is not 0.

        If `at` is given, the code first stores `values` at this address.
        """
        self.return_if(self.builder.icmp_signed("!=", status, self.constant(0)), status, at, *values)

    def call(self, address: Any, *arguments: Any, result: Any = WORD) -> Any:
        """Write a call of the function at an address; return its result."""
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.builder.call(self.builder.inttoptr(address, kind.as_pointer()), arguments)

    def copy(self, target: Any, source: Any, nbytes: Any) -> None:
        """Write code that copies `nbytes` bytes from address `source` to address `target`."""
        places = [self.builder.inttoptr(at, BYTES) for at in (target, source)]
        self._intrinsic("llvm.memcpy.p0.p0.i64", *places, nbytes, ir.Constant(BIT, 0))

    def clear(self, target: Any, nbytes: Any) -> None:
        """Write code that sets `nbytes` bytes at address `target` to 0."""
        place = self.builder.inttoptr(target, BYTES)
        self._intrinsic("llvm.memset.p0.i64", place, ir.Constant(ir.IntType(8), 0), nbytes, ir.Constant(BIT, 0))

    def _intrinsic(self, name: str, *arguments: Any) -> None:
        function = self.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
            function = ir.Function(self.module, kind, name)
        self.builder.call(function, arguments)


def new_module(name: str) -> ir.Module:
    """Return an empty module that is not specific to a processor."""
    module = ir.Module(name)
    module.triple = ""
    return module
