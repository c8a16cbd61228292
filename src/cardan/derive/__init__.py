"""Derivatives of the dynamics: tangents of stages, the solver by the implicit function theorem, contacts."""
