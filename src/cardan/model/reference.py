"""The reference page of all fields, made from the tables: ``python -m cardan.model.reference > docs/fields.md``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cardan.jit.memory.fields import Field
from cardan.model.tables import DATA_TABLES, MODEL_TABLES, Tables

INTRODUCTION = """# Fields of MjModel and MjData

Made by `python -m cardan.model.reference` from the tables in `src/cardan/model/fields_*.py`. Names and shapes are those
of MuJoCo 3.1.6. A shape names sizes of the model; fields without a shape are numbers. Types: f8, f4: float64,
float32; i8, i4: int64, int32; u8, u1: uint64, uint8; char: bytes. Units are SI; angles are in radians unless the row
says otherwise.
"""


def _rows(table: Iterable[Field], with_stage: bool) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| field | type | shape | meaning |" + (" written by |" if with_stage else "")
    yield "| --- | --- | --- | --- |" + (" --- |" if with_stage else "")
    for field in table:
        row = f"| `{field.name}` | {field.dtype} | {' × '.join(map(str, field.shape))} | {field.doc} |"
        yield row + (f" {field.stage} |" if with_stage else "")


def _chapter(title: str, tables: Tables, with_stage: bool) -> Iterator[str]:
    """Yield the parts of the page about one structure."""
    yield f"## {title}\n"
    for name, table in tables.items():
        yield f"### {name.capitalize()}\n"
        yield "\n".join(_rows(table, with_stage)) + "\n"


def page() -> str:
    """Return the page in Markdown."""
    parts = [INTRODUCTION, *_chapter("MjModel", MODEL_TABLES, False), *_chapter("MjData", DATA_TABLES, True)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
