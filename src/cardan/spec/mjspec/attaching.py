"""Attaching specifications, bodies and frames to another specification, with copies or shared elements."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from cardan.errors import suggestion
from cardan.spec.attach import Attachment, attach_within, restored_on_error
from cardan.spec.layout import keys_kept
from cardan.spec.mjspec.struct import Struct
from cardan.spec.schema.shared import ORIENTATION
from cardan.spec.tree import WORLD, names_of

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.mjspec.bodies import MjsBody, MjsFrame, MjsSite
    from cardan.spec.mjspec.specification import Specification
    from cardan.spec.tree import ModelTree

_NO_PREFIX = "/"  # prefix of `attach` in 4.0 if none is given


class Attaching:
    """The part of a specification that attaches others.

    The elements of the child become elements of the parent, with a prefix and a suffix. If the parent shares, structs
    of the child represent these elements afterwards, so that later changes through them change the parent. Otherwise
    the child is unchanged.
    """

    tree: ModelTree
    override_assets: bool = True
    _shares: bool | None
    _parent: Specification | None

    @property
    def copy_during_attach(self) -> bool:
        """Whether attaching copies the child. The default is False with ``compat="4.0"``, else True."""
        return self.tree.compat != "4.0" if self._shares is None else not self._shares

    @copy_during_attach.setter
    def copy_during_attach(self, value: bool) -> None:
        self._shares = not value

    @property
    def parent(self) -> Specification | None:
        """Specification to which this one was attached as a whole, or None."""
        return self._parent

    def settle(self, child: Specification) -> None:
        """Settle conflicts between the settings of the child and this specification. Here, nothing is done."""

    def attach(
        self: Any,
        child: Specification,
        prefix: str | None = None,
        suffix: str | None = None,
        site: Any = None,
        frame: Any = None,
    ) -> MjsFrame:
        """Attach a whole specification at a frame or a site of this one.

        Args:
            child: the other specification. Unless `copy_during_attach` is set, its structs are shared afterwards.
            prefix: prefix of all names of the child. None: "/" with ``compat="4.0"``, else "".
            suffix: suffix of all names of the child.
            site: site at which the child is attached, as struct or name. Exclusive with ``frame``.
            frame: frame in which the child is attached, as struct or name.

        Returns:
            The new frame, which represents the child's world.

        Assets, default classes, relations and keyframes come along; settings (``option``, ``compiler``, ...) do not.

        Raises:
            MjcfError: a name is already used.
            ValueError: neither or both of ``site`` and ``frame`` are given, or the given one is not in this
                specification; the child was already attached.
        """
        if (site is None) == (frame is None):
            raise ValueError(f"{'One' if site is None else 'Only one'} of frame or site must be specified.")
        if prefix is None:
            prefix = _NO_PREFIX if self.compat == "4.0" else ""
        into, pose = self._place(site) if frame is None else (self._own("frame", frame), {})
        shares = not self.copy_during_attach
        if shares and (child is self or child._moved):
            raise ValueError("Child spec is already attached by reference; enable deep copy to attach it again.")
        self.settle(child)
        source = child.tree
        child.check_pending()
        attachment = self._attachment(child, prefix, suffix or "")
        with restored_on_error(self.tree, into):
            target = into.add("frame", **pose)
            attachment.run(list(source.worldbody.children), target, whole=True)
        name = attachment.classes[source.defaults.main.name]
        if target.default_class.name != name:
            target.attributes["childclass"] = name
        self._take_over(child, attachment, shares)
        child._parent = self
        return self.struct(target)

    def attach_part(self: Any, where: Struct, part: Any, prefix: str | None, suffix: str | None) -> Any:
        """Attach a body or frame inside the body or frame ``where`` (see ``attach``).

        Return its struct: the given one if elements are shared, else that of the copy. The world of another
        specification becomes a body with its content.
        """
        child, shares = part.spec, not self.copy_during_attach
        if shares and child is self:
            raise ValueError("Child element is in the parent spec; enable deep copy to attach a copy of it.")
        if shares and any(inside in child._moved for inside in (part.element, *part.element.descendants())):
            raise ValueError("Child element contains attached elements; enable deep copy to attach a copy of it.")
        child.check_pending()
        if child is self:
            return self.struct(self._copied_within(where.element, part.element, prefix or "", suffix or ""))
        self.settle(child)
        attachment = self._attachment(child, prefix or "", suffix or "")
        if part.element is child.tree.worldbody:
            with restored_on_error(self.tree, where.element):
                made = where.element.add("body", name=attachment.renamed(WORLD))
                attachment.run(list(part.element.children), made, whole=True)
        else:
            (made,) = attachment.run([part.element], where.element, whole=False)
        self._take_over(child, attachment, shares)
        return self.struct(made)

    def _copied_within(self: Any, where: Element, part: Element, prefix: str, suffix: str) -> Element:
        """Copy a part of this specification to another place. Raises MjcfError if a name is taken."""
        for kind, name in names_of([part]):
            if self.tree.find(kind, f"{prefix}{name}{suffix}") is not None:
                message = f"the model has a {kind} named '{prefix}{name}{suffix}' already; attach with another prefix"
                raise part.error(message, "name")
        with keys_kept(self.tree):
            end = where.add("frame")
            try:
                return attach_within(part, end, prefix, suffix)
            finally:
                where.children.remove(end)
                self.edited()

    def attach_at_site(self: Any, site: MjsSite, body: MjsBody, prefix: str | None, suffix: str | None) -> Any:
        """Attach a body at a site; see ``attach_part``."""
        into, pose = self._place(site)
        with restored_on_error(self.tree, into):
            frame = self.struct(into.add("frame", **pose))
            return self.attach_part(frame, body, prefix, suffix)

    def _attachment(self: Any, child: Specification, prefix: str, suffix: str) -> Attachment:
        """Return the attachment of a child. With ``compat="4.0"``, names of files get prefix and suffix, too.

        The compiled model has the version of the parent. Warn if the child has another one.
        """
        if child.compat != self.compat:
            versions = f"with compat='{child.compat}' is attached to one with compat='{self.compat}'"
            hint = f"all of it is compiled as {self.compat}; give both the same version"
            warnings.warn(f"a specification {versions}: {hint}", stacklevel=3)
        renames = self.compat == "4.0"
        return Attachment(self.tree, child.tree, prefix, suffix, renames_files=renames, replaces=self.override_assets)

    def _take_over(self: Any, child: Any, attachment: Attachment, shares: bool) -> None:
        """Record where copied elements were defined and, with ``shares``, let the child's structs represent them."""
        self.edited()
        self.unprefixed |= not attachment.prefix
        for old, new in attachment.copies.items():
            if child is not self:
                self._origins[new] = child._origins.get(old, child)
            if shares:
                child._moved[old] = (self, new)
                struct = child._structs.pop(old, None)
                if struct is not None:
                    struct.represent(self, new)
                    self._structs[new] = struct

    # --- places ------------------------------------------------------------------------------------------------------

    def _own(self: Any, kind: str, given: Any) -> Any:
        """Return the element of an object, given as struct or name. Raises ValueError if it is not in this tree."""
        if isinstance(given, Struct):
            if given.spec is not self:
                raise ValueError(f"{kind.capitalize()} spec does not match parent spec.")
            return given.element
        element = self.tree.find(kind, given)
        if element is None:
            raise ValueError(f"{kind.capitalize()} not found. '{given}'" + suggestion(given, self.tree.names(kind)))
        return element

    def _place(self: Any, site: Any) -> tuple[Element, dict[str, Any]]:
        """Return the parent element of a site, and the site's pose relative to the parent, as attributes.

        Raises:
            ValueError: the site is unknown.
            MjcfError: the pose of the site is given by ``fromto``.
        """
        element = self._own("site", site)
        values = element.resolved()
        if values["fromto"] is not None:
            raise element.error("attaching needs a site with position and orientation", "fromto")
        pose = {name: values[name] for name in ("pos", *(row.name for row in ORIENTATION)) if values[name] is not None}
        if len(pose) > 2:
            del pose["quat"]
        return element.parent, pose
