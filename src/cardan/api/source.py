"""What models were compiled from, for those who write them as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.mjcf.canonical.numbers import statistics

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.spec.tree import ModelTree


class Source(NamedTuple):
    """What a model was compiled from.

    Attributes:
        tree: the model tree.
        sizes: sizes of the compiled model.
        statistic: statistics that the compiler found.
    """

    tree: ModelTree
    sizes: dict[str, int]
    statistic: dict[str, object]


_last: list[Source] = []


def remember(m: MjModel, tree: ModelTree) -> MjModel:
    """Note what a model was compiled from, so that it can be written as XML; gives the model back."""
    source = Source(tree, dict(m._memory.sizes), statistics(m))
    m._source = source
    _last[:] = [source]
    return m


def last_source() -> Source | None:
    """What the model was compiled from that was compiled last."""
    return _last[0] if _last else None
