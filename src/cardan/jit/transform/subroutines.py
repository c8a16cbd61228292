"""Which functions of a stage stay functions of their own in its scalar form, in place of a copy at each call.

The search of a convex shape's farthest point, say, is called at fifty places of the exact distance: with a copy at
each, five sixths of the stage would be copies of it, and optimising them takes most of a minute.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

WORTH_IT = 20_000
"""Instructions of copies that a function must save to stay a function: a call costs time when it runs."""
ADDRESSES = frozenset(("retptr", "excinfo", "arg.m", "arg.d"))
"""Names of the pointers that such a function may have: places of the result and of an exception, model and data."""


class Calls:
    """Sizes of the functions of a linked module, and who calls whom how often.

    Attributes:
        sizes: instructions, by name.
        calls: how often each function calls others.
        plain: names of the functions that get no addresses but of the two structures: what a pointer to a field points
            to must be known exactly, and would be the fields of all calls together.
    """

    def __init__(self, module: Any) -> None:
        self.sizes: dict[str, int] = {}
        self.calls: dict[str, Counter[str]] = {}
        self.plain: set[str] = set()
        defined = {function.name for function in module.functions if not function.is_declaration}
        for function in module.functions:
            if function.name in defined:
                self._count(function, defined)
                pointers = {argument.name for argument in function.arguments if str(argument.type) == "ptr"}
                if pointers <= ADDRESSES:
                    self.plain.add(function.name)

    def _count(self, function: Any, defined: set[str]) -> None:
        size, calls = 0, Counter[str]()
        for block in function.blocks:
            for instruction in block.instructions:
                size += 1
                if instruction.opcode == "call":
                    callee = list(instruction.operands)[-1].name
                    if callee in defined:
                        calls[callee] += 1
        self.sizes[function.name], self.calls[function.name] = size, calls

    def inlined_sizes(self, kept: set[str]) -> dict[str, int]:
        """Instructions of each function with all that it calls, but for those that are kept."""
        totals: dict[str, int] = {}

        def total(name: str) -> int:
            if name not in totals:
                inlined = (n * total(callee) for callee, n in self.calls[name].items() if callee not in kept)
                totals[name] = self.sizes[name] + sum(inlined)
            return totals[name]

        for name in self.sizes:
            total(name)
        return totals

    def copies(self, root: str, kept: set[str]) -> Counter[str]:
        """How many copies of each function there are in the root and in those that are kept."""
        found = Counter[str]()

        def walk(name: str, times: int) -> None:
            for callee, n in self.calls[name].items():
                found[callee] += times * n
                if callee not in kept:
                    walk(callee, times * n)

        for name in (root, *kept):
            walk(name, 1)
        return found


def shared_functions(module: Any, root: str) -> set[str]:
    """Names of the functions of a linked module to keep, those first that save most.

    Args:
        module: a linked module that isn't optimised yet.
        root: the function that is called from outside. It calls one function, the stage, which isn't kept.
    """
    calls = Calls(module)
    kept: set[str] = set()
    while True:
        sizes, copies = calls.inlined_sizes(kept), calls.copies(root, kept)
        saved = {name: (n - 1) * sizes[name] for name, n in copies.items() if name in calls.plain - kept}
        best = max(saved, key=lambda name: saved[name], default=None)
        if best is None or saved[best] < WORTH_IT:
            return kept
        kept.add(best)


__all__ = ["ADDRESSES", "WORTH_IT", "Calls", "shared_functions"]
