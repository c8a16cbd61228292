"""What the key of a compiled stage depends on: everything that its code can read, and nothing else."""

from __future__ import annotations

import ast
import enum
import shutil
import sys
import types

import numba
import numpy as np
import pytest

from cardan.enums.base import MjEnum
from cardan.jit import kernel, stage
from cardan.jit.cache import fingerprint as keys
from cardan.jit.cache.fingerprint import COMPILER, compiler_files, compiler_sources, derived_key, fingerprint
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
PLAIN = [type("mjtPlain", (MjEnum,), {"mjA": value, "__module__": "pocket"}) for value in (0, 1)]

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
    "the value of a member": ("ONE.value", {"ONE": Colour.RED}, {"ONE": Paint.RED}),
    "the value of a member of ours": ("ONE", {"ONE": PLAIN[0].mjA}, {"ONE": PLAIN[1].mjA}),
    "types of the variables of a Numba function": (
        "f(d.time)",
        {"f": numba.njit(locals={"x": numba.float64})(scaled_by(2.0))},
        {"f": numba.njit(locals={"x": numba.float32})(scaled_by(2.0))},
    ),
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
        ("(lambda h: h.FACTOR)(helpers)", {"helpers": module("helpers", FACTOR=2.0)}),
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


def test_a_module_under_another_name_is_refused():
    def fill(m, d):
        local = helpers
        d.time = local.FACTOR
        return 0

    helpers = module("helpers", FACTOR=2.0)

    def by_default(m, d, helpers=helpers):
        d.time = helpers.FACTOR
        return 0

    for function in (fill, by_default):
        with pytest.raises(KernelError, match=r"reads (helpers|default 0)"):
            fingerprint(entry_of(stage(function)))


def test_many_names_and_a_member_of_a_module():
    """The name of the member is beyond the 256th, too."""
    names = [f"NAME{k}" for k in range(400)]
    expression = " + ".join(names) + " + helpers.FACTOR"
    outside = dict.fromkeys(names, 1.0)
    found = {key(expression, **outside, helpers=module("helpers", FACTOR=factor)) for factor in (2.0, 3.0)}
    assert len(found) == 2


# constants of functions --------------------------------------------------------------------------

FUNCTIONS = {
    "a comprehension": "def f(x):\n    return [{} for _ in x]",
    "a generator": "def f(x):\n    return tuple({} for _ in x)",
    "a lambda": "def f(x):\n    return (lambda: {})()",
    "a function": "def f(x):\n    return {}",
    "a function in a function": "def f(x):\n    def g():\n        return {}\n    return g()",
    "a keyword": "def f(x):\n    return g(x, {})",
    "a default": "def f(x):\n    def g(y={}):\n        return y\n    return g()",
    "a text that is the docstring, too": "def f(x):\n    {0}\n    return {0}",
}


def function_key(source):
    space = {"__name__": "pocket.helpers", "g": scaled_by(2.0)}
    exec(source, space)
    return key("f(d.time)", f=kernel(space["f"]))


@pytest.mark.parametrize("where", FUNCTIONS)
@pytest.mark.parametrize(("before", "after"), [("'a'", "'b'"), ("1.5", "2.5"), ("0.0", "-0.0"), ("1", "True")])
def test_constants_of_functions(where, before, after):
    source = FUNCTIONS[where]
    if "docstring" in where and before != "'a'":
        before, after = f"'{before}'", f"'{after}'"
    assert function_key(source.format(before)) == function_key(source.format(before))
    assert function_key(source.format(before)) != function_key(source.format(after))


def test_docstrings_and_comments_change_nothing():
    source = "def f(x):\n    '{}'\n    # {}\n    def g(y):\n        '{}'\n        return y * 2.5\n    return g(x)"
    assert len({function_key(source.format(*texts)) for texts in ("abc", "xyz", ["longer", "", "e"])}) == 1


def test_numbers_of_arguments():
    assert function_key("def f(x, y=1):\n    return x") != function_key("def f(x, y=2):\n    return x")
    assert function_key("def f(x, *y):\n    return x") != function_key("def f(x, y=()):\n    return x")


# what Numba is told ------------------------------------------------------------------------------


def test_overloads_of_plain_functions():
    def overloaded_with(factor):
        def scaled(x):
            return x

        @numba.extending.overload(scaled)
        def _scaled(x):
            def implementation(x):
                return factor * x

            return implementation

        return key("f(d.time)", f=scaled)

    assert overloaded_with(2.0) == overloaded_with(2.0)
    assert overloaded_with(2.0) != overloaded_with(3.0)


SOME = "d.time + 1.0"


def forget():
    for memory in (keys.environment, keys._options_file, keys._usual_options):
        memory.cache_clear()


