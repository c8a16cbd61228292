"""A model as structs that a program builds and edits: the interface of MuJoCo's ``MjSpec`` to the model tree.

Each struct (``MjsBody``, ``MjsGeom``, ...) represents one element of the tree (``cardan.spec.element``) and stores no
values of its own. Its attributes are made from the element's row in the table of the language. Only names and value
types that differ between MuJoCo's structs and MJCF are listed here.

- ``enumerations``: enumerations that only structs use; ``values``: tree values to user values and back;
- ``struct``: the base of all structs; ``placed``: elements inside bodies; ``body``: bodies and frames;
- ``assets``, ``relations``, ``actuator``, ``sensor``: the other elements; ``settings``: options, compiler, visual;
- ``defaults``: default classes; ``layout``: the entries of ``qpos``, ``ctrl``, ... that belong to each element;
- ``delete``, ``attach``, ``duplicate``: changes to whole subtrees.
"""
