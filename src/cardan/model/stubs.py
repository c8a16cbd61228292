"""Generator of files from the tables of fields: run ``python -m cardan.model.stubs`` to rewrite these files.

``declared.pyi`` declares the attributes of MjModel and MjData as NumPy arrays. ``kernel_views.pyi`` declares the
fields for kernels, which access arrays element by element. ``docs/fields.md`` is the reference page of all public
fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from cardan.files import write_file
from cardan.jit.memory.fields import Field, Struct
from cardan.model.computed import views_of
from cardan.model.fields_derived import DATA_VIEWS, MODEL_VIEWS
from cardan.model.fields_later import RENAMED_ARRAYS
from cardan.model.fields_options import RENAMED_OPTIONS
from cardan.model.mjmodel import TEXT_FIELDS, VISUAL_GROUPS
from cardan.model.named import KINDS, Kind, fields_of
from cardan.model.tables import DATA, DATA_TABLES, MODEL, MODEL_TABLES, Tables

STUB = Path(__file__).with_name("declared.pyi")
KERNEL_STUB = Path(__file__).with_name("kernel_views.pyi")
PAGE = Path(__file__).parents[3] / "docs" / "fields.md"

COMPUTED = {"MjModel": views_of(MODEL, MODEL_VIEWS, constants=True), "MjData": views_of(DATA, DATA_VIEWS)}

ELEMENT_TYPES = {
    "f8": "float64", "f4": "float32", "i8": "int64", "u8": "uint64", "i4": "int32", "u1": "uint8", "char": "int8",
}  # fmt: skip

HEADER = '''"""Attributes made from the tables of fields; written by `python -m cardan.model.stubs`."""

from numpy import float32, float64, int8, int32, uint8, uint64
from numpy.typing import NDArray
'''

KERNEL_HEADER = '"""Fields as kernels see them, made from the tables; written by `python -m cardan.model.stubs`."""'


def _type_of(field: Field) -> str:
    if field.dtype == "char" and field.name in (*TEXT_FIELDS, "text_data"):
        return "bytes"
    if field.is_scalar:
        return "float" if field.dtype.startswith("f") else "int"
    return f"NDArray[{ELEMENT_TYPES[field.dtype]}]"


def _class(name: str, lines: list[str]) -> str:
    return "\n".join([f"class {name}:", *(f"    {line}" for line in lines or ["..."])])


def _fields(struct: Struct, prefix: str) -> list[str]:
    return [f"{field.name[len(prefix) :]}: {_type_of(field)}" for field in struct.members(prefix)]


def _view(owner: str, struct: Struct, kind: Kind, prefixes: tuple[str, ...]) -> str:
    fields = fields_of(struct, prefixes, tuple(kind.spans))
    lines = [f"{short}: {_type_of(field)}" for short, field in fields.items()] + ["id: int", "name: str"]
    return _class(f"_{owner}{kind.title}Views", lines)


def _methods(owner: str, kind: Kind, methods: tuple[str, ...]) -> list[str]:
    return [f"def {name}(self, name: str | int = ...) -> _{owner}{kind.title}Views: ..." for name in methods]


def _classes() -> Iterator[str]:
    renamed = [f"{new}: {_type_of(MODEL.by_name['opt.' + old])}" for new, old in RENAMED_OPTIONS.items()]
    yield _class("_Option", [*_fields(MODEL, "opt."), *renamed])
    yield _class("_Statistic", _fields(MODEL, "stat."))
    for prefix in VISUAL_GROUPS:
        yield _class(f"_Visual_{prefix[4:-1]}", _fields(MODEL, prefix))
    yield _class("_Visual", [f"{prefix[4:-1]}: _Visual_{prefix[4:-1]}" for prefix in VISUAL_GROUPS])
    yield from (_view("MjModel", MODEL, kind, kind.prefixes) for kind in KINDS)
    yield from (_view("MjData", DATA, kind, kind.data_prefixes) for kind in KINDS if kind.data_methods)
    arrays = [f"{new}: {_type_of(MODEL.by_name[old])}" for new, old in RENAMED_ARRAYS.items()]
    groups = ["opt: _Option", "stat: _Statistic", "vis: _Visual"]
    methods = [line for kind in KINDS for line in _methods("MjModel", kind, kind.methods)]
    computed = [f"{row.field.name}: {_type_of(row.field)}" for row in COMPUTED["MjModel"]]
    yield _class("ModelFields", [*_fields(MODEL, ""), *computed, *arrays, *groups, *methods])
    methods = [line for kind in KINDS for line in _methods("MjData", kind, kind.data_methods)]
    computed = [f"{row.field.name}: {_type_of(row.field)}" for row in COMPUTED["MjData"]]
    yield _class("DataFields", [*_fields(DATA, ""), *computed, *methods])


def stub_text() -> str:
    """Return the text of ``declared.pyi``."""
    return HEADER + "\n" + "\n\n".join(_classes()) + "\n"


# views of kernels ------------------------------------------------------------


def _kernel_type(field: Field, readonly: bool) -> str:
    """Return the type of a field in kernels (see `cardan.maths.types`), as text. Arrays can't be replaced (`Final`)."""
    is_real = field.dtype.startswith("f")
    if field.is_scalar:
        kind = "float" if is_real else "int"
        return f"Final[{kind}]" if readonly else kind
    return f"Final[{'Const' if readonly else ''}{'Array' if is_real else 'IntArray'}{len(field.shape)}]"


