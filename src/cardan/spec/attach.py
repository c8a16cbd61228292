"""Attaching: copying all or part of one model (the child) into another model (the target).

Names get a prefix and a suffix, so that a model can be attached many times. Assets and default classes are copied. From
every other section, the elements that refer only to objects of the copied part are copied. Angles are converted to the
target's unit. Keyframes of the child become keyframes of the target, with all other objects in their initial state.
`attach_within` copies a part of a tree within the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import degrees, radians
from os.path import basename
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardan.errors import MjcfError
from cardan.maths.pose import euler2quat
from cardan.maths.vector import scale3
from cardan.spec.element import Element
from cardan.spec.layout import key_pieces, keys_kept, layout, rewrite_key
from cardan.spec.replicate import copy_relations, copy_renamed
from cardan.spec.schema.language import DEFAULT
from cardan.spec.schema.rows import Type
from cardan.spec.tree import USER_TEXTURE, WORLD, asset_folder, listed, names_of

if TYPE_CHECKING:
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.tree import ModelTree

# sections that follow the kinematic tree; later ones may refer to earlier ones
_SECTIONS = ("deformable", "contact", "equality", "tendon", "actuator", "sensor")
_JOINT_ANGLES = ("range", "ref", "springref")


class Attachment:
    """One attachment of the tree ``child`` to the tree ``parent``. Copied names get the prefix and the suffix."""

    def __init__(
        self,
        parent: ModelTree,
        child: ModelTree,
        prefix: str,
        suffix: str,
        late_keys: bool = False,
        renames_files: bool = False,
        replaces: bool = True,
    ) -> None:
        self.parent, self.child = parent, child
        self.renames_files = renames_files  # whether names of files in the child's ``assets`` get prefix and suffix
        self.replaces = replaces  # whether renamed files replace files of the parent
        self.late_keys = late_keys  # whether keyframes are completed by `complete_keys`, after macros are expanded
        self.prefix, self.suffix = prefix, suffix
        self.copies: dict[Element, Element] = {}
        self.classes: dict[str, str] = {}
        source, target = child.section("compiler").resolved(), parent.section("compiler").resolved()
        self.settings = source
        self.same_unit = source["angle"] == target["angle"]
        self.infers_limits = source["autolimits"] and not target["autolimits"]
        self.same_axes = source["eulerseq"] == target["eulerseq"]
        self.to_target = degrees if target["angle"] == "degree" else radians

    def run(self, roots: list[Element], target: Element, whole: bool) -> list[Element]:
        """Copy the elements ``roots`` into ``target``, and related elements into the sections of the target's tree.

        ``whole`` means that the roots are the whole content of the child. Return the copies of the roots. File contents
        in the child's ``assets`` are copied, too.

        Raises:
            MjcfError: a name is already used in the target, or the name of a file with another content. The target
                is then as it was before.
        """
        with restored_on_error(self.parent, target):
            return self._run(roots, target, whole)

    def _run(self, roots: list[Element], target: Element, whole: bool) -> list[Element]:
        """Do the work of `run`. An error leaves the target half changed."""
        self.parent.uses_later |= self.child.uses_later
        self._check_assets()
        relations = list(self._relations(roots, whole))
        others = [*self.child.section("extension").children, *self.child.section("asset").children]
        others += [*self.child.section("deformable").all("skin"), *relations]
        keys = list(self.child.section("keyframe").children)
        for root in (*roots, *others, *keys):
            for element in (root, *root.descendants()):
                kind, name = element.row.kind, element.name
                if kind and name and self.parent.find(kind, self.renamed(name)) is not None:
                    message = f"the model has a {kind} named '{self.renamed(name)}' already; attach with another prefix"
                    raise element.error(message, "name")
                self._check_files(element)
        for cls in self.child.defaults:
            self.classes[cls.name] = self._copied_class(cls)
        with nullcontext() if self.late_keys else keys_kept(self.parent):
            made = [self._copy(root, target) for root in roots]
            for root, copy in zip(roots, made, strict=True):
                self._set_class(root, copy)
            for element in others:
                assert element.parent is not None
                self._copy(element, self.parent.section(element.parent.tag))
            self.parent.changed()  # so that keyframes find the plugin instances of actuators
        # keyframes with the entries of the copied elements
        before = layout(self.child) if keys else {}
        after = layout(self.parent) if keys and not self.late_keys else {}
        for key in keys:
            known = {part: {self.copies[element]: values for element, values in found.items() if element in self.copies}
                     for part, found in key_pieces(key, before).items()}  # fmt: skip
            copy = self._copy(key, self.parent.section("keyframe"))
            if self.late_keys:
                self.parent.late_keys.append((copy, known))
            else:
                rewrite_key(copy, known, after)
        for element, data in self.child.beside.items():
            if element in self.copies:
                renamed = {USER_TEXTURE: self.renamed(data[USER_TEXTURE])} if USER_TEXTURE in data else {}
                self.parent.beside[self.copies[element]] = data | renamed
        for name, content in self.child.assets.items():
            if self.renames_files or self.parent.asset_key(name) is None:
                self.parent.assets[self._renamed_file(name)] = content
        self.parent.changed()
        return made

    # --- what comes along --------------------------------------------------------------------------------------------

    def _relations(self, roots: list[Element], whole: bool) -> Iterator[Element]:
        """Yield the elements of other sections to copy.

        If ``whole``, these are all elements, else those that refer only to copied elements. With ``late_keys``,
        elements that refer to nothing are included.
        """
        inside = names_of(roots)
        along = {"default", "plugin", *(element.row.kind for element in self.child.section("asset").children)}
        for tag in (*_SECTIONS, "custom"):
            for element in self.child.section(tag).children:
                if element.tag == "skin":
                    continue
                if whole:
                    yield element
                    continue
                named = {found for part in (element, *element.children) for row in part.row.references
                         if (found := part.referred(row)) and found[0] not in along}  # fmt: skip
                named |= listed(element)
                named.discard(("body", WORLD))
                if (named or self.late_keys) and named <= inside:
                    if element.name and element.row.kind:
                        inside.add((element.row.kind, element.name))
                    yield element

    def renamed(self, name: str) -> str:
        """Return a name with the prefix and suffix of the attachment."""
        return f"{self.prefix}{name}{self.suffix}"

    def _renamed_file(self, name: str) -> str:
        """Return the name of a file in the target's ``assets``: with prefix and suffix if files are renamed."""
        if not self.renames_files:
            return name
        folder, slash, base = name.rpartition("/")
        stem, dot, extension = base.rpartition(".")
        return f"{folder}{slash}{self.renamed(stem if dot else base)}{dot}{extension if dot else ''}"

    def _check_assets(self) -> None:
        """Raise ValueError if a renamed file of the child exists in the target and may not be replaced."""
        if self.renames_files and not self.replaces:
            for name, content in self.child.assets.items():
                if self.parent.assets.get(self._renamed_file(name), content) != content:
                    raise ValueError(f"Asset {name} already exists in parent spec.")

    def _check_files(self, element: Element) -> None:
        """Raise MjcfError if a file of the element has another content in the target's ``assets``."""
        if not self.parent.assets or self.renames_files:
            return
        for row in element.row.attributes.values():
            file = element.attributes.get(row.name) if row.type is Type.FILE else None
            if not file:
                continue
            here = self.parent.asset_key(file)
            if here is None or self._content(element, file) in (None, self.parent.assets[here]):
                continue
            message = f"the asset '{here}' of the target has another content; rename one of the files"
            raise element.error(message, row.name)

    def _content(self, element: Element, file: str) -> bytes | None:
        """Return the content of a file to which an element of the child refers; None if the file cannot be read."""
        path = self._path(element, file)
        try:
            return self.child.read_file(path.name, path.parent)[0]
        except OSError:
            return None

    def _path(self, element: Element, file: str) -> Path:
        """Return the path on disk of a file to which an element of the child refers."""
        last = basename(file) if self.settings["strippath"] else file
        return (self.child.folder or Path()) / asset_folder(self.settings, element.tag) / last

    # --- default classes ---------------------------------------------------------------------------------------------

    def _copied_class(self, cls: DefaultClass) -> str:
        """Copy a default class to the target, and return the copy's name.

        If the global classes of both models are equal, the target's is used. If the new name of the child's global
        class is taken, a number is added. For any other class, a taken name raises MjcfError.
        """
        entries = {tag: dict(values) for tag, values in cls.entries.items()}
        for tag, values in entries.items():
            for row in DEFAULT.children[tag].references:
                if values.get(row.name):
                    values[row.name] = self.renamed(values[row.name])
            self._convert_orientation(values)
        defaults = self.parent.defaults
        if cls.parent is None and entries == defaults.main.entries:
            return defaults.main.name
        name = self.renamed(cls.name)
        if name in defaults and cls.parent is None:
            name = next(free for i in range(1, 10**6) if (free := f"{name}-{i}") not in defaults)
        if name in defaults:
            raise MjcfError(f"the model has a default class '{name}' already; attach with another prefix")
        # the parent was copied before
        parent = defaults[self.classes.get(cls.parent.name, defaults.main.name)] if cls.parent else None
        defaults.add(name, parent).copy_entries(entries, cls.actuator)
        return name

    def _set_class(self, root: Element, copy: Element) -> None:
        """Set ``childclass`` of ``copy`` to the copy of the default class that ``root`` inherits in the child."""
        main = self.parent.defaults.main.name
        if root.tag == "frame":
            for inner, inner_copy in zip(root.children, copy.children, strict=True):
                if inner.tag in ("body", "frame"):
                    self._set_class(inner, inner_copy)
        if "childclass" in copy.row.attributes and "childclass" not in copy.attributes:
            name = self.classes[root.inherited_class(root.tag == "body").name]
            if name != main or copy.default_class.name != main:
                copy.attributes["childclass"] = name

    # --- copies ------------------------------------------------------------------------------------------------------

    def _copy(self, root: Element, target: Element) -> Element:
        """Append a copy of an element and of its content to ``target``. Return the copy."""
        stack = [(root, target)]
        inherits = any(around.tag == "worldbody" for around in root.around())
        while stack:
            element, into = stack.pop()
            copy = Element(element.row, self.parent, into, dict(element.attributes), element.source, element.line)
            into.children.append(copy)
            self.copies[element] = copy
            self._rename(element, copy, inherits)
            self._convert_orientation(copy.attributes)
            if self.infers_limits:
                _state_limits(element, copy)
            if element.row.kind == "joint" and element.tag == "joint" and not self.same_unit:
                values = element.resolved()
                for name in _JOINT_ANGLES if values["type"] in ("hinge", "ball") else ():
                    if element.is_set(name):
                        copy.attributes[name] = self._angle(values[name])
            stack.extend((child, copy) for child in element.children[::-1])
        return self.copies[root]

    def _rename(self, element: Element, copy: Element, inherits: bool) -> None:
        """Replace the names in a copy: its own name, references, classes, files.

        ``inherits`` means that default classes of surrounding elements apply to the element. If they do not, and the
        element names no class, ``copy`` is assigned the child's global class under its new name.
        """
        given = copy.attributes
        if element.name and element.row.kind:
            given["name"] = self.renamed(element.name)
        for row in element.row.references:
            name = given.get(row.name)
            if row.kind == "default":
                if name:
                    given[row.name] = self.classes[name]
            elif name and row.many:
                given[row.name] = " ".join(map(self.renamed, name.split()))
            elif name and element.referred(row) != ("body", WORLD):
                given[row.name] = self.renamed(name)
        for row in element.row.lists:
            names = given.get(row.name, "").split()
            given[row.name] = " ".join(name if name == WORLD else self.renamed(name) for name in names)
        if not inherits and element.row.entry and "class" in element.row.attributes and "class" not in given:
            name = self.classes[self.child.defaults.main.name]
            if name != self.parent.defaults.main.name:
                given["class"] = name
        for row in element.row.attributes.values():
            if row.type is not Type.FILE or not (file := given.get(row.name)):
                continue
            key = self.child.asset_key(file)
            if key is None:  # the path by which the target finds the child's file
                given[row.name] = str(self._path(element, file).resolve())
            else:
                given[row.name] = self._renamed_file(key) if self.renames_files else file

    def _angle(self, value: Any) -> Any:
        """Convert an angle or several angles to the target's unit."""
        return tuple(map(self.to_target, value)) if isinstance(value, tuple) else self.to_target(value)

    def _convert_orientation(self, given: dict[str, Any]) -> None:
        """Convert an orientation in the attributes ``given`` to the target's unit and Euler sequence, in place."""
        if "euler" in given and not self.same_axes:
            unit = radians(1.0) if self.settings["angle"] == "degree" else 1.0
            given["quat"] = euler2quat(scale3(given.pop("euler"), unit), self.settings["eulerseq"])
        if self.same_unit:
            return
        if "euler" in given:
            given["euler"] = self._angle(given["euler"])
        if "axisangle" in given:
            given["axisangle"] = (*given["axisangle"][:3], self._angle(given["axisangle"][3]))


