"""Tangents of compiled stages, for exact derivatives: transformations of the stages' LLVM code."""
