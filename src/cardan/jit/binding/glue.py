"""Native code between Python objects and a kernel: it unpacks the arguments of a call and packs the result.

For each function of the interface, a function of a few dozen instructions is generated from its table of arguments. It
has CPython's calling convention for fast calls with keywords. It checks that each object is exactly a model, a data of
that model, an array of the right element type, shape and order, or a number. Then it fills a frame (see
`cardan.jit.binding.arguments`) and calls the kernel. If an argument does not fit, the *slow path* is taken: a Python
function that gets the same arguments, converts them if possible, and otherwise raises an error. The generated code
itself neither raises nor converts.

Words that differ from process to process, such as addresses of types and of functions of CPython, are stored in a table
that `cardan.jit.binding.functions` fills when the code is loaded. The object code has no external symbols.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from cardan.jit.binding import objects
from cardan.jit.binding.arguments import ANY, COLUMNS, INTEGER_END, Argument, Array, CallAbi, Integer
from cardan.jit.binding.objects import CALL, GUARD, PROGRAM, TABLE, TABLE_NAME
from cardan.jit.front.stage import CALLBACK_FAILED
from cardan.jit.memory.fields import DTYPES, WORDS, Struct
from cardan.jit.target.writer import BIT, DOUBLE, WORD, Writer, new_module


def glue_of(symbol: str, abi: CallAbi) -> str:
    """Write the function ``symbol + CALL`` around the kernel `symbol`, as LLVM assembly."""
    return str(KernelGlue(symbol, abi).module)


def program_glue() -> str:
    """Write the functions ``PROGRAM + CALL`` and ``PROGRAM + GUARD``, as LLVM assembly.

    The first function runs a program; its arguments are (m, d) and optionally a number of repetitions. The second calls
    a Python callback.
    """
    return str(_ProgramGlue().module)


class _Glue(Writer):
    """Writer of a function with CPython's calling convention, and of its table of words.

    Args:
        symbol: prefix of the function's name.
        names: number of words that follow the words of `TABLE` in the function's table.
    """

    def __init__(self, symbol: str, names: int) -> None:
        module = new_module(symbol)
        self.table: Any = ir.GlobalVariable(module, ir.ArrayType(WORD, len(TABLE) + names), symbol + TABLE_NAME)
        self.table.initializer = ir.Constant(self.table.value_type, None)
        super().__init__(module, symbol + CALL, 4)
        self.binding, self.given, self.count, self.keywords = self.arguments
        self.slow = self.function.append_basic_block("slow")
        self.scratch = self.builder.alloca(WORD)

    def _finish(self) -> None:
        """Write the code that takes the slow path."""
        self.builder.position_at_end(self.slow)
        result = self.api("PyObject_Vectorcall", self.binding, self.given, self.count, self.keywords)
        self.builder.ret(result)

    def word(self, name: str) -> Any:
        """Return the word called `name` of the table."""
        return self.entry(TABLE.index(name))

    def entry(self, index: int) -> Any:
        """Return the word at `index` of the table."""
        zero = ir.Constant(ir.IntType(32), 0)
        return self.builder.load(self.builder.gep(self.table, [zero, ir.Constant(ir.IntType(32), index)]))

    def api(self, name: str, *arguments: Any, result: Any = WORD) -> Any:
        """Write a call of a function of CPython; return its result."""
        return self.call(self.word(name), *arguments, result=result)

    def require(self, condition: Any) -> None:
        """Write code that takes the slow path unless a condition holds."""
        after = self.function.append_basic_block()
        self.builder.cbranch(condition, after, self.slow)
        self.builder.position_at_end(after)

    def has_type(self, thing: Any, *names: str) -> Any:
        """Return the condition that the type of an object is exactly one of the types called `names`."""
        kind = self.load(thing, objects.TYPE)
        found = ir.Constant(BIT, 0)
        for name in names:
            found = self.builder.or_(found, self.equal(kind, self.word(name)))
        return found

    def words_of(self, thing: Any) -> Any:
        """Return the address of the array of words of a model or data (see `objects.Native`).

        If the object has no array of words, the code takes the slow path.
        """
        array = self.load(self.builder.add(thing, self.word("slot")))
        self.require(self.builder.icmp_signed("!=", array, self.constant(0)))
        self.require(self.has_type(array, "ndarray"))
        return self.load(array, objects.DATA)

    def integer(self, thing: Any) -> Any:
        """Return the value of an int (or subclass), a member of an enumeration, or a NumPy integer.

        For other objects, the code takes the slow path.
        """
        before = self.builder.block
        member, number = (self.function.append_basic_block() for _ in range(2))
        self.builder.cbranch(self.has_type(self.load(thing, objects.TYPE), "enumeration"), member, number)
        self.builder.position_at_end(member)
        value = self.load(thing, objects.MEMBER_VALUE)
        self.require(self.builder.icmp_signed("!=", value, self.constant(0)))
        inside = self.builder.block
        self.builder.branch(number)
        self.builder.position_at_end(number)
        chosen = self.builder.phi(WORD)
        chosen.add_incoming(thing, before)
        chosen.add_incoming(value, inside)
        return self._plain_integer(chosen)

    def _plain_integer(self, thing: Any) -> Any:
        flags = self.api("PyType_GetFlags", self.load(thing, objects.TYPE))
        is_long = self.builder.icmp_signed(
            "!=", self.builder.and_(flags, self.constant(objects.LONG_SUBCLASS)), self.constant(0)
        )
        long, other, after = (self.function.append_basic_block() for _ in range(3))
        self.builder.cbranch(is_long, long, other)
        self.builder.position_at_end(long)
        exact = self.exact_integer(thing)
        long_end = self.builder.block
        self.builder.branch(after)
        self.builder.position_at_end(other)
        self.require(self.has_type(thing, "int32", "int64"))
        numpy = self.api("PyNumber_AsSsize_t", thing, self.constant(0))
        other_end = self.builder.block
        self.builder.branch(after)
        self.builder.position_at_end(after)
        value = self.builder.phi(WORD)
        value.add_incoming(exact, long_end)
        value.add_incoming(numpy, other_end)
        above = self.builder.add(value, self.constant(INTEGER_END))
        self.require(self.builder.icmp_unsigned("<", above, self.constant(2 * INTEGER_END)))
        return value

    def exact_integer(self, thing: Any) -> Any:
        overflow = self.builder.bitcast(self.scratch, ir.IntType(32).as_pointer())
        value = self.api("PyLong_AsLongLongAndOverflow", thing, self.builder.ptrtoint(overflow, WORD))
        self.require(self.builder.icmp_signed("==", self.builder.load(overflow), ir.Constant(ir.IntType(32), 0)))
        return value


class KernelGlue(_Glue):
    """Writer of the function around a kernel.

    Args:
        symbol: symbol of the kernel.
        abi: call signature of the kernel.
    """

    def __init__(self, symbol: str, abi: CallAbi) -> None:
        super().__init__(symbol, len(abi.parameters))
        self.abi = abi
        self.kernel = ir.Function(self.module, ir.FunctionType(WORD, [WORD] * 3), symbol)
        self.kernel.attributes.add("noinline")
        self.frame = self.builder.alloca(ir.ArrayType(WORD, WORDS * (1 + len(abi.arguments))))
        self.gathered = self.builder.alloca(ir.ArrayType(WORD, max(1, len(abi.parameters))))
        self.addresses: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        things = self._gather()
        self._objects(things)
        slots = {name: k for k, (name, _) in enumerate(abi.arguments, start=1)}
        for name, argument in sorted(abi.arguments, key=lambda row: not isinstance(row[1], Integer)):
            # integers first: sizes may mention them
            self._argument(slots[name], name, things[abi.parameters.index(name)], argument)
        for name, argument in abi.arguments:
            if isinstance(argument, Array) and argument.apart:
                self._require_apart(name)
        self._call()
        self._finish()

    def fill(self, slot: int, *words: Any) -> None:
        """Write stores of words to a slot of the frame."""
        self.store(self._frame_address(WORDS * slot), *words)

    def _frame_address(self, index: int = 0) -> Any:
        return self.builder.add(self.builder.ptrtoint(self.frame, WORD), self.constant(8 * index))

    def _gather(self) -> list[Any]:
        """Write loads of all arguments in the order of the parameters; return the loaded values.

        If some arguments are given by keyword, the code first sorts all arguments into an array.
        """
        n = len(self.abi.parameters)
        before = self.builder.block
        sorting, ready = self.function.append_basic_block("sort"), self.function.append_basic_block("ready")
        plain = self.builder.and_(self.equal(self.keywords, self.constant(0)), self.equal(self.count, self.constant(n)))
        self.builder.cbranch(plain, ready, sorting)
        self.builder.position_at_end(sorting)
        self.require(self.builder.icmp_signed("!=", self.keywords, self.constant(0)))
        named = self.api("PyTuple_Size", self.keywords)
        self.require(self.equal(self.builder.add(self.count, named), self.constant(n)))
        target = self.builder.ptrtoint(self.gathered, WORD)
        for k in range(n):
            self._sort(k, target, named)
        after = self.builder.block
        self.builder.branch(ready)
        self.builder.position_at_end(ready)
        things = self.builder.phi(WORD)
        things.add_incoming(self.given, before)
        things.add_incoming(target, after)
        return [self.load(things, 8 * k) for k in range(n)]

    def _sort(self, k: int, target: Any, named: Any) -> None:
        """Write code that copies the argument for parameter `k` to the array at the address `target`.

        The argument is given by position or by keyword, and names are compared by identity. `named` is the number of
        keywords.
        """
        builder = self.builder
        place = builder.add(target, self.constant(8 * k))
        by_place, by_name, found = (self.function.append_basic_block() for _ in range(3))
        builder.cbranch(builder.icmp_signed(">", self.count, self.constant(k)), by_place, by_name)
        builder.position_at_end(by_place)
        self.store(place, self.load(self.given, 8 * k))
        builder.branch(found)
        builder.position_at_end(by_name)
        builder.store(self.constant(0), self.scratch)
        test, match, following = (self.function.append_basic_block() for _ in range(3))
        builder.branch(test)
        builder.position_at_end(test)
        i = builder.load(self.scratch)
        self.require(builder.icmp_signed("<", i, named))
        name = self.api("PyTuple_GetItem", self.keywords, i)
        builder.cbranch(self.equal(name, self.entry(len(TABLE) + k)), match, following)
        builder.position_at_end(following)
        builder.store(builder.add(i, self.constant(1)), self.scratch)
        builder.branch(test)
        builder.position_at_end(match)
        at = builder.add(self.given, builder.mul(builder.add(self.count, i), self.constant(8)))
        self.store(place, self.load(at))
        builder.branch(found)
        builder.position_at_end(found)

    def _objects(self, things: list[Any]) -> None:
        """Write checks of the model and the data, and loads of the addresses of their slot tables."""
        by_name = dict(zip(self.abi.parameters, things, strict=True))
        self.addresses = {"Model": self.constant(0), "Data": self.constant(0)}
        if "m" in by_name:
            self.require(self.has_type(by_name["m"], "Model"))
        if "d" in by_name:
            self.require(self.has_type(by_name["d"], "Data"))
            words = self.words_of(by_name["d"])
            if "m" in by_name:
                self.require(self.equal(self.load(words, 8 * objects.CALL_IDENTITY), by_name["m"]))
            self.addresses["Model"] = self.load(words, 8 * objects.CALL_MODEL)
            self.addresses["Data"] = self.load(words, 8 * objects.CALL_DATA)
        elif "m" in by_name:
            self.addresses["Model"] = self.load(self.words_of(by_name["m"]), 8 * objects.MODEL_ADDRESS)
            self.require(self.builder.icmp_signed("!=", self.addresses["Model"], self.constant(0)))

    def _argument(self, slot: int, name: str, thing: Any, argument: Argument) -> None:
        if isinstance(argument, Array):
            if argument.optional:
                with self.builder.if_else(self.equal(thing, self.word("None"))) as (is_none, is_array):
                    with is_none:
                        self.fill(slot, *(self.constant(0),) * WORDS)
                    with is_array:
                        self._array(slot, name, thing, argument)
            else:
                self._array(slot, name, thing, argument)
        elif isinstance(argument, Integer):
            value = self.integer(thing)
            if argument.below:
                self.require(self.builder.icmp_unsigned("<", value, self._size(argument.below)))
            self.values[name] = value
            self.fill(slot, value)
        else:
            self.fill(slot, self._number(thing))

    def _array(self, slot: int, name: str, thing: Any, argument: Array) -> None:
        self.require(self.has_type(thing, "ndarray"))
        self.require(self.equal(self.load(thing, objects.DESCR), self.word(argument.dtype)))
        half = ir.IntType(32)
        writeable = objects.WRITEABLE if argument.written else 0
        wanted = ir.Constant(half, objects.C_CONTIGUOUS | objects.ALIGNED | writeable)
        flags = self.builder.and_(self.load(thing, objects.FLAGS, half), wanted)
        self.require(self.builder.icmp_signed("==", flags, wanted))
        dimensions = self.load(thing, objects.NDIM, half)
        self.require(self.builder.icmp_signed("==", dimensions, ir.Constant(half, len(argument.shape))))
        sizes = self.load(thing, objects.DIMENSIONS)
        shape = [self.load(sizes, 8 * k) for k in range(len(argument.shape))]
        self.values[name] = shape[0]
        if len(shape) == 2:
            self.values[f"{name}{COLUMNS}"] = shape[1]
        for size, expected in zip(shape, argument.shape, strict=True):
            if expected != ANY:
                self.require(self.equal(size, self._size(expected)))
        rows = [self.constant(1), *shape] if argument.is_row else [*shape, self.constant(1)]
        self.fill(slot, self.load(thing, objects.DATA), *rows[:2])

    def _number(self, thing: Any) -> Any:
        """Return the value of a float, a NumPy float64, or an int. For other objects, the code takes the slow path."""
        floating, other, after = (self.function.append_basic_block() for _ in range(3))
        self.builder.cbranch(self.has_type(thing, "float", "float64"), floating, other)
        self.builder.position_at_end(floating)
        direct = self.api("PyFloat_AsDouble", thing, result=DOUBLE)
        self.builder.branch(after)
        self.builder.position_at_end(other)
        self.require(self.has_type(thing, "int"))
        converted = self.builder.sitofp(self.exact_integer(thing), DOUBLE)
        other_end = self.builder.block
        self.builder.branch(after)
        self.builder.position_at_end(after)
        value = self.builder.phi(DOUBLE)
        value.add_incoming(direct, floating)
        value.add_incoming(converted, other_end)
        return value

    def _size(self, size: int | str) -> Any:
        """Return a size: a number, or a product of numbers, other arguments, and scalars of model and data."""
        if isinstance(size, int):
            return self.constant(size)
        product = self.constant(1)
        for factor in size.split("*"):
            product = self.builder.mul(product, self._factor(factor))
        return product

    def _factor(self, name: str) -> Any:
        if name.isdigit():
            return self.constant(int(name))
        if name in self.values:
            return self.values[name]
        for owner in ("Model", "Data"):
            struct = Struct.registry[owner]
            if name in struct.slot and struct.by_name[name].is_scalar:
                kind = ir.IntType(8 * struct.by_name[name].numpy_dtype.itemsize)
                value = self.load(self.addresses[owner], 8 * WORDS * struct.slot[name], kind)
                return value if kind is WORD else self.builder.sext(value, WORD)
        raise KeyError(name)

    def _require_apart(self, name: str) -> None:
        slots = {n: (k, a) for k, (n, a) in enumerate(self.abi.arguments, start=1) if isinstance(a, Array)}
        low, high = self._extent(*slots[name])
        for other, place in slots.items():
            if other != name:
                start, stop = self._extent(*place)
                before = self.builder.icmp_unsigned("<=", high, start)
                behind = self.builder.icmp_unsigned("<=", stop, low)
                self.require(self.builder.or_(before, behind))

    def _extent(self, slot: int, array: Array) -> tuple[Any, Any]:
        words = [self.load(self._frame_address(WORDS * slot + k)) for k in range(WORDS)]
        count = self.builder.mul(words[1], words[2])
        nbytes = self.builder.mul(count, self.constant(DTYPES[array.dtype].itemsize))
        return words[0], self.builder.add(words[0], nbytes)

    def _call(self) -> None:
        """Write code that calls the kernel and returns its result.

        A status other than 0 means wrong arguments; the code then takes the slow path.
        """
        thread = self.api("PyEval_SaveThread") if self.abi.releases else None
        words = [self.addresses["Model"], self.addresses["Data"], self._frame_address()]
        status = self.builder.call(self.kernel, words)
        if thread is not None:
            self.api("PyEval_RestoreThread", thread, result=ir.VoidType())
        self.require(self.equal(status, self.constant(0)))
        if self.abi.result == "f8":
            value = self.load(self._frame_address(), kind=DOUBLE)
            self.builder.ret(self.api("PyFloat_FromDouble", value))
        elif self.abi.result:
            self.builder.ret(self.api("PyLong_FromLongLong", self.load(self._frame_address())))
        else:
            self.builder.ret(self.api("Py_NewRef", self.word("None")))


class _ProgramGlue(_Glue):
    """Writer of the function that runs the program with the binding's index, if this program is ready in the model.

    The function holds a reference to the program, because another thread may drop it by setting an option. If a stage
    stops with a request, Python handles the request.
    """

    def __init__(self) -> None:
        super().__init__(PROGRAM, 0)
        self.settling = self.builder.alloca(ir.ArrayType(WORD, 5))
        own = self.load(self.load(self.builder.add(self.binding, self.word("words"))), objects.DATA)
        repeat = self._repeat(self.load(own, 8))
        m, d = self.load(self.given), self.load(self.given, 8)
        self.require(self.has_type(m, "Model"))
        self.require(self.has_type(d, "Data"))
        data = self.words_of(d)
        self.require(self.equal(self.load(data, 8 * objects.CALL_IDENTITY), m))
        ready = self.builder.add(self.words_of(m), self.load(own))
        block = self.load(ready)
        self.require(self.builder.icmp_signed("!=", block, self.constant(0)))
        self.require(self.equal(self.load(ready, 8), self.load(self.word("version"))))
        self._run(self.load(ready, 16), block, data, repeat, (m, d))
        self._finish()
        self._write_guard()

    def _write_guard(self) -> None:
        """Write the function that calls a Python callback. If the callback raises, the function returns a status.

        A signal handler may raise before the first instruction of a Python function, which then can't catch the
        exception.
        """
        self.function = ir.Function(self.module, ir.FunctionType(WORD, [WORD] * 4), PROGRAM + GUARD)
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        room = self.builder.ptrtoint(self.builder.alloca(ir.ArrayType(WORD, 3)), WORD)
        raised = [self.builder.add(room, self.constant(8 * k)) for k in range(3)]  # type, exception, traceback
        result = self.api("PyObject_Vectorcall", *self.function.args)
        failed, good = (self.function.append_basic_block() for _ in range(2))
        self.builder.cbranch(self.equal(result, self.constant(0)), failed, good)
        self.builder.position_at_end(good)
        self.builder.ret(result)
        self.builder.position_at_end(failed)
        none = ir.VoidType()
        self.api("PyErr_Fetch", *raised, result=none)
        self.api("PyErr_NormalizeException", *raised, result=none)
        kind, error, trace = (self.load(at) for at in raised)
        traced, kept = (self.function.append_basic_block() for _ in range(2))
        self.builder.cbranch(self.equal(trace, self.constant(0)), kept, traced)
        self.builder.position_at_end(traced)
        self.api("PyException_SetTraceback", error, trace)
        self.builder.branch(kept)
        self.builder.position_at_end(kept)
        self.api("PyList_Append", self.word("errors"), error)
        for thing in (kind, error, trace):
            self.api("Py_DecRef", thing, result=none)
        self.builder.ret(self.api("PyLong_FromLongLong", self.constant(CALLBACK_FAILED)))

    def _repeat(self, takes_number: Any) -> Any:
        """Return the number of repetitions: 1, or a third argument, by position or by name."""
        counted, named, by_name, third, after = (self.function.append_basic_block() for _ in range(5))
        builder = self.builder
        plain = builder.and_(self.equal(self.keywords, self.constant(0)), self.equal(self.count, self.constant(2)))
        before = builder.block
        builder.cbranch(plain, after, counted)
        builder.position_at_end(counted)
        self.require(builder.icmp_signed("!=", takes_number, self.constant(0)))
        builder.cbranch(self.equal(self.keywords, self.constant(0)), third, named)
        builder.position_at_end(named)
        self.require(self.equal(self.api("PyTuple_Size", self.keywords), self.constant(1)))
        name = self.api("PyTuple_GetItem", self.keywords, self.constant(0))
        self.require(self.equal(name, self.word("nstep")))
        builder.cbranch(self.equal(self.count, self.constant(2)), by_name, self.slow)
        builder.position_at_end(third)
        self.require(self.equal(self.count, self.constant(3)))
        builder.branch(by_name)
        builder.position_at_end(by_name)
        number = self.integer(self.load(self.given, 16))
        by_name = builder.block
        builder.branch(after)
        builder.position_at_end(after)
        repeat = builder.phi(WORD)
        repeat.add_incoming(self.constant(1), before)
        repeat.add_incoming(number, by_name)
        return repeat

    def _run(self, program: Any, block: Any, data: Any, repeat: Any, pair: tuple[Any, Any]) -> None:
        none = ir.VoidType()
        self.api("Py_IncRef", program, result=none)
        thread = self.api("PyEval_SaveThread")
        status = self.api("run_block", block, data, repeat)
        self.api("PyEval_RestoreThread", thread, result=none)
        done, stopped = (self.function.append_basic_block() for _ in range(2))
        self.builder.cbranch(self.equal(status, self.constant(0)), done, stopped)
        self.builder.position_at_end(stopped)
        numbers = [self.api("PyLong_FromLongLong", number) for number in (status, repeat)]
        address = self.builder.ptrtoint(self.settling, WORD)
        self.store(address, program, *pair, *numbers)
        result = self.api("PyObject_Vectorcall", self.word("settle"), address, self.constant(5), self.constant(0))
        for thing in (*numbers, program):
            self.api("Py_DecRef", thing, result=none)
        self.builder.ret(result)
        self.builder.position_at_end(done)
        self.api("Py_DecRef", program, result=none)
        self.builder.ret(self.api("Py_NewRef", self.word("None")))
