"""Parity, level 1 (compile): meshes of all formats, transformed, as geoms and as shapes fitted to them, to 1e-9.

Vertices and normals are single precision, so that they must agree to the last bit. Without Qhull's program
the hull graph is compared by its meaning: the same vertices and the same edges.
"""

from __future__ import annotations

import struct
from itertools import product

import mujoco
import numpy as np
import pytest
from reference import UNREADABLE

from cardan.api.loading import load_string
from cardan.compiler.meshes.qhull import library
from cardan.formats.meshes import read_stl
from cardan.model.tables import MODEL

TOLERANCE = 1e-9
NOT_COMPARED = {"narena", "nbuffer", *UNREADABLE} | ({"mesh_graph"} if library() is None else set())
RNG = np.random.default_rng(0)
RINGS, SECTIONS = 9, 6


def torus() -> tuple[np.ndarray, np.ndarray]:
    """An uneven torus off the origin: not convex, without symmetry."""
    u, v = np.meshgrid(np.arange(RINGS) * 2 * np.pi / RINGS, np.arange(SECTIONS) * 2 * np.pi / SECTIONS, indexing="ij")
    radius = 1.0 + 0.3 * np.cos(v)
    vertex = np.stack([radius * np.cos(u), 0.7 * radius * np.sin(u), 0.3 * np.sin(v)], axis=-1).reshape(-1, 3)
    vertex = vertex * (1.0 + 0.2 * RNG.random((len(vertex), 1))) + (0.3, 0.1, 0.2)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(RINGS), np.arange(SECTIONS), indexing="ij"))
    right, up = (i + 1) % RINGS * SECTIONS, (j + 1) % SECTIONS
    a, b, c, d = i * SECTIONS + j, right + j, right + up, i * SECTIONS + up
    return vertex.astype(np.float32), np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


VERTEX, FACE = torus()
NORMAL, TEXCOORD = RNG.normal(size=VERTEX.shape), RNG.random((len(VERTEX), 2))


def stl(vertex: np.ndarray, face: np.ndarray) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *vertex[corners].ravel(), 0) for corners in face)
    return bytes(80) + struct.pack("<I", len(face)) + rows


def lines(word: str, rows: np.ndarray) -> str:
    return "".join(f"{word} {' '.join(map(repr, row))}\n" for row in np.asarray(rows, float).tolist())


def obj(full: bool) -> bytes:
    corner = "{0}/{0}/{0}" if full else "{0}"
    faces = "".join(f"f {' '.join(corner.format(k + 1) for k in row)}\n" for row in FACE.tolist())
    rest = lines("vn", NORMAL) + lines("vt", TEXCOORD) if full else ""
    return (lines("v", VERTEX) + rest + faces).encode()


def msh(full: bool) -> bytes:
    more = len(VERTEX) if full else 0
    parts = [np.array([len(VERTEX), more, more, len(FACE)], "<i4"), VERTEX.astype("<f4")]
    parts += [NORMAL.astype("<f4"), TEXCOORD.astype("<f4")] if full else []
    return b"".join(part.tobytes() for part in [*parts, FACE.astype("<i4")])


def numbers(rows: np.ndarray) -> str:
    return " ".join(map(repr, np.asarray(rows, float).ravel().tolist()))


FILES = {"a.stl": stl(VERTEX, FACE), "a.obj": obj(False), "n.obj": obj(True), "a.msh": msh(False), "n.msh": msh(True)}
INLINE = f'vertex="{numbers(VERTEX)}" face="{" ".join(map(str, FACE.ravel()))}"'
CLOUD = f'vertex="{numbers(VERTEX)}"'
FULL = f'{INLINE} normal="{numbers(NORMAL)}" texcoord="{numbers(TEXCOORD)}"'
FLAT = 'vertex="0 0 0 1 0 0 0 1 0 1 1 0" face="0 1 2 1 3 2"'
CHANGES = (
    "", 'scale="-1 1 1"', 'scale="2 -.5 -1.3"', 'refpos=".1 -.2 .3"', 'refquat="1 2 -.3 .4"', 'scale=".01 .01 .01"',
    'refpos=".1 -.2 .3" refquat="1 2 -.3 .4" scale=".7 -1.3 2"', 'smoothnormal="true"',
)  # fmt: skip


def edges(m: object, mesh: int) -> set[tuple[int, int]] | None:
    """Edges of a mesh's hull graph between vertices of the mesh, None when there is no graph."""
    adr = m.mesh_graphadr[mesh]
    if adr < 0:
        return None
    nvert, nface = m.mesh_graph[adr : adr + 2]
    start, ids, local = np.split(m.mesh_graph[adr + 2 : adr + 2 + 3 * nvert + 3 * nface], [nvert, 2 * nvert])
    found = set()
    for vertex in range(nvert):
        at = start[vertex]
        while local[at] >= 0:
            found.add((int(ids[vertex]), int(ids[local[at]])))
            at += 1
    return found


