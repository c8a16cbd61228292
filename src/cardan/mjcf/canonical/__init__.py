"""Compiled model to model tree, in the canonical subset of MJCF (spec: modeling, "Model creation").

All coordinates are local, angles are in radians, and positions, orientations and inertias of all bodies are explicit.
Numbers come from the model, so that changes at run time are kept; what a compiled model does not hold (default classes,
files, compiler settings that act on files) comes from the tree that it was compiled from. Frames, copies and actuator
shortcuts are gone. Default classes stay, and an element gives what differs from its class.
"""
