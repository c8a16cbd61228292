"""Points and elements that the user provides for a ``flexcomp``: in attributes, in a mesh or in a GMSH file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.errors import suggestion
from cardan.formats.gmsh import read_gmsh
from cardan.formats.meshes import READERS, format_of
from cardan.formats.obj import read_obj_segments
from cardan.formats.raw import MeshDataError, checked
from cardan.spec.flexcomp.lattice import Lattice, in_order
from cardan.spec.tree import asset_folder, file_stem

if TYPE_CHECKING:
    from cardan.spec.element import Element

_LINES, _TRIANGLES, _TETRAHEDRA = 1, 2, 3  # dimensions


def mesh(element: Element, values: dict[str, Any]) -> Lattice:
    """Return points and elements from a mesh file. Vertices at equal positions are merged.

    With ``dim`` 1, the elements are the lines of an OBJ file. With ``dim`` 2, they are the triangles of the mesh. With
    ``dim`` 3, they are tetrahedra that join each triangle to the point ``origin``.
    """
    dim = values["dim"]
    if dim == _TETRAHEDRA and "origin" not in element.attributes:
        raise element.error("required attribute missing: tetrahedra join the triangles of a mesh to it", "origin")
    vertex, face = _surface_of_asset(element, values) if values["mesh"] else _surface_of_file(element, values)
    if not len(face):
        raise element.error("the mesh has no lines" if dim == _LINES else "the mesh has no faces", "file")
    point = vertex.astype(np.float64)
    if dim == _TETRAHEDRA:
        point = np.concatenate([[values["origin"]], point])
        face = np.concatenate([np.zeros((len(face), 1), np.int64), face + 1], axis=1)
    first, number = in_order(point)
    elem = number[face]
    # a triangle with a corner at the origin has no tetrahedron
    whole = (np.diff(np.sort(elem, axis=1), axis=1) > 0).all(axis=1) if dim == _TETRAHEDRA else slice(None)
    return scaled(element, values, point[first], elem[whole])


def _surface_of_file(element: Element, values: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles, or lines for ``dim`` 1, of the file of a flexcomp."""
    content = _content(element, values)
    try:
        if values["dim"] == _LINES:
            return read_obj_segments(content)
        raw = checked(READERS[format_of(values["file"], None)](content))
    except MeshDataError as error:
        raise element.error(str(error), "file") from None
    return raw.vertex, raw.face


Surface = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Vertices (n, 3), triangles (m, 3), texture coordinates (k, 2) and those of the triangles' corners (m, 3)."""
_surfaces: list[Callable[[Element], Surface]] = []


def register_surfaces(read: Callable[[Element], Surface]) -> None:
    """Register the function, defined in a higher layer, that returns the surface of a mesh asset."""
    _surfaces[:] = [read]


