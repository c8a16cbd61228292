"""Random models with flexes: flexcomps of every type, and flexes by hand on bodies of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

Random = np.random.Generator

_JOINTS = {
    "free": "<freejoint/>",
    "slides": "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1")),
    "slide": '<joint type="slide" axis="1 1 0"/>',
    "hinge": '<joint axis="0 1 1" pos=".3 .2 .1"/>',
    "ball": '<joint type="ball"/>',
    "none": "",
}
_SHAPES = ("grid1", "grid2", "grid3", "disc", "box", "cylinder", "ellipsoid", "direct1", "direct2", "direct3")
_CLOSED = ("box", "cylinder", "ellipsoid")
_CONTACTS = (
    {}, {"selfcollide": "none"}, {"selfcollide": "narrow"}, {"selfcollide": "bvh"}, {"selfcollide": "sap"},
    {"internal": "false"}, {"contype": 0, "conaffinity": 0}, {"activelayers": 2}, {"activelayers": 0}, {"condim": 6},
    {"margin": 0.02, "gap": 0.01}, {"priority": 3, "solmix": 0.5, "friction": "0.5 0.1 0.2"},
    {"solref": "0.05 0.7", "solimp": "0.8 0.9 0.01 0.4 3", "contype": 3, "conaffinity": 2},
)  # fmt: skip
_EDGES = ({}, {"damping": 0.5}, {"equality": "true"}, {"equality": "true", "solref": "0.1 0.9", "damping": 0.1})


def numbers(values: Any) -> str:
    """Numbers as text."""
    return " ".join(f"{value:.6g}" for value in np.ravel(values))


def _tag(tag: str, attributes: dict[str, Any], content: str = "") -> str:
    """An element."""
    listed = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag}{listed}>{content}</{tag}>"


def _choice(rng: Random, rows: Any) -> Any:
    return rows[rng.integers(len(rows))]


def _some(rng: Random, attributes: dict[str, Any]) -> dict[str, Any]:
    """Some of the attributes."""
    return {name: value for name, value in attributes.items() if rng.random() < 0.4}


def _elements(rng: Random, count: int, dim: int) -> np.ndarray:
    """Elements that use every vertex."""
    rows = [rng.choice(count, dim + 1, replace=False) for _ in range(int(rng.integers(2, 12)))]
    unused = sorted(set(range(count)).difference(np.ravel(rows).tolist()))
    for vertex in unused:
        others = [other for other in range(count) if other != vertex]
        rows.append(np.array([vertex, *rng.choice(others, dim, replace=False)]))
    return np.array(rows)


def _shape(rng: Random, word: str) -> dict[str, Any]:
    """Attributes that make the points and elements."""
    kind, dim = word.rstrip("123"), int(word[-1]) if word[-1].isdigit() else 2 if word == "disc" else 3
    if kind == "direct":
        count = int(rng.integers(dim + 2, 12))
        points = rng.uniform(-0.5, 0.5, (count, 3))
        return {
            "type": "direct",
            "dim": dim,
            "point": numbers(points),
            "element": numbers(_elements(rng, count, dim)),
            "scale": numbers(rng.uniform(0.5, 2.0, 3)),
        }
    least = 3 if kind == "disc" else 2
    count = rng.integers(least, 6 if dim == 3 else 9, 3)
    count[{1: 1, 2: 2, 3: 3}[dim] :] = 1
    return {"type": kind, "dim": dim, "count": numbers(count), "spacing": numbers(rng.uniform(0.03, 0.2, 3))}


def _pins(rng: Random, shape: dict[str, Any]) -> str:
    """Elements that pin some points."""
    if rng.random() < 0.5:
        return ""
    ways = [{"id": numbers(rng.integers(0, 2, 2))}, {"range": "1 2"}]
    if shape["type"] == "grid" and shape["dim"] > 1:
        zeros, ones = [0] * shape["dim"], [1] * shape["dim"]
        ways += [{"grid": numbers(ones)}, {"gridrange": numbers(zeros + ones)}]
    return "".join(_tag("pin", _choice(rng, ways)) for _ in range(int(rng.integers(1, 3))))


def flexcomp(rng: Random, name: str, word: str) -> tuple[str, bool]:
    """A flexcomp of a shape, and whether it must stand in a body that has a mass of its own."""
    shape = _shape(rng, word)
    edge = _choice(rng, _EDGES) if shape["dim"] > 1 else _choice(rng, (*_EDGES, {"stiffness": 2, "damping": 0.1}))
    placed = {
        "pos": numbers(rng.uniform(-1, 1, 3)),
        "mass": f"{rng.uniform(0.1, 5):.4g}",
        "inertiabox": 0.01,
        "radius": 0.01,
        "group": 2,
        "rgba": "1 0.5 0.2 0.5",
        "rigid": "true",
    }
    turned = _choice(rng, ({}, {"euler": "20 -30 70"}, {"axisangle": "1 2 3 40"}, {"zaxis": "1 1 0"}))
    attributes = {"name": name, **shape, **_some(rng, placed), **turned}
    content = _pins(rng, shape) + (_tag("edge", edge) if edge else "") + _contact(rng)
    return _tag("flexcomp", attributes, content), shape["type"] in _CLOSED


def _contact(rng: Random) -> str:
    contact = _choice(rng, _CONTACTS)
    return _tag("contact", contact) if contact else ""


def flex_by_hand(rng: Random) -> str:
    """A model with bodies of many kinds, and a flex on some of them."""
    names = [f"b{i}" for i in range(int(rng.integers(4, 9)))]
    bodies = ""
    for name in names:
        inside = _tag("body", {"name": f"in_{name}", "pos": "0.1 0.2 0.3"}, '<geom size="0.1"/>')
        pose = {"pos": numbers(rng.uniform(-1, 1, 3)), "euler": numbers(rng.uniform(-90, 90, 3))}
        content = _choice(rng, list(_JOINTS.values())) + '<geom size="0.05"/>' + (inside if rng.random() < 0.3 else "")
        bodies += _tag("body", {"name": name, **pose}, content)
    dim, count = int(rng.integers(1, 4)), int(rng.integers(5, 10))
    chosen = [names[0], names[1], *(_choice(rng, names) for _ in range(count - 2))]
    attributes = {"name": "f", "dim": dim, "body": " ".join(chosen), "element": numbers(_elements(rng, count, dim))}
    if rng.random() < 0.6:
        attributes["vertex"] = numbers(rng.uniform(-0.3, 0.3, (count, 3)))
    edge = _choice(rng, ("", '<edge damping="2"/>', '<edge stiffness="3"/>' if dim == 1 else ""))
    equality = '<equality><flex flex="f"/></equality>' if rng.random() < 0.5 else ""
    flex = _tag("flex", attributes, _contact(rng) + edge)
    return f"<mujoco><worldbody>{bodies}</worldbody><deformable>{flex}</deformable>{equality}</mujoco>"


def soft_model(seed: int) -> str:
    """A random model with flexes; the first seeds have one of each shape."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 3:
        return flex_by_hand(rng)
    content = ""
    for i in range(int(rng.integers(1, 3))):
        comp, needs_body = flexcomp(rng, f"f{i}", _SHAPES[seed % len(_SHAPES)] if i == 0 else _choice(rng, _SHAPES))
        where = _choice(rng, ("free", "hinge")) if needs_body else _choice(rng, ("world", "none", "hinge", "slides"))
        if where == "world":
            content += comp
        else:
            mass = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
            pose = {"name": f"parent{i}", "pos": numbers(rng.uniform(-1, 1, 3)), "euler": "10 20 30"}
            content += _tag("body", pose, _JOINTS[where] + mass + comp)
    defaults = '<default><joint damping="0.2" armature="0.1"/></default>'
    settings = _choice(rng, ("", defaults, '<compiler settotalmass="4"/>'))
    ball = '<body name="ball" pos="0 0 3"><freejoint/><geom size="0.1"/></body>'
    return f"<mujoco>{settings}<worldbody><geom type='plane' size='1 1 1'/>{content}{ball}</worldbody></mujoco>"
