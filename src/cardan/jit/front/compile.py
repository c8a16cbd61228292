"""Compilation of Python functions to object code: the only module that drives Numba's compiler.

An entry is compiled as a C callback together with all functions that it calls. The code must be pure: the only external
symbols allowed are those of the mathematical library. It is emitted as an object file that `cardan.jit.driver.loader`
loads without Numba.
"""

from __future__ import annotations

import gc
import importlib
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

import llvmlite.binding as llvm

from cardan.jit.binding.arguments import RESULT, CallAbi
from cardan.jit.binding.glue import CALL, TABLE_NAME, glue_of
from cardan.jit.front.precision import in_single_precision
from cardan.jit.front.stage import CALL as CALL_BY_NUMBER
from cardan.jit.front.stage import (
    HERE,
    RAISE,
    SINGLE,
    WORLD_COUNT,
    WORLD_INDEX,
    Abi,
    Entry,
    Form,
    kernel_options,
)
from cardan.jit.memory.fields import Struct, structures
from cardan.jit.target.processor import target_machine

MATH_LIBRARY = frozenset(
    (
        *("sin", "cos", "tan", "sincos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
        *("exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "pow", "sqrt", "cbrt", "hypot", "erf", "erfc"),
        *("fmod", "fabs", "floor", "ceil", "round", "trunc", "nearbyint", "rint", "fmin", "fmax", "copysign"),
        *("fma", "ldexp", "memset", "memcpy", "memmove"),
    )
)


_RUNTIME = "nrt"  # name of the library of Numba's memory allocator
_TEXTS = "_cardan_texts"  # attribute of Numba's libraries: the texts of their modules, compressed

BOTH_PRECISIONS = MATH_LIBRARY | {name + "f" for name in MATH_LIBRARY}
"""Functions of the mathematical library in both precisions; kernels of the renderer use single precision."""
ALLOWED = BOTH_PRECISIONS | {WORLD_INDEX, WORLD_COUNT, CALL_BY_NUMBER}
"""Symbols to which native code may refer: the mathematical library, and the functions that the target of interleaved
code must define."""

SIDE_BY_SIDE = "cardan_side_by_side"
"""Name of a constant that marks a module in which operations on adjacent numbers are vectorised (see `Abi`)."""
FRAMED = Abi(extra=("i8",))
"""Native call signature of kernels for functions of the interface. The third argument is the address of a frame."""


class KernelError(RuntimeError):
    """Error: a kernel does not compile, or uses a feature that kernels must not use (memory, exceptions, Python)."""


def _wrapper(entry: Entry, abi: Abi, layout: str) -> Any:
    """Make a function around the entry's function with plain integers (addresses and words) as arguments."""
    from cardan.jit.front import native

    function = entry.function
    structs = structures()
    as_model = native.as_struct(structs[abi.structs[0]], layout)
    as_data = native.as_struct(structs[abi.structs[1]], layout)
    result = native.as_result(abi.result)

    def with_0(m, d):
        return result(function(as_model(m), as_data(d)))

    def with_1(m, d, i):
        return result(function(as_model(m), as_data(d), i))

    def with_2(m, d, i, j):
        return result(function(as_model(m), as_data(d), i, j))

    return (with_0, with_1, with_2)[len(abi.extra)]


def _framed(entry: Entry, abi: CallAbi) -> Any:
    """Make a function of three addresses (model, data, frame) around the kernel of a function of the interface."""
    from cardan.jit.front import native

    frame = Struct(f"Frame of {entry.name}", abi.fields(), readonly=False, registered=False)
    parts = ["as_model(m)" if p == "m" else "as_data(d)" if p == "d" else f"frame.{p}" for p in abi.parameters]
    call = f"kernel({', '.join(parts)})"
    lines = [f"return {call}"] if abi.refuses else [call, "return 0"]
    if abi.result:
        failed = f"return 1 if frame.{RESULT} == {abi.failure!r} else 0" if abi.failure is not None else "return 0"
        lines = [f"frame.{RESULT} = {call}", failed]
    source = "\n    ".join(["def framed(m, d, address):", "frame = as_frame(address)", *lines])
    scope = {
        "kernel": entry.function,
        "as_model": native.as_struct(structures()["Model"]),
        "as_data": native.as_struct(structures()["Data"]),
        "as_frame": native.as_struct(frame),
    }
    exec(source, scope)
    return scope["framed"]


def _libraries(library: Any) -> list[Any]:
    """List one of Numba's code libraries and all libraries that it needs, each once and after all that need it.

    In another order, LLVM would drop functions to which nothing refers yet when they are linked.
    """
    seen, finished = {library}, []

    def visit(one: Any) -> None:
        for needed in one._linking_libraries:
            if needed not in seen:
                seen.add(needed)
                visit(needed)
        finished.append(one)

    visit(library)
    return finished[::-1]


def _linked(library: Any) -> Any:
    """Link the code of a library and of all libraries that it needs into a new module."""
    module = llvm.parse_bitcode(library._final_module.as_bitcode())
    for needed in _libraries(library)[1:]:
        module.link_in(needed._get_module_for_linking(), preserve=True)
    return module


def _linked_single(name: str, library: Any) -> Any:
    """Link the code of a library in single precision, from the LLVM assembly that Numba wrote.

    Raises:
        KernelError: the assembly of a function is unknown, because the function was compiled outside this module.
    """
    module = llvm.parse_assembly("")
    module.triple, module.data_layout = library._final_module.triple, library._final_module.data_layout
    for needed in _libraries(library):
        texts = needed.__dict__.get(_TEXTS)
        if texts is None and needed.name == _RUNTIME:  # another program compiled it first; kernels allocate no memory
            continue
        if texts is None:
            raise KernelError(f"{name}: there is no single precision of {needed.name}, which was compiled before")
        for packed in texts:
            part = llvm.parse_assembly(in_single_precision(zlib.decompress(packed).decode()))
            needed._optimize_functions(part)
            for function in part.functions:
                if needed is not library and not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = llvm.Linkage.linkonce_odr
            module.link_in(part, preserve=True)
    return module


def only(symbols: Collection[str], module: Any) -> Any:
    """Make `symbols` the only externally visible names of a module."""
    for item in (*module.functions, *module.global_variables):
        if item.name not in symbols and not item.is_declaration:
            item.linkage = "internal"
    return module


def _optimised(module: Any, machine: Any) -> Any:
    """Remove all code that the visible functions of a module don't need, and optimise the rest for a processor."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.slp_vectorization = any(item.name == SIDE_BY_SIDE for item in module.global_variables)
    passes = llvm.create_pass_builder(machine, options)
    manager = passes.getModulePassManager()
    with _shorter_searches():
        manager.run(module, passes)
    return module


_SEARCHES = {"memdep-block-number-limit": (50, 200), "memdep-block-scan-limit": (50, 100)}
"""Options that limit LLVM's search for the store that precedes a load: value used here, and LLVM's default."""


@contextmanager
def _shorter_searches() -> Iterator[None]:
    """Context manager that limits LLVM's searches for earlier stores.

    This saves a third of LLVM's time on large stages.
    """
    for name, (ours, _) in _SEARCHES.items():
        llvm.set_option("cardan", f"-{name}={ours}")
    try:
        yield
    finally:
        for name, (_, default) in _SEARCHES.items():
            llvm.set_option("cardan", f"-{name}={default}")


def _has_python_wrapper(library: Any) -> bool:
    """Return whether a library belongs to a user's own jitted function, which may be called from Python later."""
    return any(f.name.startswith("cpython.") for f in library._final_module.functions if not f.is_declaration)


_unfinished: WeakSet[Any] = WeakSet()  # libraries that were neither linked nor emitted on their own


def _finish(library: Any) -> None:
    """Let Numba link, optimise and emit an unfinished library that code other than a stage needs."""
    if library in _unfinished:
        _unfinished.discard(library)
        library._finalized = False
        library._shared_module = None
        _numba_finalize()(library)


@cache
def _numba_finalize() -> Callable[[Any], None]:
    """Replace Numba's function that finishes a library by one that first finishes the libraries it needs.

    Return the new function. The replacement is permanent: user code that is compiled later may share libraries
    with stages, because Numba keeps its helper functions, such as `max` of a tuple, for all callers.
    """
    from numba.core.codegen import JITCodeLibrary

    library: Any = JITCodeLibrary
    original = library.finalize

    def finalize(self: Any) -> None:
        for needed in list(self._linking_libraries):
            _finish(needed)
        original(self)

    library.finalize = finalize
    return finalize


@cache
def _registers() -> tuple[Any, Any]:
    """Return LLVM passes that move variables to registers, which removes two thirds of a function's instructions."""
    builder = llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(speed_level=3))
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    return manager, builder


def simplified(module: Any, fully: bool = True) -> Any:
    """Simplify each function of a module on its own; if not `fully`, only move its variables to registers."""
    if fully:
        builder = llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(speed_level=3))
        passes = builder.getFunctionPassManager()
    else:
        passes, builder = _registers()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return module


