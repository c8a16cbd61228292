"""Numba's compiler for kernels, with fewer passes and with lowering without error paths.

Kernels raise no exceptions and hold no reference-counted objects. By default, Numba checks a status after each call and
propagates errors. It also marks where the live range of each variable ends, and reads the previous value of a variable
before each assignment. Here, calls between kernels have no status checks, and variables are simply assigned. Where a
kernel would raise an exception, an undefined symbol is called. If this call can't be reached (as for a tuple index that
is too large), the optimiser removes it. Otherwise, `compile.emit` refuses the stage.

This saves a sixth of the processor time of a cold start (docs/notes/performance-trials.md, "Time to compile kernels").
It also ensures that kernels which may raise are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from types import CodeType
from typing import Any, ClassVar

from llvmlite import ir as llvm
from numba import jit, njit
from numba.core import base, cgutils, ir, lowering, types
from numba.core.callconv import CPUCallConv
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.imputils import user_function
from numba.core.ir_utils import check_and_legalize_ir
from numba.core.typed_passes import (
    AnnotateTypes,
    BaseNativeLowering,
    DumpParforDiagnostics,
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
)
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables, MakeFunctionToJitFunction

from cardan.jit.front.stage import RAISE, kernel_options

_PLAIN = "_cardan_raises_nothing"  # attribute of a module whose function is a kernel that does not return errors
_plain_names: set[str] = set()  # mangled names of functions that do not return errors

_Raise = Callable[..., None]

_exact_rounding: bool | None = None  # option of the entry that is being compiled; None for a user's own function
_with_errors = False


@cache
def _is_counted(kind: Any, models: Any) -> bool:
    return models[kind].contains_nrt_meminfo()


def _counts(context: Any, kinds: Any) -> bool:
    """Return whether any of the types `kinds` contains reference-counted objects."""
    return any(_is_counted(kind, context.data_model_manager) for kind in set(kinds))


@register_pass(mutates_CFG=False, analysis_only=True)
class KernelLegalization(AnalysisPass):
    """Pass that marks the ends of live ranges, only in functions with reference-counted variables."""

    _name = "kernel_legalization"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Mark the ends of live ranges if the function has reference-counted variables."""
        if _counts(state.targetctx, state.typemap.values()):
            check_and_legalize_ir(state.func_ir, flags=state.flags)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(BaseNativeLowering):
    """Pass that lowers kernels."""

    _name = "kernel_lowering"

    def __init__(self) -> None:
        BaseNativeLowering.__init__(self)

    @property
    def lowering_class(self) -> Any:
        """Class that lowers one function."""
        return KernelLower


class KernelLower(lowering.Lower):
    """Lowering of a kernel, without the steps of Numba's lowering that the kernel does not need."""

    def init(self) -> None:
        """Determine which of Numba's steps the kernel needs."""
        super().init()
        identity = self.func_ir.func_id
        self._plain = not getattr(identity.func.__code__, "co_exceptiontable", True) and not identity.is_generator
        self._counts = _counts(self.context, self.fndesc.typemap.values())
        if self._plain:
            self.module.__dict__[_PLAIN] = True
            _plain_names.add(self.fndesc.mangled_name)

    def pre_block(self, block: Any) -> None:
        """Begin a block, without Numba's preparations for ends of live ranges and for ``try``."""
        if self._counts or not self._plain:
            super().pre_block(block)
        else:
            self._cur_ir_block = block

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement.

        Nearly all statements are assignments. For these, Numba's conversion to text, which is only for debugging, is
        skipped.
        """
        if isinstance(inst, ir.Assign) and not self._counts:
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)
        else:
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Assign to a variable, without releasing its previous value."""
        if self._counts:
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Allocate a variable, without asking LLVM for its size, which only debuggers need."""
        if self.context.enable_debuginfo:
            return super().alloca_lltype(name, lltype, datamodel)
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def lower(self) -> None:
        """Lower the function, and clear its intermediate objects, so that Python frees most of them immediately."""
        super().lower()
        for function in self.module.functions:
            for block in function.blocks:
                block.instructions.clear()

    def incref(self, typ: Any, val: Any) -> None:
        """Increment a reference count, if the kernel has reference-counted variables."""
        if self._counts:
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Decrement a reference count, if the kernel has reference-counted variables."""
        if self._counts:
            super().decref(typ, val)


def _call_of_nothing(builder: Any, name: str) -> None:
    """Write a call of the undefined symbol `name` at a place that should never be reached."""
    function = builder.module.globals.get(name)
    if function is None:
        function = llvm.Function(builder.module, llvm.FunctionType(llvm.VoidType(), []), name)
        for attribute in ("noreturn", "nounwind", "cold"):
            function.attributes.add(attribute)
    builder.call(function, [])
    builder.unreachable()


def _is_plain(builder: Any) -> bool:
    return _PLAIN in builder.module.__dict__


def _raising(original: _Raise) -> _Raise:
    def return_user_exc(self: Any, builder: Any, exc: Any, *args: Any, **kws: Any) -> None:
        if _is_plain(builder):
            _call_of_nothing(builder, RAISE + getattr(exc, "__name__", "again"))
        else:
            original(self, builder, exc, *args, **kws)

    return return_user_exc


def _handing_on(original: _Raise) -> _Raise:
    def return_status_propagate(self: Any, builder: Any, status: Any) -> None:
        if _is_plain(builder):
            _call_of_nothing(builder, RAISE + "what a function raises")
        else:
            original(self, builder, status)

    return return_status_propagate


