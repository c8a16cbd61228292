"""A model built element by element through MjSpec equals the one from XML, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import OWN, PATHS

import cardan
from cardan import MjModel, MjSpec, mjtOrientation
from cardan.model.tables import MODEL

REAL = [PATHS[name] for name in ("humanoid", "clutter", "crowd")]
HANDLED = {"name", "classname", "alt", "ialt", "type", "explicitinertial", "id", "info", "parent", "frame", "frames",
           "bodies", "joints", "geoms", "sites", "cameras", "lights", "path",
           "quat", "LRopt"}  # fmt: skip
INERTIAL = ("ipos", "iquat", "mass", "inertia", "fullinertia")
ENTRIES = ("mesh", "material", "joint", "geom", "site", "camera", "light", "pair", "equality", "tendon", "actuator")


def same(left: Any, right: Any) -> bool:
    """Whether two values of an attribute are equal, NaN included."""
    if isinstance(left, np.ndarray):
        return left.shape == right.shape and np.array_equal(left, right, equal_nan=True)
    return left == right or (left != left and right != right)


def copy_values(source: Any, target: Any, skip: tuple[str, ...] = ()) -> None:
    """Set all attributes of one struct to those of another, where they differ."""
    names = type(source).attribute_names()
    if "type" in names and "type" not in skip and source.type != target.type:
        target.type = source.type
    for name in names:
        if name not in HANDLED and name not in skip and not same(getattr(source, name), getattr(target, name)):
            setattr(target, name, getattr(source, name))
    if "quat" in names:
        copy_orientation(source.alt, target.alt, source, target, "quat")


def copy_orientation(source: Any, target: Any, around: Any, target_around: Any, name: str) -> None:
    """Set an orientation in the format of the source."""
    if source.type == target.type and source.type != mjtOrientation.mjORIENTATION_QUAT:
        word = source.type.name.removeprefix("mjORIENTATION_").lower()
        if same(getattr(source, word), getattr(target, word)):
            return
    if source.type == mjtOrientation.mjORIENTATION_QUAT:
        if not same(getattr(around, name), getattr(target_around, name)):
            setattr(target_around, name, getattr(around, name))
    else:
        word = source.type.name.removeprefix("mjORIENTATION_").lower()
        setattr(target, word, getattr(source, word))


def own_class(source: Any) -> str | None:
    """Name of the class that an element gives itself."""
    return source.element.attributes.get("class")


def copy_inertial(source: Any, target: Any) -> None:
    """Copy the inertial frame of a body."""
    if not source.explicitinertial:
        return
    target.mass, target.ipos = source.mass, source.ipos
    for name in ("inertia", "fullinertia"):
        if not np.isnan(getattr(source, name)).any():
            setattr(target, name, getattr(source, name))
    if np.isnan(source.fullinertia).any():
        copy_orientation(source.ialt, target.ialt, source, target, "iquat")


def copy_content(source: Any, target: Any) -> None:
    """Copy everything inside a body or a frame."""
    spec = source.spec
    for element in source.element.children:
        if element.tag == "inertial":
            continue
        child = spec.struct(element)
        add = getattr(target, f"add_{element.tag}")
        made = add(own_class(child) if element.tag not in ("body", "frame", "freejoint") else None)
        made.name = child.name
        copy_values(child, made, {"freejoint": ("type",), "body": INERTIAL}.get(element.tag, ()))
        if element.tag == "body":
            copy_inertial(child, made)
        if element.tag in ("body", "frame"):
            copy_content(child, made)


def copy_defaults(source: MjSpec, target: MjSpec) -> None:
    """Copy all default classes."""
    target.default.name = source.default.name
    for cls in source.tree.defaults:
        made = target.default if cls.parent is None else target.add_default(cls.name, cls.parent.name)
        for entry in ENTRIES:
            copy_values(getattr(source.find_default(cls.name), entry), getattr(made, entry))


def copy_relations(source: MjSpec, target: MjSpec) -> None:
    """Copy everything outside the kinematic tree, assets excluded."""
    for kind, plural in {"pair": "pairs", "exclude": "excludes", "equality": "equalities", "tendon": "tendons",
                         "actuator": "actuators", "sensor": "sensors", "numeric": "numerics", "text": "texts",
                         "tuple": "tuples", "key": "keys"}.items():  # fmt: skip
        for item in getattr(source, plural):
            made = getattr(target, f"add_{kind}")(own_class(item))
            made.name = item.name
            for wrap in item.path if kind == "tendon" else ():
                copy_wrap(wrap, made)
            copy_values(item, made)


def copy_wrap(wrap: Any, tendon: Any) -> None:
    """Copy one element of a tendon's path."""
    tag, target = wrap.element.tag, wrap.target
    extra = {"joint": ("coef",), "geom": ("sidesite",), "pulley": ("divisor",), "site": ()}[tag]
    names = (target.name,) if target is not None else ()
    getattr(tendon, f"wrap_{tag}")(*names, *(getattr(wrap, name) for name in extra))


def rebuilt(source: MjSpec) -> MjSpec:
    """The same model, built from nothing through the public attributes."""
    target = MjSpec()
    target.modelname = source.modelname
    for group in ("option", "compiler", "stat"):
        copy_values(getattr(source, group), getattr(target, group))
    copy_values(source.compiler.LRopt, target.compiler.LRopt)
    for group in ("global_", "quality", "headlight", "map", "scale", "rgba"):
        copy_values(getattr(source.visual, group), getattr(target.visual, group))
    for size in source.tree.section("size").attributes:
        setattr(target, size, getattr(source, size))
    copy_defaults(source, target)
    # textures first, since materials name them
    for kind, plural in {"texture": "textures", "material": "materials", "mesh": "meshes", "hfield": "hfields"}.items():
        for item in getattr(source, plural):
            made = getattr(target, f"add_{kind}")(own_class(item))
            made.name = item.name
            copy_values(item, made)
    copy_content(source.worldbody, target.worldbody)
    copy_relations(source, target)
    return target


def assert_same_model(left: MjModel, right: MjModel) -> None:
    """Two models are equal in every field."""
    for field in MODEL.fields:
        if field.is_attached:
            continue
        a: Any = left
        b: Any = right
        for part in field.name.split("."):
            a, b = getattr(a, part), getattr(b, part)
        assert a == b if isinstance(a, bytes) else np.array_equal(a, b, equal_nan=True), field.name


@pytest.mark.parametrize("path", OWN + REAL, ids=lambda path: path.stem)
def test_rebuilt_models_are_the_same(path: Path) -> None:
    source = MjSpec.from_file(path)
    assert_same_model(cardan.MjModel.from_xml_path(str(path)), rebuilt(source).compile())


@pytest.mark.parametrize("path", OWN[:6] + REAL[:1], ids=lambda path: path.stem)
def test_copies_are_the_same(path: Path) -> None:
    source = MjSpec.from_file(path)
    assert_same_model(source.compile(), source.copy().compile())
