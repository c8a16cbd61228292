"""What Numba's front end does over and over for each kernel, done once or in fewer steps, with the same result.

A kernel is small, and most of the time to compile it is Numba's Python: it walks over all statements ten times to see
which variables are read, looks for the type of ``a * b`` among all that `*` may mean wherever it stands, compares all
options of the compiler before and after each pass, computes four times where variables live when it needs it once, and
reports each call of LLVM to listeners that aren't there. While
kernels are compiled (`shortcuts`) quicker ways stand in the places of these functions. All of them are Numba's own for
the rest of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, lru_cache
from types import CodeType
from typing import Any, ClassVar, cast

from numba.core import base, byteflow, errors, event, interpreter, ir, lowering, ssa, typeinfer, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
)
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables, MakeFunctionToJitFunction

from cardan.jit.front import lowering as kernel_lowering
from cardan.jit.front.lowering import KernelLegalization, KernelLowering

_flow: Any = byteflow.Flow
_errors: Any = errors  # with what it declares to nobody
_SIGNATURES = "_cardan_signatures"  # of a function type: what its calls were found to be, by types of arguments
_TYPED_WITH = "_cardan_typed_with"  # of a call: the function and the types of arguments that it was typed with
_UNHEARD = frozenset(("numba:llvm_lock", "numba:compiler_lock"))  # events that only measure times
_ON_STACK = (types.Number, types.Boolean, types.NoneType, types.Omitted)


class KernelCompiler(CompilerBase):
    """Numba's compiler for kernels: without the passes that have nothing to do in them."""

    passes_in_place: ClassVar[dict[Any, Any]] = {}  # of Numba's

    def define_pipelines(self) -> list[Any]:
        """The passes: all but those for expressions of NumPy arrays, and, without functions inside, for closures."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        function = self.state.func_id.func
        module = function.__module__ or ""  # functions made from text have none
        idle: list[Any] = [AnnotateTypes, DumpParforDiagnostics]
        if module.startswith("cardan."):
            idle += [NopythonRewrites, InlineOverloads, InlineInlinables, NoPythonSupportedFeatureValidation]
        if not any(isinstance(constant, CodeType) for constant in function.__code__.co_consts):
            idle += [InlineClosureLikes, MakeFunctionToJitFunction]
        if not self.passes_in_place:
            idle.remove(AnnotateTypes)
        own = self.passes_in_place
        manager.passes = [(own.get(step, step), about) for step, about in manager.passes if step not in idle]
        manager._finalized = False
        manager.finalize()
        return [manager]


class PlainCompiler(KernelCompiler):
    """The compiler for kernels that are lowered without paths of errors."""

    passes_in_place: ClassVar[dict[Any, Any]] = {IRLegalization: KernelLegalization, NativeLowering: KernelLowering}


# variables of statements ---------------------------------------------------------------------------------------------


@cache
def _holds(kind: type) -> str:
    """What values of a type hold of variables."""
    if issubclass(kind, ir.Var):
        return "variable"
    if issubclass(kind, ir.Inst):
        return "instruction"
    if issubclass(kind, list | tuple):
        return "sequence"
    return "mapping" if issubclass(kind, dict) else "nothing"


def _variables(values: Iterable[Any]) -> list[Any]:
    """The variables in parts of a statement, in order."""
    found: list[Any] = []
    for value in values:
        held = _holds(type(value))
        if held == "nothing":
            continue
        if held == "variable":
            found.append(value)
        elif held == "instruction":
            found += value.list_vars()
        else:
            found += _variables(value if held == "sequence" else value.values())
    return found


def _variables_of_statement(self: Any) -> list[Any]:
    return _variables(self.__dict__.values())


def _variables_of_expression(self: Any) -> list[Any]:
    return _variables(self._kws.values())


# lifetimes and definitions of variables ------------------------------------------------------------------------------


def _without_lifetimes(original: Callable[..., None]) -> Callable[..., None]:
    """Where variables live is computed for the statements that end their lives, and by passes that ask for it."""

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function = self.func_ir
        if emit_dels or function.is_generator:
            original(self, emit_dels, extend_lifetimes)
            return
        function.blocks = canonicalize_cfg(function.blocks)
        function.variable_lifetime = VariableLifetime(function.blocks)
        function.generator_info = None

    return run


def _statements_of_block(states: dict[str, Any], block: Any, handler: Any) -> Iterator[Any]:
    """What a step towards single assignment makes of the statements of a block, without a log."""
    for statement in block.body:
        visit = handler.on_assign if isinstance(statement, ir.Assign) else handler.on_other
        yield visit(states, statement)


def _where_there_is_with(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Only functions with such a statement have variables for its end."""

    def delete_exits(function: Any) -> Any:
        scopes = {id(block.scope): block.scope for block in function.blocks.values()}
        names = (name for scope in scopes.values() for name in scope.localvars._con)
        return original(function) if any(name.startswith("$setup_with_exitfn") for name in names) else function

    return delete_exits


