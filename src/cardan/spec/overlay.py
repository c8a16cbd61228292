"""Laying values over values: the rule by which explicit attributes, default classes and language defaults combine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def overlay(base: Mapping[str, Any], given: Mapping[str, Any], partial: frozenset[str]) -> dict[str, Any]:
    """The ``given`` values over the ``base`` values (spec: modeling, "Default settings").

    A given vector among the ``partial`` names which is shorter than the base overwrites its first values only.
    """
    values = {**base, **given}
    if partial.isdisjoint(given):
        return values
    for name in given.keys() & partial:
        below, above = base.get(name), given[name]
        if below is not None and len(above) < len(below):
            values[name] = above + below[len(above) :]
    return values