@pytest.fixture
def fresh():
    """Nothing is remembered of the environment, before and after."""
    forget()
    yield
    forget()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", ["OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "CPU_NAME", "NEW_IN_A_LATER_VERSION"])
def test_options_in_the_environment(monkeypatch, name):
    found = {key(SOME)}
    for value in ("0", "1"):
        monkeypatch.setenv(f"NUMBA_{name}", value)
        found.add(key(SOME))
    assert len(found) == 3


@pytest.mark.usefixtures("fresh")
def test_options_of_a_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = key(SOME)
    (tmp_path / ".numba_config.yaml").write_text("opt: 0\n")
    keys._options_file.cache_clear()
    assert key(SOME) != before


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(("name", "value"), [("BOUNDSCHECK", 1), ("LOOP_VECTORIZE", 0), ("DEBUGINFO_DEFAULT", 1)])
def test_options_that_a_program_sets(monkeypatch, name, value):
    before = key(SOME)
    monkeypatch.setattr(numba.config, name, value)
    assert key(SOME) != before


@pytest.mark.usefixtures("fresh")
def test_what_changes_no_code(monkeypatch):
    before = key(SOME)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    assert key(SOME) == before
    with_numba = keys.numba_options()
    monkeypatch.delitem(sys.modules, "numba.core.config")
    assert keys.numba_options() == with_numba  # a process that finds all in the cache never imports Numba


VERSIONS = {
    "Python": (sys, "version_info", (3, 99, 0)),
    "the implementation of Python": (sys.implementation, "name", "other"),
    "NumPy": (np, "__version__", "99"),
    "Numba": (keys, "_numba_version", lambda: "99"),
    "llvmlite": (keys.llvmlite, "__version__", "99"),
    "LLVM": (keys.llvm, "llvm_version_info", (99, 0, 0)),
    "the processor": (keys, "processor", lambda: ("other", "+avx2")),
    "features of the processor": (keys, "processor", lambda: ("some", "-avx2")),
    "the sources of the compiler": (keys, "compiler_sources", lambda: "other"),
    "what the compiler may reorder": (keys, "FASTMATH", {"nsz"}),
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("what", VERSIONS)
def test_versions(monkeypatch, what):
    place, name, value = VERSIONS[what]
    monkeypatch.setattr(keys, "processor", lambda: ("some", "+avx2"))
    before = key(SOME), keys.glue_fingerprint()
    forget()
    assert (key(SOME), keys.glue_fingerprint()) == before
    with monkeypatch.context() as change:
        change.setattr(place, name, value)
        forget()
        after = key(SOME), keys.glue_fingerprint()
    assert after[0] != before[0] and after[1] != before[1]


# sources of the compiler -------------------------------------------------------------------------


def test_every_source_of_the_compiler_counts(tmp_path):
    for part in COMPILER:
        shutil.copytree(keys.PACKAGE / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    files = compiler_files(tmp_path)
    assert len(files) == len(compiler_files()) > 30

    def key_now():
        compiler_sources.cache_clear()
        return compiler_sources(tmp_path)

    before = key_now()
    assert key_now() == before
    for file in files:
        content = file.read_bytes()
        file.write_bytes(content.replace(b"e", b"f", 1))  # of the same size
        assert key_now() != before, file
        file.write_bytes(content)
    (tmp_path / "jit" / "front" / "new.py").write_text("")
    assert key_now() != before
    compiler_sources.cache_clear()


def modules_of(file):
    """Modules of the package that a file imports, at any depth, as files."""
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        origin = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for name in names:
            parts = f"{origin}{name}".split(".")
            if parts[0] == "cardan":
                places = (keys.PACKAGE.joinpath(*parts[1 : len(parts) - cut]).with_suffix(".py") for cut in (0, 1))
                yield from (place for place in places if place.is_file())


JIT_ROOTS = ("front/compile.py", "target/gpu_kernels.py", "target/ptx.py", "binding/glue.py")
ROOTS = (*(f"jit/{root}" for root in JIT_ROOTS), "tangents/tangent.py")


@pytest.mark.parametrize("root", ROOTS)
def test_what_the_compiler_imports_is_part_of_it(root):
    found, stack = set(), [keys.PACKAGE / root]
    while stack:
        file = stack.pop()
        if file not in found:
            found.add(file)
            stack += modules_of(file)
    driver = keys.PACKAGE / "jit" / "driver"  # it loads code, and makes none
    assert {file for file in found if not file.is_relative_to(driver)} <= set(compiler_files())


def test_derived_keys(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).write_text(name)
    sources = [str(tmp_path / name) for name in ("first", "second")]
    names = (["a"], ["b"], ["a", "b"], ["ab"])
    assert len({derived_key(some, what, source) for some in names for what in "xy" for source in sources}) == 16