def _kernel_view(struct: Struct, prefix: str = "") -> Iterator[str]:
    """Yield the class declarations of a structure or group: first those of its groups of fields, then its own."""
    lines: list[str] = []
    for group in struct.prefixes:
        short = group.removeprefix(prefix)[:-1]
        if group.startswith(prefix) and group != prefix and "." not in short:
            yield from _kernel_view(struct, group)
            lines.append(f"{short}: Final[{_view_name(struct, group)}]")
    lines += [f"{f.name[len(prefix) :]}: {_kernel_type(f, struct.readonly)}" for f in struct.members(prefix)]
    yield _class(_view_name(struct, prefix), lines)


def _view_name(struct: Struct, prefix: str) -> str:
    return f"_{struct.name}_{prefix[:-1].replace('.', '_')}" if prefix else struct.name


def kernel_views_text(*structs: Struct, imports: str = "") -> str:
    """Return the text of a stub with the classes of structures in kernels, and the necessary imports."""
    classes = "\n\n".join(text for struct in structs for text in _kernel_view(struct))
    arrays = sorted(set(re.findall(r"\b(?:Const)?(?:Int)?Array\d\b", classes)))
    names = "".join(f"    {name},\n" for name in arrays)
    return f"from typing import Final\n\nfrom cardan.maths.types import (\n{names})\n{imports}\n{classes}\n"


def kernel_stub_text() -> str:
    """Return the text of ``kernel_views.pyi``."""
    views = kernel_views_text(MODEL, DATA, imports="from cardan.model.mjmodel import MjModel\n")
    return KERNEL_HEADER + "\n\n" + views + "\nAnyModel = Model | MjModel\n"


# the reference page -----------------------------------------------------------

COMPUTED_TITLE = "Fields of MuJoCo 4.0 that are computed when they are read, read-only"

INTRODUCTION = """# Fields of MjModel and MjData

Made by `python -m cardan.model.stubs` from the tables in `src/cardan/model/fields_*.py`. Names and shapes are those
of MuJoCo 3.1.6. A shape names sizes of the model; fields without a shape are numbers. Types: f8, f4: float64,
float32; i8, i4: int64, int32; u8, u1: uint64, uint8; char: bytes. Units are SI; angles are in radians unless the row
says otherwise.
"""


def _rows(table: Iterable[Field], with_stage: bool) -> Iterator[str]:
    """Yield the lines of a table of fields in Markdown."""
    yield "| field | type | shape | meaning |" + (" written by |" if with_stage else "")
    yield "| --- | --- | --- | --- |" + (" --- |" if with_stage else "")
    for field in table:
        row = f"| `{field.name}` | {field.dtype} | {' × '.join(map(str, field.shape))} | {field.doc} |"
        yield row + (f" {field.stage} |" if with_stage else "")


def _chapter(title: str, tables: Tables, with_stage: bool) -> Iterator[str]:
    """Yield the parts of the reference page that describe one structure."""
    yield f"## {title}\n"
    for name, table in tables.items():
        yield f"### {name.capitalize()}\n"
        yield "\n".join(_rows(table, with_stage)) + "\n"


def page() -> str:
    """Return the reference page of fields (``docs/fields.md``) in Markdown."""
    parts = [INTRODUCTION, *_chapter("MjModel", MODEL_TABLES, False), *_chapter("MjData", DATA_TABLES, True)]
    computed = {owner: tuple(row.field for row in rows) for owner, rows in COMPUTED.items()}
    parts += _chapter(COMPUTED_TITLE, computed, False)
    return "\n".join(parts)


if __name__ == "__main__":
    write_file(STUB, stub_text())
    write_file(KERNEL_STUB, kernel_stub_text())
    write_file(PAGE, page())
