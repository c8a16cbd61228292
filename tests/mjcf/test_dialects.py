"""Models as real packages have them: what the reference reads is read here, with equal numbers, and a warning."""

from __future__ import annotations

import struct
from pathlib import Path

import mujoco
import pytest
from models_compared import model_differences

import cardan
from cardan.errors import MjcfError

BODY = '<body name="b"><joint name="j" range="-1 1"/><geom name="g" size=".1"/><site name="s"/></body>'
MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
INERTIA = '<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>'


def model(content: str = BODY, more: str = "") -> str:
    """A model from what stands in its world, and sections before that."""
    return f"<mujoco>{more}<worldbody>{content}</worldbody></mujoco>"


def servo(actuator: str, default: str = "") -> str:
    """A model with an actuator and a default for actuators."""
    return model(more=f"<default>{default}</default><actuator>{actuator}</actuator>")


# text that is nearly XML
TEXTS = {
    "no space": model('<body name="x"pos="0 0 1"><geom name=\'a\'type="box"size=".1 .1 .1"/></body>'),
    "bare ampersand": model('<body name="a & b"><geom size=".1"/></body>'),
    "unknown entity": model('<body name="a&foo;"><geom size=".1"/></body>'),
    "bracket in a value": model('<body name="a<b>c"><geom size=".1"/></body>'),
    "dashes in a comment": model(f"<!-- a -- b --->{BODY}"),
    "doctype": f'<!DOCTYPE mujoco SYSTEM "http://localhost/m.dtd">{model()}',
    "entity": f'<!DOCTYPE m [<!ENTITY x "b">]>{model()}',
    "blank before declaration": f'\n <?xml version="1.0"?>{model()}',
    "text before": f"junk{model()}",
    "second root": model() + model("<body/>"),
    "text before a second root": model() + "junk" + model("<body/>"),
    "text before an end tag": model() + "junk</mujoco>",
    "null": f"{model()}\0junk",
    "space before a tag": model('< body name="x"><geom size=".1"/></body>'),
}
# what the language leaves open, or forbids without consequence
VALUES = {
    "nan": model(more='<custom><numeric name="n" data="nan 1"/></custom>'),
    "frame": model(f'<frame colour="1">{BODY}</frame>'),
    "eulerseq": model(more='<compiler eulerseq="abc"/>'),
    "nkey": model(more='<size nkey="-1"/>'),
    "replicate": model(f'<replicate count="-1"><body><geom size=".1"/></body></replicate>{BODY}'),
    "mass": model('<body><inertial mass="-1" pos="0 0 0" diaginertia="1 1 1"/></body>'),
    "inertia": model('<body><inertial mass="1" pos="0 0 0" diaginertia="-1 1 1"/></body>'),
    "density": model(f'<body>{INERTIA}<geom size=".1" density="-1"/></body><geom size=".1" mass="-1"/>'),
    "reftype": model(more='<sensor><framepos objtype="body" objname="b" reftype="foo" refname="nothing"/></sensor>'),
    "elevation": model(more='<asset><hfield name="h" nrow="1" ncol="2" size="1 1 1 1" elevation="nan 1"/></asset>'),
    "sdf": model('<body><geom type="sdf" mesh="m"/></body>', MESH),
}
# nothing to warn of
QUIET = {
    "shellinertia": model(f'<body>{INERTIA}<geom size=".1" shellinertia="true"/></body>'),
    "shellinertia off": model('<body><geom size=".1" shellinertia="false"/></body>'),
    "sizes": '<mujoco><size njmax="500"/><size memory="10M"/>' + model().removeprefix("<mujoco>"),
    "size and nconmax": model(more='<size nconmax="100" memory="1M"/>'),
    "material of a class": model(more='<default><default class="v"><geom material="nope"/></default></default>'),
    "no material": model('<body><geom size=".1" material=""/></body>', '<default><geom material="no"/></default>'),
    "discarded material": model('<body><geom size=".1" material="no"/></body>', '<compiler discardvisual="true"/>'),
    "inheritrange, motor": servo('<motor joint="j" ctrlrange="-2 2"/>', '<position inheritrange="1"/>'),
    "inheritrange, site": servo('<motor site="s"/>', '<position inheritrange="1"/>'),
    "inheritrange, general": servo('<general joint="j" ctrlrange="-2 2"/>', '<position inheritrange="1"/>'),
    "inheritrange, velocity": servo('<velocity joint="j"/>', '<position inheritrange="1"/>'),
    "inheritrange, integrator": servo(
        '<general joint="j" dyntype="integrator" actrange="-3 3"/>', '<position inheritrange="1"/>'
    ),
    "kv and dampratio": servo('<position joint="j" kv="0" dampratio="1"/>'),
    "dampratio and kv": servo('<position joint="j" kv="1" dampratio="0"/>'),
}


# numbers that are none differ from themselves
NOT_COMPARED = {"nan", "elevation"}


def check(xml: str, name: str = "") -> None:
    """Both read the text, and to the same model."""
    expected, found = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    assert name in NOT_COMPARED or list(model_differences(expected, found)) == []


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    with pytest.warns(UserWarning, match="read as far as it makes sense"):
        check(TEXTS[name])


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    with pytest.warns(UserWarning, match="XML string, line 1: <"):
        check(VALUES[name], name)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", QUIET)
def test_quiet(name: str) -> None:
    check(QUIET[name])


