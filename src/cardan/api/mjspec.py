"""`MjSpec`: models that a program builds, edits, compiles and saves (docs/mjspec.md)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Union

import numpy as np

from cardan.api.log import report_compilation
from cardan.api.names import mj_name2id
from cardan.api.pipeline import mj_forward
from cardan.api.spec_archives import Archiving, Source, Target
from cardan.api.spec_editing import Editing
from cardan.compiler.compile import compile_tree
from cardan.compiler.sensors import SENSORS, contact_row, values_of_ray
from cardan.compiler.timers import PHASES, recorded
from cardan.enums import mjtEq, mjtObj
from cardan.files import write_file
from cardan.maths.pose import unit_quat
from cardan.mjcf.canonical.scribe import statistics
from cardan.mjcf.canonical.tree import canonical_tree
from cardan.mjcf.canonical.written import is_written, written_tree
from cardan.mjcf.checks import check_tree
from cardan.mjcf.conflicts import settle_conflicts
from cardan.mjcf.reader import read_path, read_string
from cardan.mjcf.writer import write_tree
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.vfs import MjVfs, contents
from cardan.spec.element import Element
from cardan.spec.layout import Part, Parts, layout, pieces, rearranged, size
from cardan.spec.mjspec.actuators import MjsSensor
from cardan.spec.mjspec.authored import MjsAuthored
from cardan.spec.mjspec.bodies import MjsOrientation, mjtGeomInertia, mjtOrientation
from cardan.spec.mjspec.relations import MjsTendonPath, MjsWrap
from cardan.spec.mjspec.settings import VISUAL_GROUPS, MjsCompiler, MjsDefault
from cardan.spec.mjspec.specification import KINDS, Specification
from cardan.spec.mjspec.struct import Named
from cardan.spec.mjspec.values import VECTORS
from cardan.spec.orientation import orientation as quat_of
from cardan.spec.schema.keywords import mjtBuiltin, mjtInertiaFromGeom, mjtLimited, mjtMark
from cardan.spec.tree import IMPLIED, ModelTree, copied_tree

# fields of the state, each with the part of the layout that names the owners of its entries
_STATE = {
    "qpos": "qpos", "qvel": "qvel", "act": "act", "ctrl": "ctrl", "mocap_pos": "mpos", "mocap_quat": "mquat",
    "qfrc_applied": "qvel", "qacc_warmstart": "qvel", "xfrc_applied": "body", "eq_active": "equality",
}  # fmt: skip


class MjSpec(Editing, Archiving, Specification):
    """A model to be built and edited, with the interface of MuJoCo's ``MjSpec``.

    ``MjSpec()`` contains only the world body; ``MjSpec.from_file`` and ``MjSpec.from_string`` read a model.
    """

    timer: np.ndarray = np.zeros(len(PHASES))
    """Durations of the phases of the last compilation, s, by `mjtCTimer`."""

    _layout: Parts | None = None

    @classmethod
    def from_file(
        cls,
        filename: str | os.PathLike[str],
        include: Mapping[str, bytes] | None = None,
        assets: Mapping[str, bytes] | None = None,
        vfs: MjVfs | None = None,
        *,
        compat: str | None = None,
    ) -> MjSpec:
        """Read a model from an MJCF or URDF file.

        Args:
            filename: path of the file.
            include: contents of included files by name; they take precedence over files on disk.
            assets: contents of any files by name; they take precedence over files on disk.
            vfs: files for reading, instead of ``include`` and ``assets``. `compile` needs it, too.
            compat: version of MuJoCo whose behaviour the model has, ``"3.1"`` or ``"4.0"``; None: the default of the
                process.

        Raises:
            MjcfError: the file can't be read or breaks a rule; the message names file, line, element and attribute.
        """
        return cls(_kept(read_path(filename, contents(vfs, include, assets), compat), vfs))

    @classmethod
    def from_string(
        cls,
        xml: str | bytes,
        include: Mapping[str, bytes] | None = None,
        assets: Mapping[str, bytes] | None = None,
        vfs: MjVfs | None = None,
        *,
        compat: str | None = None,
    ) -> MjSpec:
        """Read a model from MJCF or URDF text, as ``from_file`` does from a file."""
        return cls(_kept(read_string(xml, contents(vfs, include, assets), compat), vfs))

    def copy(self) -> MjSpec:
        """Return a copy that shares nothing with this specification."""
        self.check_pending()
        return MjSpec(copied_tree(self.tree))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> MjSpec:
        return self.copy()

    def compile(self, vfs: MjVfs | None = None) -> MjModel:
        """Compile to a model. The specification does not change: it can be edited and compiled again.

        Args:
            vfs: files that the model names. They take precedence over files on disk; excludes `assets`.

        Raises:
            MjcfError: the model breaks a rule; the message names the element and states what would be right.
            ValueError: elements of this specification belong to another one, to which they were attached without a
                copy; or both ``vfs`` and `assets` have files.
        """
        if self._moved:
            raise ValueError("cannot compile child spec if attached by reference to a parent spec")
        self.check_pending()
        if self.unprefixed and self.compat == "4.0":
            text = "Attaching a spec with an empty prefix may prevent the model from being saved correctly."
            warnings.warn(text, stacklevel=2)
        with self.files_of(vfs), recorded() as self.timer:
            check_tree(self.tree)
            model = compile_tree(self.tree)
        report_compilation(self.timer)
        if self.compat == "4.0":
            self._warn_of_limp_flexes(model)
        self._ids = self._numbers(model)
        self._layout = layout(self.tree)
        self._signature = model.signature
        return model

    def _warn_of_limp_flexes(self, model: MjModel) -> None:
        """Warn about flexes whose points nothing holds together: no constraints, springs, dampers or elasticity."""
        held = {
            int(number) for number, kind in zip(model.eq_obj1id, model.eq_type, strict=True) if kind == mjtEq.mjEQ_FLEX
        }
        for number, element in enumerate(self.elements("flex")):
            passive = model.flex_edgestiffness[number] or model.flex_edgedamping[number]
            passive = passive or model.flex_stiffnessadr[number] >= 0
            if not (model.flex_rigid[number] or number in held or passive):
                text = "is not rigid and has no equality constraints or passive forces"
                warnings.warn(f"flex '{element.name}' {text}", stacklevel=3)

    @contextmanager
    def files_of(self, vfs: MjVfs | None) -> Iterator[None]:
        """Return a context manager in which the tree is as it is compiled.

        Its ``assets`` are the files of a virtual file system, and inertial frames that do not count are left out.
        """
        own = self.tree.assets
        given = contents(vfs, own)
        if vfs is not None:
            self.tree.assets = dict(given or {})
        ignored = self._ignored_inertials()
        for body, place, inertial in ignored:
            del body.children[place]
        try:
            yield
        finally:
            self.tree.assets = own
            for body, place, inertial in ignored[::-1]:
                body.children.insert(place, inertial)

    def _ignored_inertials(self) -> list[tuple[Element, int, Element]]:
        """Return inertial frames that are not explicit in bodies with geoms, with the body and the place in it."""
        if self.tree.section("compiler")["inertiafromgeom"] != "auto":
            return []
        marked = [element for element, data in self.tree.beside.items() if IMPLIED in data]
        found: list[tuple[Element, int, Element]] = []
        for inertial in marked:
            body = inertial.parent
            if body is not None and inertial in body.children and any(True for _ in body.content("geom")):
                found.append((body, body.children.index(inertial), inertial))
        return found

    def settle(self, child: Specification) -> None:
        """Settle conflicts between the settings of an attached specification and this one; see ``compiler.conflict``.

        This is a feature of MuJoCo 4.0: with ``compat="3.1"``, nothing is done.
        """
        if self.compat == "4.0":
            settle_conflicts(self.tree.root, child.tree)

    def recompile(self, model: MjModel, data: MjData, vfs: MjVfs | None = None) -> tuple[MjModel, MjData]:
        """Compile again after edits, and carry the state of a running simulation over.

        The time is kept, and so are positions, velocities, activations, controls, mocap poses and applied forces of all
        elements that still exist. New elements start in the initial configuration.

        Args:
            model: the last result of ``compile`` or ``recompile`` of this specification.
            data: data of this model. Neither `model` nor `data` is changed.
            vfs: as for `compile`.

        Returns:
            The new model, and a new data in the same state, for which ``mj_forward`` has been run.

        Raises:
            ValueError: this specification was last compiled to another model.
        """
        before = self._layout
        if before is None or (size(before["qpos"]), size(before["qvel"])) != (model.nq, model.nv):
            raise ValueError("recompile needs the model that this specification was last compiled to")
        new_model = self.compile(vfs)
        new_data = MjData(new_model)
        assert self._layout is not None
        for field, part in _STATE.items():
            _carry_over(before[part], self._layout[part], getattr(data, field), getattr(new_data, field))
        new_data.time = data.time
        mj_forward(new_model, new_data)
        return new_model, new_data

    def to_xml(self) -> str:
        """Compile the model, and return it as MJCF text in the canonical subset of the language.

        With ``compiler savecompiled="false"``, the text is the model as it was written.

        Raises:
            MjcfError: the model can't be compiled.
        """
        return write_tree(self.canonical(self.compile()))

    def canonical(self, model: MjModel) -> ModelTree:
        """Return a model, compiled from this specification, as a tree in the canonical subset of the language.

        With ``compiler savecompiled="false"``, the tree is the model as it was written.
        """
        if is_written(self.tree):
            return written_tree(self.tree, model)
        computed = statistics(model) if self.compat == "4.0" else None
        return canonical_tree(model, self.tree, computed)

    def to_file(self, filename: str | os.PathLike[str]) -> None:
        """Write the model as MJCF text to a file; see ``to_xml``."""
        write_file(filename, self.to_xml())

    @staticmethod
    def resolve_orientation(degree: bool, sequence: Any = None, *, orientation: MjsOrientation) -> list[float]:
        """Return the quaternion (w, x, y, z) of an orientation in another format; four zeros if there is none.

        Args:
            degree: whether angles are in degrees, else in radians.
            sequence: three letters of the Euler sequence, as in ``compiler.eulerseq``; None: ``xyz``.
            orientation: ``alt`` or ``ialt`` of an element.
        """
        if orientation.type == mjtOrientation.mjORIENTATION_QUAT:
            return [0.0] * 4
        settings = {"angle": "degree" if degree else "radian", "eulerseq": "".join(sequence or "xyz")}
        return list(unit_quat(quat_of(settings, orientation.element, orientation.element.resolved())))

    @property
    def _address(self) -> int:
        """Number that identifies this specification while it exists, under the name that MuJoCo's package uses."""
        return id(self)

    def _numbers(self, model: MjModel) -> dict[Any, int]:
        """Return the ids that the specification's elements have in a compiled model.

        Elements of a kind are matched by order or, if the compiler removed or sorted some of them, by name.
        """
        numbers: dict[Any, int] = {}
        for kind, row in KINDS.items():
            if kind in ("frame", "plugin"):
                continue
            elements = self.elements(kind)
            ids = range(getattr(model, row.size)) if row.size else ()
            if kind == "geom":  # the convex pieces of geoms have no elements
                ids = np.flatnonzero(model.geom_piece == 0).tolist()
            if row.size and len(elements) == len(ids):
                numbers.update(zip(elements, ids, strict=True))
            else:
                code = getattr(mjtObj, "mjOBJ_" + kind.upper())
                named = ((element, mj_name2id(model, code, element.name or "")) for element in elements)
                numbers.update((element, number) for element, number in named if number >= 0)
        return numbers


