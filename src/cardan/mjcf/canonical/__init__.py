"""Convert a compiled model to a model tree in the canonical subset of MJCF (spec: modeling, "Model creation").

All coordinates are local, angles are in radians, and positions, orientations and inertias of all bodies are explicit.
Numbers come from the model, so that changes at run time are kept. Default classes, files and compiler settings that
affect files are not part of a compiled model; they come from its source tree. The canonical tree has no frames,
``replicate`` elements or actuator shortcuts. It keeps default classes, and an element gives only values that differ
from its class. `written_tree` gives a model as it was written instead.
"""
