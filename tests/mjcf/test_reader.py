"""Reading MJCF: values, repeated sections, includes, lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from cardan.errors import MjcfError
from cardan.mjcf.reader import read_path, read_string
from cardan.spec import Element, ModelTree

GEOM = '<worldbody><geom size="1"/></worldbody>'


def first(tree: ModelTree, tag: str) -> Element:
    """The first element with a tag."""
    return next(element for element in tree.root.descendants() if element.tag == tag)


@pytest.mark.parametrize(
    ("attributes", "name", "value"),
    [
        ('size="1 2"', "size", (1.0, 2.0, 0.0)),
        ('size=" 1\t2\n3 "', "size", (1.0, 2.0, 3.0)),
        ('size="0x10"', "size", (16.0, 0.0, 0.0)),
        ('size="inf"', "size", (float("inf"), 0.0, 0.0)),
        ('size="1e-1 +2 -.5"', "size", (0.1, 2.0, -0.5)),
        ('friction="2"', "friction", (2.0, 0.005, 0.0001)),
        ('condim="+4"', "condim", 4),
        ('group="010"', "group", 10),
        ('mass="3"', "mass", 3.0),
        ('type="box"', "type", "box"),
        ('user="1 2 3 4"', "user", (1.0, 2.0, 3.0, 4.0)),
        ('name=""', "name", None),
        ('shellinertia="false"', "shellinertia", False),
    ],
)
def test_typed_values(attributes: str, name: str, value: object) -> None:
    tree = read_string(f"<mujoco><worldbody><geom {attributes}/></worldbody></mujoco>")
    assert first(tree, "geom")[name] == value


@pytest.mark.parametrize(
    ("memory", "size"),
    [("-1", -1), ("2000", 2000), ("1K", 1024), ("2m", 2 * 1024**2), ("1G", 1024**3), ("3E", 3 * 1024**6)],
)
def test_memory_sizes(memory: str, size: int) -> None:
    assert read_string(f'<mujoco><size memory="{memory}"/></mujoco>').section("size")["memory"] == size


def test_one_springlength_stands_for_both() -> None:
    tree = read_string(
        '<mujoco><default><tendon springlength="4 5"/></default><worldbody><body><joint name="j"/></body></worldbody>'
        '<tendon><fixed springlength="2"><joint joint="j" coef="1"/></fixed></tendon></mujoco>'
    )
    assert first(tree, "fixed")["springlength"] == (2.0, 2.0)


def test_bodies_outside_the_world_are_ignored() -> None:
    xml = '<mujoco><body childclass="x"><geom class="y"/></body><worldbody><site/></worldbody></mujoco>'
    with pytest.warns(UserWarning, match=r"<body>: ignored"):
        tree = read_string(xml)
    tags = {element.tag for element in tree.root.descendants()}
    assert "site" in tags and not tags & {"body", "geom"}


def test_repeated_sections_merge() -> None:
    tree = read_string(
        '<mujoco model="m"><option timestep="1"/><option gravity="0 0 0"><flag contact="disable"/></option>'
        '<visual><map znear="1"/></visual><visual><map zfar="2"/></visual>'
        '<worldbody><geom name="a" size="1"/></worldbody><worldbody><geom name="b" size="1"/></worldbody></mujoco>'
    )
    option, vis_map = tree.section("option"), tree.section("visual").child("map")
    flag = option.child("flag")
    assert tree.model_name == "m" and flag is not None and vis_map is not None
    assert (option["timestep"], option["gravity"], flag["contact"]) == (1.0, (0.0, 0.0, 0.0), False)
    assert (vis_map["znear"], vis_map["zfar"]) == (1.0, 2.0)
    assert [geom.name for geom in tree.worldbody.children] == ["a", "b"]


def test_settings_exist_without_being_written() -> None:
    tree = read_string("<mujoco/>")
    assert tree.model_name == "MuJoCo Model"
    assert tree.section("compiler")["angle"] == "degree"
    assert not tree.section("option").is_set("timestep")
    assert list(tree.section("sensor").children) == []


def test_lines_and_sources() -> None:
    tree = read_string("<mujoco>\n <worldbody>\n  <geom\n   size='1'/>\n </worldbody>\n</mujoco>")
    geom = first(tree, "geom")
    assert (geom.source, geom.line) == ("XML string", 3)


def test_deep_nesting_is_read() -> None:
    depth = 3000
    tree = read_string("<mujoco><worldbody>" + "<body>" * depth + "</body>" * depth + "</worldbody></mujoco>")
    assert sum(1 for element in tree.root.descendants() if element.tag == "body") == depth


# --- include ---------------------------------------------------------------------------------------------------------


def write(folder: Path, **files: str) -> Path:
    """Write files named ``sub_name`` into ``folder/sub/name.xml``; returns the path of ``main.xml``."""
    for name, text in files.items():
        path = folder / (name.replace("_", "/") + ".xml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "main.xml"


def test_include_takes_the_place_of_its_content(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='<mujoco><worldbody><geom name="a" size="1"/><include file="g.xml"/><geom name="d" size="1"/></worldbody>'
        "</mujoco>",
        g='<any thing="1"><geom name="b" size="1"/><geom name="c" size="1"/></any>',
    )
    tree = read_path(main)
    assert [geom.name for geom in tree.worldbody.children] == ["a", "b", "c", "d"]
    assert tree.folder == tmp_path


@pytest.mark.parametrize("inner", ["a.xml", "sub/a.xml"])
def test_include_is_relative_to_its_file_or_the_main_file(tmp_path: Path, inner: str) -> None:
    main = write(
        tmp_path,
        main='<mujoco><include file="sub/n.xml"/></mujoco>',
        sub_n=f'<mujoco><include file="{inner}"/></mujoco>',
        sub_a=f"<mujocoinclude>{GEOM}</mujocoinclude>",
    )
    assert len(read_path(main).worldbody.children) == 1


@pytest.mark.parametrize(
    ("main", "other", "words"),
    [
        ('<include file="main.xml"/>', GEOM, ("main.xml:1", "<include> file", "includes itself")),
        ('<include file="a.xml"/>', '<include file="a.xml"/>', ("a.xml:1", "includes itself")),
        ('<include file="a.xml"/>', "", ("<include> file", "is empty")),
        ('<include file="a.xml"><geom/></include>', GEOM, ("nothing is allowed inside <include>",)),
        ('<include file="a.xml"/>', "\n<foo/>", ("a.xml:2", "<foo>")),
        ('<include file="a.xml"/>', "<worldbody>", ("a.xml:1", "not well-formed")),
    ],
)
def test_include_errors(tmp_path: Path, main: str, other: str, words: tuple[str, ...]) -> None:
    path = write(tmp_path, main=f"<mujoco>{main}</mujoco>", a=f"<mujoco>{other}</mujoco>")
    with pytest.raises(MjcfError) as caught:
        read_path(path)
    for word in words:
        assert word in str(caught.value)


def test_missing_include_names_the_places_tried(tmp_path: Path) -> None:
    main = write(tmp_path, main='<mujoco><include file="sub/n.xml"/></mujoco>', sub_n='<m><include file="x.xml"/></m>')
    with pytest.raises(MjcfError) as caught:
        read_path(main)
    assert str(tmp_path / "sub" / "x.xml") in str(caught.value) and str(tmp_path / "x.xml") in str(caught.value)


def test_include_from_assets() -> None:
    tree = read_string('<mujoco><include file="a.xml"/></mujoco>', {"a.xml": f"<mujoco>{GEOM}</mujoco>".encode()})
    assert len(tree.worldbody.children) == 1


def test_long_chains_of_includes() -> None:
    """Each file includes the next: an error comes before Python's recursion limit."""
    files = {f"{i}.xml": f'<mujoco><include file="{i + 1}.xml"/></mujoco>'.encode() for i in range(300)}
    files["80.xml"] = f"<mujoco>{GEOM}</mujoco>".encode()
    assert len(read_string('<mujoco><include file="0.xml"/></mujoco>', files).worldbody.children) == 1
    files["80.xml"] = b'<mujoco><include file="81.xml"/></mujoco>'
    with pytest.raises(MjcfError, match="more than 100 levels deep"):
        read_string('<mujoco><include file="0.xml"/></mujoco>', files)


def test_missing_main_file(tmp_path: Path) -> None:
    with pytest.raises(MjcfError, match="cannot read the model file"):
        read_path(tmp_path / "none.xml")
    with pytest.raises(MjcfError, match="cannot read the model file"):
        read_path(tmp_path)
