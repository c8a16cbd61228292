"""Mesh files and data that the compiler refuses, and what the message must say."""

from __future__ import annotations

import struct
from contextlib import suppress

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan.api.loading import load_string
from cardan.compiler.meshes.hull import convex_hull
from cardan.errors import MjcfError
from cardan.formats.meshes import read_stl
from cardan.formats.obj import read_obj

TETRA = "0 0 0 1 0 0 0 1 0 0 0 1"
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"


def load(mesh: str, assets: dict[str, bytes] | None = None, geom: str = 'type="mesh"') -> None:
    load_string(
        f'<mujoco><asset><mesh name="a" {mesh}/></asset>'
        f'<worldbody><body><geom mesh="a" {geom}/></body></worldbody></mujoco>',
        assets,
    )


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        ("", "4 vertices"),
        ('vertex="0 0 0 1 0 0"', "4 vertices"),
        (f'vertex="{TETRA} 1"', "multiple of 3"),
        (f'vertex="{TETRA}" face="0 1"', "multiple of 3"),
        (f'vertex="{TETRA}" face="0 1 9"', "vertex 9"),
        (f'vertex="{TETRA}" face="0 1 -1"', "vertex -1"),
        (f'vertex="{TETRA}" texcoord="0 1"', "texcoord"),
        ('vertex="0 0 0 1 0 0 0 1 0 1 1 0"', "plane"),
        ('file="nothere.obj"', "not found"),
        ('file="a.xyz"', ".stl, .obj or .msh"),
    ],
)
def test_refused(mesh: str, words: str) -> None:
    with pytest.raises(MjcfError, match="<mesh") as caught:
        load(mesh)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.stl", b"x" * 20, "truncated"),
        ("a.stl", bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50), "truncated"),
        ("a.stl", bytes(84), "truncated"),
        ("a.stl", b"solid x\nvertex 1 2 3\n", "truncated"),
        ("a.msh", b"x" * 10, "four integers"),
        ("a.msh", struct.pack("<4i", 2**31 - 1, 0, 0, 0), "impossible counts"),
        ("a.msh", struct.pack("<4i", 4, 0, 0, 4), "truncated"),
        ("a.obj", b"\x00\xff", "no vertices"),
        ("a.obj", b"v 1 2\n", "4 vertices"),
        ("a.obj", (OBJ + "f 1 2 9\n").encode(), "vertex 9"),
        ("a.obj", (OBJ + "f a b c\n").encode(), "v/vt/vn"),
        ("a.obj", OBJ.replace("1\n", "nan\n", 1).encode() + b"v 0 0 nan\nf 1 2 3\n", "not finite"),
    ],
)
def test_broken_file(name: str, content: bytes, words: str) -> None:
    with pytest.raises(MjcfError) as caught:
        load(f'file="{name}"', {name: content})
    assert words in str(caught.value)


def test_text_stl() -> None:
    rows = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\nendloop\nendfacet\n"
    raw = read_stl(f"solid x\n{rows}{rows}endsolid x\n".encode())
    assert raw.vertex.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert raw.face.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_hull_graph_of_cube() -> None:
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)] + [[0.5] * 3], np.float32)
    hull = convex_hull(corner)
    face, graph = hull.face, hull.graph
    assert graph[:2].tolist() == [8, 12]
    assert len(graph) == 2 + 3 * 8 + 6 * 12
    a, b, c = (corner[face[:, k]].astype(float) - 0.5 for k in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a) > 0).all()


ICOSAHEDRON = (
    "0 0 1.2  .894 0 .447  .276 .851 .447  -.724 .526 .447  -.724 -.526 .447  .276 -.851 .447 "
    ".724 .526 -.447  -.276 .851 -.447  -.894 0 -.447  -.276 -.851 -.447  .724 -.526 -.447  0 0 -1"
)


def neighbours_of(graph: np.ndarray) -> dict[int, list[int]]:
    """Numbers in the mesh of the neighbours of each vertex of a hull, in order."""
    count, faces = graph[:2]
    adr, globalid, edges = np.split(graph[2 : 2 + 3 * count + 3 * faces], [count, 2 * count])
    lists = {int(globalid[k]): edges[adr[k] :] for k in range(count)}
    return {k: globalid[edge[: np.argmax(edge < 0)]].tolist() for k, edge in lists.items()}


def test_neighbours_come_in_the_order_of_the_reference() -> None:
    xml = f'''<mujoco><asset><mesh name="m" vertex="{ICOSAHEDRON}"/></asset>
        <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'''
    own, reference = (engine.MjModel.from_xml_string(xml).mesh_graph for engine in (cardan, mujoco))
    assert neighbours_of(own) == neighbours_of(reference)


def test_primitive_may_be_a_shell() -> None:
    """As in later versions; 3.1.6 refuses it (docs/differences.md)."""
    xml = '<mujoco><worldbody><body><geom type="sphere" size=".1" mass="1" {}/></body></worldbody></mujoco>'
    solid = cardan.MjModel.from_xml_string(xml.format("")).body_inertia[1]
    shell = cardan.MjModel.from_xml_string(xml.format('shellinertia="true"')).body_inertia[1]
    assert shell == pytest.approx(solid * 5 / 3)


@given(
    st.sampled_from(["a.stl", "a.obj", "a.msh"]),
    st.lists(st.tuples(st.floats(0.0, 1.0, exclude_max=True), st.integers(0, 255)), max_size=8),
    st.integers(0, 400),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_damaged_files_are_refused_or_read(name: str, changes: list[tuple[float, int]], cut: int) -> None:
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4")
    face = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "<i4")
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corner[row].ravel(), 0) for row in face)
    whole = {
        "a.stl": bytes(80) + struct.pack("<I", 4) + rows,
        "a.obj": OBJ.encode() + b"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        "a.msh": struct.pack("<4i", 4, 0, 0, 4) + corner.tobytes() + face.tobytes(),
    }
    content = bytearray(whole[name])
    for where, byte in changes:
        content[int(where * len(content))] = byte
    with suppress(MjcfError):
        load(f'file="{name}"', {name: bytes(content[: len(content) - cut % 40])})


def polygon(corners: np.ndarray) -> bytes:
    """An OBJ file with one polygon in the plane z = 0."""
    rows = "".join(f"v {x} {y} 0\n" for x, y in corners.tolist())
    return (rows + "v 0 0 1\nf " + " ".join(str(k + 1) for k in range(len(corners)))).encode()


@pytest.mark.parametrize("count", [100, 101])
def test_polygons_with_too_many_corners_are_dropped(count: int) -> None:
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    mesh = read_obj(polygon(np.stack([np.cos(angle), np.sin(angle)], axis=1)))
    assert len(mesh.face) == (count - 2 if count <= 100 else 0)
    assert ["more than 100 corners" in remark for remark in mesh.remarks] == [True] * (count > 100)


def test_what_is_left_of_a_polygon_that_crosses_itself_is_dropped() -> None:
    crossing = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert len(read_obj(polygon(crossing)).face) <= 2