def _surface_of_asset(element: Element, values: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of the mesh asset of a flexcomp, scaled and moved to its reference pose.

    For ``dim`` 1, as in MuJoCo, return the first side of each triangle. For ``dim`` 2, set the texture coordinates of
    the mesh in ``values``, unless the flexcomp has its own.
    """
    if values["file"]:
        raise element.error("file and mesh exclude each other", "mesh")
    assets = element.tree.section("asset").all("mesh")
    names = {asset.name or file_stem(asset.attributes.get("file") or ""): asset for asset in assets}
    asset = names.get(values["mesh"])
    if asset is None:
        raise element.error(f"there is no mesh named '{values['mesh']}'{suggestion(values['mesh'], names)}", "mesh")
    vertex, face, texcoord, corners = _surfaces[0](asset)
    if values["dim"] == _TRIANGLES and len(texcoord) and not values["texcoord"]:
        values |= {"texcoord": tuple(texcoord.ravel().tolist()), "elemtexcoord": tuple(corners.ravel().tolist())}
    return vertex, face[:, :2] if values["dim"] == _LINES else face


def gmsh(element: Element, values: dict[str, Any]) -> Lattice:
    """Return the points and elements of a GMSH file. The elements have the dimension of the flex."""
    if values["mesh"]:
        raise element.unsupported("flexcomps made of the tetrahedra of a mesh asset", "mesh")
    content = _content(element, values)
    try:
        point, elem = read_gmsh(content)
    except MeshDataError as error:
        raise element.error(str(error), "file") from None
    finite = np.isfinite(point).all(axis=1)
    if not finite.all():
        raise element.error(f"node {int(np.argmin(finite))} is not finite", "file")
    return scaled(element, values, point, elem)


def _content(element: Element, values: dict[str, Any]) -> bytes:
    """Return the content of the file, which is searched for like the files of mesh assets. Raises MjcfError."""
    name = values["file"]
    if not name:
        raise element.error(f"required attribute missing (type {values['type']} needs it)", "file")
    tree = element.tree
    folder = Path(asset_folder(tree.section("compiler").resolved(), "mesh"))
    main = tree.folder or Path()
    included = tree.include_folders.get(element.source or "")
    try:
        return tree.read_file(name, main / folder, included)[0]
    except (OSError, ValueError) as error:
        raise element.error(str(error), "file") from None


def direct(element: Element, values: dict[str, Any]) -> Lattice:
    """Return the points and elements given by the attributes ``point`` and ``element``."""
    for name in ("point", "element"):
        if not values[name]:
            raise element.error("required attribute missing (type direct needs it)", name)
    corners = rows_of(element, "element", values["element"], values["dim"] + 1)
    return scaled(element, values, rows_of(element, "point", values["point"], 3), corners)


def rows_of(element: Element, attribute: str, numbers: tuple[float, ...], width: int) -> np.ndarray:
    """Return the numbers of an attribute in rows: (n, ``width``). Raises MjcfError if the last row is incomplete."""
    if len(numbers) % width:
        raise element.error(f"the number of values must be a multiple of {width}, found {len(numbers)}", attribute)
    return np.array(numbers).reshape(-1, width)


def scaled(element: Element, values: dict[str, Any], point: np.ndarray, elem: np.ndarray) -> Lattice:
    """Scale points, and combine them with elements. Raises MjcfError if an element refers to an unknown point."""
    wrong = (elem < 0) | (elem >= len(point))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        found = f"found {elem[row, column]}"
        raise element.error(f"element {row} must name points 0 to {len(point) - 1}, {found}", "element")
    return Lattice(point * np.array(values["scale"]), elem)


def pinned_points(macro: Element, values: dict[str, Any], count: int) -> np.ndarray:
    """Return a mask (count,) of the points that are pinned by ``pin`` children of the flexcomp ``macro``.

    ``values`` are the attributes of the flexcomp, and ``count`` is the number of its points. All points of a rigid
    flexcomp are pinned, and unknown points in its pins only cause a warning. Raises MjcfError for incomplete rows of
    numbers, grid coordinates without a grid, and points that do not exist.
    """
    pinned = np.zeros(count, bool)
    for pin in macro.all("pin"):
        for attribute, numbers in pin.attributes.items():
            if numbers and attribute in ("id", "range"):
                _pin_points(pinned, pin, attribute, values, numbers)
            elif numbers and attribute in ("grid", "gridrange"):
                _pin_grid(pinned, pin, attribute, values, numbers)
    return pinned | values["rigid"]


def _pin_points(
    pinned: np.ndarray, pin: Element, attribute: str, values: dict[str, Any], numbers: tuple[int, ...]
) -> None:
    """Pin single points (``id``), or ranges from a first to a last point (``range``). A reversed range is empty."""
    rows = [numbers] if attribute == "id" else rows_of(pin, attribute, numbers, 2).tolist()
    for row in rows:
        low, high = min(row), max(row)
        if low < 0 or high >= len(pinned):
            found = low if low < 0 else high
            _complain(pin, attribute, f"points are 0 to {len(pinned) - 1}, found {found}", values)
        elif attribute == "id":
            pinned[list(row)] = True
        else:
            pinned[row[0] : row[1] + 1] = True


def _pin_grid(
    pinned: np.ndarray, pin: Element, attribute: str, values: dict[str, Any], numbers: tuple[int, ...]
) -> None:
    """Pin points by grid coordinates (``grid``), or boxes of the grid from a first to a last point (``gridrange``)."""
    dim = values["dim"]
    if values["type"] != "grid" or dim == 1:
        found = f"this one is of type {values['type']} and dim {dim}"
        raise pin.error(f"grid coordinates are for flexcomps of type grid with dim 2 or 3; {found}", attribute)
    grid = pinned.reshape(values["count"][:dim])
    for row in rows_of(pin, attribute, numbers, dim if attribute == "grid" else 2 * dim).tolist():
        low, high = row[:dim], row[-dim:]
        places = (low,) if attribute == "grid" else (low, high)
        if all(_in_grid(pin, attribute, place, values, grid) for place in places):
            grid[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))] = True


def _in_grid(pin: Element, attribute: str, place: list[int], values: dict[str, Any], grid: np.ndarray) -> bool:
    """Return whether the coordinates are in the grid. If not, raise MjcfError or warn (`_complain`)."""
    for axis, (found, count) in enumerate(zip(place, grid.shape, strict=True)):
        if not 0 <= found < count:
            message = f"the grid has points 0 to {count - 1} along axis {axis}, found {found}"
            _complain(pin, attribute, message, values)
            return False
    return True


def _complain(pin: Element, attribute: str, message: str, values: dict[str, Any]) -> None:
    """Warn if the flexcomp is rigid, since the reference then ignores its pins. Otherwise, raise MjcfError."""
    if not values["rigid"]:
        raise pin.error(message, attribute)
    pin.warn(f"{message}; ignored, all points of a rigid flexcomp are pinned", attribute)
