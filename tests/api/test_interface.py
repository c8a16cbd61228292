"""The public face beside the reference's: the same names, each function with the same arguments."""

import inspect
import re
from collections.abc import Callable
from types import ModuleType

import mujoco
import pytest

import cardan
from cardan.api.names import absent_feature

NAMES = sorted(
    name for name in dir(mujoco) if not name.startswith("_") and not isinstance(getattr(mujoco, name), ModuleType)
)
# what the reference does not have
OWN = ("kernel", "stage", "set_callback", "get_callback", "last_good_state", "MjSpec", "from_zip", "to_zip")
OWN += ("register_sdf", "get_collider", "set_collider", "put_contact", "Batch", "SimulationError")
OWN += ("derivatives", "record", "get_compat", "set_compat")
OWN += ("register_plugin", "plugin_config", "plugin_data", "plugin_number", "set_plugin_number")
FUNCTIONS = [name for name in NAMES if callable(getattr(mujoco, name)) and not inspect.isclass(getattr(mujoco, name))]


def closing_bracket(text: str, start: int) -> int:
    """Position of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError(text)


def documented_arguments(function: Callable[..., object]) -> list[tuple[str, bool]]:
    """Arguments in the first line of a docstring, in order, and whether each has a default."""
    line = (function.__doc__ or "").split("\n")[0]
    start = line.find("(")
    if start < 0:
        return []
    inside = line[start + 1 : closing_bracket(line, start)]
    arguments, depth, piece = [], 0, ""
    for sign in inside + ",":
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            arguments.append(piece.strip())
            piece = ""
        else:
            piece += sign
    return [(a.split(":")[0].strip(), bool(re.search(r"\] = |\w = ", a))) for a in arguments if a]


def own_arguments(function: Callable[..., object]) -> list[tuple[str, bool]]:
    """The same for one of our functions."""
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.default is not p.empty) for p in parameters]


def without_names(arguments: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Arguments of a function whose docstring numbers them (arg0, arg1, ...)."""
    return [(f"arg{i}", default) for i, (_, default) in enumerate(arguments)]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_works_or_names_the_missing_feature(name):
    feature = absent_feature(name)
    if feature is None:
        assert hasattr(cardan, name)
        return
    assert name not in dir(cardan), f"{name} exists: take it out of cardan.api.names"
    with pytest.raises(AttributeError, match=re.escape(feature)):
        getattr(cardan, name)


def test_unknown_names_are_ordinary_errors():
    with pytest.raises(AttributeError, match="has no attribute 'mj_stepp'"):
        cardan.mj_stepp  # noqa: B018


FEWER_IN_4_0 = ("mjv_moveCamera",)
"""Functions whose last arguments are optional, because MuJoCo 4.0 has fewer."""


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if absent_feature(name) is None])
def test_functions_have_the_arguments_of_the_reference(name):
    own, documented = own_arguments(getattr(cardan, name)), documented_arguments(getattr(mujoco, name))
    if name in FEWER_IN_4_0:
        own = [(argument, False) for argument, _ in own]
    assert own == documented or without_names(own) == documented


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(getattr(mujoco, name), int | float | str)])
def test_constants_have_the_values_of_the_reference(name):
    if absent_feature(name) is None and name != "PLUGINS_DIR":  # a folder of each package
        assert getattr(cardan, name) == getattr(mujoco, name)


def parts_of(package: ModuleType) -> dict[str, object]:
    """A model, its data and their groups."""
    m = package.MjModel.from_xml_string("<mujoco/>")
    d = package.MjData(m)
    return {"m": m, "d": d, "opt": m.opt, "stat": m.stat, "vis": m.vis, "global": m.vis.global_, "contact": d.contact}


@pytest.mark.parametrize("part", ["m", "d", "opt", "stat", "vis", "global", "contact"])
def test_objects_have_the_attributes_of_the_reference(part):
    theirs, own = parts_of(mujoco)[part], parts_of(cardan)[part]
    values = [name for name in dir(theirs) if not name.startswith("_") and not inspect.isclass(getattr(theirs, name))]
    assert [name for name in values if not hasattr(own, name)] == []


@pytest.mark.parametrize("name", [name for name in dir(cardan) if not name.startswith("_")])
def test_nothing_but_the_interface_is_public(name):
    own = getattr(cardan, name)
    assert name in NAMES or name.startswith(("mj", "Mj", "MJTNUM_")) or name in OWN or isinstance(own, ModuleType)
