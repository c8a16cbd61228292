"""Numba types for slot tables, their arrays, and enumerations: the view of a structure in native code.

A structure is a pointer to its slot table; ``m.body_pos`` is a pointer to the slot, without reference counting.
``m.body_pos[i, 0]`` loads the address from the slot, then the element; the inner dimensions are compile-time constants.
Native code does not check bounds, and negative indices do not wrap around: bounds are checked in interpreter mode
(`cardan.jit.memory.view`). Loads from a read-only structure are marked invariant, so that LLVM can move them out of
loops. Loads and stores carry type-based alias information: tables of integers never alias floating-point results.
Members of enumerations are numbers at compile time, like members of Python's integer enumerations.

This module imports Numba. It is imported only when something must be compiled.
"""

from __future__ import annotations

import operator
from functools import cached_property
from types import FunctionType
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import EnumModel
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    make_intrinsic_template,
    signature,
)
from numba.core.typing.templates import infer_global as _infer_global
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
)

from cardan.enums.base import MjEnum, MjEnumType
from cardan.jit.front.lowering import dispatcher_of
from cardan.jit.front.stage import CALL, INTERLEAVED, WORLD, WORLD_COUNT, WORLD_INDEX, is_kernel
from cardan.jit.memory import view
from cardan.jit.memory.fields import WORDS, Field, Struct

NUMBA_DTYPES = {
    "f8": types.float64,
    "f4": types.float32,
    "i8": types.int64,
    "u8": types.uint64,
    "i4": types.int32,
    "u1": types.uint8,
    "char": types.int8,
}
infer_global: Any = _infer_global  # decorator or, with two arguments, a plain call
I64 = ir.IntType(64)
BYTE_POINTER = ir.IntType(8).as_pointer()
WORD_BYTES = 8


class StructType(types.Type):
    """Pointer to the slot table of `struct`, for access to the fields of the group `prefix`.

    `interleaved` is set for data of many worlds.
    """

    is_struct = True

    def __init__(self, struct: Struct, prefix: str = "", interleaved: bool = False) -> None:
        self.struct = struct
        self.prefix = prefix
        self.interleaved = interleaved
        self._resolved: dict[str, types.Type | None] = {}
        super().__init__(name=f"Struct({struct.name}:{prefix}{':' + INTERLEAVED if interleaved else ''})")

    def resolve(self, attr: str) -> types.Type | None:
        """Return the Numba type of an attribute, or None if the structure does not have it."""
        if attr not in self._resolved:
            full = self.prefix + attr
            field = self.struct.by_name.get(full)
            found: types.Type | None = None
            if field is not None:
                found = NUMBA_DTYPES[field.dtype]
                if not field.is_scalar:
                    found = FieldArrayType(found, field.inner, self.struct.readonly, interleaved=self.interleaved)
            elif full + "." in self.struct.prefixes:
                found = StructType(self.struct, full + ".", self.interleaved)
            self._resolved[attr] = found
        return self._resolved[attr]


class FieldArrayType(types.Type):
    """Array of a field: element type, inner dimensions (numbers are compile-time constants) and read-only flag.

    A value of this type is a pointer to the slot or, for an array on the stack, to the elements.
    """

    is_field = True

    def __init__(
        self,
        dtype: types.Type,
        inner: tuple[int | str, ...],
        readonly: bool,
        on_stack: bool = False,
        interleaved: bool = False,
    ) -> None:
        self.dtype = dtype
        self.inner = tuple(n if isinstance(n, int) else None for n in inner)
        self.readonly = readonly
        self.on_stack = on_stack
        self.interleaved = interleaved
        self.ndim = 1 + len(inner)
        super().__init__(name=f"FieldArray({dtype}, {self.inner}, {readonly}, {on_stack}, {interleaved})")


@register_model(StructType)
class _StructModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: types.Type) -> None:
        super().__init__(dmm, fe_type, BYTE_POINTER)


@register_model(FieldArrayType)
class _FieldArrayModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: types.Type) -> None:
        super().__init__(dmm, fe_type, BYTE_POINTER)


@infer_getattr
class _StructAttributes(AttributeTemplate):
    key = StructType

    def generic_resolve(self, typ: Any, attr: str) -> types.Type | None:
        return typ.resolve(attr)


def _tbaa(module: Any, kind: str) -> Any:
    """Return the tag of type-based alias analysis for elements of type `kind`. Each module has one tag per type."""
    tags = module.__dict__.setdefault("_cardan_tags", {})
    if kind in tags:
        return tags[kind]
    string, constant = ir.MetaDataString, ir.Constant(I64, 0)
    root = module.add_metadata([string(module, "cardan")])
    scalar = module.add_metadata([string(module, kind), root, constant])
    tags[kind] = module.add_metadata([scalar, scalar, constant])
    return tags[kind]


def _mark(builder: Any, instruction: Any, kind: str, invariant: bool = False) -> Any:
    instruction.set_metadata("tbaa", _tbaa(builder.module, kind))
    if invariant:
        instruction.set_metadata("invariant.load", builder.module.add_metadata([]))
    return instruction


