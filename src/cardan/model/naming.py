"""Names of the elements of a model: storage, and lookup in both directions.

A model stores all names in one text (`names`, zero-terminated), and the address of each element's name in `name_*adr`.
`names_map` contains a hash table for each type of element, one after the other (layout as in MuJoCo's mjModel;
`cardan.compiler.names` fills them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.enums import mjtObj
from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

NAME_FIELDS: dict[str, str] = {f.name[5:-3]: f.name for f in MODEL.members("") if f.name.startswith("name_")}
"""Field of name addresses, by kind of element (``"jnt"``: ``"name_jntadr"``)."""

SHORT_KINDS = {"joint": "jnt", "camera": "cam", "texture": "tex", "material": "mat", "equality": "eq"}
"""Short names of kinds of elements, as used in the names of fields."""


def _kind(obj: mjtObj) -> str:
    lower = obj.name.removeprefix("mjOBJ_").lower()
    return "body" if obj == mjtObj.mjOBJ_XBODY else SHORT_KINDS.get(lower, lower)


KIND_OF_OBJECT: dict[int, str] = {
    obj.value: kind for obj in mjtObj.__members__.values() if (kind := _kind(obj)) in NAME_FIELDS
}
"""Kind of element by mjtObj."""


def read_names(m: MjModel, kind: str) -> list[str]:
    """Return the names of all elements of a kind (``"geom"``) by id; ``""`` for an element without name."""
    text = m.names
    return [text[a : text.index(b"\0", a)].decode() for a in getattr(m, NAME_FIELDS[kind]).tolist()]


class NameBook:
    """Names and ids of one kind of element of a model."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.ids = {name: i for i, name in enumerate(names) if name}

    def id_of(self, which: str | int) -> int:
        """Return the id of an element given by name or by id.

        Raises:
            KeyError: no element has this name; the message lists the names.
            IndexError: the id does not exist.
        """
        if isinstance(which, str):
            if which not in self.ids:
                raise KeyError(f"Invalid name '{which}'. Valid names: {sorted(self.ids)}")
            return self.ids[which]
        if not 0 <= which < len(self.names):
            raise IndexError(f"Invalid index {which}. Valid indices from 0 to {len(self.names) - 1}")
        return which


def name_book(m: MjModel, kind: str) -> NameBook:
    """Return the names and ids of a kind of element; they are read once for each model."""
    books = m.__dict__.setdefault("_name_books", {})
    if kind not in books:
        books[kind] = NameBook(read_names(m, kind))
    return books[kind]
