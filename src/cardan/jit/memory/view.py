"""The view that a stage sees when it runs in the interpreter (JIT off).

The same attribute names as the native view, on the same memory, but with every index checked: negative or too large
indices raise `IndexError`. This is the debugger and the bounds checker of the kernels.
"""

from __future__ import annotations

from typing import Any

from cardan.jit.memory.struct import StructMemory


class CheckedArray:
    """Element-wise access to an array field, with bounds checked on every access (no negative indices)."""

    __slots__ = ("_array", "_name", "_readonly", "_view")

    def __init__(self, name: str, array: Any, readonly: bool) -> None:
        self._name = name
        self._array = array
        self._view = memoryview(array)
        self._readonly = readonly

    def __len__(self) -> int:
        return self._array.shape[0]

    def _check(self, index: Any) -> None:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != self._array.ndim:
            raise IndexError(f"{self._name}: {len(indices)} indices for {self._array.ndim} dimensions")
        for k, n in zip(indices, self._array.shape, strict=True):
            if not 0 <= k < n:
                raise IndexError(f"{self._name}{list(indices)}: out of bounds for shape {self._array.shape}")

    def __getitem__(self, index: Any) -> Any:
        self._check(index)
        return self._view[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._readonly:
            raise TypeError(f"{self._name}: stages may not write to the model")
        self._check(index)
        self._array[index] = value


class InterpretedView:
    """Attribute access to the fields of one instance, for stages that run in the interpreter."""

    def __init__(self, memory: StructMemory, prefix: str = "") -> None:
        struct = memory.struct
        fields = self.__dict__
        scalars: dict[str, Any] = {}
        for field in struct.members(prefix):
            short = field.name[len(prefix) :]
            if field.is_scalar:
                scalars[short] = memory.scalars[field.name]
            elif field.name in memory.arrays:  # an attached array may not be there yet
                fields[short] = CheckedArray(field.name, memory.arrays[field.name], struct.readonly)
        for group in struct.prefixes:
            if group.startswith(prefix) and group != prefix and "." not in group[len(prefix) : -1]:
                fields[group[len(prefix) : -1]] = InterpretedView(memory, group)
        fields["_scalars"] = scalars
        fields["_readonly"] = struct.readonly

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_scalars"][name].item()
        except KeyError:
            raise AttributeError(f"no field {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._scalars:
            raise AttributeError(f"no scalar field {name!r} to set")
        if self._readonly:
            raise TypeError(f"{name}: stages may not write to the model")
        self._scalars[name][0] = value