def _slot_pointer(builder: Any, value: Any, slot: int) -> Any:
    return builder.gep(value, [ir.Constant(I64, WORD_BYTES * WORDS * slot)])


def _slot_word(builder: Any, slot: Any, word: int) -> Any:
    """Load word `word` of a slot (0: address, 1: length, 2: second dimension), which is constant while a stage runs."""
    pointer = slot if word == 0 else builder.gep(slot, [ir.Constant(I64, WORD_BYTES * word)])
    return _mark(builder, builder.load(builder.bitcast(pointer, I64.as_pointer())), "slot", True)


def _world_number(builder: Any, name: str) -> Any:
    """Write a call of the target's function `name`, `WORLD_INDEX` or `WORLD_COUNT`; return its result."""
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(I64, []), name)
        for attribute in ("readnone", "nounwind"):
            function.attributes.add(attribute)
    return builder.call(function, [])


def _scalar_pointer(builder: Any, typ: Any, value: Any, slot: int, llvm_dtype: Any) -> Any:
    """Return the address of a scalar. It is the slot or, if interleaved, the world's element of the slot's array."""
    place = _slot_pointer(builder, value, slot)
    if not typ.interleaved:
        return builder.bitcast(place, llvm_dtype.as_pointer())
    data = builder.inttoptr(_slot_word(builder, place, 0), llvm_dtype.as_pointer())
    return builder.gep(data, [_world_number(builder, WORLD_INDEX)], inbounds=True)


@lower_getattr_generic(StructType)
def _lower_getattr(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    full = typ.prefix + attr
    field: Field | None = typ.struct.by_name.get(full)
    if field is None:
        return value
    slot = typ.struct.slot[full]
    dtype = NUMBA_DTYPES[field.dtype]
    llvm_dtype = context.get_value_type(dtype)
    if field.is_scalar:
        load = builder.load(_scalar_pointer(builder, typ, value, slot, llvm_dtype))
        return _mark(builder, load, str(dtype), typ.struct.readonly)
    return _slot_pointer(builder, value, slot)


@lower_setattr_generic(StructType)
def _lower_setattr(context: Any, builder: Any, sig: Any, args: Any, attr: str) -> None:
    typ, value_type = sig.args
    target, value = args
    full = typ.prefix + attr
    field = typ.struct.by_name[full]
    if typ.struct.readonly or not field.is_scalar:
        raise TypeError(f"stages may not set {typ.struct.name}.{full}")
    dtype = NUMBA_DTYPES[field.dtype]
    cast = context.cast(builder, value, value_type, dtype)
    pointer = _scalar_pointer(builder, typ, target, typ.struct.slot[full], context.get_value_type(dtype))
    _mark(builder, builder.store(cast, pointer), str(dtype))


def _valid_index(array: FieldArrayType, index: types.Type) -> bool:
    if isinstance(index, types.Integer):
        return array.ndim == 1
    return (
        isinstance(index, types.UniTuple | types.Tuple)
        and len(index) == array.ndim
        and all(isinstance(t, types.Integer) for t in index.types)
    )


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], FieldArrayType) and _valid_index(args[0], args[1]):
            return signature(args[0].dtype, args[0], args[1])
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array = args[0]
        if isinstance(array, FieldArrayType) and not array.readonly and _valid_index(array, args[1]):
            return signature(types.void, array, args[1], array.dtype)
        return None


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], FieldArrayType) and not args[0].on_stack:
            return signature(types.intp, args[0])
        return None


def _element_pointer(context: Any, builder: Any, array_type: Any, value: Any, index_type: Any, index: Any) -> Any:
    if isinstance(index_type, types.Integer):
        offset = context.cast(builder, index, index_type, types.intp)
    else:
        parts = [
            context.cast(builder, part, part_type, types.intp)
            for part, part_type in zip(cgutils.unpack_tuple(builder, index), index_type.types, strict=True)
        ]
        offset = parts[0]
        for part, size in zip(parts[1:], array_type.inner, strict=True):
            columns = _slot_word(builder, value, 2) if size is None else ir.Constant(I64, size)
            offset = builder.add(builder.mul(offset, columns, flags=["nsw"]), part, flags=["nsw"])
    element = context.get_value_type(array_type.dtype).as_pointer()
    if array_type.on_stack:
        data = builder.bitcast(value, element)
    else:
        data = builder.inttoptr(_slot_word(builder, value, 0), element)
    if array_type.interleaved:
        offset = builder.mul(offset, _world_number(builder, WORLD_COUNT), flags=["nsw"])
        offset = builder.add(offset, _world_number(builder, WORLD_INDEX), flags=["nsw"])
    return builder.gep(data, [offset], inbounds=True)


@lower_builtin(operator.getitem, FieldArrayType, types.Any)
def _lower_getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array_type = sig.args[0]
    pointer = _element_pointer(context, builder, array_type, args[0], sig.args[1], args[1])
    return _mark(builder, builder.load(pointer), str(array_type.dtype), array_type.readonly)


