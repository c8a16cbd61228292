"""Replace ``<attach>`` elements by parts of another model or of the same model.

Models named by ``<model>`` elements in ``<asset>`` are read first. Attachments are expanded before all macros of the
kinematic tree, so that copies made by ``<replicate>`` contain the attached parts. Vectors of attached keyframes are
assembled last, when all joints and actuators exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cardan.errors import MjcfError, suggestion
from cardan.mjcf.conflicts import settle_conflicts
from cardan.spec.attach import Attachment, attach_within
from cardan.spec.element import Element
from cardan.spec.schema.body import FRAME
from cardan.spec.tree import WORLD

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree

TAG = "attach"
_OF_WHOLE_MODELS = (
    *("boundmass", "boundinertia", "balanceinertia", "settotalmass", "fitaabb"),
    *("inertiafromgeom", "inertiagrouprange", "exactmeshinertia"),
)
MOST_ELEMENTS = 500_000
"""Largest number of elements that the attachments of a model may copy: nested attachments multiply the number."""
DEEPEST = 50
"""Largest number of models that are attached inside each other."""
Reader = Callable[[str, "ModelTree"], "ModelTree"]
"""Function that reads a model to be attached, from the name of its file and the tree of the attaching model."""


def expand_attachments(tree: ModelTree, read: Reader) -> None:
    """Replace every ``<attach>`` of a tree by the part that it attaches, and remove the ``<model>`` elements.

    Raises:
        MjcfError: a model, body or frame does not exist, a name is taken, a part would contain itself, or global
            settings contradict each other and ``compiler conflict`` forbids that.
    """
    expansion = _Expansion(tree, _read_models(tree, read))
    while element := next(_pending(tree.root), None):
        expansion.expand(element, ())
    section = tree.section("asset")
    section.children = [child for child in section.children if child.tag != "model"]
    tree.changed()


def _pending(around: Element) -> Iterator[Element]:
    """Yield the ``<attach>`` elements inside an element that are not expanded yet."""
    return (element for element in around.descendants() if element.tag == TAG)


def _read_models(tree: ModelTree, read: Reader) -> dict[str, ModelTree]:
    """Read all models that ``<model>`` elements name. Return their trees by name.

    Conflicts between their settings and those of ``tree`` are settled.
    """
    models: dict[str, ModelTree] = {}
    for element in tree.section("asset").all("model"):
        try:
            model = read(element.attributes["file"], tree)
        except OSError as error:
            raise element.error(str(error), "file") from None
        name = element.name or model.root.resolved()["model"]
        if name in models:
            raise element.error(f"there are two models named '{name}'; give one of them another name", "name")
        models[name] = model
        _compare_compilers(element, model)
        settle_conflicts(element, model)
    return models


def _compare_compilers(element: Element, model: ModelTree) -> None:
    """Warn about compiler settings that apply to whole models, if they differ in the attached model.

    The attached model's values are ignored.
    """
    ours, theirs = element.tree.section("compiler").resolved(), model.section("compiler").resolved()
    for name in _OF_WHOLE_MODELS:
        if ours[name] != theirs[name]:
            message = f"compiler {name} is {theirs[name]} in the attached model, {ours[name]} in this one"
            element.warn(f"{message}, which holds for all bodies")


class _Expansion:
    """State of the expansion of all attachments in ``tree``. ``models`` contains the trees of other models by name."""

    def __init__(self, tree: ModelTree, models: dict[str, ModelTree]) -> None:
        self.tree, self.models = tree, models
        self.copied = 0  # number of elements

    def expand(self, element: Element, around: tuple[Element, ...]) -> None:
        """Replace one ``<attach>`` element.

        To detect cycles, ``around`` contains the ``<attach>`` elements whose expansion led to this one.
        """
        parent, given = element.parent, element.attributes
        assert parent is not None
        tree = self._model(element)
        part = self._part(element, tree)
        if tree is self.tree:
            assert part is not None
            if element in around:
                raise element.error(f"the {part.tag} '{part.name}' would contain itself")
            if part not in element.around():
                for inner in list(_pending(part)):
                    self.expand(inner, (*around, element))
        self._count_copies(element, part or tree.worldbody)
        if tree is self.tree and part is not None:
            made = attach_within(part, element, given["prefix"])
        else:
            made = self._attach(tree, part, parent, given["prefix"], element)
        parent.children.remove(made)
        parent.children[parent.children.index(element)] = made
        self.tree.changed()

    def _count_copies(self, element: Element, part: Element) -> None:
        """Count the elements that an ``<attach>`` copies. Raises MjcfError if there are too many in total."""
        self.copied += 1 + sum(1 for _ in part.descendants())
        if self.copied > MOST_ELEMENTS:
            raise element.error(f"the attachments of the model copy more than {MOST_ELEMENTS} elements")

    def _model(self, element: Element) -> ModelTree:
        """Return the tree that contains the part to be attached."""
        name = element.attributes.get("model")
        if name is None:
            return self.tree
        if name not in self.models:
            hint = suggestion(name, self.models)
            raise element.error(f"there is no <model> named '{name}' in <asset>{hint}", "model")
        return self.models[name]

    def _part(self, element: Element, tree: ModelTree) -> Element | None:
        """Return the body or frame that an ``<attach>`` element names. None means the content of the world."""
        given = [kind for kind in ("body", "frame") if element.attributes.get(kind) is not None]
        if len(given) > 1:
            raise element.error("body and frame exclude each other", "frame")
        if not given and tree is self.tree:
            raise element.error("an attachment from the same model needs body or frame")
        if not given or (given == ["body"] and element.attributes["body"] == WORLD):
            if tree is self.tree:
                raise element.error("the world body would contain itself", "body")
            return None
        (kind,) = given
        name = element.attributes[kind]
        found = tree.find(kind, name)
        if found is None:
            hint = suggestion(name, tree.names(kind))
            raise element.error(f"there is no {kind} named '{name}' in the attached model{hint}", kind)
        return found

    def _attach(self, tree: ModelTree, part: Element | None, parent: Element, prefix: str, at: Element) -> Element:
        """Attach a part of another model at the end of ``parent``, and return the new element.

        If ``part`` is None, the content of the other model's world is attached, inside a new frame.
        """
        attachment = Attachment(self.tree, tree, prefix, "", late_keys=True)
        try:
            if part is not None:
                return attachment.run([part], parent, whole=False)[0]
            frame = Element(FRAME, self.tree, parent, {}, at.source, at.line)
            parent.children.append(frame)
            attachment.run(list(tree.worldbody.children), frame, whole=True)
        except MjcfError as error:
            raise at.error(f"can't attach: {error}") from error
        name = attachment.classes[tree.defaults.main.name]
        if frame.default_class.name != name:
            frame.attributes["childclass"] = name
        return frame


def model_file(name: str, tree: ModelTree) -> tuple[bytes, str | Path]:
    """Read the file of a model to be attached. Return its content, and its name in the assets or its path.

    Raises:
        OSError: the file can't be read.
        MjcfError: the model contains itself, or models are nested too deeply.
    """
    if len(tree.inside_files) > DEEPEST:
        message = f"models are attached to each other more than {DEEPEST} levels deep"
        raise MjcfError(message, tree.source, element="model", attribute="file")
    content, place = tree.read_file(name, tree.folder or Path())
    if str(place) in tree.inside_files:
        raise MjcfError(f"the model '{name}' contains itself", tree.source, element="model", attribute="file")
    return content, place
