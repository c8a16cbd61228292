"""Small models with flexes for the tests, as MJCF text."""

from __future__ import annotations

from collections.abc import Iterator

MODEL = """<mujoco><option jacobian="{jacobian}" integrator="{integrator}" gravity="0 0 -9.81">
  <flag energy="enable" contact="{contact}"/></option><worldbody>{world}</worldbody>{rest}</mujoco>"""

CHAIN = """
<body name="a"><joint type="ball"/><geom size=".05" contype="0"/>
  <body name="b" pos=".1 0 0"><joint axis="0 1 0"/><geom size=".05" contype="0" conaffinity="0"/>
    <body name="c" pos=".1 .1 0"><joint axis="0 0 1"/><geom size=".05" contype="0"/></body></body></body>
<body name="e" pos="0 .2 0"><freejoint/><geom size=".05" contype="0" conaffinity="0"/></body>"""
CHAIN_FLEX = """
<deformable><flex name="f" dim="1" body="a b c e world a" radius=".01"
    vertex=".02 0 .01  .01 0 0  0 .02 0  .01 .01 .01  .5 .5 .5  .01 .02 .03" element="0 1 1 2 2 3 3 4 4 0 5 0">
  <edge stiffness="30" damping="2"/><contact contype="0" conaffinity="0" internal="false"/></flex></deformable>
<equality><flex flex="f"/></equality>"""
"""A flex on the bodies of a tree, on a free body and on the world."""


def grid(name: str, dim: int, count: str, inner: str = "", attributes: str = "") -> str:
    """A flexcomp of the type grid."""
    return (
        f'<flexcomp name="{name}" type="grid" count="{count}" spacing=".1 .1 .1" dim="{dim}" radius=".01" mass="1" '
        f"{attributes}>{inner}</flexcomp>"
    )


def text(
    world: str, rest: str = "", jacobian: str = "auto", integrator: str = "Euler", contact: str = "disable"
) -> str:
    """A model."""
    return MODEL.format(world=world, rest=rest, jacobian=jacobian, integrator=integrator, contact=contact)


QUIET = '<contact contype="0" conaffinity="0" internal="false" selfcollide="none"/>'
"""Contact parameters of a flex without contacts."""


def edge_models() -> Iterator[tuple[str, str]]:
    """Names and texts of models without contacts: all kinds of edges, storages and integrators."""
    for jacobian in ("dense", "sparse"):
        for integrator in ("Euler", "RK4", "implicit", "implicitfast"):
            settings = {"jacobian": jacobian, "integrator": integrator}
            name = f"{jacobian}-{integrator}"
            yield f"chain-{name}", text(CHAIN, CHAIN_FLEX, **settings)
            for equality in ("true", "false"):
                cloth = grid("f", 2, "3 3 1", f'<edge equality="{equality}" damping="2"/><pin id="0 1"/>{QUIET}')
                block = grid("g", 3, "2 2 2", f'<edge damping="0"/>{QUIET}')
                rigid = grid("h", 2, "3 2 1", QUIET, 'rigid="true"')
                free = f'<body name="P"><freejoint/><geom size=".1"/>{cloth}{block}{rigid}</body>'
                yield f"free-{name}-{equality}", text(free, **settings)
            yield f"simple-{name}", text(grid("f", 2, "3 3 1", f'<edge damping="2"/>{QUIET}'), **settings)
