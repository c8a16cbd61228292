"""Elastic matrices of flexes: stretching of tetrahedra and triangles, bending of shells (spec: flex/elasticity).

`flex_stiffness` holds the matrix K of each element, whose energy is ``W = 1/4 e' K e`` for the elongations e of its
edges (`cardan.soft.material`). In terms of the forms T and P, K is ``V (mu P + lambda/2 T)``, with the volume V of a
tetrahedron; for triangles V is area times thickness, and lambda that of plane stress, E nu / (1 - nu^2). The upper
triangle of K is stored row by row, followed by zeros.

`flex_bending` holds 17 numbers for each edge: a matrix B of the four vertices x of its hinge, and a number b. Their
energy is ``W = 1/2 sum B_ij x_i'x_j + b det(x1 - x0, x2 - x0, x3 - x0)``. A hinge has weights c, an area A, a bending
rigidity D and a rest angle t. B is ``D/A cos t c c'``, and b accounts for the sine of the angle. If the hinge keeps its
lengths, W is ``D l^2 / A (1 - cos(angle - t))`` and a constant; l is the length of the edge.

Sources: manual of MuJoCo 4.0, XML reference, flex/elasticity; A. Garg, E. Grinspun, M. Wardetzky, D. Zorin, Cubic
shells (2007); results of MuJoCo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.soft.elastic import BENDING_NUMBERS, STIFFNESS_NUMBERS
from cardan.soft.material import hinge_weights, hinges, lame, strain_forms
from cardan.spec.flexcomp.lattice import ELEMENT_EDGES

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.flexes.columns import Flex, Topology
    from cardan.spec.element import Element

_LINE, _SHELL, _SOLID = 1, 2, 3


def elastic_fields(build: Build, element: Element, flex: Flex, tables: Topology) -> dict[str, Any]:
    """Return the values of the fields of one flex that concern elasticity, and add its blocks of matrices.

    Raises:
        MjcfError: a value of the element ``elasticity`` is out of its range, or does not suit the flex.
        UnsupportedFeature: the flex is an elastic rod, or plastic.
    """
    part = element.child("elasticity")
    values = part.resolved() if part is not None else element.row.children["elasticity"].defaults_in(build.tree.compat)
    dim = flex.elem.shape[1] - 1
    flaps = np.full((len(tables.edge), 2), -1, np.int32)
    fields = {"flex_damping": values["damping"], "flex_stiffnessadr": -1, "flex_bendingadr": -1}
    if part is not None:
        _check(build, part, values, flex, dim)
        bends = values["elastic2d"] in ("bend", "both")
        if bends:
            flaps = _flaps(flex.elem, tables.edge)
        if values["young"] > 0.0:
            try:
                rows = _stiffness(values, flex, dim)
                fields["flex_stiffnessadr"] = build.add_block("flex_stiffness", rows.ravel())
                if bends:
                    rows = _bending(values, flex.xvert, np.concatenate([tables.edge, flaps], axis=1))
                    fields["flex_bendingadr"] = build.add_block("flex_bending", rows.ravel())
            except ValueError as error:
                raise part.error(str(error)) from None
    build.add_block("flex_edgeflap", flaps)
    return fields


def resists_stretching(element: Element) -> bool:
    """Return whether the material of a flex resists stretching."""
    part = element.child("elasticity")
    if part is None or part["young"] <= 0.0:
        return False
    return element["dim"] == _SOLID or part["elastic2d"] in ("stretch", "both")


def _check(build: Build, part: Element, values: dict[str, Any], flex: Flex, dim: int) -> None:
    """Raise an error if the material is invalid or not supported."""
    young, shell = values["young"], values["elastic2d"] != "none"
    if not 0.0 <= young < np.inf:
        raise part.error(f"must be finite and not negative, found {young:g}", "young")
    if not 0.0 <= values["poisson"] < 0.5:
        raise part.error(f"must be at least 0 and below 0.5, found {values['poisson']:g}", "poisson")
    if shell and dim != _SHELL:
        raise part.error(f"is for flexes of dimension 2, found dimension {dim}", "elastic2d")
    if shell and not 0.0 < values["thickness"] < np.inf:
        raise part.error(f"must be positive if a shell is elastic, found {values['thickness']:g}", "thickness")
    if young == 0.0:
        return
    if dim == _LINE:
        raise part.unsupported("elastic rods", "young")
    if any(limit > 0.0 for limit in values["yield"]):
        raise part.unsupported("plasticity of flexes", "yield")
    mocap = np.array(build.columns["body_mocapid"])[flex.bodyid] >= 0
    if mocap.any() and (flex.bodyid != flex.bodyid[0]).any():
        vertex = int(np.argmax(mocap))
        raise part.error(f"vertex {vertex} is on a mocap body, which has no velocity for the elastic damping")


def _stiffness(values: dict[str, Any], flex: Flex, dim: int) -> np.ndarray:
    """Return the rows of `flex_stiffness`, one for each element."""
    rows = np.zeros((len(flex.elem), STIFFNESS_NUMBERS[dim]))
    if dim == _SHELL and values["elastic2d"] not in ("stretch", "both"):
        return rows
    forms = strain_forms(flex.xvert, flex.elem, np.array(ELEMENT_EDGES[dim]))
    first, shear = lame(values["young"], values["poisson"])
    volume = np.abs(forms.volume)
    if dim == _SHELL:
        first = values["young"] * values["poisson"] / (1.0 - values["poisson"] ** 2)
        volume = volume * values["thickness"]
    matrix = (shear * forms.product + 0.5 * first * forms.trace) * volume[:, None, None]
    upper = np.triu_indices(matrix.shape[1])
    rows[:, : len(upper[0])] = matrix[:, *upper]
    return rows


def _flaps(elem: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Return the two vertices opposite to each edge of a shell (nedge, 2); -1 in place of a missing one."""
    ends, opposite = hinges(elem)
    count = int(elem.max()) + 1
    key, wanted = ends[:, 0] * count + ends[:, 1], edge[:, 0] * count + edge[:, 1]
    order = np.argsort(key)
    return opposite[order[np.searchsorted(key[order], wanted)]].astype(np.int32)


def _bending(values: dict[str, Any], rest: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Return the rows of `flex_bending`, one for each edge; ``corner`` has the vertices of the hinges (nedge, 4)."""
    rows = np.zeros((len(corner), BENDING_NUMBERS))
    bent = np.flatnonzero(corner[:, 3] >= 0)
    corner = corner[bent]
    weight, area = hinge_weights(rest, corner)
    along, one, other = (rest[corner[:, k]] - rest[corner[:, 0]] for k in (1, 2, 3))
    normal, second = np.cross(along, one), np.cross(other, along)
    twice = np.linalg.norm(normal, axis=1) * np.linalg.norm(second, axis=1)  # four times the product of the areas
    cosine = (normal * second).sum(axis=1) / twice
    squared = (along * along).sum(axis=1)
    volume = (along * np.cross(one, other)).sum(axis=1)
    rigidity = values["young"] * values["thickness"] ** 3 / (12.0 * (1.0 - values["poisson"] ** 2)) / area
    matrix = (rigidity * cosine)[:, None, None] * weight[:, :, None] * weight[:, None, :]
    rows[bent, :16] = matrix.reshape(-1, 16)
    rows[bent, 16] = -rigidity * squared * squared * volume / (twice * twice)
    return rows
