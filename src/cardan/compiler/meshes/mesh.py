"""Mesh assets: reading them, and filling the fields of the model (spec: modeling, "mesh")."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from cardan.compiler.box_tree import box_tree
from cardan.compiler.meshes.base import Mesh
from cardan.compiler.meshes.double import DoubleMesh
from cardan.compiler.meshes.single import SingleMesh
from cardan.compiler.pieces import piece_meshes, warn_of_large_hulls
from cardan.threads import Crew, processors

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

_SMALL = 100  # hulls of at most this many vertices are computed without a thread
_TREE_FIELDS = ("bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb")


def add_meshes(build: Build) -> None:
    """Read the mesh assets in the user's order, then the convex pieces of meshes.

    Under 3.1, meshes that use attributes of later versions follow the rules of 4.0.
    """
    _read(build, build.tree.section("asset").all("mesh"))
    _read(build, piece_meshes(build))


def _read(build: Build, elements: Iterable[Element]) -> None:
    for element in elements:
        values = element.resolved()
        is_new = build.tree.compat == "4.0" or values["inertia"] != "legacy" or values["builtin"] is not None
        mesh = build.meshes[element.name or ""] = (DoubleMesh if is_new else SingleMesh)(build, element)
        if not build.dropped(element):
            build.enter("mesh", element.name)
            build.put(mesh_path=mesh.path)


def put_meshes(build: Build) -> None:
    """Fill the columns ``mesh_*`` and the trees over the meshes' faces. All geoms must have been added."""
    meshes = [mesh for mesh in build.meshes.values() if not build.dropped(mesh.element)]
    if not meshes:
        return
    # hulls are computed in parallel, since Qhull releases the GIL; threads cost more than small hulls
    wanted = [mesh for mesh in meshes if mesh.needs_hull]
    if len(wanted) > 1 and max(len(mesh.vertex) for mesh in wanted) > _SMALL:
        with closing(Crew(min(len(wanted), processors()), "cardan-hull")) as crew:
            crew.each(lambda k, _: wanted[k].graph, len(wanted))
    for mesh in meshes:
        _put_mesh(build, mesh)
    warn_of_large_hulls(build)
    build.sizes["nbvhstatic"] = build.sizes["nbvh"]


def _put_mesh(build: Build, mesh: Mesh) -> None:
    """Append one mesh to all fields of meshes. Even if no geom uses the mesh, it is moved into its own frame."""
    mesh.settle()
    tree = box_tree(*mesh.boxes())
    tree_adr, *_ = [build.add_block(field, rows) for field, rows in zip(_TREE_FIELDS, tree, strict=True)]
    texcoord_adr = build.add_block("mesh_texcoord", mesh.texcoord)
    graph_adr = build.add_block("mesh_graph", mesh.graph)
    build.add_block("mesh_facenormal", mesh.face_normal)
    build.add_block("mesh_facetexcoord", mesh.face_texcoord)
    build.put(
        mesh_vertadr=build.add_block("mesh_vert", mesh.vertex),
        mesh_vertnum=len(mesh.vertex),
        mesh_normaladr=build.add_block("mesh_normal", mesh.normal),
        mesh_normalnum=len(mesh.normal),
        mesh_texcoordadr=texcoord_adr if len(mesh.texcoord) else -1,
        mesh_texcoordnum=len(mesh.texcoord),
        mesh_faceadr=build.add_block("mesh_face", mesh.face),
        mesh_facenum=len(mesh.face),
        mesh_bvhadr=tree_adr,
        mesh_bvhnum=len(tree.depth),
        mesh_graphadr=graph_adr if len(mesh.graph) else -1,
        mesh_scale=mesh.values["scale"],
        mesh_pos=mesh.pose[0],
        mesh_quat=mesh.pose[1],
    )
