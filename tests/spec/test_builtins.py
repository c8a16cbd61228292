"""Meshes that the compiler makes."""

from math import pi

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError
from cardan.formats.raw import MeshDataError
from cardan.spec.builtins import builtin_mesh, has_volume

READ = """
spec = mujoco.MjSpec.from_string(f'<mujoco><asset><mesh name="m" builtin="{kind}" params="{params}"/></asset></mujoco>')
mesh = spec.mesh("m")
out = [np.array(rows).reshape(-1, 3) for rows in (mesh.uservert, mesh.userface, mesh.usernormal)]
"""
LATTICE = ("2 3 4 .1 .2 .3", "3 4 5 .1 .2 .3 2", "4 4 3 .1 .2 .3 2", "4 3 5 .1 .2 .3 3")
KINDS = {
    "sphere": ("0", "1", "3"),
    "hemisphere": ("0", "1", "5"),
    "cone": ("3 0", "4 .5", "7 1"),
    "supersphere": ("3 1 1", "12 .2 .3", "5 0 2"),
    "supertorus": ("3 .5 1 1", "12 .2 .4 1"),
    "wedge": ("4 2 60 40 0", "3 6 180 89 1", "5 4 30 20 .3"),
    "plate": ("2 2", "5 3"),
    "grid": ("2 3 4 .1 .2 .3", "3 4 1 .1 .2 .3 2"),
    "box": LATTICE,
    "cylinder": LATTICE,
    "ellipsoid": LATTICE,
    "square": ("2 3 1 .1 .2 .3",),
    "disc": ("3 3 1 .1 .2 .3", "5 6 1 .1 .2 .3"),
}


def numbers(params: str) -> tuple[float, ...]:
    """The numbers of a text."""
    return tuple(map(float, params.split()))


@pytest.mark.parametrize(("kind", "params"), [(kind, params) for kind, all_ in KINDS.items() for params in all_])
def test_as_in_4_0(kind: str, params: str) -> None:
    """Vertices, faces and normals have the positions and the order of 4.0.0."""
    made = builtin_mesh(kind, numbers(params))
    for own, other in zip(
        (made.vertex, made.face, made.normal), later_run(READ, kind=kind, params=params), strict=True
    ):
        np.testing.assert_allclose(own, other, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("level", range(5))
def test_sphere(level: int) -> None:
    """Numbers of vertices and faces, and vertices on the unit sphere."""
    made = builtin_mesh("sphere", (level,))
    assert len(made.vertex) == 2 + 10 * 4**level
    assert len(made.face) == 20 * 4**level
    np.testing.assert_allclose(np.linalg.norm(made.vertex, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "params", "volume"),
    [
        ("sphere", "4", 4.0 / 3.0 * pi),
        ("hemisphere", "10", 2.0 / 3.0 * pi),
        ("cone", "100 0", 2.0 / 3.0 * pi),
        ("supersphere", "60 1 1", 4.0 / 3.0 * pi),
        ("supertorus", "60 .3 1 1", 2.0 * pi * pi * 0.09),
        ("box", "3 4 5 .1 .2 .3", 0.2 * 0.6 * 1.2),
    ],
)
def test_volumes(kind: str, params: str, volume: float) -> None:
    """Surfaces are closed and oriented: their exact volume is that of the shape, nearly."""
    mesh = f'<mesh name="m" builtin="{kind}" params="{params}" inertia="exact"/>'
    body = '<worldbody><body><geom type="mesh" mesh="m" density="1"/></body></worldbody>'
    m = cardan.MjModel.from_xml_string(f"<mujoco><asset>{mesh}</asset>{body}</mujoco>")
    assert m.body_mass[1] == pytest.approx(volume, rel=0.03)


def test_normals_are_frames() -> None:
    """Wedges and plates, made for tactile sensors, have three orthogonal axes at each vertex."""
    for kind, params in (("wedge", (6, 5, 60, 40, 0.5)), ("plate", (3, 4))):
        made = builtin_mesh(kind, params)
        frames = made.normal.reshape(-1, 3, 3).astype(float)
        assert len(frames) == len(made.vertex)
        np.testing.assert_allclose(
            frames @ frames.transpose(0, 2, 1), np.broadcast_to(np.eye(3), frames.shape), atol=1e-6
        )


def test_shapes_without_volume() -> None:
    """Their default inertia is that of the surface."""
    flat = [kind for kind, all_ in KINDS.items() if not has_volume(kind, numbers(all_[-1]))]
    assert flat == ["plate", "grid", "square", "disc"]
    assert not has_volume("box", numbers(LATTICE[1]))
    mesh = '<mesh name="m" builtin="box" params="3 3 3 .1 .1 .1 2"/>'
    body = '<worldbody><body><geom type="mesh" mesh="m" density="1"/></body></worldbody>'
    m = cardan.MjModel.from_xml_string(f"<mujoco><asset>{mesh}</asset>{body}</mujoco>")
    assert m.body_mass[1] == pytest.approx(5.0 * 0.04)


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        ("sphere", "5", "subdivision must be between 0 and 4, found 5"),
        ("sphere", "1 2", r"a sphere has 1 parameters \(subdivision\), found 2"),
        ("hemisphere", "-1", "resolution must be between 0 and 10"),
        ("cone", "2 0", "nvert must be between 3 and 10000, found 2"),
        ("cone", "3 1.5", "radius must be between 0 and 1"),
        ("supersphere", "3 -1 1", "e must be at least 0"),
        ("supertorus", "3 0 1 1", "radius must be between"),
        ("wedge", "0 1 60 60 0", "res_phi must be between 1 and 10000"),
        ("plate", "0 1", "res_x must be between 1 and 10000"),
        ("grid", "2 2 2 1 1", "has 6 or 7 parameters"),
        ("grid", "3 3 3 1 1 1 2", "one vertex along z"),
        ("grid", "1 3 3 1 1 1", "at least 2 vertices"),
        ("box", "1 2 2 1 1 1", "count must be between 2 and 10000"),
        ("box", "200 200 200 1 1 1", "more than 1000000 vertices"),
        ("supersphere", "9999 1 1", "more than 1000000 vertices"),
        ("supertorus", "9999 0.5 1 1", "more than 1000000 vertices"),
        ("wedge", "9999 9999 60 60 0", "more than 1000000 vertices"),
        ("plate", "9999 9999", "more than 1000000 vertices"),
        ("cone", "1e9 0", "nvert must be between 3 and 10000, found 1e"),
        ("disc", "1 3 1 1 1 1", "at least 2 vertices along x and y"),
    ],
)
def test_wrong_parameters(kind: str, params: str, message: str) -> None:
    """The error names the parameter and what would be right."""
    with pytest.raises(MeshDataError, match=message):
        builtin_mesh(kind, numbers(params))


def test_other_sources_are_excluded() -> None:
    """A mesh has one source of vertices."""
    for other in ('vertex="0 0 0 1 0 0 0 1 0 0 0 1"', 'file="m.stl"'):
        name = other.partition("=")[0]
        with pytest.raises(MjcfError, match=rf"builtin and {name} exclude each other"):
            cardan.MjModel.from_xml_string(
                f'<mujoco><asset><mesh name="m" builtin="sphere" params="1" {other}/></asset></mujoco>'
            )
