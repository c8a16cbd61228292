"""The compiler of kernels: decorators, memory layouts, code generation, disk cache, drivers and bindings."""

from cardan.jit.driver.program import Program, addresses
from cardan.jit.front.stage import (
    CALLBACK_FAILED,
    COLLIDER_MISSING,
    OK,
    Abi,
    collider,
    entry,
    exact,
    jit_enabled,
    kernel,
    side_by_side,
    stage,
)
from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.struct import StructMemory
from cardan.jit.memory.view import call_collider, call_stage, stack_array, stack_int_array

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
    "side_by_side",
    "stack_array",
    "stack_int_array",
    "stage",
]