def _kept(tree: ModelTree, vfs: MjVfs | None) -> ModelTree:
    """Return a tree that was read. The files of a virtual file system are not kept: `MjSpec.compile` gets them anew."""
    if vfs is not None:
        tree.assets = {}
    return tree


def from_zip(file: Source, *, compat: str | None = None) -> MjSpec:
    """Read a specification from a ZIP file; see `MjSpec.from_zip`."""
    return MjSpec.from_zip(file, compat=compat)


def to_zip(spec: MjSpec, file: Target) -> None:
    """Write a specification to a ZIP file; see `MjSpec.to_zip`."""
    spec.to_zip(file)


def _carry_over(before: Part, after: Part, old: np.ndarray, new: np.ndarray) -> None:
    """Copy the entries of elements that exist in both models from the array `old` to the array `new`.

    `before` and `after` are the layouts of the arrays. If an array is empty or does not fit its layout, nothing is
    copied.
    """
    count_old, count_new = size(before), size(after)
    if not count_old or not count_new or count_old not in (old.size, len(old)) or count_new not in (new.size, len(new)):
        return
    rows, target = old.reshape(count_old, -1), new.reshape(count_new, -1)
    for row, source in enumerate(rearranged(after, pieces(before, range(count_old)), -1)):
        if source >= 0:
            target[row] = rows[int(source)]


