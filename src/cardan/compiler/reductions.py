"""Optional reductions by the compiler: visual elements are discarded, static bodies are fused with their parents.

Neither reduction changes the dynamics. ``discardvisual`` removes unreferenced materials and textures, geoms that never
collide, and meshes that only such geoms use. ``fusestatic`` turns each body without joints into a frame of its parent
(spec: modeling, "compiler"). In both cases, the inertia of each body is computed from the unreduced model.
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from typing import TYPE_CHECKING

from cardan.compiler.bodies import add_bodies
from cardan.compiler.build import KINDS
from cardan.compiler.geoms import add_geoms
from cardan.compiler.inertia import set_inertia
from cardan.compiler.nodes import Body
from cardan.mjcf.checks import resolve
from cardan.spec.schema.asset import LAYERS

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

# objects that may refer to bodies: if the model has any of them, MuJoCo 3.1 fuses no bodies
_KEEP_SECTIONS = ("contact", "equality", "tendon", "actuator", "sensor", "deformable")
_KEEP_TAGS = ("camera", "light", "skin", "tuple")
_REACTIONS = ("force", "torque")  # sensors of the force and torque that a body's parent exerts on it
_VISUAL_ASSETS = ("material", "texture")
_REFERRING = ("contact", "tendon", "actuator", "sensor", "custom", "equality", "deformable")


def plan_reductions(build: Build) -> None:
    """Decide which elements to discard and whether to fuse static bodies.

    The results are ``build.discarded``, ``build.fuses`` and, in MuJoCo 4.0, the bodies that are not fused,
    ``build.kept``.
    """
    tree = build.tree
    if tree.compat == "4.0":
        build.fuses = build.settings["fusestatic"]
        build.kept |= _kept_bodies(tree) if build.fuses else set()
    else:
        build.fuses = build.settings["fusestatic"] and not _has_references(tree)
    if build.settings["discardvisual"]:
        referred = _referred(build)
        geoms = {element for element in tree.worldbody.descendants() if element.row.kind == "geom"}
        visual = {geom for geom in geoms - referred if not (geom["contype"] or geom["conaffinity"])}
        sites = {element for element in tree.worldbody.descendants() if element.tag == "site"}
        meshes = {tree.find("mesh", shape["mesh"] or "") for shape in (geoms - visual) | sites}
        for asset in tree.section("asset").children:
            if asset.tag in _VISUAL_ASSETS or (asset.tag == "mesh" and asset not in meshes):
                visual.add(asset)
        build.discarded |= visual - referred


def _has_references(tree: ModelTree) -> bool:
    """Return whether a model has objects that may refer to bodies. If it has, MuJoCo 3.1 fuses no bodies."""
    return any(tree.section(section).children for section in _KEEP_SECTIONS) or any(
        element.tag in _KEEP_TAGS for element in tree.root.descendants()
    )


def _kept_bodies(tree: ModelTree) -> set[Element]:
    """Return the bodies that MuJoCo 4.0 does not fuse, whether static or not.

    These are bodies that elements refer to, that have force or torque sensors at their sites, or that have a plugin or
    a sleep policy.
    """
    found: set[Element | None] = set()
    for element in tree.root.descendants():
        row = element.row
        if row.is_entry:
            continue
        for reference in row.references:
            kind, name = element.referred(reference) or ("", "")
            if kind == "body":
                found.add(tree.find("body", name))
            elif kind == "site" and element.tag in _REACTIONS:
                site = tree.find("site", name)
                found.add(next((around for around in site.around() if around.tag == "body"), None) if site else None)
        for listed in row.lists:
            if listed.kind == "body":
                found |= {tree.find("body", name) for name in (element.attributes.get(listed.name) or "").split()}
        if row.tag == "body" and (element.child("plugin") is not None or element["sleep"] != "auto"):
            found.add(element)
    return {body for body in found if body is not None}


def _moves(body: Body) -> bool:
    """Return whether a body or one of its ancestors has joints."""
    above: Body | None = body
    while above is not None and "joint" not in above.content:
        above = above.parent
    return above is not None


def keep_bodies_with_forces(build: Build, whole: dict[Element, Body]) -> None:
    """Exempt bodies from fusion if fluid forces act on them or their gravity compensation differs from their parent's.

    MuJoCo 4.0 does not fuse these bodies (``build.kept``). Bodies that cannot move are skipped. ``whole`` is the result
    of `inertias_of_whole`.
    """
    option = build.tree.section("option").resolved()
    in_fluid = option["density"] > 0.0 or option["viscosity"] > 0.0
    for element, body in whole.items():
        if body.parent is None or not _moves(body):
            continue
        shaped = in_fluid and any(geom["fluidshape"] != "none" for geom, _ in element.content("geom"))
        apart = in_fluid or element["gravcomp"] != body.parent.element.resolved().get("gravcomp", 0.0)
        if shaped or (body.mass > 0.0 and apart):
            build.kept.add(element)


def _referred(build: Build) -> set[Element]:
    """Return the elements to which the sections `_REFERRING` refer, and the textures of the materials among them."""
    found: set[Element] = set()
    for section in _REFERRING:
        for element in build.tree.section(section).descendants():
            for row in element.row.references:
                name = element.attributes.get(row.name)
                target = resolve(element, row, name) if name and row.kind != "default" else None
                if target is not None:
                    found.add(target)
    materials = [element.resolved() for element in found if element.tag == "material"]
    names = {values[name] or "" for values in materials for name in ("texture", *LAYERS)}
    textures = {build.tree.find("texture", name) for name in names}
    return found | {texture for texture in textures if texture is not None}


def inertias_of_whole(build: Build) -> dict[Element, Body]:
    """Return the bodies of the unreduced model by element, each with its mass, inertia and inertial frame."""
    trial = copy(build)
    trial.columns = defaultdict(list, {name: list(column) for name, column in build.columns.items()})
    trial.blocks = defaultdict(list)
    trial.names = {kind: [] for kind in KINDS}
    trial.ids = {kind: dict(ids) for kind, ids in build.ids.items()}
    trial.frame_poses = {}
    trial.sizes, trial.bodies, trial.fuses, trial.discarded = {}, [], False, set()
    add_bodies(trial)
    add_geoms(trial, trial.bodies[1:])
    for body in trial.bodies[1:]:
        set_inertia(trial, body)
    return {body.element: body for body in trial.bodies}
