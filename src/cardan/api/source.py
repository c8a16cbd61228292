"""What models were compiled from, for those who write them as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.mjcf.canonical.numbers import statistics

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.spec.tree import ModelTree


class Source:
    """What a model was compiled from.

    Args:
        tree: the model tree, which nobody else uses.
        sizes: sizes of the compiled model.
        statistic: statistics that the compiler found.
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
    """Note what a model was compiled from, so that it can be written as XML; gives the model back."""
    source = Source(tree, m._memory.sizes, statistics(m))
    m._source = source
    _last[:] = [source]
    return m


def last_source() -> Source | None:
    """What the model was compiled from that was compiled last."""
    return _last[0] if _last else None