@contextmanager
def _link_later() -> Iterator[None]:
    """Context manager in which Numba does not link, optimise or emit single kernels.

    By default, Numba links and optimises each kernel together with all functions that it calls. Here only the finished
    stage is linked (`_linked`), optimised (`_optimised`) and emitted, which takes less than half the time.
    """
    from numba import _dynfunc  # pyright: ignore[reportAttributeAccessIssue] (an extension module)
    from numba.core import cgutils, types
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import CPUContext

    from cardan.jit.front import lowering

    library: Any = JITCodeLibrary
    context: Any = CPUContext
    original_executable = context.get_executable

    def add_ir_module(self: Any, ir_module: Any) -> None:
        text = str(ir_module)
        self.__dict__.setdefault(_TEXTS, []).append(zlib.compress(text.encode(), 1))
        part = llvm.parse_assembly(cgutils.normalize_ir_text(text))
        part.name = ir_module.name
        part.verify()
        self.add_llvm_module(part)

    def into_registers(self: Any, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        simplified(module, fully=lowering.lowered_with_errors())

    def finalize(self: Any) -> None:
        if _has_python_wrapper(self):
            numba_finalize(self)
        else:
            _unfinished.add(self)
        self._finalized = True

    def get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if _has_python_wrapper(library):
            return original_executable(self, library, fndesc, env)
        # a distinct token for the dispatcher, which finds the kernel by it; it has no code and nothing calls it
        return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 1, env, (library,))

    with global_compiler_lock:
        numba_finalize = _numba_finalize()
        places = (
            *lowering.places(),
            (library, "finalize", finalize),
            (library, "add_ir_module", add_ir_module),
            (library, "_optimize_functions", into_registers),
            (context, "get_executable", get_executable),
            (types.Dispatcher, "dispatcher", property(lambda self: lowering.kernel_of(self._get_object()))),
        )
        with lowering.replaced(*places):
            yield


