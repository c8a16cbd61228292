"""A model a type of composite object, with every attribute and sub-element that it may have."""

from __future__ import annotations

PASSIVE = """stiffness="1" damping=".5" limited="true" range="0 .5" margin=".01" frictionloss=".1" group="2"
 solreffix=".02 1" solimpfix=".8 .9" solreflimit=".03 1" solimplimit=".7 .9"
 solreffriction=".04 1" solimpfriction=".6 .9\""""
SOLVER = 'solrefsmooth=".05 1" solimpsmooth=".8 .9"'
LOOK = 'group="1" material="cloth" rgba="1 0 0 1"'
SITE = f'<site size=".01" {LOOK}/>'
MAIN = f'<joint kind="main" armature=".01" {PASSIVE}/>'
TENDONS = f'<tendon kind="main" width=".01" material="cloth" rgba="1 0 0 1" {PASSIVE}/>'
SHEAR = f'<tendon kind="shear" width=".01" {PASSIVE}/>'


def geom(shape: str) -> str:
    """Geoms of a shape."""
    return f"""<geom type="{shape}" size=".01 .02 .01" contype="1" conaffinity="1" condim="3" priority="1"
    friction="1 .01 .001" solmix="1" solref=".02 1" solimp=".9 .95" margin=".001" gap=".0005"
    mass=".1" density="500" {LOOK}/>"""


def skin(subgrid: int) -> str:
    """A skin."""
    return f'<skin texcoord="true" inflate=".01" subgrid="{subgrid}" {LOOK}/>'


PARTICLE_JOINTS = f'<joint kind="particle" type="slide" axis="1 0 0" armature=".1" {PASSIVE}/><joint kind="particle"/>'
OTHER_JOINTS = f'<joint kind="twist" armature=".01" {PASSIVE}/><joint kind="stretch" {PASSIVE}/>'
COMMON = 'prefix="P" offset="1 2 3" flatinertia=".1"'

RICH: dict[str, str] = {
    "particle": f"""<composite type="particle" count="3 3 1" spacing=".1" {COMMON} {SOLVER}>
    {geom("box")}{SITE}{PARTICLE_JOINTS}{TENDONS}{skin(1)}<pin coord="1 1"/></composite>""",
    "particle at vertices": f"""<composite type="particle" vertex="0 0 0 1 0 0 0 1 0 1 1 0" face="1 2 3 2 4 3">
    {geom("sphere")}{MAIN}{TENDONS}{skin(0)}</composite>""",
    "grid": f"""<composite type="grid" count="3 4 1" spacing=".1" {COMMON} {SOLVER}>
    {geom("sphere")}{SITE}{MAIN}{TENDONS}{SHEAR}{skin(1)}<pin coord="1 1"/></composite>""",
    "box": f"""<composite type="box" count="3 2 3" spacing=".1" {COMMON} {SOLVER}>
    {geom("capsule")}{SITE}{MAIN}{TENDONS}{skin(0)}</composite>""",
    "ellipsoid": f'<composite type="ellipsoid" count="2 2 2" spacing=".1">{geom("ellipsoid")}{skin(0)}</composite>',
    "loop": f"""<composite type="loop" count="4 1 1" spacing=".1" {COMMON} {SOLVER}>
    {geom("capsule")}{SITE}{MAIN}{OTHER_JOINTS}</composite>""",
    "cable": f"""<composite type="cable" count="5 1 1" curve="s cos(s) sin(s)" size="1 .3 2" initial="ball" {COMMON}>
    {geom("box")}{SITE}{MAIN}{skin(1)}</composite>""",
    "cable at vertices": f"""<composite type="cable" vertex="0 0 0 1 0 0 1 1 0 1 1 1 0 1 1" initial="none">
    {geom("capsule")}{SITE}{MAIN}</composite>""",
}


def rich_model(name: str) -> str:
    """A model with one of the objects, inside a body that can be a link of a loop."""
    return f"""<mujoco><asset><material name="cloth"/></asset><worldbody>
    <body name="PB0"><joint/><geom size=".1"/>{RICH[name]}</body></worldbody></mujoco>"""