def _data_size(self: MjsSensor) -> int:
    """Return the number of values that the sensor measures.

    Raises:
        MjcfError: the number of values is known only after compilation (plugins, and rangefinders of cameras).
    """
    tag = self.element.row.tag
    if tag == "rangefinder" and "site" in self.element.attributes:
        return values_of_ray(self.element)[1]
    if tag in SENSORS and tag != "rangefinder":
        return SENSORS[tag].dim
    if tag == "user":
        return self.element["dim"]
    if tag == "contact":
        return contact_row(self.element)[0].dim
    raise self.element.error("the number of values of this sensor is known only after compilation")


setattr(MjsSensor, "get_data_size", _data_size)  # noqa: B010

STRUCTS = {
    cls.__name__: cls
    for cls in (
        *(kind.struct for kind in KINDS.values()),
        MjsOrientation,
        MjsWrap,
        MjsDefault,
        MjsCompiler,
        MjsAuthored,
        MjsTendonPath,
        *VECTORS,
    )
} | {"MjsElement": Named, **{name: VISUAL_GROUPS[name] for name in ("MjVisualHeadlight", "MjVisualRgba")}}
"""Classes of structs by name."""
globals().update(STRUCTS)

MjStruct = Union[tuple(kind.struct for kind in KINDS.values())]  # noqa: UP007
"""Type of all structs of elements."""

__all__ = [
    "MjSpec",
    "MjStruct",
    "from_zip",
    "mjtBuiltin",
    "mjtGeomInertia",
    "mjtInertiaFromGeom",
    "mjtLimited",
    "mjtMark",
    "to_zip",
]
__all__ += ["mjtOrientation", *STRUCTS]  # noqa: PLE0604
