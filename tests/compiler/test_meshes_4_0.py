"""Meshes by the rules of MuJoCo 4.0, and words of meshes that came after 3.1."""

import struct
from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

MESH_FIELDS = ("vert", "normal", "face", "facenormal", "graph", "pos", "quat", "scale")
FIELDS = tuple(f"mesh_{name}" for name in MESH_FIELDS) + (
    *("geom_pos", "geom_quat", "geom_size", "geom_aabb", "geom_dataid", "geom_matid"),
    *("body_mass", "body_inertia", "body_ipos", "body_iquat"),
)
TREES = ("bvh_child", "bvh_nodeid", "bvh_aabb")
COMPILED = """
m = mujoco.MjModel.from_xml_string(xml, assets)
out = {name: np.array(getattr(m, name)) for name in fields}
"""
CUBE = "-1 -1 -1  1 -1 -1  -1 1 -1  1 1 -1  -1 -1 1  1 -1 1  -1 1 1  1 1 1"
FACES = "0 2 1 1 2 3 4 5 6 5 7 6 0 1 4 1 5 4 2 6 3 3 6 7 0 4 2 2 4 6 1 3 5 3 7 5"
HOLLOW = "0 0 0  2 0 0  0 3 0  0 0 1  .4 .5 .1"  # a tetrahedron with a face pushed in
HOLLOW_FACES = "0 2 1  0 1 3  0 3 2  1 2 4  2 3 4  3 1 4"
NORMALS = "1 0 0  0 1 0  0 0 1  1 1 0  0 1 1  1 0 1  1 1 1  1 2 3"


def model(mesh: str, geoms: str = '<geom type="mesh" mesh="m"/>', compiler: str = "") -> str:
    """A model with a mesh named m and a body."""
    body = f"<worldbody><body>{geoms}</body></worldbody>"
    return f'<mujoco><compiler {compiler}/><asset><mesh name="m" {mesh}/></asset>{body}</mujoco>'