def check(xml: str, assets: dict[str, bytes] | None = None) -> None:
    """Both compile the model to the same fields."""
    expected, found = mujoco.MjModel.from_xml_string(xml, assets or {}), load_string(xml, assets)
    for field in MODEL.fields:
        if field.is_attached or field.name in NOT_COMPARED:
            continue
        left, right = expected, found
        for part in field.name.split("."):
            left, right = getattr(left, part), getattr(right, part)
        if isinstance(left, bytes):
            assert left == right, field.name
            continue
        left, right = np.asarray(left, float).ravel(), np.asarray(right, float).ravel()
        assert left.size == right.size, field.name
        worst = np.max(np.abs(left - right) / np.maximum(1.0, np.abs(left)), initial=0.0)
        assert worst <= TOLERANCE, f"{field.name}: {worst:g}"
    for mesh in range(expected.nmesh):
        assert edges(expected, mesh) == edges(found, mesh)


def model(mesh: str, geom: str = 'type="mesh"', compiler: str = "") -> str:
    return (
        f'<mujoco><compiler {compiler}/><asset><mesh name="a" {mesh}/></asset>'
        f'<worldbody><body><geom mesh="a" {geom}/></body></worldbody></mujoco>'
    )


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", FILES)
def test_files(name: str, change: str) -> None:
    check(model(f'file="{name}" {change}'), {name: FILES[name]})


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("mesh", [INLINE, CLOUD, FULL], ids=["faces", "cloud", "full"])
def test_inline(mesh: str, change: str) -> None:
    check(model(f"{mesh} {change}"))


@pytest.mark.parametrize("compiler", ["", 'exactmeshinertia="true"', 'convexhull="false"'])
@pytest.mark.parametrize(
    "geom",
    ["", 'mass="2"', 'density="10"', 'contype="0" conaffinity="0"', 'shellinertia="true" pos="1 2 3" quat="1 1 0 0"'],
)
def test_mass(geom: str, compiler: str) -> None:
    check(model(INLINE, f'type="mesh" {geom}', compiler))
    check(model('file="a.stl"', f'type="mesh" {geom}', compiler), {"a.stl": stl(VERTEX, FACE[:, ::-1])})


SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")


@pytest.mark.parametrize(
    ("shape", "compiler"), list(product(SHAPES, ("", 'exactmeshinertia="true"', 'fitaabb="true"')))
)
def test_fitted(shape: str, compiler: str) -> None:
    check(model(INLINE, f'type="{shape}" fitscale="1.3" pos=".1 .2 .3" quat="1 2 3 4"', compiler))


def test_flat_and_unused() -> None:
    visual = 'type="mesh" contype="0" conaffinity="0"'
    check(model(FLAT, f'{visual} mass="0"'))
    check(model(FLAT, f'{visual} shellinertia="true"'))
    check(f'<mujoco><asset><mesh name="a" {INLINE}/></asset></mujoco>')


def test_repeated_corners_of_stl() -> None:
    # many different corners share a number x + y / 100 + z / 10000 in single precision
    rng = np.random.default_rng(1)
    pool = rng.normal(size=(300, 3)) * (1e-8, 1e-6, 1e-4) + (0.1, 0.05, 0.02)
    corner = pool[rng.integers(0, len(pool), 1200)].astype(np.float32)
    corner[:12] = rng.normal(size=(12, 3))
    expected = mujoco.MjModel.from_xml_string(
        model('file="a.stl"', 'type="box" size="1 1 1"'), {"a.stl": stl(corner, np.arange(1200).reshape(-1, 3))}
    )
    assert expected.nmeshvert > len(np.unique(corner, axis=0))
    found = read_stl(stl(corner, np.arange(1200).reshape(-1, 3)))
    np.testing.assert_array_equal(found.face, expected.mesh_face)


