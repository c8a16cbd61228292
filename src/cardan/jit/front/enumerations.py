"""Teaches Numba the enumerations: members are numbers at compile time, as those of Python's integer enumerations."""

from functools import cached_property
from typing import Any

from numba.core import types
from numba.core.datamodel.models import EnumModel
from numba.core.typeconv.castgraph import Conversion
from numba.extending import models, register_model, typeof_impl

from cardan.enums.base import MjEnum, MjEnumType


class EnumerationType(types.IntEnumClass):
    """Type of an enumeration: its attributes are its members."""

    @cached_property
    def member_type(self) -> "MemberType":  # pyright: ignore[reportIncompatibleVariableOverride] (Numba has no types)
        """Type of the members."""
        return MemberType(self.instance_class, self.dtype)


class MemberType(types.IntEnumMember):
    """Type of the members of an enumeration: they go wherever an integer does."""

    class_type_class = EnumerationType

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """Whether a member converts to another type: as its number does, but not exactly."""
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
