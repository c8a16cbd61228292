"""Relations between objects: contact pairs and exclusions, equality constraints (spec: modeling)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from cardan.compiler.columns import Resolved, table
from cardan.compiler.flexes.elastic import resists_stretching
from cardan.compiler.geoms import condims
from cardan.enums.codes import EQ_CONNECT, EQ_WELD, OBJ_SITE, OBJ_UNKNOWN
from cardan.maths.quaternion import mul_quat, neg_quat, normalize4, rot_vec_quat
from cardan.maths.vector import add3, sub3
from cardan.model import internals
from cardan.spec.repeated import given_by, runs
from cardan.spec.schema.keywords import EQUALITY, JOINT, OBJECT

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.constants import Scratch
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel
    from cardan.spec.element import Element
_PAIR = table("pair", "adhesion", "friction", "gap", "lagged", "margin", "solimp", "solref", "solreffriction", "stick")
_EQUALITY = table("eq", "solref", "solimp", active0="active")


def add_contacts(build: Build) -> None:
    """Add contact pairs and exclusions, each sorted by the signature of its two bodies (`_signature`)."""
    section = build.tree.section("contact")
    _add_pairs(build, [*section.all("pair")])
    ids = build.ids["body"]
    given = [element.attributes for element in section.all("exclude")]
    excludes = [(_signature(ids[own["body1"]], ids[own["body2"]]), own.get("name")) for own in given]
    excludes.sort(key=lambda row: row[0])
    build.enter_all("exclude", [name for _, name in excludes])
    build.columns["exclude_signature"] = [signature for signature, _ in excludes]


def _add_pairs(build: Build, elements: list[Element]) -> None:
    """Add contact pairs. The geom with the lower id becomes the first geom of its pair.

    If a geom has convex pieces, one pair is added for each piece. Only the first of these pairs has a name.
    """
    if not elements:
        return
    pairs, ids, bodyid = Resolved(elements), build.ids["geom"], build.columns["geom_bodyid"]
    rows: list[tuple[int, int, str | None, int, int]] = []  # signature, index of the element, name, ids of the geoms
    for number, names in enumerate(zip(pairs["geom1"], pairs["geom2"], strict=True)):
        one, other = sorted(ids[name] for name in names)
        signature, name = _signature(bodyid[one], bodyid[other]), elements[number].attributes.get("name")
        for first, second in product(_colliding(build, one), _colliding(build, other)):
            rows.append((signature, number, name, first, second))
            name = None
    rows.sort(key=lambda row: row[0])
    which = [number for _, number, *_ in rows]
    build.enter_all("pair", [name for _, _, name, *_ in rows])
    if pairs.any_but("stick", False) or pairs.any_but("lagged", False):
        build.sizes["nstick"] = 1
    if pairs.any_but("adhesion", 0.0):
        pairs.check_finite("adhesion")
        build.sizes["flg_adhesion"] = 1
    columns = pairs.columns(_PAIR) | {"pair_dim": condims(pairs)}
    build.columns.update({name: [*map(column.__getitem__, which)] for name, column in columns.items()})
    build.columns.update(
        pair_geom1=[one for *_, one, _ in rows],
        pair_geom2=[other for *_, other in rows],
        pair_signature=[signature for signature, *_ in rows],
    )


def _colliding(build: Build, geom: int) -> list[int]:
    """Return the ids of the convex pieces of a geom, or its own id if it has none."""
    pieces = build.columns["geom_piece"]
    end = geom + 1
    while end < len(pieces) and pieces[end] == end - geom:
        end += 1
    return [*range(geom + 1, end)] or [geom]


def _signature(body1: int, body2: int) -> int:
    """Combine two body ids into one number: the lower id in the upper 16 bits, the higher id in the lower 16 bits."""
    return (min(body1, body2) << 16) + max(body1, body2)


# --- equality constraints --------------------------------------------------------------------------------------------

# kind of the objects, attributes that refer to them, id if the second one is left out, and the number of constraint
# rows that MuJoCo counts (7 for a weld, which has 6)
_OBJECTS: dict[str, tuple[str, str, str, int, int]] = {
    "connect": ("body", "body1", "body2", 0, 3),
    "weld": ("body", "body1", "body2", 0, 7),
    "joint": ("joint", "joint1", "joint2", -1, 1),
    "tendon": ("tendon", "tendon1", "tendon2", -1, 1),
    "flex": ("flex", "flex", "", -1, 1),
}
_PROPORTIONAL = (0.0, 1.0, 0.0, 0.0, 0.0)
_SCALAR_JOINTS = (JOINT["slide"], JOINT["hinge"])


def add_equalities(build: Build) -> None:
    """Add equality constraints, in the user's order."""
    elements = build.tree.section("equality").children
    if not elements:
        return
    read: list[Element] = []  # elements to read; if elements repeat a pattern, only the pattern's model
    which: list[int] = []  # index in `read` of each element
    objects1, objects2 = build.columns["eq_obj1id"], build.columns["eq_obj2id"]
    kinds = build.columns["eq_objtype"]
    for run in runs(elements, lambda element: element):
        element = run[0]
        kind, first, second, missing, rows = _OBJECTS[element.row.tag]
        if element.given("site1") is not None:
            kind, first, second = "site", "site1", "site2"
        ids = build.ids[kind]
        own1 = [ids[name] for name in given_by(run, first)]
        own2 = [ids[name] if name else missing for name in given_by(run, second)]
        for one, obj1, obj2 in zip(run, own1, own2, strict=True):
            if obj1 == obj2:
                raise one.error(f"the two objects must not be the same {kind}", second)
            if kind == "joint":
                for joint, attribute in ((obj1, first), (obj2, second)):
                    if joint >= 0 and build.columns["jnt_type"][joint] not in _SCALAR_JOINTS:
                        raise one.error("only hinge and slide joints can be constrained", attribute)
            if kind == "flex":
                if build.columns["flex_rigid"][obj1]:
                    raise one.error(
                        "all vertices of this flex are on one body, so that its edges keep their lengths", first
                    )
                if resists_stretching([*build.tree.section("deformable").all("flex")][obj1]):
                    raise one.error("a flex can't have both constrained edges and elasticity that stretches", first)
                build.columns["flex_edgeequality"][obj1] = 1
        build.enter_all("equality", given_by(run, "name"))
        build.sizes["nemax"] = build.sizes.get("nemax", 0) + rows * len(run)
        objects1 += own1
        objects2 += own2
        kinds += [OBJECT[kind] if kind in ("body", "site") else OBJ_UNKNOWN] * len(run)
        which += [len(read)] * len(run)
        read.append(element if element.pattern is None else element.pattern.model)
    equalities = Resolved(read)
    columns = equalities.columns(_EQUALITY) | {
        "eq_type": [EQUALITY[element.row.tag] for element in read],
        "eq_data": _data(equalities),
    }
    if build.tree.compat == "4.0":
        columns["eq_relative"] = [
            int(element.tag == "weld" and "site1" not in element.attributes and not any(row[6:10]))
            for element, row in zip(read, columns["eq_data"], strict=True)
        ]
    build.columns.update({name: [*map(column.__getitem__, which)] for name, column in columns.items()})