@pytest.mark.parametrize(
    "text",
    [
        model() + "junk",
        model('<body><geom size=".1"/></ body>'),
        model("<body name><geom/></body>"),
        model("<body name=a><geom/></body>"),
        model().removesuffix("</mujoco>"),
        model('<body name="a" name="b"/>'),
    ],
)
def test_what_the_reference_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="XML parse error"):
        mujoco.MjModel.from_xml_string(text)
    with pytest.raises(MjcfError, match="XML string, line 1: not well-formed"):
        cardan.MjModel.from_xml_string(text)


def test_lines_are_those_of_the_file() -> None:
    text = '<!DOCTYPE a\n [b]>\r\n<!-- -- \n -->\r<mujoco>\n<worldbody>\n<geom name="a"size="x"/></worldbody></mujoco>'
    with pytest.warns(UserWarning, match="DOCTYPE"), pytest.raises(MjcfError, match="XML string, line 7: <geom> size"):
        cardan.MjModel.from_xml_string(text)


# files -----------------------------------------------------------------------------------------------------------

OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
STL = bytes(80) + struct.pack("<I", 4) + b"".join(
    struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in CORNERS[k]), 0) for face in FACES
)  # fmt: skip
ROBOT = """<?xml version="1.0"?>
<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>{}</geometry></collision>
</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint></robot>"""


def with_mesh(file: str, compiler: str = "") -> str:
    """A model of a mesh file."""
    more = f'<compiler {compiler}/><asset><mesh name="m" file="{file}"/></asset>'
    return model('<body><geom type="mesh" mesh="m"/></body>', more)


def included(*files: str) -> str:
    """A model that includes files."""
    return model(more="".join(f'<include file="{file}"/>' for file in files))


FILES: dict[str, tuple[str, str | bytes]] = {
    "byte order mark": ("m.xml", b"\xef\xbb\xbf" + model().encode()),
    "mark and declaration": ("m.xml", b'\xef\xbb\xbf<?xml version="1.0"?>\r\n' + model().encode()),
    "CRLF": ("m.xml", ('<?xml version="1.0"?>' + model()).replace(">", ">\r\n")),
    "CR": ("m.xml", model().replace(">", ">\r")),
    "comment first": ("m.xml", "<!-- a -->\n" + model()),
    "Latin-1": ("m.xml", model(f"{BODY}<!-- \xe9\xe8 -->").encode("latin-1")),
    "unknown encoding": ("m.xml", '<?xml version="1.0" encoding="no-such"?>' + model()),
    "GBK": ("m.xml", '<?xml version="1.0" encoding="GBK"?>' + model()),
    "declared Latin-1": ("m.xml", ('<?xml version="1.0" encoding="ISO-8859-1"?>' + model()).encode("latin-1")),
    "upper case": ("M.XML", model()),
    "other ending": ("m.txt", model()),
    "no ending": ("m", model()),
    "URDF as XML": ("r.xml", ROBOT.format('<box size="1 1 1"/>')),
    "upper-case URDF": ("R.URDF", ROBOT.format('<box size="1 1 1"/>')),
    "URDF with mark": ("r.urdf", b"\xef\xbb\xbf" + ROBOT.format('<box size="1 1 1"/>').encode()),
    "package": ("r.urdf", ROBOT.format('<mesh filename="package://a/b/t.obj"/>')),
    "file URI": ("r.urdf", ROBOT.format('<mesh filename="file:///x/t.obj"/>')),
    "upper-case mesh": ("m.xml", with_mesh("T.OBJ")),
    "mixed-case mesh": ("m.xml", with_mesh("t2.Obj")),
    "upper-case STL": ("m.xml", with_mesh("T.STL")),
    "symlink to a mesh": ("m.xml", with_mesh("link.obj")),
    "symlink to a folder": ("m.xml", with_mesh("folder/s.obj")),
    "dots": ("m.xml", with_mesh("sub/../t.obj")),
    "two slashes": ("m.xml", with_mesh("sub//s.obj")),
    "folder of meshes": ("m.xml", with_mesh("s.obj", 'meshdir="./sub/"')),
    "Windows path, stripped": ("m.xml", with_mesh("C:\\a\\t.obj", 'strippath="true"')),
    "included by symlink": ("m.xml", included("folder/inc.xml")),
    "included twice": ("m.xml", included("inc.xml", "./inc.xml")),
    "attributes of include": ("m.xml", included("inc.xml").replace('xml"/>', 'xml" foo="1"/>', 1)),
    # refused by both
    "Windows folder": ("m.xml", with_mesh("sub\\s.obj")),
    "home": ("m.xml", with_mesh("~/nothing.obj")),
    "other case": ("m.xml", with_mesh("t.OBJ")),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of meshes and a file to include, with symbolic links."""
    sub = tmp_path / "sub"
    sub.mkdir()
    for path in (tmp_path / "t.obj", tmp_path / "T.OBJ", tmp_path / "t2.Obj", sub / "s.obj"):
        path.write_bytes(OBJ)
    (tmp_path / "T.STL").write_bytes(STL)
    for path in (tmp_path / "inc.xml", sub / "inc.xml"):
        path.write_text('<mujoco><option timestep=".001"/></mujoco>')
    (tmp_path / "link.obj").symlink_to("sub/s.obj")
    (tmp_path / "folder").symlink_to("sub")
    return tmp_path


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FILES)
def test_files(folder: Path, name: str) -> None:
    """Same verdict on a file, and the same model."""
    file, content = FILES[name]
    path = folder / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        expected = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        with pytest.raises(MjcfError):
            cardan.MjModel.from_xml_path(str(path))
        return
    assert list(model_differences(expected, cardan.MjModel.from_xml_path(str(path)))) == []
