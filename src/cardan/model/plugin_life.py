"""Callbacks for making and copying models and data with plugin instances.

A higher-level package (`cardan.step`) registers these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


class PluginLife(NamedTuple):
    """Callbacks for making and copying plugin instances."""

    number: Callable[[str], int]  # takes the name of a plugin and returns its number in ``m.plugin``, or -1
    begin: Callable[[MjModel, MjData], None]  # (m, d), makes the data of all instances, and resets them
    copied: Callable[[MjData, MjModel, MjData], None]  # (dest, m, src), called after the values were copied


_lives: list[PluginLife] = []
_STANDS_IN = "cardan.step.plugin_life"  # this module registers itself when it is imported


def register_life(life: PluginLife) -> None:
    """Register the callbacks for events of plugin instances, in place of any earlier callbacks."""
    _lives[:] = [life]


def _life() -> PluginLife:
    if not _lives:
        import_module(_STANDS_IN)
    return _lives[0]


def number_plugins(m: MjModel) -> None:
    """Set the plugin numbers ``m.plugin`` of all instances from the names of their plugins."""
    for instance, name in enumerate(m._plugins):
        m.plugin[instance] = _life().number(name)


def begin_instances(m: MjModel, d: MjData) -> None:
    """Make and reset the data of all plugin instances of ``d``."""
    if m.nplugin:
        _life().begin(m, d)


def copy_instances(dest: MjData, m: MjModel, src: MjData) -> None:
    """Let the plugins copy the data of their instances. The values of ``src`` must already be copied to ``dest``."""
    if m.nplugin:
        _life().copied(dest, m, src)
