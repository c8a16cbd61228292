"""What the key of a compiled stage depends on: everything that its code can read, and nothing else."""

from __future__ import annotations

import enum
import types

import numba
import numpy as np
import pytest

from cardan.jit import kernel, stage
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.front.compile import KernelError
from cardan.jit.front.stage import entry_of

STAGE = """
def fill(m, d{arguments}):
    d.time = {expression}
    return 0
"""


def key(expression, arguments="", /, **outside):
    """Fingerprint of a stage that sets the time, with the names `outside` in its module."""
    space = {"__name__": "pocket", **outside}
    exec(STAGE.format(expression=expression, arguments=arguments), space)
    return fingerprint(entry_of(stage(space["fill"])))


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    return made


def scaled_by(factor):
    space = {"__name__": "pocket.helpers"}
    exec(f"def scaled(x):\n    return {factor!r} * x", space)
    return kernel(space["scaled"])


class Colour(enum.Enum):
    RED = 1


class Paint(enum.Enum):
    RED = 2


Paint.__qualname__ = Colour.__qualname__

# what the stage computes, what stands in its module, and what may stand there after an edit
EDITS = {
    "a function": ("f(d.time)", {"f": scaled_by(2.0)}, {"f": scaled_by(3.0)}),
    "a member of a module that is a function": (
        "helpers.scaled(d.time)",
        {"helpers": module("helpers", scaled=scaled_by(2.0))},
        {"helpers": module("helpers", scaled=scaled_by(3.0))},
    ),
    "a member of a module that is a constant": (
        "helpers.FACTOR",
        {"helpers": module("helpers", FACTOR=2.0)},
        {"helpers": module("helpers", FACTOR=3.0)},
    ),
    "a member of a module in a package": (
        "pack.helpers.scaled(d.time)",
        {"pack": module("pack", helpers=module("pack.helpers", scaled=scaled_by(2.0)))},
        {"pack": module("pack", helpers=module("pack.helpers", scaled=scaled_by(3.0)))},
    ),
    "a Numba function": (
        "f(d.time)",
        {"f": numba.njit(scaled_by(2.0))},
        {"f": numba.njit(scaled_by(3.0))},
    ),
    "options of a Numba function": (
        "f(d.time)",
        {"f": numba.njit(scaled_by(2.0))},
        {"f": numba.njit(fastmath=True)(scaled_by(2.0))},
    ),
    "a NumPy scalar": ("FACTOR", {"FACTOR": np.int32(2)}, {"FACTOR": np.int32(3)}),
    "the type of a NumPy scalar": ("FACTOR", {"FACTOR": np.float32(2)}, {"FACTOR": np.float64(2)}),
    "an array": ("FACTORS[0]", {"FACTORS": np.array([2.0, 1.0])}, {"FACTORS": np.array([3.0, 1.0])}),
    "the order of an array": ("FACTORS[0, 1]", {"FACTORS": np.eye(2)}, {"FACTORS": np.asfortranarray(np.eye(2))}),
    "a NumPy scalar in a tuple": ("PAIR[0]", {"PAIR": (np.int32(2), 1)}, {"PAIR": (np.int32(3), 1)}),
    "a function in a tuple": ("PAIR[0](d.time)", {"PAIR": (scaled_by(2.0),)}, {"PAIR": (scaled_by(3.0),)}),
    "an enumeration": ("Colour.RED.value", {"Colour": Colour}, {"Colour": Paint}),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_changes_the_key(what):
    expression, before, after = EDITS[what]
    assert key(expression, **before) == key(expression, **before)
    assert key(expression, **before) != key(expression, **after)


def test_default_arguments():
    assert key("factor", ", factor=2.0") == key("factor", ", factor=2.0")
    assert key("factor", ", factor=2.0") != key("factor", ", factor=3.0")
    assert key("factor", ", *, factor=2.0") != key("factor", ", *, factor=3.0")
    functions = scaled_by(2.0), scaled_by(3.0)
    assert len({key("f(d.time)", ", f=chosen", chosen=function) for function in functions}) == 2


def test_closures():
    def with_factor(factor):
        def fill(m, d):
            d.time = factor
            return 0

        return fingerprint(entry_of(stage(fill)))

    assert with_factor(np.int32(2)) == with_factor(np.int32(2))
    assert with_factor(np.int32(2)) != with_factor(np.int32(3))


def test_what_only_has_the_name_of_a_field_does_not_count():
    assert key("d.qpos[0]") == key("d.qpos[0]", qpos=2.0) == key("d.qpos[0]", qpos={"a": 1})


@pytest.mark.parametrize(
    ("expression", "outside"),
    [
        ("SETTINGS['factor']", {"SETTINGS": {"factor": 2.0}}),
        ("FACTORS[0]", {"FACTORS": [2.0]}),
        ("helpers.FACTORS[0]", {"helpers": module("helpers", FACTORS=[2.0])}),
        ("PAIR[0][0]", {"PAIR": ([2.0], 1)}),
        ("THING.factor", {"THING": types.SimpleNamespace(factor=2.0)}),
        ("Thing.factor", {"Thing": type("Thing", (), {"factor": 2.0})}),
    ],
)
def test_what_cannot_be_hashed_is_refused(expression, outside):
    name = next(iter(outside))
    with pytest.raises(KernelError, match=rf"pocket\.fill reads {name}.*no telling"):
        key(expression, **outside)


def test_many_names_in_one_function():
    """Names beyond the 128th are loaded with an extended argument."""
    names = [f"NAME{k}" for k in range(400)]
    expression = " + ".join(names)
    outside = dict.fromkeys(names, 1.0)
    assert key(expression, **outside) != key(expression, **(outside | {names[-1]: 2.0}))
