"""Model tree as the user wrote it: elements, default classes, names. Nothing in this package depends on XML.

How a compiler reads the tree
-----------------------------
A ``ModelTree`` comes from ``cardan.mjcf.reader`` (``read_path``, ``read_string``) or is built by ``ModelTree()`` and
``Element.add``. The reader has checked structure, types, counts, keywords, names and references. Conditions on several
values together (positive sizes, ranges, topology) are checked by the compiler, which reports ``element.error(...)``.

*Sections.* ``tree.section("option")`` is the section's element. Settings sections (``compiler`` with ``lengthrange``,
``option`` with ``flag``, ``size``, ``statistic``, ``visual`` with its six parts) always exist, filled with defaults:
``tree.section("visual").child("map")["znear"]`` is a number. List sections (``asset``, ``worldbody``, ``contact``,
``equality``, ``tendon``, ``actuator``, ``sensor``, ``keyframe``, ``custom``) always exist too, possibly empty.
Repeated sections are joined, in the user's order. ``tree.model_name`` is the name of the model.

*Values.* ``element.resolved()`` is a flat dict with every attribute that the element's kind has: explicit value →
default class → language default. Call it once per element and read the dict. ``element["size"]`` is one value. Values
are Python objects: ``float``, ``int``, ``bool``, ``str``, or tuples of these if the attribute may hold more than one
value; ``None`` means "undefined, to be inferred". Vectors with an optional tail (``friction``, ``solref``, ``gear``,
...) always have full length: fewer given values replace the first ones of the default. ``user``, ``data``, ``qpos`` and
the like have the length that the user gave. Keywords remain words (``"capsule"``); ``element.code("type")`` is the
number in the engine's enumeration (``element.code("type", values)`` if the values are resolved already). Tri-state
attributes (``limited``, ...) are the words ``"false"``, ``"true"``, ``"auto"``. Angles are as written, in the units of
``compiler angle``. ``element.is_set("range")`` returns whether the user or a default class gave a value,
``element.is_explicit`` whether the element itself did.

*Actuators.* ``motor``, ``position``, ``velocity`` are shortcuts: their ``resolved()`` already has the ``general`` form
(``gaintype``, ``gainprm`` (10), ``biastype``, ``biasprm`` (10), ``dyntype``, ``dynprm`` (10), ...; see ``actuator``),
plus the references (``joint``, ``tendon``, ...) and ``inheritrange``. A positive ``biasprm[2]`` with fixed gain, affine
bias and ``gainprm[0] == -biasprm[1]`` is a damping ratio, which the compiler converts to damping.

*Bodies.* ``body.children`` holds everything in the user's order, including ``frame`` elements. ``body.content()``
yields ``(element, frames)`` for each element of this body, also inside frames: ``frames`` is the tuple of enclosing
frame elements, outermost first, whose poses the compiler composes. ``body.content("geom", "site")`` filters by tag.
The tags ``joint`` and ``freejoint`` differ (``element.row.kind`` is ``"joint"`` for both). Child bodies are included.

*Names.* ``tree.find("geom", name)`` is the element or None; kinds are ``body``, ``joint``, ``geom``, ``site``,
``camera``, ``light``, ``texture``, ``material``, ``pair``, ``exclude``, ``equality``, ``tendon``, ``actuator``,
``sensor``, ``numeric``, ``text``, ``tuple``, ``key``, ``frame``, ... The world body is found under ``("body",
"world")``. Every reference in a tree from the reader leads to an object (checked). The compiler assigns ids.

*Files.* ``tree.folder`` is the main file's folder (None for a string), ``tree.assets`` the dictionary of file contents
given with a string; ``element.source`` and ``element.line`` specify where an element was written.
"""

from cardan.spec.defaults import DefaultClass, Defaults
from cardan.spec.element import Element
from cardan.spec.tree import ModelTree

__all__ = ["DefaultClass", "Defaults", "Element", "ModelTree"]
