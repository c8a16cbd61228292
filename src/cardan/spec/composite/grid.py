"""Strings and sheets of spheres, held together by tendons of constant length: the type ``grid``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.spec.composite.skin import skin_grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardan.spec.composite.request import Composite
    from cardan.spec.element import Element

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
AT_HOME = (0.0, 0.0, 0.0)

Cell = tuple[int, int]


def build_grid(composite: Composite) -> None:
    """A string or a sheet of bodies with three sliders each, with tendons to the neighbours."""
    macro, build = composite.macro, composite.build
    if composite.dimensions > 2:
        raise macro.error(f"a grid has one or two dimensions, got the counts {composite.counts}", "count")
    if composite.skin is not None and composite.dimensions < 2:
        raise composite.skin.origin.error("a skin needs a grid of two dimensions")
    shear = composite.tendons.get("shear")
    if shear is not None and composite.dimensions < 2:
        raise shear.origin.error("shear needs a grid of two dimensions", "kind")
    for cell in _cells(composite.counts[0], composite.counts[1]):
        _add_body(composite, cell)
    main = composite.main_tendon()
    for axis in range(2):
        step = (1 - axis, axis)
        cells = _cells(composite.counts[0] - step[0], composite.counts[1] - step[1])
        ties = [(build.name("T", axis, i, j), *_ends(composite, (i, j), step)) for i, j in cells]
        build.held_tendons(ties, main, main.values)
    if shear is not None:
        cells = _cells(composite.counts[0] - 1, composite.counts[1] - 1)
        ties = [(build.name("TS", i, j), *_ends(composite, (i, j), (1, 1))) for i, j in cells]
        build.held_tendons(ties, shear, shear.values)
    if composite.skin is not None:
        rows, columns = composite.counts[:2]
        skin_grid(composite, composite.skin, [[build.name("B", i, j) for j in range(columns)] for i in range(rows)])


def _cells(rows: int, columns: int) -> Iterator[Cell]:
    """Grid coordinates, row by row."""
    return ((i, j) for i in range(rows) for j in range(columns))


def _add_body(composite: Composite, cell: Cell) -> None:
    """One body with its joints, geom and site."""
    build, spacing = composite.build, composite.spacing
    place = [spacing * (index - count / 2) for index, count in zip(cell, composite.counts, strict=False)]
    x, y, z = composite.offset
    body = build.body(None, build.name("B", *cell), pos=(x + place[0], y + place[1], z))
    if cell not in composite.pins:
        add_sliders(composite, body, [build.name("J", axis, *cell) for axis in range(3)])
    geom = composite.geom
    composite.build.part(body, "geom", geom.origin, {"name": build.name("G", *cell), **geom.values, "type": "sphere"})
    site = composite.site
    composite.build.part(body, "site", site.origin, {"name": build.name("S", *cell), **site.values, "pos": AT_HOME})


def add_sliders(composite: Composite, body: Element, names: list[str] | None = None) -> None:
    """Three sliders along the axes of the body."""
    joint = composite.main_joint()
    for number, axis in enumerate(AXES):
        name = {} if names is None else {"name": names[number]}
        composite.build.part(body, "joint", joint.origin, {**name, **joint.values, "type": "slide", "axis": axis})


def _ends(composite: Composite, cell: Cell, step: Cell) -> tuple[str, str]:
    """Names of the sites of a cell and of the one a step further."""
    build = composite.build
    return build.name("S", *cell), build.name("S", cell[0] + step[0], cell[1] + step[1])
