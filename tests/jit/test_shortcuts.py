"""The quicker front end finds what Numba's own finds, and leaves Numba as it was."""

from __future__ import annotations

import gc

import pytest

import cardan
from cardan.jit import collider, jit_enabled, kernel
from cardan.jit.front.stage import entry_of
from cardan.maths import quaternion

pytest.importorskip("numba")
pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")


@kernel
def with_a_function_inside(x):
    def doubled(y):
        return 2.0 * y

    return doubled(x) + 1.0


@collider
def measure(m, d, geom1, geom2):
    d.time = with_a_function_inside(float(geom1)) + max(geom1, geom2)
    return 0


def _functions():
    return [f for f in vars(quaternion).values() if getattr(f, "__module__", "") == quaternion.__name__ and callable(f)]


def test_variables_of_statements_are_those_that_numba_finds():
    from numba.core import compiler, ir

    from cardan.jit.front.shortcuts import _variables_of_expression, _variables_of_statement

    seen = 0
    for function in _functions():
        for block in compiler.run_frontend(function).blocks.values():
            for statement in block.body:
                assert _variables_of_statement(statement) == statement.list_vars()
                value = getattr(statement, "value", None)
                if isinstance(value, ir.Expr):
                    assert _variables_of_expression(value) == value.list_vars()
                    seen += 1
    assert seen > 100


def test_options_are_those_that_numba_finds():
    from numba.core.compiler import Flags

    from cardan.jit.front.shortcuts import _option_values

    flags = Flags()
    assert _option_values(flags) == flags.values()
    flags.boundscheck = True
    flags.error_model = "numpy"
    assert list(_option_values(flags).items()) == list(flags.values().items())


def test_numba_is_left_as_it_was_and_functions_inside_are_compiled():
    from numba.core import errors, event, ir, lowering
    from numba.core.codegen import JITCodeLibrary
    from numba.core.postproc import PostProcessor
    from numba.core.targetconfig import TargetConfig
    from numba.core.types.functions import BaseFunction

    from cardan.jit.front.compile import compile_entry

    thresholds = gc.get_threshold()
    places = [(PostProcessor, "run"), (errors, "new_error_context"), (lowering, "new_error_context")]
    places += [(ir.Stmt, "list_vars"), (BaseFunction, "get_call_type"), (TargetConfig, "values")]
    places += [(event, "start_event"), (JITCodeLibrary, "_optimize_functions"), (JITCodeLibrary, "add_ir_module")]
    before = [getattr(place, name) for place, name in places]
    symbol, code = compile_entry(entry_of(measure))
    assert symbol.encode() in code
    assert [getattr(place, name) for place, name in places] == before
    assert gc.get_threshold() == thresholds


def test_lifetimes_of_variables_are_those_that_numba_finds():
    from numba.core import compiler
    from numba.core.postproc import PostProcessor

    from cardan.jit.front.shortcuts import _without_lifetimes

    def lifetimes(run):
        found = []
        for function in _functions():
            code = compiler.run_frontend(function)
            run(PostProcessor(code))
            found.append((list(code.blocks), code.variable_lifetime.livemap))
            PostProcessor(code).run(emit_dels=True)
            found.append([str(statement) for block in code.blocks.values() for statement in block.body])
        return found

    assert len(_functions()) > 5
    assert lifetimes(_without_lifetimes(PostProcessor.run)) == lifetimes(PostProcessor.run)


def test_errors_say_what_was_being_done_as_those_of_numba():
    from numba.core import errors

    from cardan.jit.front.shortcuts import _ErrorContext

    def contexts(manager):
        with pytest.raises(errors.TypingError) as caught, manager("typing of {what}", what="a sum"):
            raise errors.TypingError("no")
        return caught.value.contexts

    assert contexts(_ErrorContext) == contexts(errors.new_error_context) != []
    with pytest.raises(ValueError, match="no"), _ErrorContext("typing"):
        raise ValueError("no")


def test_functions_of_the_interface_are_compiled():
    """What calls their kernels is made from text and belongs to no module."""
    from cardan.jit.binding.functions import Binding, KernelBinding
    from cardan.jit.front.compile import compile_entry

    assert cardan.mju_dot3
    compiled = (binding.entry for binding in Binding.all.values() if isinstance(binding, KernelBinding))
    symbol, code = compile_entry(next(entry for entry in compiled if entry.name.endswith("mju_dot3")))
    assert symbol.encode() in code


def test_what_is_registered_later_is_found():
    """Whatever was compiled before: intrinsics are noted in the first list of a target when they are first typed."""
    from copy import copy

    from numba.core import types, typing
    from numba.core.registry import cpu_target

    from cardan.jit.front.shortcuts import shortcuts

    context, signature = cpu_target.target_context, typing.signature(types.int64, types.int64)
    with shortcuts():
        context.refresh()
        for _ in range(3):

            def same(context, builder, sig, args):
                return args[0]

            next(iter(context._registries)).lower(same, types.int64)(same)
            assert callable(context.get_function(same, signature))
            assert callable(copy(context).get_function(same, signature))


def test_a_remembered_call_has_the_options_of_its_caller():
    """`max` of a tuple is a function that Numba compiles: once with leave to reassociate, once without."""
    from numba.core.compiler import Flags
    from numba.core.targetconfig import ConfigStack

    from cardan.jit.front.shortcuts import _settings

    plain, fast = Flags(), Flags()
    fast.fastmath = {"reassoc"}
    with ConfigStack().enter(plain):
        of_plain = _settings()
    with ConfigStack().enter(fast):
        assert _settings() != of_plain
