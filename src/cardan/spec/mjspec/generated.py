"""Generated meshes and flexes of a specification: ``mesh.make_sphere``, ``body.make_flex``, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.errors import suggestion
from cardan.spec.layout import keys_kept
from cardan.spec.mjspec.values import to_tree
from cardan.spec.schema.keywords import ELASTIC_2D, FLEX_EQUALITY

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.mjspec.assets import MjsFlex, MjsMesh
    from cardan.spec.mjspec.bodies import MjsBody

_LATTICES = ("grid", "box", "cylinder", "ellipsoid")
_SOLID = 3
_DIMENSION_PARAMETER = 6  # number of the parameter ``dim`` of a lattice


class GeneratedMesh:
    """The methods of a mesh that let the compiler generate it. They set ``builtin`` and ``params``."""

    def _generate(self: Any, kind: str, *params: Any) -> None:
        """Set kind and parameters of a generated mesh. Raises MjcfError for invalid parameters."""
        element: Element = self.element
        row = element.row.attributes["params"]
        numbers = to_tree(row, [number for part in params for number in np.ravel(part).tolist()])
        self._made({"builtin": kind, "params": numbers})
        for name in ("vertex", "normal", "texcoord", "face", "file"):
            element.attributes.pop(name, None)
        element["builtin"], element["params"] = kind, numbers

    def make_wedge(self, resolution: Any = (0, 0), fov: Any = (0.0, 0.0), gamma: float = 0) -> None:
        """Make a part of a sphere, as a sensor sees it: numbers of points, fields of view (degrees), curvature."""
        self._generate("wedge", resolution, fov, gamma)

    def make_plate(self, resolution: Any = (0, 0)) -> None:
        """Make a flat plate with numbers of points along x and y."""
        self._generate("plate", resolution)

    def make_sphere(self, subdivision: int) -> None:
        """Make a sphere: an icosahedron with faces subdivided ``subdivision`` times."""
        self._generate("sphere", subdivision)

    def make_hemisphere(self, resolution: int) -> None:
        """Make half of a sphere with ``resolution`` rows of faces."""
        self._generate("hemisphere", resolution)

    def make_cone(self, nedge: int, radius: float) -> None:
        """Make a cone with ``nedge`` sides, cut off where its radius is ``radius``."""
        self._generate("cone", nedge, radius)

    def make_supersphere(self, resolution: int, e: float, n: float) -> None:
        """Make a superellipsoid with exponents ``e`` (east-west) and ``n`` (north-south)."""
        self._generate("supersphere", resolution, e, n)

    def make_supertorus(self, resolution: int, radius: float, s: float, t: float) -> None:
        """Make a supertorus: radius of the tube, exponents ``s`` and ``t``."""
        self._generate("supertorus", resolution, radius, s, t)

    def make_grid(self, count: Any, spacing: Any, dim: int = _SOLID) -> None:
        """Make a grid of points: numbers of points and their spacing (m) along three axes, dimension of elements."""
        self._generate("grid", count, spacing, dim)

    def make_box(self, count: Any, spacing: Any, dim: int = _SOLID) -> None:
        """Make a box from a grid of points; see `make_grid`."""
        self._generate("box", count, spacing, dim)

    def make_cylinder(self, count: Any, spacing: Any, dim: int = _SOLID) -> None:
        """Make a cylinder from a grid of points; see `make_grid`."""
        self._generate("cylinder", count, spacing, dim)

    def make_ellipsoid(self, count: Any, spacing: Any, dim: int = _SOLID) -> None:
        """Make an ellipsoid from a grid of points; see `make_grid`."""
        self._generate("ellipsoid", count, spacing, dim)

    def make_square(self, count: Any, spacing: Any) -> None:
        """Make a flat square from a grid of points; see `make_grid`."""
        self._generate("square", count, spacing)

    def make_disc(self, count: Any, spacing: Any) -> None:
        """Make a flat disc from a grid of points; see `make_grid`."""
        self._generate("disc", count, spacing)


def make_flex(
    self: MjsBody,
    name: str,
    type: str | None = None,
    dim: int = _SOLID,
    dof: str | None = None,
    count: Sequence[int] | None = None,
    cellcount: Sequence[int] | None = None,
    spacing: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
    radius: float | None = None,
    mass: float = 1.0,
    inertiabox: float = 0.005,
    equality: int = 0,
    rigid: bool = False,
    flatskin: bool = False,
    elastic2d: int = 0,
    pos: Sequence[float] | None = None,
    quat: Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    file: str | None = None,
    mesh: str | None = None,
    vfs: Any = None,
) -> MjsFlex:
    """Add a flex with its bodies and joints to a body, as the macro ``flexcomp`` of MJCF does.

    Args:
        self: the body, which needs a name unless it is the world.
        name: name of the flex.
        type: how points and elements are made, as in MJCF: ``grid`` (default), ``box``, ``mesh``, ...
        dim: dimension of the elements.
        dof: how points move: ``full``, ``radial``, ``2d``, ``trilinear``, ...
        count: number of points along each axis.
        cellcount: number of cells of an interpolated flex.
        spacing: distances of points along each axis, m.
        scale: scaling of the points.
        radius: radius of the elements, m. None: the default of MJCF.
        mass: total mass, kg.
        inertiabox: half side of the boxes that give the points inertia, m.
        equality: constraints: 0 none, 1 lengths of edges, 3 strain.
        rigid: whether all points belong to the body.
        flatskin: whether the flex is shaded flat.
        elastic2d: elastic forces of a shell: 0 none, 1 bending, 2 stretching, 3 both.
        pos: position in the body, m.
        quat: orientation in the body.
        origin: point that forms a tetrahedron with each triangle of a surface, m.
        file: file of points and elements.
        mesh: name of a mesh of this specification with the points. Excludes ``file``.
        vfs: virtual file system with the file.

    Raises:
        ValueError: both ``file`` and ``mesh`` are given, or the mesh does not exist.
        MjcfError: a value breaks a rule of ``flexcomp``.
    """
    spec: Any = self.spec
    given: dict[str, Any] = {"name": name, "dim": dim, "mass": mass, "inertiabox": inertiabox, "rigid": bool(rigid)}
    given |= {"type": type, "dof": dof, "count": count, "spacing": spacing, "scale": scale, "radius": radius}
    given |= {"pos": pos, "quat": quat, "origin": origin, "file": file, "cellcount": cellcount}
    given |= {"flatskin": True} if flatskin else {}
    if mesh is not None:
        if file is not None:
            raise ValueError(f"make_flex '{name}': both 'file' and 'mesh' are given; give one of them")
        asset = spec.mesh(mesh)
        if asset is None:
            raise ValueError(f"make_flex '{name}': mesh '{mesh}' not found{suggestion(mesh, spec.tree.names('mesh'))}")
        given |= points_of(asset, dim)
    with keys_kept(spec.tree), spec.files_of(vfs):
        _expand(self.element, given, FLEX_EQUALITY.words.get(equality, "true"), ELASTIC_2D.words[elastic2d])
    spec.edited()
    return spec.flex(name)


def _expand(parent: Element, given: dict[str, Any], equality: str, elastic2d: str) -> None:
    """Add a flexcomp with the values ``given`` that are not None, and expand it. After an error, nothing is added."""
    from cardan.spec.flexcomp.expand import expand

    macro = parent.add("flexcomp")
    try:
        for key, value in given.items():
            if value is not None:
                try:
                    macro[key] = to_tree(macro.row.attributes[key], value)
                except (TypeError, ValueError) as error:
                    raise macro.error(str(error), key) from None
        if equality != "false":
            macro.add("edge", equality=equality)
        if elastic2d != "none":
            macro.add("elasticity", elastic2d=elastic2d)
        expand(macro)
    except Exception:
        if macro in parent.children:
            parent.children.remove(macro)
        raise


def points_of(mesh: MjsMesh, dim: int) -> dict[str, Any]:
    """Return the attributes of a ``flexcomp`` with the points and elements of a mesh.

    Elements of dimension 3 are the tetrahedra of the mesh; for a generated lattice these are those of its points.
    Elements of dimension 2 are the triangles.
    """
    values = mesh.element.resolved()
    if dim == _SOLID and values["builtin"] in _LATTICES:
        params = values["params"]
        if len(params) == _DIMENSION_PARAMETER or params[_DIMENSION_PARAMETER] == _SOLID:
            return {"type": values["builtin"], "count": [int(n) for n in params[:3]], "spacing": params[3:6]}
    if dim == _SOLID and len(mesh.usertet):
        return {"type": "direct", "point": mesh.usernode, "element": mesh.usertet}
    if dim == _SOLID:
        raise mesh.element.error("the mesh has no tetrahedra (usertet) for a flex of dimension 3; give dim=2")
    return {"type": "direct", "point": mesh.uservert, "element": mesh.userface}


Maker = Callable[..., "MjsFlex"]
