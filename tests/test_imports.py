"""The shape of the source: imports point one way, files and functions stay short, start-up stays light."""

import ast
import functools
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGE = SOURCE / "cardan"
FILES = sorted(PACKAGE.rglob("*.py"))

# a part may import parts of lower floors, and parts of its own floor as long as there is no cycle
FLOORS = (
    ("enums", "compat", "constants", "errors", "files", "maths", "jit", "threads"),
    ("model", "formats", "tangents"),
    ("spec",),
    ("mjcf",),
    ("dynamics", "soft", "collision", "constraint", "solver", "sensor"),
    ("plugins",),
    ("step",),
    ("compiler", "derive"),
    ("api", "batch"),
    ("ik",),
    ("visual",),
    ("render",),
    ("view",),
    ("__init__", "__main__", "face", "cli", "rollout", "minimize", "msh2obj", "viewer", "as_mujoco"),
    ("torch", "jax", "sysid"),
)
FLOOR_OF = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}
TEXT = {"spec", "mjcf"}
PHYSICS = {"dynamics", "soft", "collision", "constraint", "solver", "sensor", "plugins", "step"}

LONGEST_FILE = 700
LONGEST_FUNCTION = 80
REFERENCE = "mujoco"
SLOW_TO_IMPORT = ("mujoco", "scipy", "matplotlib", "ray", "viser", "websockets", "torch", "jax")


@functools.cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(file.read_text())


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


@functools.cache
def imported_names(file: Path, types: bool = True) -> tuple[str, ...]:
    """Dotted names of everything that a file imports, at any depth; `from a import b` gives `a.b`.

    Imports that only a type checker reads count with `types`.
    """
    package, found = module_name(file).split(".")[: None if file.name == "__init__.py" else -1], []
    tree = tree_of(file)
    for node in ast.walk(tree) if types else nodes_that_run(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            found += [f"{origin}.{alias.name}" for alias in node.names]
    return tuple(found)


@functools.cache
def imported_modules(file: Path, types: bool = True) -> set[str]:
    """Modules of the package that a file imports, those for types included or not."""
    found = set()
    for name in imported_names(file, types):
        if name.split(".")[0] == PACKAGE.name:
            found.add(name if name in MODULES else name.rpartition(".")[0])
    return found - {module_name(file)}


def part_of(module: str) -> str:
    """Part of the package that a module belongs to: `cardan.step.integrators` -> `step`, `cardan` -> `__init__`."""
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


def test_imports_never_point_up():
    up = [
        f"{module} imports {name}"
        for module, file in MODULES.items()
        for name in imported_modules(file)
        if FLOOR_OF[part_of(name)] > FLOOR_OF[part_of(module)]
    ]
    assert not up, "imports from a higher floor:\n" + "\n".join(up)


def test_parts_have_no_import_cycle():
    assert not cycle_in(uses())


def test_modules_have_no_import_cycle():
    # two modules of one part may name each other's types (a tree its elements, an element its tree)
    assert not cycle_in({module: imported_modules(file, types=False) for module, file in MODULES.items()})


def test_the_physics_knows_nothing_of_the_text():
    assert not {part: used & TEXT for part, used in uses().items() if part in PHYSICS and used & TEXT}


def test_the_reference_is_never_imported():
    found = [str(file) for file in FILES if REFERENCE in {name.split(".")[0] for name in imported_names(file)}]
    assert not found, found


def test_files_and_functions_stay_short():
    long = []
    for file in FILES:
        text, place = file.read_text(), file.relative_to(PACKAGE).as_posix()
        if len(text.splitlines()) > LONGEST_FILE:
            long.append(f"{place}: {len(text.splitlines())} lines")
        functions = [n for n in ast.walk(tree_of(file)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        lengths = {function.name: (function.end_lineno or 0) - function.lineno + 1 for function in functions}
        long += [f"{place}: {name}, {length} lines" for name, length in lengths.items() if length > LONGEST_FUNCTION]
    assert not long, "\n".join(long)


WRITERS = {"write_text", "write_bytes", "NamedTemporaryFile", "mkstemp", "os.rename", "os.replace"}
WRITING = {"w", "wb", "w+b", "x", "xb"}
# the one; a temporary folder of its own; a video that is written into memory
PLAIN_WRITERS = {"files.py", "jit/target/ptx.py", "view/capture.py"}


def writes_of(file: Path) -> Iterator[str]:
    """Calls in a file that write, or move, files by other means than `cardan.files`."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            is_opened = {str(a.value) for a in given if isinstance(a, ast.Constant)} & WRITING
            if {called, called.rpartition(".")[2]} & WRITERS or (called.endswith("open") and is_opened):
                yield f"{called}, line {node.lineno}"


def test_files_are_written_in_one_place():
    found = {file.relative_to(PACKAGE).as_posix(): list(writes_of(file)) for file in FILES}
    assert {file: writes for file, writes in found.items() if writes and file not in PLAIN_WRITERS} == {}


OWNER = {"self", "cls"}


def is_owner(node: ast.AST) -> bool:
    """Whether an expression is the object or the class to which a method belongs."""
    return isinstance(node, ast.Name) and node.id in OWNER


def is_private(name: str) -> bool:
    """Whether an attribute is private, other than a special method or a method of named tuples."""
    return name.startswith("_") and not name.endswith("__") and name not in {"_replace", "_fields", "_asdict"}


def private_attributes_made(tree: ast.AST) -> Iterator[str]:
    """Private methods and attributes of the classes of a file."""
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for node in ast.walk(owner):
            if isinstance(node, ast.FunctionDef):
                yield node.name
            elif isinstance(node, ast.AnnAssign):
                yield getattr(node.target, "id", getattr(node.target, "attr", ""))
            elif isinstance(node, ast.Attribute) and is_owner(node.value):
                yield node.attr


PRIVATE_OF_OTHERS = {
    # the driver of native code keeps the position of a stopped program in the data, whose class is on a higher floor
    ("jit/driver/program.py", "_resume"),
    ("jit/driver/program.py", "_resume_address"),
    # of Numba's libraries
    ("jit/front/compile.py", "_finalized"),
    ("jit/front/lowering.py", "_finalized"),
}


def test_private_attributes_stay_in_their_package():
    trees = {file: tree_of(file) for file in FILES}
    made: dict[str, set[str]] = {}
    for file, tree in trees.items():
        for name in filter(is_private, private_attributes_made(tree)):
            made.setdefault(name, set()).add(part_of(module_name(file)))
    found = []
    for file, tree in trees.items():
        place, part = file.relative_to(PACKAGE).as_posix(), part_of(module_name(file))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not is_private(node.attr) or is_owner(node.value):
                continue
            if part not in made.get(node.attr, {part}) and (place, node.attr) not in PRIVATE_OF_OTHERS:
                found.append(f"{place}:{node.lineno}: {ast.unparse(node)}")
    assert not found, "use cardan.model.internals, or a public name:\n" + "\n".join(found)


def test_import_is_light():
    assert (PACKAGE / "__init__.py").is_file()
    program = f"import sys, cardan; print(*[name for name in {SLOW_TO_IMPORT!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
