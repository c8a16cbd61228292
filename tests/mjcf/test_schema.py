"""The MJCF table against the schema that the reference prints, and against itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from later import later_run

import cardan
from cardan.mjcf.docs import page, schema_text
from cardan.spec.schema.language import SCHEMA, walk
from cardan.spec.schema.rows import OWN, Attribute, ElementRow, Type

mujoco = pytest.importorskip("mujoco")

# elements that the printed schema leaves out, as it leaves out <include>
NOT_PRINTED = {"frame", "replicate"}
INDENT = 3
COLUMN = 28  # column at which attributes begin


def printed_schema(text: str) -> list[tuple[int, str, str, set[str]]]:
    """Rows (depth, tag, multiplicity, attributes) of a schema that the reference prints."""
    rows: list[tuple[int, str, str, set[str]]] = []
    for line in text.splitlines():
        head, attributes = line[:COLUMN], set(line[COLUMN:].split())
        if "(" in line and head.strip():
            indent = len(head) - len(head.lstrip())
            tag, _, rest = (
                line.strip().partition(" (") if not head.strip().startswith("(world)") else ("body", "", "R)")
            )
            rows.append((indent // INDENT, tag, rest[0], set(line.strip().partition(") ")[2].split())))
        elif attributes:
            rows[-1][3].update(attributes)
    return rows


def is_in(row: ElementRow | Attribute, version: str) -> bool:
    """Whether a version of MuJoCo, 3.1 or 4.0, has an element or attribute."""
    return row.since != OWN and (row.since if version == "3.1" else row.until) is None


def own_schema(version: str) -> list[tuple[int, str, str, set[str]]]:
    """Rows of a version from our own table, with the kinematic tree as one recursive body."""
    found: list[tuple[int, str, str, set[str]]] = []

    def add(row: ElementRow, depth: int) -> None:
        # names with spaces are not words of the language: the tree holds the roles of layers under them
        words = {name: attribute for name, attribute in row.attributes.items() if " " not in name}
        attributes = {name for name, attribute in words.items() if is_in(attribute, version)}
        found.append((depth, row.tag, row.multiplicity, attributes))
        for child in row.children.values():
            if not is_in(child, version):
                continue
            if child.tag not in NOT_PRINTED and child.tag != row.tag and child.tag != "worldbody":
                add(child, depth + 1)
            elif child.tag == "worldbody":
                add(child.children["body"], depth + 1)

    add(SCHEMA, 0)
    return found


def by_path(rows: list[tuple[int, str, str, set[str]]]) -> dict[str, tuple[str, set[str]]]:
    """Multiplicity and attributes by path of tags."""
    found: dict[str, tuple[str, set[str]]] = {}
    path: list[str] = []
    for depth, tag, multiplicity, attributes in rows:
        path[depth:] = [tag]
        found["/".join(path)] = (multiplicity, attributes)
    return found


def test_table_equals_the_printed_schema() -> None:
    assert_equal(by_path(printed_schema(mujoco.mj_printSchema(False, False))), by_path(own_schema("3.1")))


def test_table_equals_the_schema_of_4_0() -> None:
    theirs = later_run("out = mujoco.mj_printSchema(False, False)")
    assert_equal(by_path(printed_schema(theirs)), by_path(own_schema("4.0")))


def assert_equal(theirs: dict[str, tuple[str, set[str]]], own: dict[str, tuple[str, set[str]]]) -> None:
    """Compare the elements of two tables, then their attributes."""
    assert own.keys() == theirs.keys()
    different = {
        path: (own[path][0], sorted(own[path][1] - attributes), multiplicity, sorted(attributes - own[path][1]))
        for path, (multiplicity, attributes) in theirs.items()
        if own[path] != (multiplicity, attributes)
    }
    assert not different


@pytest.mark.parametrize("version", ["3.1", "4.0"])
def test_words_of_cardan_are_not_in_the_printed_schema(version: str) -> None:
    own = [row for element in walk() for row in element.attributes.values() if row.since == OWN]
    assert {row.name for row in own} == {"convex", "threshold", "maxpieces", "stick", "lagged", "nstick"}
    lines = schema_text(version).split()
    assert "smoothnormal" in lines and not {"convex", "maxpieces"} & {*lines}


def test_defaults_have_the_right_type_and_count() -> None:
    python_type = {Type.REAL: float, Type.INT: int, Type.BOOL: bool, Type.KEYWORD: str, Type.STRING: str}
    for element in walk():
        for row in element.attributes.values():
            if row.default is None:
                continue
            values = row.default if isinstance(row.default, tuple) else (row.default,)
            assert (row.scalar or row.polynomial) != isinstance(row.default, tuple), (element.tag, row.name)
            if row.high is not None and not row.polynomial:
                assert len(values) == row.high, (element.tag, row.name)
            if row.type in python_type:
                assert all(type(value) is python_type[row.type] for value in values), (element.tag, row.name)
            if row.type is Type.KEYWORD:
                assert row.default in row.keywords, (element.tag, row.name)


@pytest.mark.parametrize("section", ["option", "global", "quality", "headlight", "map", "scale", "rgba"])
def test_default_settings_equal_the_reference(section: str) -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    holder = model.opt if section == "option" else getattr(model.vis, section + "_" * (section == "global"))
    row = SCHEMA.children["option"] if section == "option" else SCHEMA.children["visual"].children[section]
    for name, attribute in row.attributes.items():
        # the reference's Python bindings do not show the colours of bounding volumes
        if attribute.default is None or attribute.since or (name in ("bv", "bvactive") and section == "rgba"):
            continue
        value = getattr(holder, name)
        wanted = attribute.default
        if attribute.type is Type.KEYWORD:
            wanted = attribute.keywords[wanted]
        numbers = list(value) if isinstance(wanted, tuple) else [float(value)]
        expected = wanted if isinstance(wanted, tuple) else [float(wanted)]
        assert numbers == pytest.approx(list(expected), rel=1e-6), name


def test_keyword_numbers_equal_the_reference() -> None:
    newer = set()
    for kind, prefix, words in [
        (mujoco.mjtGeom, "mjGEOM_", SCHEMA.children["worldbody"].children["geom"].attributes["type"].keywords),
        (mujoco.mjtJoint, "mjJNT_", SCHEMA.children["worldbody"].children["joint"].attributes["type"].keywords),
        (mujoco.mjtDyn, "mjDYN_", SCHEMA.children["actuator"].children["general"].attributes["dyntype"].keywords),
    ]:
        for word, number in words.items():
            theirs = getattr(kind, prefix + word.upper(), None)
            if theirs is None:
                newer.add(word)
            else:
                assert number == int(theirs), word
    assert newer == {"dcmotor", "pid"}


def test_reference_page_is_up_to_date() -> None:
    committed = Path(__file__).parents[2] / "docs" / "mjcf.md"
    assert committed.read_text() == page(), "run: python -m cardan.mjcf.docs > docs/mjcf.md"


def test_printed_schema_has_the_lines_of_the_reference() -> None:
    for html, pad in [(False, False), (True, False), (True, True)]:
        own, theirs = cardan.mj_printSchema(html, pad), mujoco.mj_printSchema(html, pad)
        # sensors stand in another order
        assert sorted(own.splitlines()) == sorted(theirs.splitlines())
