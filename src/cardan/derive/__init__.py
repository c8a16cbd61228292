"""Derivatives of the dynamics: tangents of stages, of contacts, and of the solver (implicit function theorem)."""
