"""Points and elements that the user gives: in attributes of the ``flexcomp``, in a mesh or in a GMSH file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.formats.gmsh import read_gmsh
from cardan.formats.meshes import reader
from cardan.formats.raw import MeshDataError, checked
from cardan.spec.flexcomp.lattice import Lattice, in_order
from cardan.spec.tree import asset_folder

if TYPE_CHECKING:
    from cardan.spec.element import Element

_TRIANGLES = 2


def mesh(element: Element, values: dict[str, Any]) -> Lattice:
    """Return the triangles of a mesh file; vertices at the same place count as one."""
    if values["dim"] != _TRIANGLES:
        raise element.error(f"a mesh consists of triangles: dim must be 2, found {values['dim']}", "dim")
    content = _content(element, values)
    try:
        raw = checked(reader(values["file"], None)(content))
    except MeshDataError as error:
        raise element.error(str(error), "file") from None
    if not len(raw.face):
        raise element.error("the mesh has no faces", "file")
    first, number = in_order(raw.vertex)
    return scaled(element, values, raw.vertex[first].astype(np.float64), number[raw.face])


def gmsh(element: Element, values: dict[str, Any]) -> Lattice:
    """Return the elements of a GMSH file, whose dimension is that of the flex."""
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
    """Return the content of the file, which is found like files of mesh assets."""
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
    """Return the points and elements of the attributes ``point`` and ``element``."""
    for name in ("point", "element"):
        if not values[name]:
            raise element.error("required attribute missing (type direct needs it)", name)
    corners = rows_of(element, "element", values["element"], values["dim"] + 1)
    return scaled(element, values, rows_of(element, "point", values["point"], 3), corners)


def rows_of(element: Element, attribute: str, numbers: tuple[float, ...], width: int) -> np.ndarray:
    """Return the numbers of an attribute as rows of ``width`` numbers. Raises MjcfError for an incomplete row."""
    if len(numbers) % width:
        raise element.error(f"the number of values must be a multiple of {width}, found {len(numbers)}", attribute)
    return np.array(numbers).reshape(-1, width)


def scaled(element: Element, values: dict[str, Any], point: np.ndarray, elem: np.ndarray) -> Lattice:
    """Return given points, scaled, with their elements. Raises MjcfError for elements with unknown points."""
    wrong = (elem < 0) | (elem >= len(point))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        found = f"found {elem[row, column]}"
        raise element.error(f"element {row} must name points 0 to {len(point) - 1}, {found}", "element")
    return Lattice(point * np.array(values["scale"]), elem)
