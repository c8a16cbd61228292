"""Compilation of a model tree to an MjModel: all steps in order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compat import VERSIONS
from cardan.compiler.actuators import add_actuators
from cardan.compiler.alignment import align_free_bodies
from cardan.compiler.bodies import add_bodies, put_bodies, put_topology
from cardan.compiler.build import KINDS, Build
from cardan.compiler.bvh import fill_trees, find_body_trees, reserve_trees
from cardan.compiler.columns import Resolved, fill_columns, table
from cardan.compiler.constants import USUAL_STAGES, complete_constants
from cardan.compiler.files import put_paths
from cardan.compiler.geoms import add_geoms, add_sites, put_sameframes
from cardan.compiler.inertia import check_moving, fuse_inertia, scale_total_mass, set_inertia
from cardan.compiler.initial import find_constants, find_statistics
from cardan.compiler.joints import add_joints
from cardan.compiler.names import add_custom, add_keyframes, fill_name_tables, find_places, put_names, put_tuples
from cardan.compiler.nodes import ELEMENT_OF, Body
from cardan.compiler.pieces import add_distances
from cardan.compiler.plugins import add_own_instances, add_plugins, instance_of
from cardan.compiler.reductions import inertias_of_whole, keep_bodies_with_forces, plan_reductions
from cardan.compiler.relations import add_contacts, add_equalities
from cardan.compiler.sensors import add_sensors
from cardan.compiler.settings import put_settings
from cardan.compiler.tendons import add_tendons, couple_bodies
from cardan.compiler.timers import phase
from cardan.compiler.views import add_cameras, add_lights
from cardan.errors import MjcfError, PluginError
from cardan.jit.cache.helper import expect, expecting
from cardan.jit.memory.layout import layout_of
from cardan.mjcf.checks import check_supported
from cardan.model import internals
from cardan.model.fields_later import FLAGS
from cardan.model.mjmodel import SIZES, MjModel
from cardan.model.reset import start_data
from cardan.model.tables import CAPACITIES, DATA, MODEL, SIZE_NAMES
from cardan.model.topology import find_topology
from cardan.spec.flexcomp.given import Surface, register_surfaces
from cardan.spec.repeated import runs
from cardan.spec.scaling import scaled_tree
from cardan.spec.schema.asset import LAYERS
from cardan.spec.schema.keywords import TEXTURE_ROLE
from cardan.spec.tree import USER_TEXTURE

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

# sizes that are the length of a column
_COLUMN_SIZES: dict[str, str] = {
    "nq": "qpos0",
    "nv": "dof_bodyid",
    "nu": "actuator_ctrlrange",
    "nout": "actuator_gear",
    "nwrap": "wrap_type",
    "nnumericdata": "numeric_data",
    "ntextdata": "text_data",
    "ntupledata": "tuple_objtype",
    "nnames": "names",
    "npaths": "paths",
    "npluginattr": "plugin_attr",
}
_LARGEST_MEMORY = 8 * 2**30
_NO_CAPACITIES = dict.fromkeys(CAPACITIES, 0)
_LAST = frozenset(("tex_rgb",))
"""Fields of bulk data that no computation reads. They are filled last, since this evicts other data from the caches."""
_NATIVE = (find_constants, find_body_trees, find_topology, find_statistics, find_places, start_data, *USUAL_STAGES)
"""Native functions that nearly every compilation of a model calls."""
_USERS = ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")

_MATERIAL = table(
    *("mat", "texuniform", "texrepeat", "emission", "specular"),
    *("shininess", "reflectance", "metallic", "roughness", "rgba"),
)


def compile_tree(tree: ModelTree) -> MjModel:
    """Compile a model tree to an MjModel.

    Raises:
        MjcfError: the model breaks a rule, or a number is out of range. The message names the place and the remedy.
    """
    if tree.uses_later:
        check_supported(tree)
        tree = scaled_tree(tree)
    tree.inherited = {}
    try:
        with expecting(lambda: _NATIVE):
            return _compiled(tree)
    except (OverflowError, ZeroDivisionError) as error:
        raise MjcfError(f"a number of the model is too large or too small: {error}", tree.root.source) from error
    finally:
        tree.inherited = None


def compile_bodies(tree: ModelTree) -> list[Body]:
    """Return the bodies of a model in order, with their inertial frames, from a tree whose macros are expanded.

    Bodies that ``compiler fusestatic`` fuses with their parents are left out. Errors are as in `compile_tree`.
    """
    tree.inherited = {}
    try:
        return _with_bodies(tree).bodies
    finally:
        tree.inherited = None


def _with_bodies(tree: ModelTree) -> Build:
    """Return a build that has the assets and the kinematic tree of a model."""
    build = Build(tree)
    plan_reductions(build)
    add_plugins(build)
    with phase("assets"):
        _add_assets(build)
    add_own_instances(build)
    add_distances(build)
    _build_bodies(build)
    return build


def _compiled(tree: ModelTree) -> MjModel:
    """Run all steps of compilation for a tree whose macros are expanded, and return the model."""
    build = _with_bodies(tree)
    _add_surfaces(build)
    add_contacts(build)
    add_tendons(build)
    add_equalities(build)
    add_actuators(build)
    if build.count("tendon"):
        couple_bodies(build)
    add_custom(build)
    add_keyframes(build)
    add_sensors(build)  # sensors may refer to any object, so they come last
    put_tuples(build)
    put_names(build)
    put_paths(build)
    _find_sizes(build)
    m = _fill(build)
    expect(lambda: _stages_of_step(m))
    try:
        complete_constants(build, m)
    except PluginError as error:
        raise build.plugin_elements[error.instance].error(error.reason) from error
    _fill_blocks(build, m, _LAST)
    internals.mesh_poses(m).update(build.mesh_poses)
    for body in build.bodies:
        body.parent = None  # break the reference cycle, which would live until the garbage collector runs
    return m


def _surface_of(mesh: Element) -> Surface:
    """Return the surface of a mesh asset in double precision, for flexcomps."""
    from cardan.compiler.meshes.double import DoubleMesh

    made = DoubleMesh(Build(mesh.tree), mesh)
    return made.vertex, made.face, made.texcoord, made.face_texcoord


register_surfaces(_surface_of)


def _stages_of_step(m: MjModel) -> list[Callable[..., Any]]:
    """Return the stages of a simulation step of a model. The user will probably run these stages next."""
    from cardan.step.pipeline import STEP
    from cardan.step.programs import functions_ahead

    return functions_ahead(m, STEP)


def _add_assets(build: Build) -> None:
    """Add meshes, height fields, textures and materials, in the user's order."""
    kinds = {element.tag for element in build.tree.section("asset").children}
    if "mesh" in kinds:
        from cardan.compiler.meshes.mesh import add_meshes

        with phase("mesh_load"):
            add_meshes(build)
    if "hfield" in kinds:
        from cardan.compiler.images import add_heightfields

        add_heightfields(build)
    if "texture" in kinds:
        from cardan.compiler.textures import add_textures

        with phase("texture"):
            add_textures(build)
    elements = [element for element in build.tree.section("asset").all("material") if not build.dropped(element)]
    if elements:
        materials = Resolved(elements)
        build.enter_all("material", [element.name for element in elements])
        colours = build.references("texture", materials["texture"])
        layers = {role: build.references("texture", materials[name]) for name, role in LAYERS.items()}
        if build.tree.beside:
            given = [build.tree.beside.get(element, {}).get(USER_TEXTURE) for element in elements]
            layers["user"] = [build.ids["texture"].get(name, -1) if name else -1 for name in given]
        roles = [colours if role == "rgb" else layers.get(role, [-1] * len(elements)) for role in TEXTURE_ROLE]
        build.columns.update(
            materials.columns(_MATERIAL), mat_texid=colours, mat_layertexid=[*zip(*roles, strict=True)]
        )


