"""What Numba's front end does over and over for each kernel, done once or in fewer steps, with the same result.

A kernel is small, and most of the time to compile it is Numba's Python: it walks over all statements ten times to see
which variables are read, looks for the type of ``a * b`` among all that `*` may mean wherever it stands, compares all
options of the compiler before and after each pass, and reports each call of LLVM to listeners that aren't there. While
kernels are compiled (`shortcuts`) quicker ways stand in the places of these functions. All of them are Numba's own for
the rest of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType
from typing import Any, cast

from numba.core import event, ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.typed_passes import NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction

_SIGNATURES = "_cardan_signatures"  # of a function type: what its calls were found to be, by types of arguments
_UNHEARD = frozenset(("numba:llvm_lock", "numba:compiler_lock"))  # events that only measure times
_ON_STACK = (types.Number, types.Boolean, types.NoneType, types.Omitted)


class KernelCompiler(CompilerBase):
    """Numba's compiler for kernels: without the passes that have nothing to do in them."""

    def define_pipelines(self) -> list[Any]:
        """The passes: all but those for expressions of NumPy arrays, and, without functions inside, for closures."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        function = self.state.func_id.func
        module = function.__module__ or ""  # functions made from text have none
        idle = [NopythonRewrites] if module.startswith("cardan.") else []
        if not any(isinstance(constant, CodeType) for constant in function.__code__.co_consts):
            idle += [InlineClosureLikes, MakeFunctionToJitFunction]
        manager.passes = [step for step in manager.passes if step[0] not in idle]
        manager._finalized = False
        manager.finalize()
        return [manager]


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


# counts of references -------------------------------------------------------------------------------------------------


def _for_counted(original: Callable[..., None]) -> Callable[..., None]:
    counted: dict[Any, bool] = {}

    def change(self: Any, builder: Any, kind: Any, value: Any) -> None:
        holds = counted.get(kind)
        if holds is None:
            holds = counted[kind] = self._context.data_model_manager[kind].contains_nrt_meminfo()
        if holds:
            original(self, builder, kind, value)

    return change


# all of it ------------------------------------------------------------------------------------------------------------


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
        (BaseFunction, "get_call_type", _remembering(BaseFunction.get_call_type)),
        (TargetConfig, "values", _option_values),
        (event, "start_event", _quiet(event.start_event)),
        (event, "end_event", _quiet(event.end_event)),
        (NRTContext, "incref", _for_counted(NRTContext.incref)),
        (NRTContext, "decref", _for_counted(NRTContext.decref)),
    ):
        yield