def _data(equalities: Resolved) -> list[tuple[float, ...]]:
    """Return the part of ``eq_data`` that the user specified; `set_equality_data` computes the rest."""
    names = {"anchor": None, "relpose": None, "torquescale": 1.0, "polycoef": _PROPORTIONAL}
    values = [equalities.get(name, missing) for name, missing in names.items()]
    rows: list[tuple[float, ...]] = []
    for element, anchor, pose, scale, coefficients in zip(equalities.elements, *values, strict=True):
        if "site1" in element.attributes:  # only the scale has an effect
            rows.append((*_PROPORTIONAL, *[0.0] * 5, scale) if element.tag == "weld" else (0.0,) * 11)
        elif anchor is None:
            rows.append((*coefficients, *[0.0] * 5, 1.0))
        else:
            rows.append((*anchor, *([0.0] * 7 if pose is None else pose), scale))
    return rows


def set_equality_data(m: MjModel, d: MjData | Scratch) -> None:
    """Set the data of equality constraints that depends on the initial configuration.

    For a connect constraint, the anchor in the second body is computed from the anchor in the first body. For a weld
    constraint with a given relative pose, the quaternion is normalised. Without this pose, the anchor in the first body
    and the relative pose are computed; in MuJoCo 4.0, also whenever constants are computed anew. Constraints of sites
    are left unchanged.
    """
    for i, kind in enumerate(internals.array(m, "eq_type").tolist()):
        if kind not in (EQ_CONNECT, EQ_WELD) or m.eq_objtype[i] == OBJ_SITE:
            continue
        bodies, data = (m.eq_obj1id[i], m.eq_obj2id[i]), internals.array(m, "eq_data")[i]
        (pos1, quat1), (pos2, quat2) = [(tuple(d.xpos[b].tolist()), tuple(d.xquat[b].tolist())) for b in bodies]
        anchor: tuple = tuple(data[:3].tolist())
        if kind == EQ_CONNECT:
            point = add3(pos1, rot_vec_quat(anchor, quat1))
            data[3:6] = rot_vec_quat(sub3(point, pos2), neg_quat(quat2))
        elif data[6:10].any() and not m.eq_relative[i]:
            data[6:10] = normalize4(tuple(data[6:10].tolist()))
        else:
            back = neg_quat(quat1)
            point = add3(pos2, rot_vec_quat(anchor, quat2))
            data[3:6] = rot_vec_quat(sub3(point, pos1), back)
            data[6:10] = normalize4(mul_quat(back, quat2))
