"""Fields of MuJoCo 4.0 that have no memory of their own: they follow from other fields, or belong to missing features.

Each row of `MODEL_VIEWS` and `DATA_VIEWS` is a field and the function that computes it. The attributes are read-only
if the row has no function that writes changed values back.
Rows that replace a field of 3.1.6 of the same name (`OF_4_0`) count only for models of compat 4.0. `CONSTANT` lists
fields of features that no model of Cardan uses yet, with their constant value. `MISSING` names the features of all
other fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.jit.memory.fields import Field
from cardan.model import awake_views as awake
from cardan.model import island_views as islands
from cardan.model import mesh_views as meshes
from cardan.model import sparse_views as sparse
from cardan.model import tree_views as trees
from cardan.model.tendon_sparsity import contributors

if TYPE_CHECKING:
    pass

Compute = Callable[..., Any]


class View(NamedTuple):
    """A field that is computed when it is read.

    Attributes:
        field: name, type, shape and meaning.
        compute: function of a model, or of a model and its data.
        of_4_0: whether the field of this name in 3.1.6 differs; the view is for models of compat 4.0.
        back: function of a model, its data and changed values, which writes them into the data. Without it, the
            attribute can be set to the values that it has, and to no others.
    """

    field: Field
    compute: Compute
    of_4_0: bool = False
    back: Compute | None = None


def _view(
    name: str,
    dtype: str,
    shape: tuple[int | str, ...],
    doc: str,
    compute: Compute,
    of_4_0: bool = False,
    back: Compute | None = None,
) -> View:
    return View(Field(name, dtype, shape, doc), compute, of_4_0, back)


def _pattern(prefix: str, rows: str, size: str, what: str, pattern: Compute) -> tuple[View, ...]:
    """Return the rows for the pattern of a sparse matrix, which `pattern` computes."""
    parts = (
        ("rownnz", rows, f"number of stored elements of a row of {what}"),
        ("rowadr", rows, f"first stored element of a row of {what}"),
        ("colind", size, f"dofs of the stored elements of {what}"),
    )

    def part(k: int) -> Compute:
        return lambda *x: pattern(*x)[k]

    return tuple(_view(f"{prefix}_{name}", "i4", (dim,), doc, part(k)) for k, (name, dim, doc) in enumerate(parts))


CONSTANT: dict[str, tuple[Field, ...]] = {
    "0": (
        *(Field(name, "i8", (), "size of a feature that Cardan does not have yet: 0") for name in (
            *("noct", "nplastic", "nflexnode", "nefm0dof", "nefm0L", "nefmCvert"),
        )),
        Field("jnt_springyield", "f8", ("njnt",), "yield threshold of the spring; 0: elastic"),
        Field("tendon_springyield", "f8", ("ntendon",), "yield threshold of the spring; 0: elastic"),
        Field("flex_plasticmode", "i4", ("nflex",), "kind of plasticity; 0: elastic"),
        Field("flex_yield", "f8", ("nflex", 2), "yield thresholds; 0: elastic"),
        Field("sensor_intprm", "i4", ("nsensor", 3), "integer parameters"),
        Field("mesh_octnum", "i4", ("nmesh",), "number of octree nodes"),
        Field("oct_depth", "i4", (0,), "depth of an octree node"),
        Field("oct_child", "i4", (0, 8), "children of an octree node"),
        Field("oct_aabb", "f8", (0, 6), "box of an octree node"),
        Field("oct_coeff", "f8", (0, 8), "distances at the corners of an octree node, m"),
        Field("key_plastic", "f8", ("nkey", 0), "plastic state"),
    ),
    "-1": (
        Field("jnt_plasticadr", "i4", ("njnt",), "start in the plastic state; -1: none"),
        Field("tendon_plasticadr", "i4", ("ntendon",), "start in the plastic state; -1: none"),
        Field("mesh_octadr", "i4", ("nmesh",), "first octree node; -1: none"),
        Field("flex_plasticadr", "i4", ("nflex",), "start in the plastic state; -1: none"),
        Field("flex_vertcell", "i4", ("nflexvert",), "cell of nodes that moves a vertex; -1: none"),
        Field("tex_contenttypeadr", "i4", ("ntex",), "start of the content type; -1: none"),
    ),
}  # fmt: skip
"""Fields of features that no model uses yet, by the value of all their elements."""


def constant(field: Field, value: int) -> Compute:
    """Return the function that computes a field whose elements all have the same value."""

    def compute(m: Any, d: Any = None) -> Any:
        if field.is_scalar:
            return bool(value) if field.dtype == "u1" else value
        shape = [getattr(m, n) if isinstance(n, str) else n for n in field.shape]
        return np.full(shape, value, bool if field.dtype == "u1" else field.numpy_dtype)

    return compute


def _of_trees(name: str, doc: str, spans: Compute, part: int) -> View:
    return _view(f"tree_{name}", "i4", ("ntree",), doc, lambda m: spans(m)[part])


def _listed(name: str, count: str, size: str, doc: str, listed: Compute) -> tuple[View, View]:
    """Return the rows of a list of ids, with zeros after its end, and of its length."""

    def padded(m: Any, d: Any = None) -> np.ndarray:
        found, full = listed(m, d), np.zeros(getattr(m, size), np.int32)
        full[: len(found)] = found
        return full

    number = _view(count, "i8", (), f"length of {name}", lambda m, d: len(listed(m, d)))
    return _view(name, "i4", (size,), doc, padded), number


def _of_polygons(name: str, shape: tuple[int | str, ...], doc: str, part: str) -> View:
    dtype = "f8" if part == "normal" else "i4"
    return _view(f"mesh_poly{name}", dtype, shape, doc, lambda m: getattr(meshes.polygons(m), part))


def _number_of_polygons(name: str, doc: str, part: str) -> View:
    return _view(name, "i8", (), doc, lambda m: len(getattr(meshes.polygons(m), part)))


def _sorted_by_island(kind: str, what: str, size: str, sorted_kind: str, count: str) -> tuple[View, ...]:
    """Return the rows for the order of trees, dofs or constraint rows by island."""
    return (
        _view(count, "i4", ("nisland",), f"number of {what}s of the island", islands.count(kind)),
        _view(f"island_{sorted_kind}adr", "i4", ("nisland",), f"first {what} of the island", islands.start(kind)),
        _view(f"map_{sorted_kind}2{kind}", "i4", (size,), f"{what}s in the order of islands", islands.order(kind)),
        *(
            [_view(f"map_{kind}2{sorted_kind}", "i4", (size,), f"places of {what}s in it", islands.place(kind))]
            if kind != "tree"
            else []
        ),
    )


_ROWS_OF_ISLANDS = (
    *(("efc_type", "i4"), ("efc_id", "i4"), ("efc_state", "i4")),
    *((f"efc_{name}", "f8") for name in ("frictionloss", "D", "R", "aref", "force")),
)

_CONTRIBUTOR = "actuator that adds armature or damping; -1: none, -2: several"

MODEL_VIEWS: tuple[View, ...] = (
    _view("jnt_actuatorid", "i4", ("njnt",), _CONTRIBUTOR, lambda m: contributors(m)[: m.njnt]),
    _view("tendon_actuatorid", "i4", ("ntendon",), _CONTRIBUTOR, lambda m: contributors(m)[m.njnt :]),
    _view("flg_gravcomp", "u1", (), "whether any body has gravity compensation", lambda m: m.ngravcomp > 0),
    _view("nC", "i8", (), "number of stored elements of M", lambda m: len(sparse.inertia(m)[2])),
    *_pattern("M", "nv", "nC", "the reduced inertia matrix", sparse.inertia),
    _view("mapM2M", "i4", ("nC",), "positions in qM of the elements of M", lambda m: sparse.inertia(m)[3]),
    *_pattern("D", "nv", "nD", "the dof-dof matrix", sparse.full_inertia),
    _view("D_diag", "i4", ("nv",), "position of the diagonal element in its row", lambda m: sparse.full_inertia(m)[3]),
    _view("mapM2D", "i4", ("nD",), "positions in M of the elements of D; -1: none", sparse.reduced_to_full),
    _view("mapD2M", "i4", ("nC",), "positions in D of the elements of M", sparse.full_to_reduced),
    *_pattern("B", "nbody", "nB", "the body-dof matrix", sparse.bodies),
    _view("nJten", "i8", (), "number of stored elements of ten_J", lambda m: len(sparse.tendons(m)[2])),
    *_pattern("ten_J", "ntendon", "nJten", "ten_J", sparse.tendons),
    _view("nJmom", "i8", (), "number of stored elements of actuator_moment", lambda m: len(sparse.moments(m)[2])),
    _view(
        "tendon_treenum",
        "i4",
        ("ntendon",),
        "number of trees that the tendon acts on",
        lambda m: trees.tendon_trees(m)[0],
    ),
    _view("tendon_treeid", "i4", ("ntendon", 2), "the first two of them, or -1", lambda m: trees.tendon_trees(m)[1]),
    _view("tendon_type", "i4", ("ntendon",), "type (mjtTendon)", sparse.tendon_types),
    _of_trees("bodyadr", "first body", trees.tree_bodies, 0),
    _of_trees("bodynum", "number of bodies", trees.tree_bodies, 1),
    _of_trees("dofadr", "first degree of freedom", trees.tree_dofs, 0),
    _of_trees("dofnum", "number of degrees of freedom", trees.tree_dofs, 1),
    _view("dof_length", "f8", ("nv",), "length by which a velocity is linear, m; 1: translation", trees.dof_lengths),
    _view("mesh_extrema", "i4", ("nmesh", 27), "farthest vertices of the hull (mesh_graph)", meshes.extreme_vertices),
    _number_of_polygons("nmeshpoly", "number of polygons of hulls", "vertnum"),
    _number_of_polygons("nmeshpolyvert", "number of vertices of these polygons", "vert"),
    _number_of_polygons("nmeshpolymap", "number of polygons around vertices", "map"),
    _view("npolygonmax", "i8", (), "largest number of vertices of a polygon", lambda m: meshes.largest(m, "vertnum")),
    _view("nmeshdegmax", "i8", (), "largest number of polygons around a vertex", lambda m: meshes.largest(m, "mapnum")),
    _of_polygons("num", ("nmesh",), "number of polygons of the hull", "number"),
    _of_polygons("adr", ("nmesh",), "first polygon", "adr"),
    _of_polygons("normal", ("nmeshpoly", 3), "outward normals of polygons", "normal"),
    _of_polygons("vertadr", ("nmeshpoly",), "first vertex of a polygon", "vertadr"),
    _of_polygons("vertnum", ("nmeshpoly",), "number of vertices of a polygon", "vertnum"),
    _of_polygons("vert", ("nmeshpolyvert",), "vertices of polygons", "vert"),
    _of_polygons("mapadr", ("nmeshvert",), "first polygon around a vertex", "mapadr"),
    _of_polygons("mapnum", ("nmeshvert",), "number of polygons around a vertex", "mapnum"),
    _of_polygons("map", ("nmeshpolymap",), "polygons around vertices", "map"),
    _view("mat_texid", "i4", ("nmat", 10), "ids of the textures by role", lambda m: m.mat_layertexid, of_4_0=True),
)
"""Fields of a model that follow from others."""

DATA_VIEWS: tuple[View, ...] = (
    _view("M", "f8", ("nC",), "inertia matrix, lower triangle", sparse.inertia_matrix, back=sparse.set_inertia),
    _view("qLD", "f8", ("nC",), "factor L' D L of M", sparse.factor, True, sparse.set_factor),
    _view(
        "ten_J",
        "f8",
        ("nJten",),
        "Jacobians of the lengths, sparse",
        sparse.tendon_jacobian,
        of_4_0=True,
        back=sparse.set_tendon_jacobian,
    ),
    _view(
        "actuator_moment",
        "f8",
        ("nJmom",),
        "Jacobians of the lengths, sparse",
        sparse.actuator_moment,
        True,
        sparse.set_actuator_moment,
    ),
    *_pattern("moment", "nout", "nJmom", "actuator_moment", lambda m, d: sparse.moments(m)),
    _view("xiquat", "f8", ("nbody", 4), "orientation of the inertial frame", sparse.inertial_orientations),
    _view("geom_xquat", "f8", ("ngeom", 4), "orientation", lambda m, d: sparse.orientations(m, d, "geom")),
    _view("site_xquat", "f8", ("nsite", 4), "orientation", lambda m, d: sparse.orientations(m, d, "site")),
    _view("efc_diagA", "f8", ("nefc",), "diagonal of the constraint-space inertia", lambda m, d: d.efc_diagApprox),
    _view("nJ", "i8", (), "number of stored elements of efc_J", lambda m, d: d.efc_J.size),
    _view("plastic", "f8", (0,), "plastic state: none", lambda m, d: np.zeros(0)),
    _view("tree_island", "i4", ("ntree",), "island of the tree, or -1", islands.trees),
    _view("dof_island", "i4", ("nv",), "island of the dof, or -1", islands.dofs, of_4_0=True),
    _view("efc_island", "i4", ("nefc",), "island of the row", islands.rows, of_4_0=True),
    _view("tendon_efcadr", "i4", ("ntendon",), "first row of the tendon, or -1", islands.tendon_rows, of_4_0=True),
    _view("nidof", "i8", (), "number of dofs of all islands", islands.number_of_dofs),
    *_sorted_by_island("tree", "tree", "ntree", "itree", "island_ntree"),
    *_sorted_by_island("dof", "dof", "nv", "idof", "island_nv"),
    *_sorted_by_island("efc", "constraint row", "nefc", "iefc", "island_nefc"),
    _view("island_dofadr", "i4", ("nisland",), "first dof of the island", islands.first_dofs, of_4_0=True),
    _view("island_ne", "i4", ("nisland",), "number of rows of equality constraints", islands.equalities),
    _view("island_nf", "i4", ("nisland",), "number of rows of friction loss", islands.frictions),
    *(
        _view(f"i{name}", dtype, ("nefc",), f"{name}, island by island", islands.of_rows(name))
        for name, dtype in _ROWS_OF_ISLANDS
    ),
    *(
        _view(f"i{name[1:]}", "f8", ("nidof",), f"{name}, island by island", islands.of_dofs(name))
        for name in ("qfrc_smooth", "qacc_smooth", "qacc", "qfrc_constraint")
    ),
    _view("nY", "i8", (), "number of stored elements of efc_Y", lambda m, d: len(islands.whitened_values(m, d))),
    _view("efc_Y", "f8", ("nY",), "whitened Jacobian: Y Y' = J inv(M) J'", islands.whitened_values),
    _view("efc_Y_rownnz", "i4", ("nefc",), "stored elements of a row of efc_Y", islands.whitened_pattern("rownnz")),
    _view("efc_Y_rowadr", "i4", ("nefc",), "first stored element of a row", islands.whitened_pattern("rowadr")),
    _view("efc_Y_colind", "i4", ("nY",), "dofs of the stored elements of efc_Y", islands.whitened_pattern("colind")),
    _view("nA", "i8", (), "number of elements of efc_AR that can differ from 0", islands.number_of_pairs),
    _view("tree_awake", "i4", ("ntree",), "0: the tree sleeps, 1: it is awake", awake.trees),
    _view("body_awake", "i4", ("nbody",), "state of the body (mjtSleepState)", awake.bodies),
    *_listed("body_awake_ind", "nbody_awake", "nbody", "bodies that are awake or static", awake.listed_bodies),
    *_listed("parent_awake_ind", "nparent_awake", "nbody", "bodies with such parents", awake.listed_children),
    *_listed("dof_awake_ind", "nv_awake", "nv", "degrees of freedom that are awake", awake.listed_dofs),
    _view("ntree_awake", "i8", (), "number of trees that are awake", lambda m, d: int(np.sum(d.tree_asleep < 0))),
)
"""Fields of data that follow from others."""

BOOLEAN = frozenset(
    (
        *("actuator_actearly", "actuator_actlimited", "actuator_ctrllimited", "actuator_forcelimited", "eq_active0"),
        *("flex_centered", "flex_flatskin", "flex_rigid", "flexedge_rigid", "geom_castshadow", "jnt_actfrclimited"),
        *("jnt_actgravcomp", "jnt_limited", "light_active", "light_castshadow", "mat_texuniform", "tendon_limited"),
        *("bvh_active", "eq_active", "tendon_actfrclimited"),
    )
)
"""Fields of bytes that are of the type bool in MuJoCo 4.0."""

OF_FLEXES: dict[str, tuple[str, tuple[int, ...]]] = {
    **dict.fromkeys(("nJfe", "nefmA", "nefmK", "nefmL", "nefmT", "nefmcon", "nefmdof"), ("i8", ())),
    **dict.fromkeys(("efm_K_colind", "efm_con_ind", "efm_dofid"), ("i4", ())),
    **dict.fromkeys(("efm_K_val", "efm_con_val", "efm_L"), ("f8", ())),
    "flex_cellnum": ("i4", (3,)),
    **dict.fromkeys(("flex_node", "flex_node0", "flex_size", "flex_vert0"), ("f8", (3,))),
    **dict.fromkeys(("flex_interp", "flex_passive", "flex_nodeadr", "flex_nodenum", "flex_nodebodyid"), ("i4", ())),
    **dict.fromkeys(("flex_elemtexcoord", "flex_vertedgeadr", "flex_vertedgenum"), ("i4", ())),
    **dict.fromkeys(("flexedge_J_rownnz", "flexedge_J_rowadr", "flexedge_J_colind", "flexvert_conage"), ("i4", ())),
    **dict.fromkeys(("flexvert_J_rownnz", "flexvert_J_rowadr", "flexvert_J_colind", "flex_vertedge"), ("i4", (2,))),
    **dict.fromkeys(("flexelem_krot", "flexvert_lambda"), ("f8", ())),
    **dict.fromkeys(("flexvert_J", "flexvert_length"), ("f8", (2,))),
    **dict.fromkeys(("efm0_L_rownnz", "efm0_L_rowadr", "efm0_L_colind", "efm0_dofid", "efmC_perm"), ("i4", ())),
    "efm0_L": ("f8", ()),
    "flex_hessian_valid": ("u1", ()),
    "flex_vertmetric": ("f8", (4,)),
    "flexvert_hessian": ("f8", (6,)),
    "flexedge_hessian": ("f8", (9,)),
}
"""Missing fields of flexes in versions 3.4 to 4.0: type, and shape of an element; sizes start with n. Models without
flexes have no elements of them."""

MISSING: dict[str, str] = {
    r"flexedge_J_\w+|nJfe": "sparse Jacobians of edges in the model; they are in the data",
    r"n?flex\w*|nJfe|efm\w*|nefm\w*": "interpolated and plastic flexes, and memory of implicit elasticity",
    r"n?oct\w*": "octrees of meshes",
    r"flg_(energypos|energyvel|rnepost|subtreevel)": "flags of lazily computed quantities",
}
"""Features by patterns of the names of their fields."""
