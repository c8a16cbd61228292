"""Source trees of compiled models, for functions that write the models as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.mjcf.canonical.numbers import statistics
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.spec.tree import ModelTree


class Source:
    """The source of a compiled model.

    Args:
        tree: the model tree, which nothing else uses.
        sizes: sizes of the compiled model.
        statistic: statistics that the compiler computed.
    """

    __slots__ = ("_rests", "_tree", "sizes", "statistic")

    def __init__(self, tree: ModelTree, sizes: dict[str, int], statistic: dict[str, object]) -> None:
        self._tree = tree
        self._rests = True
        self.sizes = sizes
        self.statistic = statistic
        tree.lay_down()

    @property
    def tree(self) -> ModelTree:
        """The model tree."""
        if self._rests:
            self._tree.take_up()
            self._rests = False
        return self._tree


_last: list[Source] = []


def remember(m: MjModel, tree: ModelTree) -> MjModel:
    """Store the source of a model, so that the model can be written as XML; return the model."""
    source = Source(tree, internals.sizes(m), statistics(m))
    internals.set_source(m, source)
    _last[:] = [source]
    return m


def last_source() -> Source | None:
    """Return the source of the last compiled model."""
    return _last[0] if _last else None