def check_equal(
    xml: str, assets: dict[str, bytes] | None = None, compat: str = "4.0", trees: tuple[str, ...] = TREES
) -> None:
    """Check that a model is compiled as by 4.0.0: quaternions up to their sign, floats to their precision."""
    there = later_run(COMPILED, xml=xml, assets=assets or {}, fields=FIELDS + trees)
    m = cardan.MjModel.from_xml_string(xml, assets, compat=compat)
    for name in FIELDS + trees:
        own, other = np.array(getattr(m, name)), there[name]
        assert own.shape == other.shape, name
        if name.endswith("quat"):
            own = own * np.where((own * other).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
        tolerance = 1e-6 if own.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(own, other, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("inertia", ["legacy", "exact", "convex", "shell"])
@pytest.mark.parametrize("shape", [f'vertex="{HOLLOW}" face="{HOLLOW_FACES}"', f'vertex="{CUBE}" face="{FACES}"'])
def test_inertia(inertia: str, shape: str) -> None:
    """Volume, centre, moments and frame; the words mean the same under 3.1."""
    xml = model(f'inertia="{inertia}" {shape}')
    check_equal(xml)
    if inertia != "legacy":
        check_equal(xml, compat="3.1")


def test_inertia_of_a_hollow_shape() -> None:
    """Exact volumes subtract what lies outside; legacy volumes count it twice; hulls fill it."""
    masses = {}
    for inertia in ("legacy", "exact", "convex"):
        xml = model(f'inertia="{inertia}" vertex="{HOLLOW}" face="{HOLLOW_FACES}"')
        masses[inertia] = cardan.MjModel.from_xml_string(xml).body_mass[1]
    # the pushed-in corner is below the plane x / 2 + y / 3 + z = 1
    outside = 1000.0 * (1.0 - (0.4 / 2.0 + 0.5 / 3.0 + 0.1))
    assert masses["convex"] == pytest.approx(1000.0)
    assert masses["exact"] == pytest.approx(1000.0 - outside)
    assert masses["legacy"] >= masses["exact"]


@pytest.mark.parametrize(
    "attributes",
    [
        'scale="1 2 3"',
        'scale="1 2 3" smoothnormal="true"',
        'scale="-1 2 3" smoothnormal="true"',
        'scale="-1 -2 3"',
        'scale="-1 2 3" inertia="exact"',
        'scale="-1 2 3" inertia="convex"',
        f'scale="1 2 -3" normal="{NORMALS}"',
        f'refpos=".1 .2 .3" refquat="1 2 3 4" scale="1 2 3" normal="{NORMALS}"',
    ],
)
def test_transformations(attributes: str) -> None:
    """Scales act on normals as on covectors; mirrored meshes of all formats get reversed faces."""
    check_equal(model(f'{attributes} vertex="{CUBE}" face="{FACES}"'))
    if "normal=" not in attributes:
        check_equal(model(f'{attributes} vertex="{HOLLOW}"'))


def test_round_shapes_keep_the_axes_of_the_file() -> None:
    """Principal moments that are equal to 1e-7 define no axes: neither order nor directions."""
    for scale, turned in (("1 1.00000001 1", False), ("1 1.00001 1", True)):
        xml = model(f'scale="{scale}" vertex="{CUBE}" face="{FACES}"')
        m = cardan.MjModel.from_xml_string(xml, compat="4.0")
        assert (m.mesh_quat[0].tolist() != [1.0, 0.0, 0.0, 0.0]) == turned
        check_equal(xml)


def stl(triangles: np.ndarray) -> bytes:
    """A binary STL file of triangles (n, 3, 3)."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 0) for triangle in triangles)
    return bytes(80) + struct.pack("<I", len(triangles)) + rows


def test_all_equal_corners_of_stl_files_become_one_vertex() -> None:
    """3.1 compares a corner only with the last vertex of the same key, x + y / 100 + z / 10000."""
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 100]], np.float32)
    content = stl(corner[[[0, 2, 1], [0, 1, 4], [0, 4, 2], [2, 4, 1], [1, 2, 3]]])
    xml = model('file="m.stl"', '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>')
    check_equal(xml, {"m.stl": content})
    counts = [cardan.MjModel.from_xml_string(xml, {"m.stl": content}, compat=v).nmeshvert for v in ("3.1", "4.0")]
    assert counts[1] == 5 < counts[0]
    triangles = corner[[[0, 2, 1], [0, 1, 4], [0, 4, 2], [2, 4, 1], [1, 2, 3]]]
    triangles[1, 0, 0] = -0.0  # not equal to 0
    check_equal(xml, {"m.stl": stl(triangles)})


def test_small_faces_do_not_count_for_normals() -> None:
    """Faces with a double area below 1e-7, and sums of normals as short, have no direction."""
    rows = np.array(CUBE.split(), float).reshape(-1, 3)
    for scale in (1e-4, 1e-3, 1.0):
        vertex = " ".join(map(repr, (scale * rows).ravel().tolist()))
        check_equal(model(f'vertex="{vertex}" face="{FACES}" smoothnormal="true" scale="1 1.5 2"'))


@pytest.mark.parametrize("smooth", ["false", "true"])
def test_normals_that_nearly_cancel(smooth: str) -> None:
    """Sums are rounded to single precision after each face, but the faces' own normals are not."""
    rng = np.random.default_rng(5)
    vertex = " ".join(map(repr, (0.01 * rng.normal(size=60)).tolist()))
    face = rng.permuted(np.tile(np.arange(20), (40, 1)), axis=1)[:, :3]
    face = " ".join(map(str, np.concatenate([face, face[:30, ::-1]]).ravel()))
    check_equal(model(f'smoothnormal="{smooth}" vertex="{vertex}" face="{face}"'))


@pytest.mark.parametrize("word", ["sphere", "capsule", "ellipsoid", "cylinder", "box"])
@pytest.mark.parametrize("fitaabb", ["false", "true"])
def test_fitted_shapes(word: str, fitaabb: str) -> None:
    """The bounding box of the shape contains that of the mesh; the geom is a primitive shape, without a mesh."""
    xml = model(f'vertex="{HOLLOW}"', f'<geom type="{word}" mesh="m" pos="1 2 3"/>', f'fitaabb="{fitaabb}"')
    check_equal(xml)
    assert cardan.MjModel.from_xml_string(xml, compat="4.0").geom_dataid[0] == -1


FLAT = 'vertex="0 0 0 1 0 0 0 1 0 1 1 0" face="0 1 2 2 1 3"'
VISUAL = '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>'


def test_flat_meshes() -> None:
    """A mesh without volume is an error under 4.0, unless its mass is on the surface."""
    with pytest.raises(MjcfError, match=r"<mesh name='m'> inertia: the volume .* set inertia='shell'"):
        cardan.MjModel.from_xml_string(model(FLAT, VISUAL), compat="4.0")
    shell = model(f'inertia="shell" {FLAT}', VISUAL, 'balanceinertia="true"')
    check_equal(shell)
    assert cardan.MjModel.from_xml_string(shell).body_mass[1] == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("faces", "message"),
    [
        ("0 2 1 0 1 3 0 3 2 2 1 4 2 3 4 3 1 4", "faces have inconsistent orientation"),
        ("0 1 2 0 3 1 0 2 3 1 4 2 2 4 3 3 4 1", "normals point outside: reverse"),
    ],
)
def test_exact_inertia_needs_an_oriented_surface(faces: str, message: str) -> None:
    """The error says what would be right; other distributions do not need it."""
    with pytest.raises(MjcfError, match=message):
        cardan.MjModel.from_xml_string(model(f'inertia="exact" vertex="{HOLLOW}" face="{faces}"'))
    check_equal(model(f'inertia="convex" vertex="{HOLLOW}" face="{faces}"'))


def test_setting_of_3_1_for_exact_inertia() -> None:
    """Under 4.0, ``exactmeshinertia`` is the inertia of meshes that give none."""
    shape = f'vertex="{HOLLOW}" face="{HOLLOW_FACES}"'
    by_setting = model(shape, compiler='exactmeshinertia="true"')
    exact = cardan.MjModel.from_xml_string(model(f'inertia="exact" {shape}'))
    np.testing.assert_array_equal(cardan.MjModel.from_xml_string(by_setting, compat="4.0").mesh_vert, exact.mesh_vert)
    inside_out = by_setting.replace(HOLLOW_FACES, " ".join(reversed(HOLLOW_FACES.split())))
    assert cardan.MjModel.from_xml_string(inside_out).body_mass[1] > 0.0
    with pytest.raises(MjcfError, match="normals point outside"):
        cardan.MjModel.from_xml_string(inside_out, compat="4.0")


def test_moments_must_be_positive() -> None:
    """A smaller tetrahedron far away that is turned inside out has a negative share of the moments."""
    other = "10 0 0  10.8 0 0  10 .8 0  10 0 .8"
    vertex = f"0 0 0  1 0 0  0 1 0  0 0 1  {other}"
    xml = model(f'inertia="exact" vertex="{vertex}" face="0 2 1 0 1 3 0 3 2 1 2 3  4 5 6 4 7 5 4 6 7 5 7 6"')
    with pytest.raises(MjcfError, match="a moment of inertia of the mesh is not positive: correct"):
        cardan.MjModel.from_xml_string(xml, compat="4.0")


def test_shellinertia_of_geoms() -> None:
    """A mesh whose geoms have ``shellinertia`` (3.1) has its mass on the surface, also under 4.0."""
    shape = f'vertex="{HOLLOW}" face="{HOLLOW_FACES}"'
    on_surface = model(shape, '<geom type="mesh" mesh="m" shellinertia="true"/>')
    ours = cardan.MjModel.from_xml_string(on_surface, compat="4.0")
    theirs = cardan.MjModel.from_xml_string(model(f'inertia="shell" {shape}'))
    np.testing.assert_array_equal(ours.body_inertia, theirs.body_inertia)
    np.testing.assert_array_equal(ours.mesh_vert, theirs.mesh_vert)
    both = '<geom type="mesh" mesh="m" shellinertia="true"/><geom type="mesh" mesh="m"/>'
    with pytest.raises(MjcfError, match="only some of its geoms have shellinertia"):
        cardan.MjModel.from_xml_string(model(shape, both), compat="4.0")
    with pytest.raises(MjcfError, match="needs inertia='shell'"):
        cardan.MjModel.from_xml_string(model(f'inertia="convex" {shape}', both))


def test_defaults() -> None:
    """Default classes hold scale, inertia and maxhullvert."""
    cloud = " ".join(map(repr, np.random.default_rng(0).normal(size=60).tolist()))
    xml = model(f'vertex="{cloud}"').replace(
        "<asset>", '<default><mesh inertia="shell" maxhullvert="6" scale="1 2 3"/></default><asset>'
    )
    check_equal(xml)
    assert cardan.MjModel.from_xml_string(xml).mesh_graph[0] == 6


@pytest.mark.parametrize("inertia", ["legacy", "convex"])
@pytest.mark.parametrize("pair", ["", '<contact><pair geom1="g" geom2="s"/></contact>'])
def test_hulls_on_demand(inertia: str, pair: str) -> None:
    """Visual geoms need no hull, unless they collide in a pair or the hull determines the inertia."""
    geom = '<geom name="g" type="mesh" mesh="m" contype="0" conaffinity="0"/>'
    scene = f'<geom name="s" size="1"/></worldbody>{pair}'
    xml = model(f'inertia="{inertia}" vertex="{CUBE}" face="{FACES}"', geom).replace("</worldbody>", scene)
    check_equal(xml)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert (m.nmeshgraph > 0) == (inertia == "convex" or pair != "")


@pytest.mark.parametrize("most", [4, 5, 9, 100])
def test_bounded_hulls(most: int) -> None:
    """A hull stops at the given number of vertices; they and their order are those of 4.0.0."""
    cloud = " ".join(map(repr, np.random.default_rng(1).normal(size=90).tolist()))
    check_equal(model(f'vertex="{cloud}" maxhullvert="{most}"'))


@pytest.mark.parametrize("most", [-2, 0, 3])
def test_wrong_bounds_of_hulls(most: int) -> None:
    """A hull has more than three vertices."""
    with pytest.raises(MjcfError, match=rf"maxhullvert: a hull has more than 3 .* found {most}"):
        cardan.MjModel.from_xml_string(model(f'vertex="{CUBE}" maxhullvert="{most}"'))


def test_material() -> None:
    """The material of a mesh is that of its geoms, unless they have their own."""
    geoms = (
        '<geom type="mesh" mesh="m"/><geom type="mesh" mesh="m" material="b"/><geom type="box" mesh="m"/>'
        '<geom type="mesh" mesh="m" class="c"/><geom size="1"/>'
    )
    xml = model(f'vertex="{CUBE}" material="a"', geoms).replace(
        "<asset>",
        '<default><default class="c"><geom material="b"/></default></default>'
        '<asset><material name="a"/><material name="b"/>',
    )
    check_equal(xml)
    assert cardan.MjModel.from_xml_string(xml).geom_matid.tolist() == [0, 1, 0, 1, -1]
    with pytest.raises(MjcfError, match="there is no material named 'z'"):
        cardan.MjModel.from_xml_string(xml.replace('material="a"', 'material="z"'))


MASSLESS = '<geom size=".1" mass="0" pos="1 2 3"/>'


@pytest.mark.parametrize(
    "geoms",
    [MASSLESS, 2 * MASSLESS, MASSLESS + '<geom size=".1" pos="4 5 6" quat="1 1 0 0"/>', 2 * MASSLESS + "<site/>"],
)
def test_bodies_without_mass(geoms: str) -> None:
    """Geoms without mass do not count: their bodies have the inertial frame of bodies without geoms."""
    body = f'<body pos=".1 .2 .3" quat="1 0 0 1">{geoms}</body>'
    xml = model(f'vertex="{CUBE}"', f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{body}')
    check_equal(xml)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    if m.body_mass[2] == 0.0:
        np.testing.assert_array_equal(m.body_ipos[2], [0.1, 0.2, 0.3])


def test_principal_axes_of_bodies() -> None:
    """Axes of nearly round bodies depend on rounding, which is that of 4.0."""
    rng = np.random.default_rng(3)
    bodies = []
    for _ in range(20):
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments: Any = np.array([1.0, 1.0, rng.choice([1.0, 1.7])]) + 1e-9 * rng.normal(size=3)
        full = rotation @ np.diag(moments) @ rotation.T
        numbers = " ".join(repr(float(full[i, j])) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        bodies.append(f'<body><inertial pos="0 0 0" mass="1" fullinertia="{numbers}"/></body>')
    check_equal(model(f'vertex="{CUBE}"', "".join(bodies)))


WORDS = """<mujoco><default><mesh inertia="convex" maxhullvert="20"/></default><asset><material name="a"/>
<mesh name="m" builtin="supertorus" params="12 .3 1 1" material="a"/>
<mesh name="n" builtin="wedge" params="5 4 60 40 0" inertia="shell"/>
<mesh name="q" inertia="legacy" maxhullvert="-1" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><body><geom type="mesh" mesh="m"/><geom type="mesh" mesh="n"/><geom type="mesh" mesh="q"/></body></worldbody>
</mujoco>"""


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_saved_meshes(compat: str, tmp_path: Any) -> None:
    """Saved models give equal meshes here and, under 4.0, in 4.0.0."""
    m = cardan.MjModel.from_xml_string(WORDS, compat=compat)
    path = tmp_path / "saved.xml"
    cardan.mj_saveLastXML(str(path), m)
    again = cardan.MjModel.from_xml_string(path.read_text(), compat=compat)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(m, name), getattr(again, name), rtol=0.0, atol=1e-12, err_msg=name)
    if compat == "4.0":
        check_equal(path.read_text())


def test_specification() -> None:
    """Attributes of the struct; those of meshes that the compiler makes are only in the text."""
    spec = cardan.MjSpec.from_string(WORDS, compat="4.0")
    mesh = spec.mesh("m")
    assert mesh.inertia.name == "mjMESH_INERTIA_CONVEX"
    assert (mesh.maxhullvert, mesh.material) == (20, "a")
    assert not hasattr(mesh, "builtin")
    mesh.inertia, mesh.maxhullvert, mesh.material = mesh.inertia.__class__.mjMESH_INERTIA_EXACT, 10, ""
    m = spec.compile()
    assert m.mesh_graph[0] == 10
    assert m.geom_matid[0] == -1
    assert 'inertia="exact"' in spec.to_xml()


QUADS = {
    "square": "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n",
    "first diagonal longer": "v 0 0 0\nv 1 -.2 0\nv 3 0 0\nv 1 .2 0\n",
    "second diagonal longer": "v 1 -.2 0\nv 3 0 0\nv 1 .2 0\nv 0 0 0\n",
    "reflex": "v 0 0 0\nv .5 5 0\nv 1 0 0\nv .5 10 0\n",
}


@pytest.mark.parametrize("quad", QUADS)
def test_quads_are_split_along_the_shorter_diagonal(quad: str) -> None:
    """3.1 cuts ears, which gives the first diagonal if the polygon is convex."""
    content = (QUADS[quad] + "v 0 0 1\nf 1 2 3 4\nf 1 2 5\nf 1 4 5\n").encode()
    check_equal(model('file="m.obj"'), {"m.obj": content})


SHAPE = """<mujoco><extension><plugin plugin="mujoco.sdf.bolt"><instance name="b"/></plugin></extension>
<asset><mesh name="m"><plugin instance="b"/></mesh></asset>
<worldbody><body><geom type="sdf" mesh="m" pos=".1 .2 .3"><plugin instance="b"/></geom></body></worldbody></mujoco>"""


def test_meshes_of_plugins_keep_their_frame() -> None:
    """The distance function of a plugin and the vertices of its mesh have the same coordinates."""
    m = cardan.MjModel.from_xml_string(SHAPE, compat="4.0")
    np.testing.assert_array_equal(m.mesh_pos[0], np.zeros(3))
    np.testing.assert_array_equal(m.mesh_quat[0], [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(m.body_ipos[1], [0.1, 0.2, 0.3])
    check_equal(SHAPE, trees=())  # the order of triangles without area is another one


READ = """
mesh = mujoco.MjSpec.from_string(xml).mesh("m")
out = [np.array(rows) for rows in (mesh.uservert, mesh.userface, mesh.usernormal)]
"""


@pytest.mark.parametrize("kind", ['"supertorus" params="5 .3 1 1"', '"plate" params="3 4"', '"cone" params="5 .3"'])
def test_data_of_generated_meshes_in_specifications(kind: str) -> None:
    """The struct has vertices, faces and normals; assigning one makes them explicit, and the model stays the same."""
    xml = model(f"builtin={kind}", "")
    spec = cardan.MjSpec.from_string(xml, compat="4.0")
    mesh = spec.mesh("m")
    for own, other in zip((mesh.uservert, mesh.userface, mesh.usernormal), later_run(READ, xml=xml), strict=True):
        np.testing.assert_allclose(own, other, rtol=0.0, atol=1e-7)
    generated = spec.compile()
    mesh.uservert[0] = mesh.uservert[0]
    assert "builtin" not in spec.to_xml()
    explicit = spec.compile()
    for name in FIELDS:
        np.testing.assert_allclose(getattr(explicit, name), getattr(generated, name), atol=1e-12, err_msg=name)