@pytest.mark.parametrize("exact", ["false", "true"])
@pytest.mark.parametrize("count", [3, 4, 5, 8, 16, 33])
def test_frames_of_round_meshes_agree_to_the_last_bit(count: int, exact: str) -> None:
    angle = np.arange(count) * 2 * np.pi / count + 0.1
    rng = np.random.default_rng(count)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    vertex = np.concatenate([ring, ring + [0, 0, 0.8], [[0, 0, -0.2], [0, 0, 1.3]]]) @ turn * 0.05 + rng.random(3)
    k, after = np.arange(count), (np.arange(count) + 1) % count
    low, high = np.full(count, 2 * count), np.full(count, 2 * count + 1)
    sides = [
        (after, k, low),
        (k, after, k + count),
        (after, after + count, k + count),
        (k + count, after + count, high),
    ]
    face = np.concatenate([np.stack(side, axis=1) for side in sides])
    corners = " ".join(map(str, face.ravel()))
    points = " ".join(map(repr, vertex.ravel().tolist()))
    xml = f"""<mujoco><compiler exactmeshinertia="{exact}"/>
    <asset><mesh name="m" vertex="{points}" face="{corners}"/></asset>
    <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(xml), load_string(xml)
    for name in ("mesh_pos", "mesh_quat", "mesh_vert", "mesh_normal", "geom_pos", "geom_quat", "bvh_nodeid"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


def random_polygon(rng: np.random.Generator) -> np.ndarray:
    """Corners of a simple polygon around the origin, in either sense (n, 2)."""
    while True:
        angle = np.sort(rng.random(rng.integers(4, 10))) * 2 * np.pi
        if np.diff([*angle, angle[0] + 2 * np.pi]).max() < 2.8:
            corners = rng.uniform(0.3, 1, len(angle)) * np.array([np.cos(angle), np.sin(angle)])
            return corners.T[:: rng.choice([1, -1])]


@pytest.mark.parametrize("turned", [False, True])
def test_polygons_are_cut_as_in_the_reference(turned: bool) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        corners = random_polygon(rng)
        count, axis = len(corners), rng.integers(3)
        vertex = np.insert(corners, axis, 0.0, axis=1)
        vertex = np.concatenate([vertex, np.eye(3)[[axis]]])
        if turned:
            vertex = vertex @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        polygons = [range(1, count + 1), *([(k + 1) % count + 1, k + 1, count + 1] for k in range(count))]
        content = lines("v", vertex) + "".join(f"f {' '.join(map(str, polygon))}\n" for polygon in polygons)
        xml = """<mujoco><asset><mesh name="m" file="m.obj"/></asset>
        <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
        theirs = mujoco.MjModel.from_xml_string(xml, {"m.obj": content.encode()})
        ours = load_string(xml, {"m.obj": content.encode()})
        assert ours.mesh_face.tolist() == theirs.mesh_face.tolist()


# a place at the last of its trials, a tie of two axes, nearly collinear corners, a corner beside the first one
HARD_POLYGONS = (
    "v .001744 -.002016 -.139649 v .001379 -.002099 -.14548 v .001019 -.002429 -.167378 "
    "v .001155 -.006599 -.167364 v .001116 -.006328 -.139624",
    "v .258318 .049396 -.074984 v .257952 .049396 -.074618 v .257947 .045974 -.074621 "
    "v .258155 .045962 -.074784 v .258314 .045954 -.074997",
    "v -.085428 .143875 .030713 v -.085428 .143291 .033208 v -.085428 .142442 .036437 "
    "v -.091053 .142442 .036438 v -.091053 .143875 .030714",
    "v -.046148 .015254 -.223845 v -.038794 .016794 -.222878 v -.03876 .016662 -.23 "
    "v -.046142 .015102 -.231135 v -.046148 .015254 -.223846",
)


def files_of_polygons() -> dict[str, str]:
    """Polygons of robots' meshes that are decided by rounding, and random ones that cross themselves or aren't flat."""
    rng = np.random.default_rng(11)
    size = rng.integers(4, 9, size=1500)
    points = rng.random((size.sum(), 3))
    points[: len(points) // 2, 2] = 0.0
    text, after = lines("v", points), 1 + np.cumsum(size)
    for n, end in zip(size.tolist(), after.tolist(), strict=True):
        text += f"f {' '.join(map(str, range(end - n, end)))}\n"
    hard = "".join(polygon.replace(" v ", "\nv ") + "\nf -5 -4 -3 -2 -1\n" for polygon in HARD_POLYGONS)
    return {"hard": hard, "random": text}


@pytest.mark.parametrize("name", ["hard", "random"])
def test_polygons_that_are_hard_to_cut(name: str) -> None:
    content = files_of_polygons()[name].encode()
    xml = """<mujoco><asset><mesh name="m" file="m.obj"/></asset>
    <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml, {"m.obj": content})
    ours = load_string(xml, {"m.obj": content})
    assert ours.mesh_face.tolist() == theirs.mesh_face.tolist()


@pytest.mark.parametrize("scale", [1.0, 1e-3])
@pytest.mark.parametrize("length", [1e-3, 4e-6, 4e-8, 2e-8, 0.0])
def test_tiny_normals_of_a_file_have_no_direction(length: float, scale: float) -> None:
    name = f"normals_{length}_{scale}.obj"  # the reference keeps what it read under a name
    content = lines("v", np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    content += f"vn {0.6 * length} {0.8 * length} 0\n"
    content += "".join(f"f {a}//1 {b}//1 {c}//1\n" for a, b, c in [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)])
    xml = f"""<mujoco><asset><mesh name="m" file="{name}" scale="{scale} {scale} {scale}"/></asset>
    <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml, {name: content.encode()})
    ours = load_string(xml, {name: content.encode()})
    assert np.abs(ours.mesh_normal - theirs.mesh_normal).max() < 1e-6