def _calling(original: Callable[..., Any]) -> Callable[..., Any]:
    def function_of(description: Any, libraries: Any) -> Any:
        usual = original(description, libraries)
        result = description.restype
        if description.mangled_name not in _plain_names or isinstance(result, types.Optional):
            return usual

        @wraps(usual)
        def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if not _is_plain(builder):
                return usual(context, builder, sig, args)
            function = context.declare_function(builder.module, description)
            place = cgutils.alloca_once(builder, function.args[0].type.pointee)
            words = context.get_arg_packer(description.argtypes).as_arguments(builder, args)
            builder.call(function, [place, llvm.Constant(function.args[1].type, None), *words])
            return context.get_returned_value(builder, result, builder.load(place))

        return call

    return function_of


class KernelCompiler(CompilerBase):
    """Numba's compiler for kernels, without the passes that have no effect on kernels."""

    replacements: ClassVar[dict[Any, Any]] = {}
    """Passes of Numba to replace, and their replacements."""

    def define_pipelines(self) -> list[Any]:
        """Return one pass manager: Numba's passes, without those that have no effect on the function.

        Passes in `replacements` are replaced. Functions of this package need no passes for array expressions, and
        functions without inner functions need no passes for closures.
        """
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        function = self.state.func_id.func
        module = function.__module__ or ""  # functions made from text have none
        idle: list[Any] = [DumpParforDiagnostics]
        if self.replacements:
            idle.append(AnnotateTypes)
        if module.startswith("cardan."):
            idle += [NopythonRewrites, InlineOverloads, InlineInlinables, NoPythonSupportedFeatureValidation]
        if not any(isinstance(constant, CodeType) for constant in function.__code__.co_consts):
            idle += [InlineClosureLikes, MakeFunctionToJitFunction]
        manager.passes = [
            (self.replacements.get(step, step), name) for step, name in manager.passes if step not in idle
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class PlainCompiler(KernelCompiler):
    """Compiler for kernels that are lowered without error paths."""

    replacements: ClassVar[dict[Any, Any]] = {IRLegalization: KernelLegalization, NativeLowering: KernelLowering}


@contextmanager
def replaced(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Context manager that temporarily replaces attributes of modules and classes, given as (owner, name, value)."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    try:
        for owner, name, value in places:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def places() -> list[tuple[Any, str, Any]]:
    """Return the attributes of Numba to replace while kernels are compiled, as arguments for `replaced`."""
    return [
        (base, "user_function", _calling(user_function)),
        (CPUCallConv, "return_user_exc", _raising(CPUCallConv.return_user_exc)),
        (CPUCallConv, "return_dynamic_user_exc", _raising(CPUCallConv.return_dynamic_user_exc)),
        (CPUCallConv, "return_status_propagate", _handing_on(CPUCallConv.return_status_propagate)),
    ]


# one compiler for each kind of caller ---------------------------------------------------------------------------------


@contextmanager
def rounding(exact: bool, with_errors: bool = False) -> Iterator[None]:
    """Context manager that sets options of all kernels compiled for an entry.

    Args:
        exact: whether the kernels round as the interpreter does.
        with_errors: whether Numba itself lowers the kernels, with error paths. Modules that are read as text need this,
            because the transforms know only the forms of instructions that Numba writes.
    """
    global _exact_rounding, _with_errors  # Numba looks functions up without knowledge of the entry
    before = _exact_rounding, _with_errors
    _exact_rounding, _with_errors = exact, with_errors
    try:
        yield
    finally:
        _exact_rounding, _with_errors = before


def lowered_with_errors() -> bool:
    """Return whether the current function gets error paths, as transforms and users' own functions require."""
    return _with_errors or _exact_rounding is None


def dispatcher_of(function: Callable[..., Any]) -> Any:
    """Return Numba's dispatcher of a kernel for the current options; it is made on first use.

    Kernels that entries call are compiled without error paths, and checked together with the entry. For calls from
    users' own jitted functions, kernels are compiled with error paths.
    """
    dispatchers = function.__dict__.setdefault("__cardan_dispatchers__", {})
    key = _exact_rounding, _with_errors
    if key not in dispatchers:
        options = kernel_options(bool(_exact_rounding))
        compiler = KernelCompiler if lowered_with_errors() else PlainCompiler
        dispatchers[key] = njit(**options, pipeline_class=compiler)(function)
    return dispatchers[key]


def kernel_of(dispatcher: Any) -> Any:
    """Return the kernel that replaces a user's jitted function inside compiled entries.

    Code compiled for entries is separate from code compiled for calls from Python. The user's options are kept. If the
    user sets no error model, integer division by 0 behaves as in kernels.
    """
    function = dispatcher.py_func
    is_of_numba = (function.__module__ or "").partition(".")[0] == "numba"
    if is_of_numba or issubclass(dispatcher._compiler.pipeline_class, KernelCompiler):
        return dispatcher
    kernels = dispatcher.__dict__.setdefault("__cardan_kernels__", {})
    key = _exact_rounding, _with_errors
    if key not in kernels:
        given = {name: value for name, value in dispatcher.targetoptions.items() if value is not None}
        options = {**kernel_options(bool(_exact_rounding)), **given, "no_cpython_wrapper": True, "nopython": True}
        compiler = KernelCompiler if lowered_with_errors() else PlainCompiler
        kernels[key] = jit(**options, locals=dispatcher.locals, pipeline_class=compiler)(function)
    return kernels[key]