@contextmanager
def restored_on_error(tree: ModelTree, *targets: Element) -> Iterator[None]:
    """Return a context manager for an attachment to a tree: after an error, the tree is as it was before.

    Copies are appended to sections of the tree and to the elements ``targets``. Default classes, keyframes and files
    are restored, too.
    """
    sizes = [(element, len(element.children)) for element in (*tree.root.children, *targets)]
    keys = [(key, dict(key.attributes)) for key in tree.section("keyframe").children]
    classes, files = {cls.name for cls in tree.defaults}, set(tree.assets)
    late, uses_later = len(tree.late_keys), tree.uses_later
    try:
        yield
    except Exception:
        for element, size in sizes:
            del element.children[size:]
        for key, attributes in keys:
            key.attributes = attributes
        for cls in list(tree.defaults):
            if cls.name not in classes and cls.name in tree.defaults:
                tree.defaults.remove(cls)
        for name in set(tree.assets) - files:
            del tree.assets[name]
        del tree.late_keys[late:]
        tree.uses_later = uses_later
        tree.changed()
        raise


def _state_limits(element: Element, copy: Element) -> None:
    """Set each limit flag of a copy to true if ``autolimits`` of the original's model would infer true."""
    for flag in (name for name in element.row.attributes if name.endswith("limited")):
        bounds = flag.removesuffix("limited") + "range"
        if element.is_set(bounds) and not element.is_set(flag) and element[bounds][0] < element[bounds][1]:
            copy.attributes[flag] = "true"


def attach_within(part: Element, at: Element, prefix: str, suffix: str = "") -> Element:
    """Copy a part of a tree to the end of the parent of ``at``. Return the copy.

    Names and references within the part get the prefix and the suffix. Elements of other sections that refer to the
    part are copied too. If the part contains ``at``, the copy contains only the elements written before ``at``.
    """
    into = at.parent
    assert into is not None
    names = names_of([part])
    made = copy_renamed(part, into, names, lambda name: prefix + name + suffix, until=at)
    copy_relations(part.tree, names, [lambda name: prefix + name + suffix], keep=True)
    part.tree.changed()
    return made


def complete_keys(tree: ModelTree) -> None:
    """Assemble the vectors of attached keyframes, once all joints and actuators of the tree exist."""
    if tree.late_keys:
        parts = layout(tree)
        for key, known in tree.late_keys:
            moved = {part: {tree.first_copy(e): values for e, values in of.items()} for part, of in known.items()}
            rewrite_key(key, moved, parts)
        tree.late_keys.clear()