POINTS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
SOLID = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
AGAIN = SOLID + "f 2 3 4\n"
SHAPES = {
    "objects": POINTS + "o a\n" + SOLID + "o b\n" + AGAIN,
    "groups": POINTS + "g a\n" + AGAIN + "g b\n" + SOLID,
    "without a name": POINTS + "o a\n" + SOLID + "g\n" + SOLID + "o \n" + AGAIN,
    "empty at first": POINTS + "o a\ng b\n" + AGAIN + "o c\n" + SOLID,
    "later vertices": "o a\n" + POINTS + SOLID + "o b\nv 0 0 2\nf 1 2 5\n",
    "materials": POINTS + "usemtl a\n" + SOLID + "usemtl b\ns 1\n" + AGAIN,
    "lines first": POINTS + "o a\nl 1 2\no b\n" + AGAIN,
    "ends of lines": (POINTS + "o a\n" + SOLID + "o b\n" + AGAIN).replace("\n", "\r"),
    "wrong later": POINTS + SOLID + "o b\nf 1 2 9\n",
    "few corners": POINTS + "f 1 2\nf 1\n" + AGAIN,
    "short lines": POINTS + "v 1 1\nv 1 2 x\nvt 1\n" + AGAIN,
    "missing normals": POINTS + "vn 0 0 1\nf 1//2 2//1 3//1\n" + AGAIN,
    "backwards": POINTS + "f -4 -2 -3\nv 1 1 1\nf -5 -3 -1\n" + SOLID,
    "backwards, carefully": POINTS + "f -4.0 -2 -3\nv 1 1 1\nf -5 -3 -1\n" + SOLID,
    "fractions": POINTS + "f 1.0 2.0 3.0\n" + SOLID,
}


@pytest.mark.filterwarnings("ignore:.*OBJ file")
@pytest.mark.parametrize("content", SHAPES.values(), ids=SHAPES)
def test_shapes_of_an_obj_file(content: str) -> None:
    """Only the first shape counts; what is dubious is read as in the reference."""
    xml = """<mujoco><asset><mesh name="m" file="m.obj"/></asset>
    <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml, {"m.obj": content.encode()})
    ours = load_string(xml, {"m.obj": content.encode()})
    assert ours.mesh_face.tolist() == theirs.mesh_face.tolist()
    np.testing.assert_allclose(ours.mesh_vert, theirs.mesh_vert, atol=1e-6)


def test_dropped_shapes_are_reported() -> None:
    xml = """<mujoco><asset><mesh name="m" file="m.obj"/></asset>
    <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    with pytest.warns(UserWarning, match="5 faces of other shapes are dropped"):
        load_string(xml, {"m.obj": SHAPES["objects"].encode()})


def test_normals_of_two_sided_faces() -> None:
    """Where the faces around a vertex cancel out, one side or none is left by its angle to x."""
    rng = np.random.default_rng(3)
    corner = rng.uniform(-1, 1, (40, 3, 3)).astype(np.float32)
    corner[::2] = corner[::2, :1] + 1e-4 * rng.integers(-8, 8, (20, 3, 3)) / 8
    corner[1::4, :, 0] *= 0.05
    vertex = np.concatenate([VERTEX + 3, corner.reshape(-1, 3)])
    sheet = np.arange(len(VERTEX), len(vertex)).reshape(-1, 3)
    face = np.concatenate([FACE, sheet, sheet[:, ::-1]])
    corners = " ".join(map(str, face.ravel()))
    xml = f"""<mujoco><asset><mesh name="m" vertex="{numbers(vertex)}" face="{corners}"/></asset>
    <worldbody><geom type="mesh" mesh="m" contype="0" conaffinity="0"/></worldbody></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(xml), load_string(xml)
    np.testing.assert_allclose(ours.mesh_normal, theirs.mesh_normal, atol=1e-6)
    assert len(np.unique(np.round(theirs.mesh_normal, 3), axis=0)) > 20
