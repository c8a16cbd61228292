"""The tree that the user wrote: elements, default classes, names. Nothing here knows XML.

How a compiler reads the tree
-----------------------------
A ``ModelTree`` comes from ``cardan.mjcf.reader`` (``read_path``, ``read_string``) or is built by ``ModelTree()`` and
``Element.add``. The reader has checked structure, types, counts, keywords, names and references; what depends on
several values together (positive sizes, ranges, topology) is the compiler's, which reports with ``element.error(...)``.

*Sections.* ``tree.section("option")`` is the section's element. Settings sections (``compiler`` with ``lengthrange``,
``option`` with ``flag``, ``size``, ``statistic``, ``visual`` with its six parts) always exist, filled with defaults;
``tree.section("visual").child("map")["znear"]``. List sections (``asset``, ``worldbody``, ``contact``, ``equality``,
``tendon``, ``actuator``, ``sensor``, ``keyframe``, ``custom``) always exist too, empty when the user wrote none, and
hold repeated sections joined, in the user's order. ``tree.model_name`` is the name of the model.

*Values.* ``element.resolved()`` is a flat dict with every attribute that the element's kind knows, explicit value →
default class → language default; call it once per element and read the dict. ``element["size"]`` looks up one. Values
are Python objects: ``float``, ``int``, ``bool``, ``str``, or tuples of these when the attribute may hold more than one
value; ``None`` is "undefined, to be inferred". Vectors with an optional tail (``friction``, ``solref``, ``gear``, ...)
always come out at full length: fewer given values overwrite the first ones of the default. ``user``, ``data``,
``qpos`` and the like have the length that the user gave. Keywords stay words (``"capsule"``); ``element.code("type")``
is the number in the engine's enumeration (``element.code("type", values)`` when you have resolved already). Tri-state
attributes (``limited``, ...) are the words ``"false"``, ``"true"``, ``"auto"``. Angles are as written, in the units of
``compiler angle``. ``element.is_set("range")`` tells whether the user or a default class gave a value,
``element.is_explicit`` whether the element itself did.

*Actuators.* ``motor``, ``position``, ``velocity`` are shortcuts: their ``resolved()`` already has the ``general`` form
(``gaintype``, ``gainprm`` (10), ``biastype``, ``biasprm`` (10), ``dyntype``, ``dynprm`` (10), ...; see ``actuator``),
plus the references (``joint``, ``tendon``, ...) and ``inheritrange``. A positive ``biasprm[2]`` with fixed gain, affine
bias and ``gainprm[0] == -biasprm[1]`` is a damping ratio, which the compiler turns into damping.

*Bodies.* ``body.children`` holds everything in the user's order, also ``frame`` elements. ``body.content()`` yields
``(element, frames)`` for what belongs to this body, with frames opened: ``frames`` is the tuple of enclosing frame
elements, outermost first, whose poses the compiler composes. ``body.content("geom", "site")`` filters by tag;
``freejoint`` is a tag of its own (``element.row.kind`` is ``"joint"`` for both). Child bodies come out as elements too.

*Names.* ``tree.find("geom", name)`` is the element or None; kinds are ``body``, ``joint``, ``geom``, ``site``,
``camera``, ``light``, ``texture``, ``material``, ``pair``, ``exclude``, ``equality``, ``tendon``, ``actuator``,
``sensor``, ``numeric``, ``text``, ``tuple``, ``key``, ``frame``, ... The world body is found under ``("body",
"world")``. Every reference in a tree from the reader leads to an object (checked). Ids are the compiler's to give.

*Files.* ``tree.folder`` is the main file's folder (None for a string), ``tree.assets`` the dictionary of file contents
given with a string; ``element.source`` and ``element.line`` say where an element was written.
"""

from cardan.spec.defaults import DefaultClass, Defaults
from cardan.spec.element import Element
from cardan.spec.tree import ModelTree

__all__ = ["DefaultClass", "Defaults", "Element", "ModelTree"]