def _undefined_symbols(module: Any) -> list[str]:
    names = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    return sorted(name for name in names if name not in ALLOWED)


def symbols_of(entry: Entry) -> tuple[str, ...]:
    """Return the symbols that the object file of an entry defines, the kernel's symbol first."""
    symbol = entry.symbol
    return (symbol, symbol + CALL, symbol + TABLE_NAME) if isinstance(entry.abi, CallAbi) else (symbol,)


def _need_numba(name: str) -> None:
    """If Numba is missing, raise KernelError with installation instructions. Platform wheels do not require Numba."""
    try:
        importlib.import_module("numba")
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise KernelError(
            f"{name} must be compiled, which needs the package numba: pip install 'cardan[numba]'. Wheels of "
            "Cardan contain its kernels compiled for most processors. Other processors, and your own functions that "
            "become native code (callbacks, collision functions, plugins), need the compiler."
        ) from None


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Context manager: collect garbage rarely, because nearly all objects of the front end remain in use."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 100_000) if before[0] else 0, max(before[1], 20), max(before[2], 50))
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_rare_collections()
def link_entry(entry: Entry, form: Form = HERE, as_text: bool = False) -> Any:
    """Return the unoptimised LLVM module of an entry, linked with all functions that the entry calls.

    Only the symbols `symbols_of(entry)` are visible. If the module is read `as_text`, or `form` is not `HERE`, Numba's
    own lowering is used and each function is simplified. Interleaved code refers to `WORLD_INDEX`, `WORLD_COUNT` and
    `CALL_BY_NUMBER`, which the target defines.

    Raises:
        KernelError: the entry does not compile, or Numba is missing.
        ValueError: `entry` is a function of the interface, and `form` has another layout or precision than `HERE`.
    """
    if isinstance(entry.abi, CallAbi) and (form.layout, form.precision) != (HERE.layout, HERE.precision):
        raise ValueError(f"{entry.name}: functions of the interface are for one world in double precision")
    _need_numba(entry.name)
    from numba.core.ccallback import CFunc
    from numba.core.errors import NumbaError

    from cardan.jit.front import native
    from cardan.jit.front.lowering import KernelCompiler, PlainCompiler, rounding

    abi = entry.abi if isinstance(entry.abi, Abi) else FRAMED
    function = _framed(entry, entry.abi) if isinstance(entry.abi, CallAbi) else _wrapper(entry, abi, form.layout)
    result = native.NUMBA_DTYPES[abi.result]
    arguments = (native.types.intp, native.types.intp, *(native.NUMBA_DTYPES[t] for t in abi.extra))
    with_errors = as_text or form != HERE
    compiler: Any = KernelCompiler if with_errors else PlainCompiler
    callback: Any = CFunc(function, (arguments, result), {}, kernel_options(entry.exact), pipeline_class=compiler)
    with rounding(entry.exact, with_errors), _link_later():
        try:
            compiled = callback._compile_uncached()
        except NumbaError as error:
            raise KernelError(f"{entry.name} does not compile as a kernel:\n{error}") from error
        single = form.precision == SINGLE
        module = _linked_single(entry.name, compiled.library) if single else _linked(compiled.library)
    if with_errors:
        simplified(module)  # Numba's own helpers may have been made with another entry
    module.get_function(compiled.fndesc.llvm_cfunc_wrapper_name).name = entry.symbol
    if isinstance(entry.abi, Abi) and entry.abi.side_by_side:
        module.link_in(llvm.parse_assembly(f"@{SIDE_BY_SIDE} = constant i8 1"))
    if isinstance(entry.abi, CallAbi):
        module.link_in(llvm.parse_assembly(glue_of(entry.symbol, entry.abi)))
    return only(symbols_of(entry), module)


