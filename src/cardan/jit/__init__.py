"""How a Python function becomes a native stage: struct views, stage decorators, disk cache, driver."""

from cardan.jit.driver import Program, addresses
from cardan.jit.fields import Field
from cardan.jit.mode import jit_enabled
from cardan.jit.pointers import call_collider, call_stage, stack_array, stack_int_array
from cardan.jit.stage import CALLBACK_FAILED, COLLIDER_MISSING, OK, Abi, collider, entry, exact, kernel, stage
from cardan.jit.struct import Struct, StructMemory

__all__ = [
    "CALLBACK_FAILED",
    "COLLIDER_MISSING",
    "OK",
    "Abi",
    "Field",
    "Program",
    "Struct",
    "StructMemory",
    "addresses",
    "call_collider",
    "call_stage",
    "collider",
    "entry",
    "exact",
    "jit_enabled",
    "kernel",
    "stack_array",
    "stack_int_array",
    "stage",
]
