"""Laying values over values: the rule by which explicit attributes, default classes and language defaults combine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def overlay(base: Mapping[str, Any], given: Mapping[str, Any], partial: frozenset[str]) -> dict[str, Any]:
    """The ``given`` values over the ``base`` values (spec: modeling, "Default settings").

    A given vector among the ``partial`` names which is shorter than the base overwrites its first values only.
    """
    return {**base, **(given if partial.isdisjoint(given) else given_over(base, given, partial))}


def given_over(base: Mapping[str, Any], given: Mapping[str, Any], partial: frozenset[str]) -> dict[str, Any]:
    """The ``given`` values alone, as `overlay` has them: vectors at full length."""
    values = {**given}
    for name in given.keys() & partial:
        below, above = base.get(name), given[name]
        if below is not None and len(above) < len(below):
            values[name] = above + below[len(above) :]
    return values