def linked_module(entry: Entry, form: Form = HERE) -> str:
    """Return the module of `link_entry` as text: the input of transforms and of foreign targets."""
    return str(link_entry(entry, form, as_text=True))


def emit(name: str, module: Any, machine: Any) -> bytes:
    """Return the object file of a kernel for the processor of the code generator `machine`.

    The LLVM `module` is optimised in place; `name` is the kernel's name, for error messages.

    Some calls that are never reached, such as the error for a tuple index that is too large, disappear only if each
    function is simplified on its own first. This doubles the time, so it is done only for entries that need it.

    Raises:
        KernelError: the kernel refers to symbols outside the mathematical library.
    """
    bitcode = module.as_bitcode()
    undefined = _undefined_symbols(_optimised(module, machine))
    if undefined:
        module = simplified(llvm.parse_bitcode(bitcode))
        undefined = _undefined_symbols(_optimised(module, machine))
    if undefined:
        raise KernelError(_impure(name, undefined))
    return machine.emit_object(module)


def _impure(name: str, symbols: Collection[str]) -> str:
    """Return the error message for a kernel that is not pure: the symbols to which the kernel refers, and advice."""
    errors = sorted({symbol.removeprefix(RAISE) for symbol in symbols if symbol.startswith(RAISE)})
    calls = sorted(symbol for symbol in symbols if not symbol.startswith(RAISE))
    does, advice = [], []
    if calls:
        does += [f"compiled code would call {', '.join(calls)}"]
        advice += ["Kernels may use loops, numbers, tuples, field arrays and the math module only."]
    if errors:  # allocations may raise, too
        does += [f"it may raise {' or '.join(errors)}, or calls what may"]
        advice += ["Nothing that is raised is handed on from native code."]
        advice += ["Indices of tuples must be certain to be inside, as i % 3 is for three numbers."]
    return f"{name} is not a pure kernel: {', and '.join(does)}. {' '.join(advice)}"


def compile_entry(entry: Entry, form: Form = HERE) -> tuple[str, bytes]:
    """Compile an entry for this processor; return the name of its symbol and the object file.

    Raises:
        KernelError: the entry does not compile, or refers to symbols outside the mathematical library.
    """
    return entry.symbol, emit(entry.name, link_entry(entry, form), target_machine())


def retargeted(bitcode: bytes, triple: str, machine: Any) -> Any:
    """Return a module for another system, made from the bitcode of a module that has not been optimised."""
    module = llvm.parse_bitcode(bitcode)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    return module