def _build_bodies(build: Build) -> None:
    """Build the kinematic tree with all objects attached to it."""
    whole = inertias_of_whole(build) if build.fuses or build.discarded else None
    if whole is not None and build.fuses and build.tree.compat == "4.0":
        keep_bodies_with_forces(build, whole)
    add_bodies(build)
    add_joints(build)
    add_geoms(build, build.bodies)
    add_sites(build, build.bodies)
    add_cameras(build)
    add_lights(build)
    for run in runs(build.bodies, ELEMENT_OF):
        body, others = run[0], run[1:]
        if build.own_instances:
            plugin = instance_of(build, body.element, "passive")
            for one in run:
                one.plugin = -1 if plugin is None else plugin.id
        if whole is not None:
            for one in run:
                if one.id:
                    fuse_inertia(build, one, whole)
        elif body.id:
            set_inertia(build, body, others)
    for body in build.bodies:
        check_moving(body)
    align_free_bodies(build)
    scale_total_mass(build)
    put_bodies(build)
    put_sameframes(build)
    put_topology(build)
    reserve_trees(build)
    if build.meshes:
        from cardan.compiler.meshes.mesh import put_meshes

        put_meshes(build)


def _add_surfaces(build: Build) -> None:
    """Add skins (of the sections ``asset`` and ``deformable``) and flexes."""
    kinds = {element.tag for section in ("asset", "deformable") for element in build.tree.section(section).children}
    if "skin" in kinds:
        from cardan.compiler.skins import add_skins

        add_skins(build)
    if "flex" in kinds:
        from cardan.compiler.flexes.columns import add_flexes

        add_flexes(build)