@lower_builtin(operator.setitem, FieldArrayType, types.Any, types.Any)
def _lower_setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array_type = sig.args[0]
    pointer = _element_pointer(context, builder, array_type, args[0], sig.args[1], args[1])
    value = context.cast(builder, args[2], sig.args[2], array_type.dtype)
    _mark(builder, builder.store(value, pointer), str(array_type.dtype))
    return context.get_dummy_value()


@lower_builtin(len, FieldArrayType)
def _lower_len(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _slot_word(builder, args[0], 1)


@typeof_impl.register(FunctionType)
def _typeof_function(function: Any, context: Any) -> Any:
    """Return Numba's type of a function to which compiled code refers, or None if the function is not a kernel."""
    return types.Dispatcher(dispatcher_of(function)) if is_kernel(function) else None


def as_struct(struct: Struct, layout: str = WORLD) -> Any:
    """Make an intrinsic that converts an address (an integer) to a view of `struct`.

    With an interleaved `layout`, the view is interleaved unless the structure is read-only, as models are.
    """
    interleaved = layout == INTERLEAVED and not struct.readonly

    @intrinsic
    def address_as_struct(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], BYTE_POINTER)

        return StructType(struct, interleaved=interleaved)(types.intp), codegen

    return address_as_struct


def as_result(dtype: str) -> Any:
    """Make a function that converts a kernel's result (None becomes 0) to the result type of its native entry."""
    target = NUMBA_DTYPES[dtype]

    @intrinsic
    def convert(typing_context: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if isinstance(sig.args[0], types.NoneType):
                return context.get_constant(target, 0)
            return context.cast(builder, args[0], sig.args[0], target)

        return target(value), codegen

    return convert


def _emit_call_by_number(builder: Any, number: Any, m: Any, d: Any, extra: list[Any]) -> Any:
    """Write a call of a function by its number: on GPUs, interleaved code can't call functions by address."""
    words = [number, builder.ptrtoint(m, I64), builder.ptrtoint(d, I64), *extra]
    function = builder.module.globals.get(CALL)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(I64, [I64] * len(words)), CALL)
    return builder.call(function, words)


def _emit_call(builder: Any, address: Any, m: Any, d: Any, extra: list[Any]) -> Any:
    words = [builder.ptrtoint(m, I64), builder.ptrtoint(d, I64), *extra]
    function_type = ir.FunctionType(I64, [I64] * len(words))
    return builder.call(builder.inttoptr(address, function_type.as_pointer()), words)


@intrinsic
def _call_collider(typing_context: Any, address: Any, m: Any, d: Any, geom1: Any, geom2: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        geoms = [context.cast(builder, args[k], sig.args[k], types.int64) for k in (3, 4)]
        emit = _emit_call_by_number if sig.args[2].interleaved else _emit_call
        return emit(builder, args[0], args[1], args[2], geoms)

    return types.int64(types.int64, m, d, geom1, geom2), codegen


@intrinsic
def _call_stage(typing_context: Any, address: Any, m: Any, d: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _emit_call(builder, args[0], args[1], args[2], [])

    return types.int64(types.int64, m, d), codegen


def _stack_array_of(dtype: types.Type) -> Any:
    @intrinsic(prefer_literal=True)
    def allocate(typing_context: Any, n: Any) -> Any:
        if not isinstance(n, types.IntegerLiteral):
            return None
        size = n.literal_value
        array_type = FieldArrayType(dtype, (), False, on_stack=True)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            elements = cgutils.alloca_once(builder, context.get_value_type(dtype), size=size)
            return builder.bitcast(elements, BYTE_POINTER)

        return array_type(n), codegen

    return allocate


for _function, _native in {
    view.call_collider: _call_collider,
    view.call_stage: _call_stage,
    view.stack_array: _stack_array_of(types.float64),
    view.stack_int_array: _stack_array_of(types.int64),
}.items():
    _template = make_intrinsic_template(_native, _native._defn, _native._name, prefer_literal=True)
    infer_global(_function, types.Function(_template))


class EnumerationType(types.IntEnumClass):
    """Type of an enumeration; its attributes are the members."""

    @cached_property
    def member_type(self) -> MemberType:  # pyright: ignore[reportIncompatibleVariableOverride] (Numba has no types)
        """Type of the members."""
        return MemberType(self.instance_class, self.dtype)


class MemberType(types.IntEnumMember):
    """Type of the members of an enumeration. They convert to integers."""

    class_type_class = EnumerationType

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """Return the kind of conversion to another type, or None if it is impossible.

        It is the kind of conversion of the member's integer, except that no match is exact.
        """
        conversion = typingctx.can_convert(self.dtype, other)
        return max(conversion, Conversion.safe) if conversion else None


register_model(EnumerationType)(models.OpaqueModel)
register_model(MemberType)(EnumModel)


@typeof_impl.register(MjEnum)
def _typeof_member(member: MjEnum, context: Any) -> Any:
    return MemberType(type(member), types.intp)


@typeof_impl.register(MjEnumType)
def _typeof_enumeration(enumeration: MjEnumType, context: Any) -> Any:
    return EnumerationType(enumeration, types.intp)
