"""From typed statements to LLVM's instructions: Numba's way, without what kernels have no use for.

A kernel raises nothing and holds nothing that is counted. Numba looks after each call whether it failed, and hands the
error on; it ends the life of each variable, empties it, and looks at what it held before each assignment. Here a
kernel that calls a kernel takes its result, and variables are just assigned. Where a kernel would raise something
after all, a symbol is called that does not exist: it is gone once the stage is optimised, if that place is never
reached (the index of a tuple that is too large, say); else the stage is refused, by `compile.emit`.

The gain is 13 % of the processor time of a compilation (three stages, Newton's method among them: 13.8 s instead of
15.9 s), and the refusal of kernels that may raise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from llvmlite import ir as llvm
from numba.core import base, cgutils, ir, lowering, types
from numba.core.callconv import CPUCallConv
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.imputils import user_function
from numba.core.ir_utils import check_and_legalize_ir
from numba.core.typed_passes import BaseNativeLowering

from cardan.jit.front.form import RAISE

_PLAIN = "_cardan_raises_nothing"  # of a module: its function is a kernel that does not return errors
_plain_names: set[str] = set()  # of such functions

_Raise = Callable[..., None]


@cache
def _is_counted(kind: Any, models: Any) -> bool:
    return models[kind].contains_nrt_meminfo()


def _counts(context: Any, kinds: Any) -> bool:
    """Whether values of some of these types hold counted references."""
    return any(_is_counted(kind, context.data_model_manager) for kind in set(kinds))


def _catches_nothing(identity: Any) -> bool:
    """Whether a function has neither ``try`` nor ``with``, and is no generator."""
    return not getattr(identity.func.__code__, "co_exceptiontable", True) and not identity.is_generator


@register_pass(mutates_CFG=False, analysis_only=True)
class KernelLegalization(AnalysisPass):
    """Says where variables end, if that matters."""

    _name = "kernel_legalization"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Write the ends of variables into the statements of a function whose variables are counted."""
        if _counts(state.targetctx, state.typemap.values()):
            check_and_legalize_ir(state.func_ir, flags=state.flags)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(BaseNativeLowering):
    """Lowers kernels."""

    _name = "kernel_lowering"

    def __init__(self) -> None:
        BaseNativeLowering.__init__(self)

    @property
    def lowering_class(self) -> Any:
        """What lowers a function."""
        return KernelLower


class KernelLower(lowering.Lower):
    """Lowers a kernel."""

    def init(self) -> None:
        """Find out what the kernel has no use for."""
        super().init()
        self._plain = _catches_nothing(self.func_ir.func_id)
        self._counts = _counts(self.context, self.fndesc.typemap.values())
        if self._plain:
            self.module.__dict__[_PLAIN] = True
            _plain_names.add(self.fndesc.mangled_name)

    def pre_block(self, block: Any) -> None:
        """Begin a block. Numba makes room for variables that end, and looks for ``try``."""
        if self._counts or not self._plain:
            super().pre_block(block)
        else:
            self._cur_ir_block = block

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement. Nearly all are assignments; Numba makes a text of each, to print it on demand."""
        if isinstance(inst, ir.Assign) and not self._counts:
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)
        else:
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Assign to a variable. What it held before needs no release."""
        if self._counts:
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Make room for a variable. Numba asks LLVM for its size, for the debugger."""
        if self.context.enable_debuginfo:
            return super().alloca_lltype(name, lltype, datamodel)
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def lower(self) -> None:
        """Lower the function, and let go of what became its text: Python frees most of that at once."""
        super().lower()
        for function in self.module.functions:
            for block in function.blocks:
                block.instructions.clear()

    def incref(self, typ: Any, val: Any) -> None:
        """Count a reference."""
        if self._counts:
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Drop a reference."""
        if self._counts:
            super().decref(typ, val)


def _call_of_nothing(builder: Any, name: str) -> None:
    """End a place that is never reached."""
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


def places() -> list[tuple[Any, str, Any]]:
    """What stands in place of Numba's functions while kernels are compiled (see `shortcuts.replaced`)."""
    return [
        (base, "user_function", _calling(user_function)),
        (CPUCallConv, "return_user_exc", _raising(CPUCallConv.return_user_exc)),
        (CPUCallConv, "return_dynamic_user_exc", _raising(CPUCallConv.return_dynamic_user_exc)),
        (CPUCallConv, "return_status_propagate", _handing_on(CPUCallConv.return_status_propagate)),
    ]
