"""The reference page of all fields, made from the tables: ``python -m cardan.model.reference > docs/fields.md``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cardan.jit.memory.fields import Field
from cardan.model import fields_arena as arena
from cardan.model import fields_assets as assets
from cardan.model import fields_bodies as bodies
from cardan.model import fields_data as data
from cardan.model import fields_options as options
from cardan.model import fields_relations as relations

MODULES = (options, bodies, assets, relations, data, arena)
FIRST_OF_DATA = "SCALARS"

INTRODUCTION = """# Fields of MjModel and MjData

Made by `python -m cardan.model.reference` from the tables in `src/cardan/model/fields_*.py`. Names and shapes are those
of MuJoCo 3.1.6. A shape names sizes of the model; fields without a shape are numbers. Types: f8, f4: float64,
float32; i8, i4: int64, int32; u8, u1: uint64, uint8; char: bytes. Units are SI; angles are in radians unless the row
says otherwise.
"""


def _tables() -> Iterator[tuple[str, tuple[Field, ...]]]:
    """Names and rows of all public tables, in the order of the structures."""
    for module in MODULES:
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, tuple):
                yield name, value


def _shape(field: Field) -> str:
    return " × ".join(str(dim) for dim in field.shape)


def _rows(table: Iterable[Field], with_stage: bool) -> Iterator[str]:
    yield "| field | type | shape | meaning |" + (" written by |" if with_stage else "")
    yield "| --- | --- | --- | --- |" + (" --- |" if with_stage else "")
    for field in table:
        row = f"| `{field.name}` | {field.dtype} | {_shape(field)} | {field.doc} |"
        yield row + (f" {field.stage} |" if with_stage else "")


def page() -> str:
    """The page in Markdown."""
    parts = [INTRODUCTION, "## MjModel\n"]
    of_data = False
    for name, table in _tables():
        if name == FIRST_OF_DATA:
            of_data = True
            parts.append("## MjData\n")
        parts.append(f"### {name.capitalize()}\n")
        parts.append("\n".join(_rows(table, of_data)) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
