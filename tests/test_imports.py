"""The shape of the source: imports point one way, files and functions stay short, start-up stays light."""

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGE = SOURCE / "cardan"
FILES = sorted(PACKAGE.rglob("*.py"))

# a part may import parts of lower floors, and parts of its own floor as long as there is no cycle
FLOORS = (
    ("enums", "constants", "errors", "files", "maths", "jit", "threads"),
    ("model", "formats"),
    ("spec",),
    ("mjcf",),
    ("dynamics", "soft", "collision", "constraint", "solver", "sensor"),
    ("plugins",),
    ("step",),
    ("compiler", "derive"),
    ("api", "batch"),
    ("visual",),
    ("render",),
    ("view",),
    ("__init__", "__main__", "face", "cli", "rollout", "minimize", "msh2obj", "viewer", "as_mujoco", "torch", "jax"),
)
FLOOR_OF = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}
TEXT = {"spec", "mjcf"}
PHYSICS = {"dynamics", "soft", "collision", "constraint", "solver", "sensor", "plugins", "step"}

LONGEST_FILE = 700
LONGEST_FUNCTION = 80
REFERENCE = "mujoco"
SLOW_TO_IMPORT = ("mujoco", "scipy", "matplotlib", "ray", "viser", "websockets", "torch", "jax")


def module_name(file: Path) -> str:
    """Dotted name of a source file; a package has the name of its folder."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in FILES}


def is_for_types_only(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def nodes_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree but those which only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if not is_for_types_only(node):
            yield node
            yield from nodes_that_run(node)


def imported_names(file: Path, types: bool = True) -> Iterator[str]:
    """Dotted names of everything that a file imports, at any depth; `from a import b` gives `a.b`.

    Imports that only a type checker reads count with `types`.
    """
    package = module_name(file).split(".")[: None if file.name == "__init__.py" else -1]
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree) if types else nodes_that_run(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def imported_modules(file: Path, types: bool = True) -> set[str]:
    """Modules of the package that a file imports, those for types included or not."""
    found = set()
    for name in imported_names(file, types):
        if name.split(".")[0] == PACKAGE.name:
            found.add(name if name in MODULES else name.rpartition(".")[0])
    return found - {module_name(file)}


def part_of(module: str) -> str:
    """Part of the package that a module belongs to: `cardan.step.euler` -> `step`, `cardan` -> `__init__`."""
    return (module.split(".") + ["__init__"])[1]


def uses() -> dict[str, set[str]]:
    """Parts that each part imports."""
    table: dict[str, set[str]] = {part_of(module): set() for module in MODULES}
    for module, file in MODULES.items():
        table[part_of(module)] |= {part_of(imported) for imported in imported_modules(file)} - {part_of(module)}
    return table


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """Nodes of a cycle, or nothing."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_every_part_has_a_floor():
    unplaced = {part_of(module) for module in MODULES} - set(FLOOR_OF)
    assert not unplaced, f"give these parts a floor in {Path(__file__).name}: {sorted(unplaced)}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_never_point_up(file):
    floor = FLOOR_OF[part_of(module_name(file))]
    up = [name for name in imported_modules(file) if FLOOR_OF[part_of(name)] > floor]
    assert not up, f"imports from a higher floor: {up}"


def test_parts_have_no_import_cycle():
    assert not cycle_in(uses())


def test_modules_have_no_import_cycle():
    # two modules of one part may name each other's types (a tree its elements, an element its tree)
    assert not cycle_in({module: imported_modules(file, types=False) for module, file in MODULES.items()})


def test_the_physics_knows_nothing_of_the_text():
    assert not {part: used & TEXT for part, used in uses().items() if part in PHYSICS and used & TEXT}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_the_reference_is_never_imported(file):
    assert REFERENCE not in {name.split(".")[0] for name in imported_names(file)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_files_and_functions_stay_short(file):
    text = file.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {function.name: function.end_lineno - function.lineno + 1 for function in functions}
    assert not {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION}


WRITERS = {"write_text", "write_bytes", "NamedTemporaryFile", "mkstemp", "os.rename", "os.replace"}
WRITING = {"w", "wb", "w+b", "x", "xb"}
# the one; a temporary folder of its own; a video that is written into memory
PLAIN_WRITERS = {"files.py", "jit/target/ptxas.py", "view/capture.py"}


def writes_of(file: Path) -> Iterator[str]:
    """Calls in a file that write, or move, files by other means than `cardan.files`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            is_opened = {str(a.value) for a in given if isinstance(a, ast.Constant)} & WRITING
            if {called, called.rpartition(".")[2]} & WRITERS or (called.endswith("open") and is_opened):
                yield f"{called}, line {node.lineno}"


def test_files_are_written_in_one_place():
    found = {file.relative_to(PACKAGE).as_posix(): list(writes_of(file)) for file in FILES}
    assert {file: writes for file, writes in found.items() if writes and file not in PLAIN_WRITERS} == {}


def test_import_is_light():
    assert (PACKAGE / "__init__.py").is_file()
    program = f"import sys, cardan; print(*[name for name in {SLOW_TO_IMPORT!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
