"""Editable model: structs with the interface of MuJoCo's ``MjSpec``, as a view of the model tree.

Each struct (``MjsBody``, ``MjsGeom``, ...) represents one element of the tree (``cardan.spec.element``) and stores no
values of its own. Its attributes are generated from the element's row in the table of the language. These modules list
only names and forms that differ between MuJoCo and MJCF. ``KINDS`` in ``specification`` has a row for each struct.

- ``values``: conversion of values between tree and user; ``struct``: base class of all structs, fields;
- ``bodies``: bodies, frames and the elements inside; ``assets``: assets, flexes, plugins, custom data, keyframes;
- ``relations``: pairs, equality constraints, tendons; ``actuators``: actuators and sensors;
- ``settings``: options, compiler, visual, default classes; ``specification``: the specification as a whole.
"""
