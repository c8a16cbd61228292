"""Docstrings in the format of the reference's functions: the signature first, then the text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from cardan.jit.binding.functions import Binding

TYPES = {
    "MjModel": "mujoco._structs.MjModel",
    "MjData": "mujoco._structs.MjData",
    "np.ndarray": "numpy.ndarray[numpy.float64]",
    "Any": "object",
    "Callback": "object",
}
"""Names of types in the reference, by Cardan's annotations."""


def document(functions: Iterable[Callable[..., Any]]) -> None:
    """Insert the signature at the beginning of the docstring of each function."""
    for function in functions:
        binding = getattr(function, "__self__", None)
        native = isinstance(binding, Binding)
        text = (function.__doc__ or "").rstrip()
        head = f"{function.__name__}{_signature(binding.function if native else function)}"
        if not text.startswith(head):
            text = f"{head}\n\n{inspect.cleandoc(text)}\n"
            if native:
                binding.document(text)
            else:
                function.__doc__ = text


def _signature(function: Callable[..., Any]) -> str:
    """Format arguments and result, as in ``(m: mujoco._structs.MjModel) -> None``."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    arguments = [_argument(parameter) for parameter in signature.parameters.values()]
    return f"({', '.join(arguments)}) -> {_type_name(signature.return_annotation)}"


def _argument(parameter: inspect.Parameter) -> str:
    """Format one argument with its type and default."""
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {_type_name(parameter.annotation)}{default}"


def _type_name(annotation: Any) -> str:
    """Return the reference's name of an annotated type."""
    if annotation is inspect.Parameter.empty:
        return "object"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return " | ".join(TYPES.get(part.strip(), part.strip()) for part in text.split("|"))