def _where_there_is_try(original: Callable[..., Any]) -> Callable[..., Any]:
    """Only functions with such a statement have parts that exceptions may leave."""

    def run_handle_exception(self: Any, runner: Any, state: Any) -> Any:
        if getattr(self._bytecode.func_id.func.__code__, "co_exceptiontable", True):
            return original(self, runner, state)
        state.advance_pc()
        return None

    return run_handle_exception


class _Silent:
    """What nobody reads is not logged."""

    @staticmethod
    def debug(*args: Any, **kws: Any) -> None:
        """Log nothing."""


# types of calls ------------------------------------------------------------------------------------------------------


def _is_plain(kind: Any) -> bool:
    """Whether values of a type are numbers, tuples of them, or fields: what they mean to an operator never changes."""
    if isinstance(kind, types.BaseTuple):
        return all(map(_is_plain, cast("Iterable[Any]", kind)))
    return isinstance(kind, _ON_STACK) or getattr(kind, "is_field", False)


def _settings() -> tuple[Any, ...]:
    """The options of what is being compiled that decide which code a call becomes."""
    flags = ConfigStack.top_or_none()
    return () if flags is None else (frozenset(flags.fastmath.flags), flags.error_model, flags.boundscheck)


def _remembering(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_call_type(self: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if kws or not all(map(_is_plain, args)):
            return original(self, context, args, kws)
        known = self.__dict__.setdefault(_SIGNATURES, {})
        key = (context, _settings(), *args)
        if key not in known:
            found = original(self, context, args, kws)
            known[key] = found, self._impl_keys.get(found.args)
        signature, implementation = known[key]
        if implementation is not None:
            self._impl_keys[signature.args] = implementation  # of the last call that was typed: lowering looks here
        return signature

    return get_call_type


def _of_structs(original: Callable[..., Any]) -> Callable[..., Any]:
    """Structures know their fields; Numba asks all that may know attributes, in an order that it finds each time."""

    def resolve_getattr(self: Any, typ: Any, attr: str) -> Any:
        found = typ.resolve(attr) if getattr(typ, "is_struct", False) else None
        return original(self, typ, attr) if found is None else found

    return resolve_getattr


def _unless_known(original: Callable[..., None]) -> Callable[..., None]:
    """Numba types all calls again until nothing changes: a call of a kernel with the same types has its answer."""

    def resolve(self: Any, typeinfer: Any, typevars: Any, fnty: Any) -> None:
        seen: Any = None
        if isinstance(fnty, types.Dispatcher) and self.vararg is None:
            names = (*self.args, *(value for _, value in self.kws))
            seen = (fnty, *(typevars[name.name].type for name in names))
            if self.signature is not None and self.__dict__.get(_TYPED_WITH) == seen:
                return
        original(self, typeinfer, typevars, fnty)
        self.__dict__[_TYPED_WITH] = seen

    return resolve


# options and events --------------------------------------------------------------------------------------------------


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {name: option.default for name, option in kind.options.items()}


def _option_values(self: Any) -> dict[str, Any]:
    return _defaults(type(self)) | self._values


def _quiet(original: Callable[..., None]) -> Callable[..., None]:
    def report(kind: str, *args: Any, **kws: Any) -> None:
        if kind not in _UNHEARD:
            original(kind, *args, **kws)

    return report


# what is known of the compiler itself --------------------------------------------------------------------------------


def _imported_once(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """Modules of implementations are imported once; what has come into their lists since is taken up each time.

    Intrinsics, for one: Numba notes theirs in the first list of the target when their first call is typed.
    """
    loaded: list[Any] = []  # contexts of one target share one mapping of lists

    def load(self: Any) -> None:
        if any(lists is self._registries for lists in loaded):
            for registry in tuple(self._registries):
                self.install_registry(registry)
        else:
            original(self)
            loaded.append(self._registries)

    return load


class _ErrorContext:
    """Tells an error of Numba's what was being done. Numba's own is a generator, made for each statement."""

    __slots__ = ("_args", "_kws", "_text")

    def __init__(self, text: str, *args: Any, **kws: Any) -> None:
        self._text, self._args, self._kws = text, args, kws
        place = kws.get("loc")
        if place is not None and not place.filename.startswith(_errors._numba_path):
            _errors.loc_info.update(kws)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, errors.NumbaError):
            error.add_context(_errors._format_msg(self._text, self._args, self._kws))


def _if_heard(original: Callable[..., AbstractContextManager[None]]) -> Callable[..., AbstractContextManager[None]]:
    nothing = nullcontext()

    def trigger(kind: str, data: Any = None) -> AbstractContextManager[None]:
        return original(kind, data) if event._registered.get(kind) else nothing

    return trigger


def _unwatched(self: Any, filename: str | None = None, lineno: int | None = None) -> AbstractContextManager[None]:
    """Warnings of the typing of a statement are not held back, to be shown with its place."""
    return nullcontext()


_requirements: dict[tuple[Any, ...], Any] = {}  # of lists of passes: what each pass needs


def _for_new_lists(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def dependency_analysis(self: Any) -> Any:
        passes = tuple(self.passes)
        if passes not in _requirements:
            _requirements[passes] = original(self)
        return _requirements[passes]

    return dependency_analysis


# counts of references ------------------------------------------------------------------------------------------------


def _for_counted(original: Callable[..., None]) -> Callable[..., None]:
    counted: dict[Any, bool] = {}

    def change(self: Any, builder: Any, kind: Any, value: Any) -> None:
        holds = counted.get(kind)
        if holds is None:
            holds = counted[kind] = self._context.data_model_manager[kind].contains_nrt_meminfo()
        if holds:
            original(self, builder, kind, value)

    return change


_has_loc = lru_cache(4096)(base._has_loc)  # whether an implementation asks for the place in the source


# all of it -----------------------------------------------------------------------------------------------------------


@contextmanager
def replaced(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Put other values in places of modules and classes, (place, name, value), for a while."""
    before = [(place, name, getattr(place, name)) for place, name, _ in places]
    try:
        for place, name, value in places:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)


@contextmanager
def shortcuts() -> Iterator[None]:
    """While kernels are compiled; the caller holds Numba's lock, so that nothing else is."""
    with replaced(
        (ir.Stmt, "list_vars", _variables_of_statement),
        (ir.Expr, "list_vars", _variables_of_expression),
        (PostProcessor, "run", _without_lifetimes(PostProcessor.run)),
        (ssa, "_run_ssa_block_pass", _statements_of_block),
        (interpreter, "peep_hole_delete_with_exit", _where_there_is_with(interpreter.peep_hole_delete_with_exit)),
        (base, "_has_loc", _has_loc),
        (CPUContext, "load_additional_registries", _imported_once(CPUContext.load_additional_registries)),
        (BaseFunction, "get_call_type", _remembering(BaseFunction.get_call_type)),
        (TargetConfig, "values", _option_values),
        (PassManager, "dependency_analysis", _for_new_lists(PassManager.dependency_analysis)),
        (BaseContext, "resolve_getattr", _of_structs(BaseContext.resolve_getattr)),
        (typeinfer.CallConstraint, "resolve", _unless_known(typeinfer.CallConstraint.resolve)),
        (_errors.WarningsFixer, "catch_warnings", _unwatched),
        (_flow, "_run_handle_exception", _where_there_is_try(_flow._run_handle_exception)),
        (byteflow, "_logger", _Silent),
        (ssa, "_logger", _Silent),
        (errors, "new_error_context", _ErrorContext),
        (lowering, "new_error_context", _ErrorContext),
        (typeinfer, "new_error_context", _ErrorContext),
        (event, "trigger_event", _if_heard(event.trigger_event)),
        (event, "start_event", _quiet(event.start_event)),
        (event, "end_event", _quiet(event.end_event)),
        (NRTContext, "incref", _for_counted(NRTContext.incref)),
        (NRTContext, "decref", _for_counted(NRTContext.decref)),
        *kernel_lowering.places(),
    ):
        yield