def _find_sizes(build: Build) -> None:
    """Set all sizes of the model.

    Memory grows on demand. The memory sizes are therefore only limits that the user sets (spec: modeling, "size").
    """
    columns, sizes = build.columns, build.sizes
    sizes.update({size: len(columns[column]) for size, column in _COLUMN_SIZES.items()})
    sizes.update({size: build.count(kind) for kind, (size, _) in KINDS.items()})
    for part in _USERS:
        size, column = build.size[f"nuser_{part}"], columns[f"{part}_user"]
        if size < 0:
            size = max(max(map(len, column), default=0), sizes.get(f"nuser_{part}", 0))
        sizes[f"nuser_{part}"] = size
    sizes.update({name: build.size[name] for name in ("nuserdata", "njmax", "nconmax")})
    for flag in FLAGS:
        sizes.setdefault(flag, 0)
    sizes["nstick"] = _remembered_contacts(build)
    sizes["is_4_0"] = VERSIONS.index(build.tree.compat)
    sizes["narena"] = max(build.size["memory"], 0)


def _remembered_contacts(build: Build) -> int:
    """Return the number of contacts that are remembered: the user's, or enough for 8 contacts of each geom and pair.

    Automatic memory is 0 if no geom and no pair asks for it.
    """
    given = build.size["nstick"]
    if given >= 0:
        return given
    return 8 * (build.sizes["ngeom"] + build.sizes["npair"]) if build.sizes.get("nstick", 0) else 0


def _fill(build: Build) -> MjModel:
    """Return an MjModel filled from the columns. Raises MjcfError if the model or its data would be too large.

    User values are padded with zeros to the width of their field.
    """
    sizes = SIZES | build.sizes
    for struct, noun, most in ((MODEL, "model", sizes), (DATA, "data", sizes | _NO_CAPACITIES)):
        nbytes = layout_of(struct, frozenset(), None, most).nbytes
        if nbytes > _LARGEST_MEMORY:  # absurd sizes are rejected before memory is allocated
            largest = max(SIZE_NAMES, key=lambda name: sizes[name])
            reason = f"the {noun} would need {nbytes / 2**30:.1f} GiB; the largest size is {largest} = {sizes[largest]}"
            raise MjcfError(f"{reason}; at most {_LARGEST_MEMORY / 2**30:.0f} GiB are accepted")
    for part in _USERS:
        if size := sizes[f"nuser_{part}"]:
            column = build.columns[f"{part}_user"]
            column[:] = [(*values, *[0.0] * (size - len(values))) for values in column]
    m = MjModel.for_filling(build.sizes, _LAST)
    fill_columns(internals.memory(m), build.columns)
    _fill_blocks(build, m, build.blocks.keys() - _LAST)
    fill_trees(m)
    internals.set_number(m, "nbuffer", internals.memory(m).buffer.nbytes)
    put_settings(build.tree, m)
    fill_name_tables(build, m)
    internals.set_plugins(m, build.plugin_names)
    m.finalize()
    return m


def _fill_blocks(build: Build, m: MjModel, names: Collection[str]) -> None:
    """Copy the blocks of bulk data to the named fields, after the rows reserved for other data (`Build.reserve`)."""
    for name in names:
        if name in build.blocks:
            blocks = [block.ravel() for block in build.blocks[name]]
            flat = internals.array(m, name).reshape(-1)
            np.concatenate(blocks, out=flat[len(flat) - sum(map(len, blocks)) :], casting="unsafe")
