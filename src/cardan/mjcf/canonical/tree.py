"""The canonical tree as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan.mjcf.canonical.assets import put_assets, put_custom
from cardan.mjcf.canonical.bodies import put_bodies
from cardan.mjcf.canonical.flexes import put_flexes
from cardan.mjcf.canonical.relations import (
    put_actuators,
    put_contacts,
    put_equalities,
    put_keyframes,
    put_sensors,
    put_tendons,
)
from cardan.mjcf.canonical.scribe import Scribe
from cardan.mjcf.canonical.settings import put_defaults, put_settings
from cardan.spec.tree import ModelTree

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


def canonical_tree(m: MjModel, source: ModelTree, statistic: Mapping[str, Any] | None = None) -> ModelTree:
    """Return the model as a tree in the canonical subset of MJCF. Compiling the tree gives the same model again.

    Args:
        m: the compiled model, whose numbers may have been changed since.
        source: the tree that it was compiled from.
        statistic: the statistics (``m.stat``) that the compiler computed. Unchanged ones are left out, so that they
            are computed again from the model. If None, all are written.
    """
    scribe = Scribe(m, source)
    scribe.tree.root.attributes["model"] = source.model_name
    put_settings(scribe, dict(statistic or {}))
    put_defaults(scribe)
    put_custom(scribe)
    put_assets(scribe)
    put_bodies(scribe)
    put_flexes(scribe)
    put_contacts(scribe)
    put_equalities(scribe)
    put_tendons(scribe)
    put_actuators(scribe)
    put_sensors(scribe)
    put_keyframes(scribe)
    scribe.tree.changed()
    return scribe.tree
