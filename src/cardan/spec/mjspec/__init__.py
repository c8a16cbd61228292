"""A model as structs that a program builds and edits: the face that MuJoCo's ``MjSpec`` has, over the model tree.

Each struct (``MjsBody``, ``MjsGeom``, ...) stands for one element of the tree (``cardan.spec.element``) and keeps no
values of its own. Its attributes are made from the element's row in the table of the language; only names and kinds of
value that differ between MuJoCo's structs and MJCF are listed here.

- ``enumerations``: enumerations that only structs use; ``values``: tree values to user values and back;
- ``struct``: the base of all structs; ``placed``: what stands in bodies; ``body``: bodies and frames;
- ``assets``, ``relations``, ``actuator``, ``sensor``: the other elements; ``settings``: options, compiler, visual;
- ``defaults``: default classes; ``layout``: which entries of ``qpos``, ``ctrl``, ... belong to which element;
- ``delete``, ``attach``, ``duplicate``: changes to whole subtrees.
"""
